package rest_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// An installation ends when its author says so: a program inside the cluster where there is
// one, otherwise its hosts. What comes after a reboot is reported here by nobody, unless
// the test says that it plays the program inside.

// soon has a host that reboots considered silent at once.
var soon = service.Timers{Monitor: 10 * time.Millisecond, Stages: map[wire.HostStage]time.Duration{wire.HostStageRebooting: 100 * time.Millisecond}}

// checked lets the hosts of a scene have passed their last checks before they are asked.
func (s *scene) checked() *scene {
	for _, h := range s.hosts {
		h.disk = &wire.DiskSpeedCheckResponse{Path: "/dev/disk/by-path/pci-0000:00:03.0", IoSyncDuration: 1}
		h.images = &wire.ContainerImageAvailabilityResponse{Images: []wire.ContainerImageAvailability{
			{Name: s.cluster.OcpReleaseImage, Result: wire.ContainerImageAvailabilityResultSuccess},
		}}
	}
	return s
}

// withoutRelease makes the cluster a plain one.
func (s *scene) withoutRelease() *scene {
	s.cluster.OpenshiftVersion, s.cluster.OcpReleaseImage = "", ""
	return s
}

func (p *played) agent(t *testing.T, hub *testhub.Hub, n int) *testhub.Caller {
	t.Helper()
	token, err := hub.AgentToken(t.Context(), p.hosts[n].InfraEnvID)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return hub.Agent(token)
}

// reports has the agent of a host report stages.
func (p *played) reports(t *testing.T, hub *testhub.Hub, n int, stages ...wire.HostStage) {
	t.Helper()
	for _, stage := range stages {
		p.agent(t, hub, n).Progress(t, p.hosts[n], stage, "")
	}
}

// start starts the installation and waits until the hosts are installed to.
func (p *played) start(t *testing.T, hub *testhub.Hub) {
	t.Helper()
	code, raw := p.user.Do(t, "POST", "/clusters/"+p.cluster+"/actions/install", nil, nil)
	NewWithT(t).Expect(code).To(Equal(202), raw)
	p.comesTo(t, hub, wire.ClusterStatusInstalling)
}

// comesTo waits for a status of the cluster.
func (p *played) comesTo(t *testing.T, hub *testhub.Hub, status string) {
	t.Helper()
	NewWithT(t).Eventually(func() string {
		c, _ := p.readCluster(t)
		return c.Status
	}, time.Minute).Should(Equal(status), hub.Timeline(t))
}

// joins starts the installation of the first host, which is added to a cluster.
func (p *played) joins(t *testing.T) {
	t.Helper()
	g := NewWithT(t)
	h, checks := p.host(t, 0)
	g.Expect(h.Status).To(Equal(wire.HostStatusKnown), "%s %v", h.StatusInfo, checks)
	code, raw := p.user.Do(t, "POST", "/infra-envs/"+p.hosts[0].InfraEnvID+"/hosts/"+p.hosts[0].HostID+"/actions/install", nil, nil)
	g.Expect(code).To(Equal(202), raw)
}

// supervised adds to the folder of an Ignition source that a cluster has a program inside.
func supervised(t *testing.T, dir, clusterID string) {
	t.Helper()
	g := NewWithT(t)
	g.Expect(os.Mkdir(filepath.Join(dir, clusterID), 0o700)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(dir, clusterID, "kubeconfig-noingress"), []byte(kubeconfig), 0o600)).To(Succeed())
}

// TestAClusterWithoutAReleaseEnds: a hub without Ironic; nobody reports what comes after the reboot.
func TestAClusterWithoutAReleaseEnds(t *testing.T) {
	g := NewWithT(t)
	hub := testhub.Start(t, testhub.Options{Timers: soon})
	p := threeHosts(t).checked().withoutRelease().play(t, hub)
	p.start(t, hub)
	for n := range p.hosts {
		p.reports(t, hub, n, wire.HostStageStartingInstallation, wire.HostStageInstalling, wire.HostStageWritingImageToDisk, wire.HostStageRebooting)
	}
	p.comesTo(t, hub, wire.ClusterStatusInstalled)
	for n := range p.hosts {
		h, _ := p.host(t, n)
		g.Expect(h.Status).To(Equal(wire.HostStatusInstalled), h.StatusInfo)
		g.Expect(h.StatusInfo).To(ContainSubstring("nobody tells the hub whether its system came up"))
	}
}

// TestCompletedMeansThatAClusterRuns: what nobody has seen is not said, neither in the status nor on the timeline.
func TestCompletedMeansThatAClusterRuns(t *testing.T) {
	g := NewWithT(t)
	hub := testhub.Start(t, testhub.Options{Timers: soon})
	p := threeHosts(t).checked().withoutRelease().play(t, hub)
	p.start(t, hub)
	for n := range p.hosts {
		p.reports(t, hub, n, wire.HostStageInstalling, wire.HostStageRebooting)
		g.Expect(hub.CompleteHost(t.Context(), p.hosts[n])).To(Succeed()) // Ironic has booted the disk
	}
	p.comesTo(t, hub, wire.ClusterStatusInstalled)
	c, _ := p.readCluster(t)
	g.Expect(c.StatusInfo).To(Equal("The hosts are installed; nobody inside the cluster tells the hub whether it runs"))
	g.Expect(hub.Timeline(t)).To(ContainSubstring("its hosts are installed; nobody inside it tells the hub whether it runs"))
	g.Expect(hub.Timeline(t)).NotTo(Or(ContainSubstring("The cluster is installed"), ContainSubstring("the installation is complete")))
	code, raw := p.user.Do(t, "GET", "/clusters/"+p.cluster+"/downloads/credentials?file_name=kubeconfig", nil, nil)
	g.Expect(code).NotTo(Equal(http.StatusOK), raw)
}

// TestAHostThatJoinsIsDoneWhenItReboots: nobody in an installed cluster tells the hub of hosts that join; the
// protocol's hubs count them as added when they reboot.
func TestAHostThatJoinsIsDoneWhenItReboots(t *testing.T) {
	g := NewWithT(t)
	hub := testhub.Start(t, testhub.Options{IgnitionDir: testhub.RoleFiles(t), Timers: soon})
	p := joining(t).play(t, hub)
	p.joins(t)
	p.reports(t, hub, 0, wire.HostStageStartingInstallation, wire.HostStageInstalling, wire.HostStageWritingImageToDisk, wire.HostStageWaitingForControlPlane, wire.HostStageRebooting)
	h, _ := p.host(t, 0)
	g.Expect(h.Status).To(Equal(wire.HostStatusAddedToExistingCluster), h.StatusInfo)
	g.Expect(h.StatusInfo).To(ContainSubstring("nobody tells the hub whether it joins"))
	p.agent(t, hub, 0).Register(t, p.hosts[0]) // it comes back with the live image
	h, _ = p.host(t, 0)
	g.Expect(h.Status).To(Equal(wire.HostStatusInstallingPendingUserAction), h.StatusInfo)
}

// TestADayTwoHostOfAPlainClusterJoinsIt, or is not said to have: nobody has told the hub that it did.
func TestADayTwoHostOfAPlainClusterJoinsIt(t *testing.T) {
	g := NewWithT(t)
	hub := testhub.Start(t, testhub.Options{IgnitionDir: testhub.RoleFiles(t), Timers: soon})
	p := joining(t).withoutRelease().play(t, hub)
	p.joins(t)
	p.reports(t, hub, 0, wire.HostStageInstalling, wire.HostStageRebooting, wire.HostStageDone)
	h, _ := p.host(t, 0)
	g.Expect(h.StatusInfo).To(ContainSubstring("nobody tells the hub whether it joins"))
	g.Expect(hub.Timeline(t)).NotTo(ContainSubstring("was added to the cluster"))
}

// TestAClusterOfAResourceIsWatchedToItsEnd, as one that a call has started.
func TestAClusterOfAResourceIsWatchedToItsEnd(t *testing.T) {
	g := NewWithT(t)
	dir := testhub.RoleFiles(t)
	hub := testhub.Start(t, testhub.Options{IgnitionDir: dir, Timers: soon})
	s := singleNode(t).checked()
	s.byController = &service.ClusterSpec{
		ID: uuid.NewString(), Name: "edge", BaseDomain: "example", Masters: 1, Version: s.cluster.OpenshiftVersion,
		ReleaseImage: s.cluster.OcpReleaseImage, PullSecret: pullSecret,
	}
	supervised(t, dir, s.byController.ID)
	p := s.play(t, hub)
	p.comesTo(t, hub, wire.ClusterStatusInstalling)
	p.reports(t, hub, 0, wire.HostStageInstalling, wire.HostStageRebooting)
	g.Expect(hub.CompleteHost(t.Context(), p.hosts[0])).To(Succeed()) // Ironic has booted the disk
	h, _ := p.host(t, 0)
	g.Expect(h.Status).NotTo(Equal(wire.HostStatusInstalled), "that its node is there is the cluster's to say")
	p.reports(t, hub, 0, wire.HostStageJoined, wire.HostStageDone) // played: the program inside
	c, _ := p.readCluster(t)
	g.Expect(c.Status).To(Equal(wire.ClusterStatusFinalizing), "%s: nothing of the release has come up yet", c.StatusInfo)
	g.Expect(c.MonitoredOperators).To(HaveLen(2))
}

// TestAPlainClusterEndsWhenItsProgramSaysSo: it has no operators to report on.
func TestAPlainClusterEndsWhenItsProgramSaysSo(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	hub := testhub.Start(t, testhub.Options{IgnitionDir: dir, Timers: service.Timers{Monitor: 10 * time.Millisecond}})
	p := threeHosts(t).checked().withoutRelease().play(t, hub)
	supervised(t, dir, p.cluster)
	p.start(t, hub)
	for n := range p.hosts {
		p.reports(t, hub, n, wire.HostStageInstalling, wire.HostStageRebooting)
		g.Expect(hub.CompleteHost(t.Context(), p.hosts[n])).To(Succeed())
		h, _ := p.host(t, n)
		g.Expect(h.Progress.CurrentStage).To(Equal(wire.HostStageConfiguring), "the machine runs from its disk, and more is not known")
		p.reports(t, hub, n, wire.HostStageJoined, wire.HostStageDone) // played: the program inside
	}
	c, _ := p.readCluster(t)
	g.Expect(c.Status).To(Equal(wire.ClusterStatusFinalizing), c.StatusInfo)
	code, raw := p.agent(t, hub, 0).Do(t, "POST", "/clusters/"+p.cluster+"/actions/complete-installation", wire.CompletionParams{IsSuccess: true}, nil)
	g.Expect(code).To(Equal(202), raw)
	c, _ = p.readCluster(t)
	g.Expect(c.Status).To(Equal(wire.ClusterStatusInstalled))
	g.Expect(c.StatusInfo).To(Equal("The cluster is installed"))
}

// TestAnInstalledClusterTakesMoreHosts: one of a resource by itself, because nobody makes a call for it.
func TestAnInstalledClusterTakesMoreHosts(t *testing.T) {
	g := NewWithT(t)
	hub := testhub.Start(t, testhub.Options{Timers: soon})
	s := singleNode(t).checked().withoutRelease()
	s.byController = &service.ClusterSpec{ID: uuid.NewString(), Name: "edge", BaseDomain: "example", Masters: 1, PullSecret: pullSecret}
	p := s.play(t, hub)
	p.comesTo(t, hub, wire.ClusterStatusInstalling)
	p.reports(t, hub, 0, wire.HostStageInstalling, wire.HostStageRebooting)
	p.comesTo(t, hub, wire.ClusterStatusInstalled)
	another := wire.HostCreateParams{HostID: uuid.NewString()}
	code, raw := p.agent(t, hub, 0).Do(t, "POST", "/infra-envs/"+p.hosts[0].InfraEnvID+"/hosts", another, nil)
	g.Expect(code).To(Equal(http.StatusCreated), raw)
	c, _ := p.readCluster(t)
	g.Expect(c.Status).To(Equal(wire.ClusterStatusAddingHosts))
	var h wire.Host
	code, raw = p.user.Do(t, "GET", "/infra-envs/"+p.hosts[0].InfraEnvID+"/hosts/"+another.HostID, nil, &h)
	g.Expect(code).To(Equal(200), raw)
	g.Expect(h.Kind).To(Equal(wire.HostKindAddToExistingClusterHost))
}

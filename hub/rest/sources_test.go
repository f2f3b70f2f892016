package rest_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// done lets the hosts of a scene have passed their last checks before they are asked.
func (s *scene) done() *scene {
	for _, h := range s.hosts {
		h.disk = &wire.DiskSpeedCheckResponse{Path: "/dev/disk/by-path/pci-0000:00:03.0", IoSyncDuration: 1}
		h.images = &wire.ContainerImageAvailabilityResponse{Images: []wire.ContainerImageAvailability{
			{Name: s.cluster.OcpReleaseImage, Result: wire.ContainerImageAvailabilityResultSuccess},
		}}
	}
	return s
}

// order has the cluster installed, and waits for what came of its preparation.
func (p *played) order(t *testing.T) wire.LastInstallationPreparation {
	t.Helper()
	g := NewWithT(t)
	code, raw := p.user.Do(t, http.MethodPost, "/clusters/"+p.cluster+"/actions/install", nil, nil)
	g.Expect(code).To(Equal(http.StatusAccepted), raw)
	var c wire.Cluster
	g.Eventually(func() string {
		c, _ = p.readCluster(t)
		return c.LastInstallationPreparation.Status
	}, "30s", "10ms").ShouldNot(BeElementOf("", string(wire.LastInstallationPreparationStatusNotStarted)))
	return c.LastInstallationPreparation
}

// ignition is what a host is told when it asks for its own.
func (p *played) ignition(t *testing.T, hub *testhub.Hub, n int) (int, string) {
	t.Helper()
	return p.agentOf(t, hub, n).Do(t, http.MethodGet, "/infra-env/"+p.hosts[n].InfraEnvID+"/hosts/"+p.hosts[n].HostID+"/downloads/ignition", nil, nil)
}

func TestAReleaseWithoutIgnitionIsNotInstalled(t *testing.T) {
	g := NewWithT(t)
	hub := testhub.Start(t, testhub.Options{Timers: service.Timers{Monitor: 10 * time.Millisecond}}) // no folder of Ignition
	p := singleNode(t).done().play(t, hub)
	result := p.order(t)
	g.Expect(result.Status).To(Equal(wire.LastInstallationPreparationStatusFailed))
	g.Expect(result.Reason).To(And(ContainSubstring("master.ign"), ContainSubstring("--hub-ignition-dir")), "what is missing, and where it goes")
	for _, step := range p.agentOf(t, hub, 0).Poll(t, p.hosts[0]).Instructions {
		g.Expect(step.StepType).NotTo(Equal(wire.StepTypeInstall), "the disk is wiped for nothing")
	}
	c, _ := p.readCluster(t)
	g.Expect(c.Status).To(Equal(wire.ClusterStatusReady))
	g.Expect(c.StatusInfo).To(ContainSubstring("master.ign"))
	code, raw := p.ignition(t, hub, 0)
	g.Expect(code).To(Equal(http.StatusConflict), raw)
}

func TestTheHostThatBringsUpAClusterHasItsFile(t *testing.T) {
	g := NewWithT(t)
	roles := testhub.RoleFiles(t)
	g.Expect(os.Remove(filepath.Join(roles, "bootstrap.ign"))).To(Succeed())
	hub := testhub.Start(t, testhub.Options{IgnitionDir: roles, Timers: service.Timers{Monitor: 10 * time.Millisecond}})
	p := threeHosts(t).done().play(t, hub)
	g.Expect(p.order(t).Reason).To(ContainSubstring("bootstrap.ign"))
	g.Expect(os.WriteFile(filepath.Join(roles, "bootstrap.ign"), []byte(`{"ignition":{"version":"3.2.0"}}`), 0o600)).To(Succeed())
	g.Expect(p.order(t).Reason).To(BeEmpty(), "a person who asks again does not wait")
}

func TestWhatWasProvenIsHandedOut(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "master.ign")
	g.Expect(os.WriteFile(file, []byte(`{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/etc/motd","contents":{"source":"data:,proven%20for%20@{host.name}"}}]}}`), 0o600)).To(Succeed())
	hub := testhub.Start(t, testhub.Options{IgnitionDir: dir, Timers: service.Timers{Monitor: 10 * time.Millisecond}})
	p := singleNode(t).done().play(t, hub)
	g.Expect(p.order(t).Status).To(Equal(wire.LastInstallationPreparationStatusSuccess))
	g.Expect(os.WriteFile(file, []byte(`{"ignition":`), 0o600)).To(Succeed()) // somebody writes the folder for another cluster
	code, raw := p.ignition(t, hub, 0)
	g.Expect(code).To(Equal(http.StatusOK), raw)
	g.Expect(raw).To(ContainSubstring("proven%20for%20node-0"))
}

func TestCredentialsAreOfOneCluster(t *testing.T) {
	g := NewWithT(t)
	dir := testhub.RoleFiles(t) // somebody has put the files of his first cluster into the folder itself
	for name, content := range map[string]string{"kubeconfig-noingress": kubeconfig, "kubeadmin-password": "of-the-first-cluster"} {
		g.Expect(os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600)).To(Succeed())
	}
	hub := testhub.Start(t, testhub.Options{IgnitionDir: dir, Timers: service.Timers{Monitor: 10 * time.Millisecond}})
	other := singleNode(t).done()
	other.cluster.Name = "edge" // of somebody else
	p := other.play(t, hub)
	g.Expect(p.order(t).Status).To(Equal(wire.LastInstallationPreparationStatusSuccess))
	for _, name := range []string{"kubeadmin-password", "kubeconfig-noingress"} {
		code, raw := p.agentOf(t, hub, 0).Do(t, http.MethodGet, "/clusters/"+p.cluster+"/downloads/credentials?file_name="+name, nil, nil)
		g.Expect(code).To(Equal(http.StatusConflict), raw)
		g.Expect(raw).NotTo(ContainSubstring("of-the-first-cluster"))
	}
}

// TestTheSourceOfACluster: one that the hub does not have is refused when the cluster is made.
func TestTheSourceOfACluster(t *testing.T) {
	user := newClient(t, testhub.Start(t, testhub.Options{}).User())
	create := func(members string) string {
		return `{"name":"edge","openshift_version":"4.20.1","pull_secret":"{\"auths\":{}}"` + members + `}`
	}
	for name, tc := range map[string]struct {
		members string
		code    int
		want    string
	}{
		"none":                       {"", 201, ""},
		"its own":                    {`,"ignition_source":"files"`, 201, ""},
		"one that there is not":      {`,"ignition_source":"magic"`, 400, "want files, openshift-install, kubernetes or pointer"},
		"one that the hub has not":   {`,"ignition_source":"openshift-install"`, 400, "this hub is not set up for it"},
		"settings of another source": {`,"ignition_source":"files","kubernetes":{"version":"v1.37.1"}`, 400, "the cluster's is files"},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(user.do("POST", "/clusters", create(tc.members), tc.code)).To(ContainSubstring(tc.want))
		})
	}
}

// TestADayTwoHostOfAPlainClusterNeedsIgnition: with a host name alone it would be installed
// and know no cluster.
func TestADayTwoHostOfAPlainClusterNeedsIgnition(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	hub := testhub.Start(t, testhub.Options{IgnitionDir: dir, Timers: service.Timers{Monitor: 10 * time.Millisecond}})
	s := joining(t)
	s.cluster.OpenshiftVersion, s.cluster.OcpReleaseImage = "", ""
	p := s.play(t, hub)
	at := "/infra-envs/" + p.hosts[0].InfraEnvID + "/hosts/" + p.hosts[0].HostID + "/actions/install"
	code, raw := p.user.Do(t, http.MethodPost, at, nil, nil)
	g.Expect(code).To(Equal(http.StatusConflict), raw)
	g.Expect(raw).To(And(ContainSubstring("worker.ign"), ContainSubstring("ignition_endpoint.url")))
	h, _ := p.host(t, 0)
	g.Expect(h.Status).To(Equal(wire.HostStatusKnown), h.StatusInfo)

	unit := `{"ignition":{"version":"3.2.0"},"systemd":{"units":[{"name":"join.service","enabled":true,"contents":"[Service]\nExecStart=/usr/bin/join --as @{host.name}\n"}]}}`
	g.Expect(os.WriteFile(filepath.Join(dir, "worker.ign"), []byte(unit), 0o600)).To(Succeed())
	code, raw = p.user.Do(t, http.MethodPost, at, nil, nil)
	g.Expect(code).To(Equal(http.StatusAccepted), raw)
	code, raw = p.ignition(t, hub, 0)
	g.Expect(code).To(Equal(http.StatusOK), raw)
	g.Expect(raw).To(ContainSubstring("join --as joining"))
}

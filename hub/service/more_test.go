package service_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/auth"
	"github.com/ironflow/ironflow/hub/instructions"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

const sharedCluster = "22222222-2222-4222-8222-222222222222"

// shared makes a cluster, of one host where it does not say, and binds the infra-env to it.
func shared(t *testing.T, o service.Options, spec service.ClusterSpec) *world {
	t.Helper()
	w := start(t, o, &service.InfraEnvSpec{})
	spec.ID, spec.Name, spec.Masters = sharedCluster, "edge", cmp.Or(spec.Masters, 1)
	_, err := w.EnsureCluster(w.ctx, spec)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(w.DeleteInfraEnv(w.ctx, envID)).To(Succeed())
	_, err = w.EnsureInfraEnv(w.ctx, service.InfraEnvSpec{ID: envID, Name: "env", ClusterID: sharedCluster, AutoApprove: true})
	w.Expect(err).NotTo(HaveOccurred())
	return w
}

func (w *world) clusterStatus() string {
	c, err := w.Cluster(w.ctx, sharedCluster, false)
	w.Expect(err).NotTo(HaveOccurred())
	return c.Status
}

func TestHostJoinsAnInstalledCluster(t *testing.T) {
	w := shared(t, from(&played{}), service.ClusterSpec{})
	w.installing(hostA)
	_, err := w.RegisterHost(w.ctx, service.Registration{InfraEnvID: envID, HostID: hostB, AgentVersion: "registry.example/agent:1"})
	w.Expect(service.Code(err)).To(Equal(503), "a cluster that is being installed takes no new hosts for now")
	w.Expect(w.stage(hostA, wire.HostStageDone)).To(Succeed())
	w.Expect(w.clusterStatus()).To(Equal(wire.ClusterStatusInstalled))
	_, err = w.AllowAddHosts(w.ctx, sharedCluster)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(w.clusterStatus()).To(Equal(wire.ClusterStatusAddingHosts))

	w.register(hostB)
	w.inventory(hostB, nil)
	w.comesTo(hostB, wire.HostStatusInstalling) // every approved host is installed by itself, once its Ignition is made
	h, err := w.Host(w.ctx, key(hostB))
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(h.Kind).To(Equal(wire.HostKindAddToExistingClusterHost))
	w.Expect(h.Role).To(Equal(wire.HostRoleWorker))
	w.Expect(w.poll(hostB)).To(Equal([]wire.StepType{wire.StepTypeInstall}))
	w.Expect(w.stage(hostB, wire.HostStageDone)).To(Succeed())
	w.Expect(w.status(hostB)).To(Equal(wire.HostStatusAddedToExistingCluster))
	w.Expect(w.status(hostA)).To(Equal(wire.HostStatusInstalled))
	_, err = w.ResetHost(w.ctx, key(hostA))
	w.Expect(service.Code(err)).To(Equal(409))
	_, err = w.ResetHost(w.ctx, key(hostB))
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(w.status(hostB)).To(Equal(wire.HostStatusResettingPendingUserAction))
}

// TestAnotherAgentIsWanted: the agent is told to make way, and nothing else, until the
// wanted one is there.
func TestAnotherAgentIsWanted(t *testing.T) {
	w := start(t, service.Options{Checks: service.Checks{AgentImage: "agent:2"}}, &service.InfraEnvSpec{SingleHost: true})
	answer, err := w.RegisterHost(w.ctx, service.Registration{InfraEnvID: envID, HostID: hostA, AgentVersion: "agent:1"})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(answer.NextStepRunnerCommand.Args[0]).To(ContainSubstring(`"agent_version":"agent:2"`))
	steps, err := w.Instructions(w.ctx, key(hostA), service.Poll{AgentVersion: "agent:1"})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(steps.Instructions).To(HaveLen(1))
	w.Expect(steps.Instructions[0].StepType).To(Equal(wire.StepTypeUpgradeAgent))
	w.Expect(steps.Instructions[0].Args).To(Equal([]string{`{"agent_image":"agent:2"}`}))
	w.Expect(w.reply(hostA, wire.StepTypeUpgradeAgent, wire.UpgradeAgentResponse{AgentImage: "agent:2", Result: wire.UpgradeAgentResultSuccess})).To(Succeed())

	_, err = w.RegisterHost(w.ctx, service.Registration{InfraEnvID: envID, HostID: hostA, AgentVersion: "agent:2"})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(w.poll(hostA)).To(ContainElement(wire.StepTypeInventory))
	w.inventory(hostA, nil)
	w.Expect(w.status(hostA)).To(Equal(wire.HostStatusKnown))
}

func TestHeldClusterWaits(t *testing.T) {
	w := shared(t, service.Options{}, service.ClusterSpec{Hold: true})
	w.register(hostA)
	w.inventory(hostA, nil)
	w.Expect(w.info(hostA)).To(ContainSubstring("on hold"))
	_, err := w.EnsureCluster(w.ctx, service.ClusterSpec{ID: sharedCluster, Name: "edge", Masters: 1})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(w.status(hostA)).To(Equal(wire.HostStatusPreparingForInstallation))
}

func TestImagesAreCheckedBeforeTheInstallation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := service.ClusterSpec{Version: "4.20", BaseDomain: "example", PullSecret: `{"auths":{}}`, ReleaseImage: "registry.example/release:1"}
		o := from(&played{})
		o.Images = instructions.Images{Installer: "quay.example/installer:1"}
		w := shared(t, o, release)
		w.register(hostA)
		w.inventory(hostA, nil)
		w.Expect(w.reply(hostA, wire.StepTypeDomainResolution, wire.DomainResolutionResponse{})).To(Succeed())
		w.Expect(w.poll(hostA)).To(Equal([]wire.StepType{wire.StepTypeInstallationDiskSpeedCheck, wire.StepTypeContainerImageAvailability}))
		w.checkDisk(hostA)
		result := func(result wire.ContainerImageAvailabilityResult, code int64) {
			w.Expect(w.Reply(w.ctx, key(hostA), wire.StepReply{
				StepType: wire.StepTypeContainerImageAvailability, ExitCode: code,
				Output: `{"images":[{"name":"registry.example/release:1","result":"` + string(result) + `"},{"name":"quay.example/installer:1","result":"success"}]}`,
			})).To(Succeed())
		}
		result(wire.ContainerImageAvailabilityResultFailure, 2)
		synctest.Wait()
		w.Expect(w.status(hostA)).To(Equal(wire.HostStatusKnown), "the cluster went back to ready")
		pass(62 * time.Second)
		w.poll(hostA)
		w.Expect(w.status(hostA)).To(Equal(wire.HostStatusPreparingForInstallation), "a check that failed is done again: %s", w.info(hostA))
		result(wire.ContainerImageAvailabilityResultSuccess, 0)
		w.comesTo(hostA, wire.HostStatusInstalling)
	})
}

func TestDeletedClusterGivesItsHostsBack(t *testing.T) {
	w := start(t, service.Options{}, &service.InfraEnvSpec{})
	_, err := w.EnsureCluster(w.ctx, service.ClusterSpec{ID: sharedCluster, Name: "edge", Masters: 3})
	w.Expect(err).NotTo(HaveOccurred())
	w.register(hostA)
	w.inventory(hostA, nil)
	_, err = w.BindHost(w.ctx, key(hostA), sharedCluster)
	w.Expect(err).NotTo(HaveOccurred())
	w.register(hostA)
	w.inventory(hostA, nil)
	w.Expect(w.status(hostA)).To(Equal(wire.HostStatusKnown))
	w.Expect(w.DeleteCluster(w.ctx, sharedCluster)).To(Succeed())
	w.Expect(w.status(hostA)).To(Equal(wire.HostStatusUnbinding))
	w.Expect(w.register(hostA)).To(Equal(wire.HostStatusDiscoveringUnbound))
	w.Expect(service.Code(w.DeleteCluster(w.ctx, sharedCluster))).To(Equal(404))
}

func TestIgnoredValidations(t *testing.T) {
	w := shared(t, service.Options{}, service.ClusterSpec{})
	w.register(hostA)
	w.inventory(hostA, func(i *wire.Inventory) { i.CPU.Count = 0 })
	w.Expect(w.status(hostA)).To(Equal(wire.HostStatusInsufficient))
	w.Expect(w.info(hostA)).To(ContainSubstring("has 0 CPUs"))
	for text, code := range map[string]int{`["connected"]`: 400, `connected`: 400} {
		_, err := w.SetIgnoredValidations(w.ctx, sharedCluster, wire.IgnoredValidations{HostValidationIDs: text})
		w.Expect(service.Code(err)).To(Equal(code), text)
	}
	_, err := w.SetIgnoredValidations(w.ctx, sharedCluster, wire.IgnoredValidations{HostValidationIDs: `["has-min-cpu-cores"]`})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(w.status(hostA)).To(Equal(wire.HostStatusPreparingForInstallation))
	w.Expect(w.IgnoredValidations(w.ctx, sharedCluster)).To(HaveField("HostValidationIDs", `["has-min-cpu-cores"]`))
}

func TestLogsOfAFailedHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := start(t, service.Options{MaxLogBytes: 10}, nil)
		w.installing(hostA)
		w.Expect(w.FailHost(w.ctx, key(hostA), "broken")).To(Succeed())
		logs := func() wire.LogsState {
			h, err := w.Host(w.ctx, key(hostA))
			w.Expect(err).NotTo(HaveOccurred())
			return h.LogsInfo
		}
		w.Expect(logs()).To(Equal(wire.LogsStateRequested))
		w.Expect(w.LogsProgress(w.ctx, key(hostA), wire.LogsStateCollecting)).To(Succeed())
		w.Expect(service.Code(w.LogsProgress(w.ctx, key(hostA), "dancing"))).To(Equal(400))
		pass(11 * time.Minute)
		w.Expect(logs()).To(Equal(wire.LogsStateTimeout))

		h, err := w.Host(w.ctx, key(hostA))
		w.Expect(err).NotTo(HaveOccurred())
		store := func(text string) error {
			return w.StoreHostLogs(w.ctx, *h.ClusterID, key(hostA), strings.NewReader(text))
		}
		w.Expect(store("late")).To(Succeed())
		w.Expect(service.Code(store("far too long"))).To(Equal(400))
		f, err := w.HostLogs(w.ctx, key(hostA))
		w.Expect(err).NotTo(HaveOccurred())
		content, err := io.ReadAll(f)
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(string(content)).To(Equal("late"), "an archive that is refused leaves the earlier one alone")
		w.Expect(f.Close()).To(Succeed())
		w.Expect(w.DeleteHost(w.ctx, key(hostA))).To(Succeed())
		_, err = w.HostLogs(w.ctx, key(hostA))
		w.Expect(service.Code(err)).To(Equal(404), "logs leave with their host")
	})
}

func TestOldEventsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := start(t, service.Options{Timers: service.Timers{KeepEvents: 24 * time.Hour}}, nil)
		w.register(hostA)
		count := func() int {
			events, _, err := w.Events(w.ctx, store.EventFilter{Message: "registered"})
			w.Expect(err).NotTo(HaveOccurred())
			return len(events)
		}
		before := count()
		w.Expect(before).To(BeNumerically(">", 0))
		ctx, stop := context.WithCancel(w.ctx)
		done := make(chan error, 1)
		go func() { done <- w.Run(ctx) }() // a second replica changes nothing
		pass(23*time.Hour + time.Minute)
		w.Expect(count()).To(Equal(before))
		pass(3 * time.Hour)
		w.Expect(count()).To(BeZero())
		stop()
		w.Expect(<-done).To(Succeed())
	})
}

func TestRefusals(t *testing.T) {
	w := start(t, service.Options{}, nil)
	w.installing(hostA)
	nobody := key(uuid.NewString())
	_, bad := w.RegisterHost(w.ctx, service.Registration{InfraEnvID: envID, HostID: "not an id"})
	_, change := w.UpdateHost(w.ctx, key(hostA), wire.HostUpdateParams{HostName: new("other")})
	_, args := w.SetInstallerArgs(w.ctx, key(hostA), []string{"--copy-network"})
	_, unbind := w.UnbindHost(w.ctx, key(hostA))
	_, install := w.InstallHost(w.ctx, key(hostA))
	_, env := w.EnsureInfraEnv(w.ctx, service.InfraEnvSpec{ID: envID, Name: "env", ClusterID: uuid.NewString()})
	_, cluster := w.EnsureCluster(w.ctx, service.ClusterSpec{ID: uuid.NewString()})
	_, missing := w.StartInstallation(w.ctx, uuid.NewString())
	_, ignition := w.HostIgnition(w.ctx, nobody)
	for name, tc := range map[string]struct {
		err  error
		code int
	}{
		"a host id that is none":                 {bad, 400},
		"settings of a host in work":             {change, 400},
		"arguments of a host in work":            {args, 409},
		"unbinding a host in work":               {unbind, 409},
		"installing a day-1 host alone":          {install, 409},
		"another cluster for an infra-env":       {env, 409},
		"a cluster without control plane":        {cluster, 400},
		"installing a cluster that is not there": {missing, 404},
		"Ignition of nobody":                     {ignition, 404},
		"a reply of nobody":                      {w.Reply(w.ctx, nobody, wire.StepReply{}), 404},
		"an event without a message":             {w.AddEvent(w.ctx, wire.Event{}), 400},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(tc.err).To(HaveOccurred())
			g.Expect(service.Code(tc.err)).To(Equal(tc.code), tc.err.Error())
		})
	}
	w.Expect(w.CompleteHost(w.ctx, nobody)).To(Succeed(), "a host that is gone is no error")
}

// TestWhatControllersTellIsForOneHost: a machine of another infra-env says that it
// has the same address.
func TestWhatControllersTellIsForOneHost(t *testing.T) {
	const mac, otherEnv = "02:00:00:00:00:01", "33333333-1111-4111-8111-111111111111"
	for name, tc := range map[string]struct {
		tell func(*world) error
		want string
	}{
		"failed":    {func(w *world) error { return w.FailHost(w.ctx, key(hostA), "deploy failed") }, wire.HostStatusError},
		"completed": {func(w *world) error { return w.CompleteHost(w.ctx, key(hostA)) }, wire.HostStatusInstalled},
		"removed":   {func(w *world) error { return w.DeleteHost(w.ctx, key(hostA)) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, service.Options{}, nil)
			w.installing(hostA)
			_, err := w.EnsureInfraEnv(w.ctx, service.InfraEnvSpec{ID: otherEnv, Name: "other", SingleHost: true, AutoApprove: true})
			w.Expect(err).NotTo(HaveOccurred())
			other := store.HostKey{InfraEnvID: otherEnv, HostID: hostB}
			_, err = w.RegisterHost(w.ctx, service.Registration{InfraEnvID: otherEnv, HostID: hostB})
			w.Expect(err).NotTo(HaveOccurred())
			own, err := w.Host(w.ctx, key(hostA))
			w.Expect(err).NotTo(HaveOccurred())
			w.Expect(w.Reply(w.ctx, other, wire.StepReply{StepType: wire.StepTypeInventory, Output: own.Inventory})).To(Succeed())
			w.Expect(w.Reply(w.ctx, other, wire.StepReply{StepType: wire.StepTypeInstallationDiskSpeedCheck, Output: `{"path":"/dev/sda","io_sync_duration":1}`})).To(Succeed())
			view, found, err := w.HostByMAC(w.ctx, envID, mac)
			w.Expect(err).NotTo(HaveOccurred())
			w.Expect(found).To(BeTrue())
			w.Expect(view.Key).To(Equal(key(hostA)))

			w.Expect(tc.tell(w)).To(Succeed())
			own, err = w.Host(w.ctx, key(hostA))
			w.Expect(service.IsNotFound(err)).To(Equal(tc.want == ""))
			w.Expect(own.Status).To(Equal(tc.want))
			w.Eventually(func() (string, error) {
				theirs, err := w.Host(w.ctx, other)
				return theirs.Status, err
			}, time.Minute).Should(Equal(wire.HostStatusInstalling))
		})
	}
}

// TestAMachineOfAnotherImageHasNotTheAddress: its failure would end the deployment of the one that has.
func TestAMachineOfAnotherImageHasNotTheAddress(t *testing.T) {
	const mac = "02:00:00:00:00:01"
	w := start(t, service.Options{}, &service.InfraEnvSpec{SingleHost: true})
	says := func(host, image string) {
		_, err := w.RegisterHost(w.ctx, service.Registration{InfraEnvID: envID, HostID: host, By: auth.Claims{InfraEnvID: envID, Machine: image}})
		w.Expect(err).NotTo(HaveOccurred())
		w.inventory(host, func(i *wire.Inventory) { i.Interfaces[0].MACAddress = mac })
	}
	says(hostA, "02:00:00:00:00:99")
	_, found, err := w.HostByMAC(w.ctx, envID, mac)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(found).To(BeFalse(), "it has booted the image of another machine")
	says(hostB, mac)
	view, found, err := w.HostByMAC(w.ctx, envID, mac)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(found).To(BeTrue())
	w.Expect(view).To(And(HaveField("Key", key(hostB)), HaveField("Machine", mac), HaveField("Shared", false)))
}

// TestTheHostOfAnAddressAmongManyThatClaimIt: any machine of the infra-env can register as many hosts as it likes.
func TestTheHostOfAnAddressAmongManyThatClaimIt(t *testing.T) {
	const mac, last = "02:00:00:00:00:01", "ffffffff-0000-4000-8000-000000000001"
	w := start(t, service.Options{}, &service.InfraEnvSpec{})
	says := func(host, image string) {
		w.Expect(w.registerBy(host, auth.Claims{InfraEnvID: envID, Machine: image})).To(Succeed())
		w.inventory(host, func(i *wire.Inventory) { i.Interfaces[0].MACAddress = mac })
	}
	for n := range 120 {
		says(fmt.Sprintf("11111111-0000-4000-8000-%012d", n), "")
	}
	says(last, mac)
	view, found, err := w.HostByMAC(w.ctx, envID, mac)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(found).To(BeTrue())
	w.Expect(view.Key).To(Equal(key(last)))
}

func TestTwoHostsThatSayTheyHaveAnAddress(t *testing.T) {
	w := start(t, service.Options{}, &service.InfraEnvSpec{SingleHost: true})
	for _, host := range []string{hostA, hostB} {
		w.register(host)
		w.inventory(host, func(i *wire.Inventory) { i.Interfaces[0].MACAddress = "02:00:00:00:00:01" })
	}
	_, found, err := w.HostByMAC(w.ctx, envID, "02:00:00:00:00:01")
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(found).To(BeFalse(), "nobody knows which of them it is")
	w.Expect(w.DeleteHost(w.ctx, key(hostB))).To(Succeed())
	_, found, err = w.HostByMAC(w.ctx, envID, "02:00:00:00:00:01")
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(found).To(BeTrue())
}

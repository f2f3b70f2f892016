package testhub_test

import (
	"encoding/json"
	"testing"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// untilInstall returns the order that the hub gives in the end.
func untilInstall(t *testing.T, agent *testhub.Caller, key store.HostKey, inventory wire.Inventory) wire.InstallCmdRequest {
	t.Helper()
	var order wire.InstallCmdRequest
	NewWithT(t).Expect(json.Unmarshal([]byte(agent.UntilInstall(t, key, inventory).Args[0]), &order)).To(Succeed())
	return order
}

func TestHostIsInstalledOverHTTP(t *testing.T) {
	g := NewWithT(t)
	hub := testhub.Start(t, testhub.Options{})
	env, token := hub.InfraEnv(t, "pool")
	agent := hub.Agent(token)
	key := store.HostKey{InfraEnvID: env, HostID: uuid.NewString()}
	inventory := testhub.Inventory(1)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(hub.Timeline(t))
		}
	})

	answer := agent.Register(t, key)
	g.Expect(answer.Status).To(Equal(wire.HostStatusDiscovering))
	g.Expect(answer.NextStepRunnerCommand.Args).To(HaveLen(1))
	g.Expect(answer.NextStepRunnerCommand.Args[0]).To(ContainSubstring("ironflow-agent:test"))

	order := untilInstall(t, agent, key, inventory)
	g.Expect(order.BootDevice).To(Equal(inventory.Disks[0].ID))
	g.Expect(order.Role).To(Equal(wire.HostRoleBootstrap))
	g.Expect(order.ControlPlaneCount).To(Equal(int64(1)))

	mac := inventory.Interfaces[0].MACAddress
	for _, stage := range []struct {
		stage   wire.HostStage
		info    string
		percent int
	}{
		{wire.HostStageStartingInstallation, "", 12},
		{wire.HostStageInstalling, "master", 25},
		{wire.HostStageWritingImageToDisk, "45%", 50},
		{wire.HostStageWritingImageToDisk, "100%", 50},
		{wire.HostStageRebooting, "Ironic will reboot", 75},
	} {
		agent.Progress(t, key, stage.stage, stage.info)
		view, found, err := hub.HostByMAC(t.Context(), key.InfraEnvID, mac)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(found).To(BeTrue())
		g.Expect(view.Percent).To(Equal(stage.percent), "%s", stage.stage)
		g.Expect(view.Stage).To(Equal(stage.stage))
		g.Expect(view.Installing).To(BeTrue())
	}
	agent.Reply(t, key, wire.StepReply{StepType: wire.StepTypeInstall, Output: "done"})

	g.Expect(hub.CompleteHost(t.Context(), key)).To(Succeed())
	g.Expect(hub.CompleteHost(t.Context(), key)).To(Succeed(), "being told twice changes nothing")
	view, _, err := hub.HostByMAC(t.Context(), key.InfraEnvID, mac)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(view.Installed).To(BeTrue())
	g.Expect(view.Percent).To(Equal(100))
	g.Expect(view.Attempts).To(Equal(1))
	cluster, err := hub.Cluster(t.Context(), view.ClusterID, true)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(cluster.Status).To(Equal(wire.ClusterStatusInstalled))
	g.Expect(cluster.Progress.TotalPercentage).To(Equal(int64(100)))

	g.Expect(hub.DeleteHost(t.Context(), key)).To(Succeed())
	_, found, err := hub.HostByMAC(t.Context(), key.InfraEnvID, mac)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found).To(BeFalse())
	g.Expect(hub.Clusters(t.Context(), store.ClusterFilter{})).To(BeEmpty())
}

func TestFailedInstallationBeginsAnew(t *testing.T) {
	for name, tc := range map[string]struct {
		fail func(g *WithT, hub *testhub.Hub, agent *testhub.Caller, t *testing.T, key store.HostKey)
		want string
	}{
		"the install step fails": {func(_ *WithT, _ *testhub.Hub, agent *testhub.Caller, t *testing.T, key store.HostKey) {
			agent.Reply(t, key, wire.StepReply{StepType: wire.StepTypeInstall, ExitCode: 1, Error: "disk is on fire\nand more"})
		}, "disk is on fire"},
		"the installer reports the failure": {func(_ *WithT, _ *testhub.Hub, agent *testhub.Caller, t *testing.T, key store.HostKey) {
			agent.Progress(t, key, wire.HostStageFailed, "no space left")
		}, "no space left"},
		"Ironic gives up": {func(g *WithT, hub *testhub.Hub, _ *testhub.Caller, t *testing.T, key store.HostKey) {
			g.Expect(hub.FailHost(t.Context(), key, "deploy step failed")).To(Succeed())
		}, "deploy step failed"},
		"the machine is redeployed before anybody told": {func(_ *WithT, _ *testhub.Hub, _ *testhub.Caller, _ *testing.T, _ store.HostKey) {
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			hub := testhub.Start(t, testhub.Options{})
			env, token := hub.InfraEnv(t, "pool")
			key := store.HostKey{InfraEnvID: env, HostID: uuid.NewString()}
			// With the host's own token: what all share does not prove to be the machine.
			first := hub.Agent(token).With(wire.HeaderAttempt, "boot-1").Exchange(t, key)
			inventory := testhub.Inventory(2)
			mac := inventory.Interfaces[0].MACAddress
			t.Cleanup(func() {
				if t.Failed() {
					t.Log(hub.Timeline(t))
				}
			})
			untilInstall(t, first, key, inventory)
			first.Progress(t, key, wire.HostStageInstalling, "")

			tc.fail(g, hub, first, t, key)
			if tc.want != "" {
				view, _, err := hub.HostByMAC(t.Context(), key.InfraEnvID, mac)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(view.Failed).To(BeTrue())
				g.Expect(view.Reason).To(Equal(tc.want))
				g.Expect(view.Info).To(ContainSubstring(tc.want))
				g.Expect(first.Register(t, key).Status).To(Equal(wire.HostStatusError), "the same attempt stays failed")
				var types []wire.StepType
				for _, s := range first.Poll(t, key).Instructions {
					types = append(types, s.StepType)
				}
				g.Expect(types).To(Equal([]wire.StepType{wire.StepTypeLogsGather, wire.StepTypeStopInstallation}))
			}

			second := first.With(wire.HeaderAttempt, "boot-2")
			g.Expect(second.Register(t, key).Status).To(Equal(wire.HostStatusDiscovering))
			untilInstall(t, second, key, inventory)
			second.Progress(t, key, wire.HostStageRebooting, "")
			g.Expect(hub.CompleteHost(t.Context(), key)).To(Succeed())
			view, _, err := hub.HostByMAC(t.Context(), key.InfraEnvID, mac)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(view.Installed).To(BeTrue())
			g.Expect(view.Attempts).To(Equal(2))
			g.Expect(view.Reason).To(BeEmpty())
		})
	}
}

func TestHubGoesOnAfterItsDeath(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	hub := testhub.Start(t, testhub.Options{Dir: dir})
	env, token := hub.InfraEnv(t, "pool")
	key := store.HostKey{InfraEnvID: env, HostID: uuid.NewString()}
	agent := hub.Agent(token)
	agent.Register(t, key)
	untilInstall(t, agent, key, testhub.Inventory(3))
	agent.Progress(t, key, wire.HostStageWritingImageToDisk, "5%")
	hub.Stop()

	again := testhub.Start(t, testhub.Options{Dir: dir})
	sameEnv, sameToken := again.InfraEnv(t, "pool")
	g.Expect(sameEnv).To(Equal(env))
	g.Expect(sameToken).To(Equal(token), "images of running machines must stay valid")
	again.Agent(token).Progress(t, key, wire.HostStageRebooting, "")
	view, found, err := again.HostByMAC(t.Context(), env, testhub.Inventory(3).Interfaces[0].MACAddress)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found).To(BeTrue())
	g.Expect(view.Stage).To(Equal(wire.HostStageRebooting))
}

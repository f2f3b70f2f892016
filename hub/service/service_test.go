package service_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/auth"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

func TestSilence(t *testing.T) {
	for name, tc := range map[string]struct {
		prepare func(*world)
		wait    time.Duration
		want    string
		source  *played
	}{
		"a discovered host after three minutes":   {func(w *world) { w.register(hostA) }, 3*time.Minute + 10*time.Second, wire.HostStatusDisconnected, nil},
		"not a moment earlier":                    {func(w *world) { w.register(hostA) }, 2*time.Minute + 50*time.Second, wire.HostStatusDiscovering, nil},
		"an installing bootstrap host after five": {func(w *world) { w.installing(hostA) }, 5*time.Minute + 10*time.Second, wire.HostStatusError, nil},
		"a bootstrap host has two minutes more":   {func(w *world) { w.installing(hostA) }, 4*time.Minute + 50*time.Second, wire.HostStatusInstallingInProgress, nil},
		"nobody waits for a rebooting host": {func(w *world) {
			w.installing(hostA)
			w.Expect(w.stage(hostA, wire.HostStageRebooting)).To(Succeed())
		}, time.Hour, wire.HostStatusInstallingInProgress, nil},
		"a host that does not boot its disk": {func(w *world) {
			w.installing(hostA)
			w.Expect(w.stage(hostA, wire.HostStageRebooting)).To(Succeed())
		}, 81 * time.Minute, wire.HostStatusInstallingPendingUserAction, reporting()},
		"a host of which nobody tells whether it booted its disk": {func(w *world) {
			w.installing(hostA)
			w.Expect(w.stage(hostA, wire.HostStageRebooting)).To(Succeed())
		}, 81 * time.Minute, wire.HostStatusInstalled, nil},
		"a host that never starts to install": {func(w *world) {
			w.register(hostA)
			w.inventory(hostA, nil)
			w.checkDisk(hostA)
		}, 21 * time.Minute, wire.HostStatusError, nil},
		"checks that never end": {func(w *world) {
			w.register(hostA)
			w.inventory(hostA, nil)
		}, 18 * time.Minute, wire.HostStatusDisconnected, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				options := service.Options{}
				if tc.source != nil {
					options = from(tc.source)
				}
				w := start(t, options, nil)
				tc.prepare(w)
				pass(tc.wait)
				w.Expect(w.status(hostA)).To(Equal(tc.want), w.info(hostA))
			})
		})
	}
}

func TestSilentHostThatSpeaksAgainGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := start(t, service.Options{}, &service.InfraEnvSpec{SingleHost: true})
		w.register(hostA)
		w.inventory(hostA, nil)
		w.Expect(w.status(hostA)).To(Equal(wire.HostStatusKnown))
		pass(4 * time.Minute)
		w.Expect(w.status(hostA)).To(Equal(wire.HostStatusDisconnected))
		w.poll(hostA)
		w.Expect(w.status(hostA)).To(Equal(wire.HostStatusKnown))
	})
}

func TestUnpreparedInstallationIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		problem := errors.New("the tool is not installed")
		source := &played{before: func(context.Context) error { return problem }}
		w := start(t, from(source), nil)
		w.register(hostA)
		w.inventory(hostA, nil)
		synctest.Wait()
		w.Expect(w.status(hostA)).To(Equal(wire.HostStatusKnown))
		w.Expect(w.info(hostA)).To(ContainSubstring("the tool is not installed"))
		tries := source.calls
		pass(30 * time.Second)
		w.Expect(source.calls).To(Equal(tries), "not again within a minute")
		pass(32 * time.Second)
		w.Expect(source.calls).To(Equal(tries+1), "the second time after a minute")
		pass(90 * time.Second)
		w.Expect(source.calls).To(Equal(tries+1), "the third time after two")
		w.Expect(w.info(hostA)).To(ContainSubstring("the tool is not installed"), "the reason stays")
		problem = nil
		pass(32 * time.Second)
		w.Expect(w.status(hostA)).To(Equal(wire.HostStatusPreparingForInstallation))
	})
}

func TestHostWaitsForApproval(t *testing.T) {
	w := start(t, service.Options{}, &service.InfraEnvSpec{SingleHost: true})
	w.register(hostA)
	w.inventory(hostA, nil)
	view, found, err := w.HostByMAC(w.ctx, envID, "02:00:00:00:00:01")
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(found).To(BeTrue())
	w.Expect(view.Status).To(Equal(wire.HostStatusKnown))
	w.Expect(view.Waiting).To(ContainSubstring("approve the host"))
	w.Expect(w.ApproveHost(w.ctx, view.Key, true)).To(Succeed())
	w.Expect(w.status(hostA)).To(Equal(wire.HostStatusPreparingForInstallation))
	_, found, err = w.HostByMAC(w.ctx, envID, "0a:00:00:00:00:ff")
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(found).To(BeFalse(), "a bridge's address names no machine")
}

func TestReplies(t *testing.T) {
	for name, tc := range map[string]struct {
		reply wire.StepReply
		code  int
		want  string
	}{
		"install that runs already": {wire.StepReply{
			StepType: wire.StepTypeInstall, ExitCode: 125,
			Error: `the container name "assisted-installer" is already in use`,
		}, 0, wire.HostStatusInstallingInProgress},
		"install that failed":     {wire.StepReply{StepType: wire.StepTypeInstall, ExitCode: 125, Error: "other"}, 0, wire.HostStatusError},
		"lost medium":             {wire.StepReply{StepType: wire.StepTypeInventory, ExitCode: 256}, 0, wire.HostStatusError},
		"some other failure":      {wire.StepReply{StepType: wire.StepTypeNTPSynchronizer, ExitCode: -1}, 0, wire.HostStatusInstallingInProgress},
		"unreadable output":       {wire.StepReply{StepType: wire.StepTypeInventory, Output: "{"}, 400, wire.HostStatusInstallingInProgress},
		"more disks than any has": {wire.StepReply{StepType: wire.StepTypeInventory, Output: `{"disks":[` + strings.Repeat("{},", 8<<10) + "{}]}"}, 400, wire.HostStatusInstallingInProgress},
		"unknown step":            {wire.StepReply{StepType: "dance", Output: "yes"}, 0, wire.HostStatusInstallingInProgress},
		"still measuring":         {wire.StepReply{StepType: wire.StepTypeInstallationDiskSpeedCheck}, 0, wire.HostStatusInstallingInProgress},
		"late failure of cleanup": {wire.StepReply{StepType: wire.StepTypeDownloadBootArtifacts, ExitCode: 1}, 0, wire.HostStatusInstallingInProgress},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, service.Options{}, nil)
			w.installing(hostA)
			err := w.Reply(w.ctx, key(hostA), tc.reply)
			if tc.code == 0 {
				w.Expect(err).NotTo(HaveOccurred())
			} else {
				w.Expect(service.Code(err)).To(Equal(tc.code))
			}
			w.Expect(w.status(hostA)).To(Equal(tc.want))
		})
	}
}

func TestProgressRules(t *testing.T) {
	w := start(t, service.Options{}, nil)
	w.register(hostA)
	w.Expect(service.Code(w.stage(hostA, wire.HostStageInstalling))).To(Equal(409), "not before the installation")
	w.inventory(hostA, nil)
	w.checkDisk(hostA)
	w.comesTo(hostA, wire.HostStatusInstalling)
	for _, tc := range []struct {
		stage wire.HostStage
		code  int
	}{
		{wire.HostStageConfiguring, 409}, // a single node has no such stage, not even as its first
		{wire.HostStageInstalling, 0},
		{wire.HostStageInstalling, 0}, // again
		{wire.HostStageStartingInstallation, 409},
		{wire.HostStageRebooting, 0}, // stages may be left out
		{"Dancing", 409},
		{wire.HostStageDone, 0},
		{wire.HostStageDone, 0},
	} {
		err := w.stage(hostA, tc.stage)
		if tc.code == 0 {
			w.Expect(err).NotTo(HaveOccurred(), tc.stage)
		} else {
			w.Expect(service.Code(err)).To(Equal(tc.code), tc.stage)
		}
	}
	w.Expect(w.status(hostA)).To(Equal(wire.HostStatusInstalled))
	_, err := w.RegisterHost(w.ctx, service.Registration{InfraEnvID: envID, HostID: hostA, Attempt: "another"})
	w.Expect(service.Code(err)).To(Equal(409), "an installed host is refused until it is removed")
	w.Expect(w.DeleteHost(w.ctx, key(hostA))).To(Succeed())
	w.Expect(w.register(hostA)).To(Equal(wire.HostStatusDiscovering))
}

func TestClusterOfGivenHosts(t *testing.T) {
	const cluster = "22222222-2222-4222-8222-222222222222"
	w := start(t, service.Options{}, &service.InfraEnvSpec{AutoApprove: true})
	_, err := w.EnsureCluster(w.ctx, service.ClusterSpec{ID: cluster, Name: "edge", Masters: 1, Workers: 2})
	w.Expect(err).NotTo(HaveOccurred())
	hosts := []string{hostA, hostB, hostC}
	for i, host := range hosts {
		w.Expect(w.register(host)).To(Equal(wire.HostStatusDiscoveringUnbound))
		_, err := w.BindHost(w.ctx, key(host), cluster)
		w.Expect(service.Code(err)).To(Equal(409), "not before it is known")
		w.inventory(host, func(inventory *wire.Inventory) {
			if i == 1 {
				inventory.CPU.Count = 32
			}
		})
		_, err = w.BindHost(w.ctx, key(host), cluster)
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(w.poll(host)).To(BeEmpty())
		w.Expect(w.register(host)).To(Equal(wire.HostStatusDiscovering))
		w.inventory(host, nil)
	}
	for _, host := range hosts {
		w.Expect(w.status(host)).To(Equal(wire.HostStatusPreparingForInstallation))
		w.checkDisk(host)
	}
	for _, host := range hosts {
		w.comesTo(host, wire.HostStatusInstalling)
	}
	c, err := w.Cluster(w.ctx, cluster, true)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(c.Status).To(Equal(wire.ClusterStatusInstalling))
	roles := map[wire.HostRole]int{}
	for _, h := range c.Hosts {
		roles[h.Role]++
		w.Expect(h.Inventory).To(BeEmpty(), "its reports are not read")
	}
	w.Expect(roles).To(Equal(map[wire.HostRole]int{wire.HostRoleMaster: 1, wire.HostRoleWorker: 2}))
	for _, h := range c.Hosts {
		if h.Role == wire.HostRoleMaster { // the whole control plane: it writes its disk last
			for _, stage := range []wire.HostStage{wire.HostStageWaitingForBootkube, wire.HostStageWritingImageToDisk} {
				w.Expect(h.ProgressStages).To(ContainElement(stage))
				w.Expect(w.Progress(w.ctx, key(h.ID), wire.HostProgress{CurrentStage: stage})).To(Succeed())
			}
		}
		w.Expect(w.Progress(w.ctx, key(h.ID), wire.HostProgress{CurrentStage: wire.HostStageDone})).To(Succeed())
	}
	c, err = w.Cluster(w.ctx, cluster, false)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(c.Status).To(Equal(wire.ClusterStatusInstalled))
}

func TestCancelAndReset(t *testing.T) {
	w := start(t, service.Options{}, nil)
	w.installing(hostA)
	view, _, _ := w.HostByMAC(w.ctx, envID, "02:00:00:00:00:01")
	_, err := w.CancelInstallation(w.ctx, view.ClusterID)
	w.Expect(err).NotTo(HaveOccurred())
	view, _, _ = w.HostByMAC(w.ctx, envID, "02:00:00:00:00:01")
	w.Expect(view.Cancelled).To(BeTrue())
	w.Expect(view.Reason).To(ContainSubstring("cancelled"))
	_, err = w.CancelInstallation(w.ctx, view.ClusterID)
	w.Expect(service.Code(err)).To(Equal(409))
	_, err = w.ResetCluster(w.ctx, view.ClusterID)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(w.status(hostA)).To(Equal(wire.HostStatusResettingPendingUserAction))
	w.Expect(w.register(hostA)).To(Equal(wire.HostStatusDiscovering))
}

func TestHostMovesFromItsOwnClusterToAnother(t *testing.T) {
	const cluster = "22222222-2222-4222-8222-222222222222"
	w := start(t, service.Options{}, &service.InfraEnvSpec{SingleHost: true})
	_, err := w.EnsureCluster(w.ctx, service.ClusterSpec{ID: cluster, Name: "edge", Masters: 1})
	w.Expect(err).NotTo(HaveOccurred())
	w.register(hostA)
	w.inventory(hostA, nil)
	_, err = w.BindHost(w.ctx, key(hostA), cluster)
	w.Expect(service.Code(err)).To(Equal(409), "it is bound already")
	_, err = w.UnbindHost(w.ctx, key(hostA))
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(w.register(hostA)).To(Equal(wire.HostStatusDiscoveringUnbound), "it gets no cluster of its own again")
	w.inventory(hostA, nil)
	_, err = w.BindHost(w.ctx, key(hostA), cluster)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(w.register(hostA)).To(Equal(wire.HostStatusDiscovering))
	h, err := w.Host(w.ctx, key(hostA))
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(h.ClusterID).To(HaveValue(Equal(cluster)))
}

func TestUnbindAndDelete(t *testing.T) {
	w := start(t, service.Options{}, &service.InfraEnvSpec{SingleHost: true})
	w.register(hostA)
	w.inventory(hostA, nil)
	_, err := w.UnbindHost(w.ctx, key(hostA))
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(w.status(hostA)).To(Equal(wire.HostStatusUnbinding))
	w.Expect(w.Clusters(w.ctx, store.ClusterFilter{})).To(BeEmpty(), "its own cluster ends with the binding")
	w.Expect(service.Code(w.DeleteInfraEnv(w.ctx, envID))).To(Equal(400), "it has a host")
	w.Expect(w.DeleteHost(w.ctx, key(hostA))).To(Succeed())
	w.Expect(service.Code(w.DeleteHost(w.ctx, key(hostA)))).To(Equal(404))
	w.Expect(w.DeleteInfraEnv(w.ctx, envID)).To(Succeed())
	_, err = w.RegisterHost(w.ctx, service.Registration{InfraEnvID: envID, HostID: hostA})
	w.Expect(service.Code(err)).To(Equal(404))
}

func TestChosenDisk(t *testing.T) {
	w := start(t, service.Options{}, &service.InfraEnvSpec{SingleHost: true})
	w.register(hostA)
	twoDisks := func(i *wire.Inventory) {
		i.Disks = append(i.Disks, wire.Disk{ID: "/dev/disk/by-id/big", Path: "/dev/sdb", Name: "sdb", DriveType: wire.DriveTypeSsd, SizeBytes: 900e9})
	}
	w.inventory(hostA, twoDisks)
	h, _ := w.Host(w.ctx, key(hostA))
	w.Expect(h.InstallationDiskID).To(Equal("/dev/disk/by-id/wwn-1"))

	choose := func(id string) wire.Host {
		h, err := w.UpdateHost(w.ctx, key(hostA), wire.HostUpdateParams{DisksSelectedConfig: []wire.DiskConfigParams{{ID: id, Role: wire.DiskRoleInstall}}})
		w.Expect(err).NotTo(HaveOccurred())
		return h
	}
	w.Expect(choose("/dev/sdb").InstallationDiskID).To(Equal("/dev/disk/by-id/big"))
	w.inventory(hostA, twoDisks)
	h, _ = w.Host(w.ctx, key(hostA))
	w.Expect(h.InstallationDiskID).To(Equal("/dev/disk/by-id/big"), "a choice outlives the next inventory")
	w.Expect(choose("/dev/not-found-by-hints").Status).To(Equal(wire.HostStatusInsufficient), "never another disk than the chosen one")
}

func TestChangeFeed(t *testing.T) {
	w := start(t, service.Options{}, nil)
	events, cancel := w.Subscribe()
	defer cancel()
	w.register(hostA)
	w.inventory(hostA, nil)
	seen := map[store.What]bool{}
	for !seen[store.ChangedInventory] || !seen[store.ChangedStatus] || !seen[store.ChangedCluster] {
		select {
		case e := <-events:
			seen[e.What] = true
			if e.HostID != "" {
				w.Expect(e.HostID).To(Equal(hostA))
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("only %v was announced", seen)
		}
	}
	cancel()
	cancel()
	w.Eventually(events).Should(BeClosed())
	w.register(hostB) // nobody is left to be held up
}

func TestSlowSubscriberHoldsNobodyUp(t *testing.T) {
	w := start(t, service.Options{}, nil)
	_, cancel := w.Subscribe()
	defer cancel()
	w.installing(hostA)
	for i := range 100 {
		w.Expect(w.Progress(w.ctx, key(hostA), wire.HostProgress{CurrentStage: wire.HostStageWritingImageToDisk, ProgressInfo: fmt.Sprintf("%d%%", i)})).To(Succeed())
	}
}

func TestTokens(t *testing.T) {
	secret, err := auth.NewKey(make([]byte, 32))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	w := start(t, service.Options{TokenKey: secret}, nil)
	token, err := w.AgentToken(w.ctx, envID)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(w.CheckAgentToken(w.ctx, token)).To(HaveField("InfraEnvID", envID))
	w.Expect(w.RevokeAgentTokens(w.ctx, envID)).To(Succeed())
	_, err = w.CheckAgentToken(w.ctx, token)
	w.Expect(err).To(MatchError(auth.ErrInvalid))
	_, err = w.AgentToken(w.ctx, uuid.NewString())
	w.Expect(service.Code(err)).To(Equal(404))
}

// TestRevocationsOutliveTheStore: a hub that has lost its records, and has its key and the
// InfraEnv, takes the tokens that were good before, and none that was revoked.
func TestRevocationsOutliveTheStore(t *testing.T) {
	secret, err := auth.NewKey(make([]byte, 32))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	spec := func(revoke string) service.InfraEnvSpec {
		return service.InfraEnvSpec{ID: envID, Name: "env", SingleHost: true, AutoApprove: true, Revoke: revoke}
	}
	for name, revocations := range map[string][]string{
		"by the command":              {"2026-01-02T03:04:05.000000006Z", "2026-01-02T03:04:05.1Z", "2026-03-01T00:00:00Z"},
		"by a word":                   {"stolen"},
		"by the command after a word": {"stolen", "2026-01-02T03:04:05Z"},
		"by words":                    {"stolen", "again", "lost"},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, service.Options{TokenKey: secret}, nil)
			var revoked []string
			good, err := w.AgentToken(w.ctx, envID)
			w.Expect(err).NotTo(HaveOccurred())
			for _, text := range revocations {
				revoked = append(revoked, good)
				_, err := w.EnsureInfraEnv(w.ctx, spec(text))
				w.Expect(err).NotTo(HaveOccurred())
				good, err = w.AgentToken(w.ctx, envID)
				w.Expect(err).NotTo(HaveOccurred())
				w.Expect(revoked).NotTo(ContainElement(good), "a revoked token is good again by %q", text)
			}
			last := spec(revocations[len(revocations)-1])
			lost := start(t, service.Options{TokenKey: secret}, &last)
			for n, token := range revoked {
				_, err := lost.CheckAgentToken(lost.ctx, token)
				lost.Expect(err).To(MatchError(auth.ErrInvalid), "token %d is good again", n)
			}
			if name != "by words" { // these have no order: what was good may have to be made anew
				lost.Expect(lost.CheckAgentToken(lost.ctx, good)).To(HaveField("InfraEnvID", envID))
			}
			address, err := lost.ImageToken(lost.ctx, envID)
			lost.Expect(err).NotTo(HaveOccurred())
			lost.Expect(len(address)).To(BeNumerically("<", 64), "it is in addresses that BMCs take")
		})
	}
}

// TestARevocationIsNotTakenBack by a text that was there before, or by an earlier time.
func TestARevocationIsNotTakenBack(t *testing.T) {
	secret, err := auth.NewKey(make([]byte, 32))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	const early, late = "2026-01-02T03:04:05Z", "2026-03-01T00:00:00Z"
	w := start(t, service.Options{TokenKey: secret}, nil)
	seen := map[string]string{}
	for _, text := range []string{"stolen", "again", "stolen", late, early, late, "stolen"} {
		_, err := w.EnsureInfraEnv(w.ctx, service.InfraEnvSpec{ID: envID, Name: "env", SingleHost: true, AutoApprove: true, Revoke: text})
		w.Expect(err).NotTo(HaveOccurred())
		token, err := w.AgentToken(w.ctx, envID)
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(seen).NotTo(HaveKey(token), "by %q", text)
		seen[token] = text
	}
}

func TestEnsureInfraEnvAgainChangesNothing(t *testing.T) {
	w := start(t, service.Options{}, nil)
	before, err := w.InfraEnv(w.ctx, envID)
	w.Expect(err).NotTo(HaveOccurred())
	events, cancel := w.Subscribe()
	defer cancel()
	after, err := w.EnsureInfraEnv(w.ctx, service.InfraEnvSpec{ID: envID, Name: "env", SingleHost: true, AutoApprove: true})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(after.UpdatedAt).To(Equal(before.UpdatedAt))
	w.Consistently(events, "50ms").ShouldNot(Receive())
}

//go:build e2e

package e2e

import (
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/wire"
)

// tellOnce are events that an installation has once: for each host, stage, or at all.
var tellOnce = []string{
	"cluster_prepare_installation_started", "host_installation_started", "host_install_progress_updated",
	"cluster_finalizing_stage_updated", "cluster_operator_status", "cluster_installation_completed",
}

// killHub kills the hub at a random moment of the next second, and starts it again a while later.
func (i *installation) killHub() {
	i.Helper()
	i.pass(time.Second)
	i.hub.Kill()
	i.pass(2 * time.Second)
	i.start(i.hub)
}

// over waits for the end of an installation, which has to be as if nothing had been.
func (i *installation) over() {
	i.Helper()
	i.until(i.p, wire.HostStatusInstalled)
	i.untilCluster(i.p, i.id, wire.ClusterStatusInstalled)
	i.inside.over()
	told := map[string]int{}
	for _, e := range i.told() {
		if slices.Contains(tellOnce, e.Name) {
			told[e.Name+" "+wire.Value(e.HostID)+" "+e.Message]++
		}
	}
	i.Expect(told).To(And(Not(BeEmpty()), HaveEach(1)), "each event once")
	for _, h := range i.hosts(i.p) {
		i.Expect(i.written(h.ID)).To(Equal(1), h.ID)
		for _, kind := range []string{"client", "serving"} {
			i.Expect(i.inner.Approvals(i.Context(), i.request(kind, h))).To(Equal(1))
		}
	}
}

// TestTheHubIsKilledAtTenMoments of one installation, which comes to its end, each part of it once.
func TestTheHubIsKilledAtTenMoments(t *testing.T) {
	t.Parallel()
	i := newInstallation(t, wire.HostStageWritingImageToDisk, wire.HostStageWaitingForControlPlane, wire.HostStageWaitingForController)
	i.ownInner()
	i.beginHanging()
	i.installer.Behave("")
	i.killHub() // the run is gone with it
	i.Eventually(func() string { return i.cluster(i.id).LastInstallationPreparation.Status }, patience, look).
		Should(Equal(wire.LastInstallationPreparationStatusSuccess), "%s", story{i.world, i.p})
	runs := i.installer.Runs()
	i.killHub()
	i.untilStage(1, wire.HostStageWritingImageToDisk)
	i.killHub()
	i.killHub()
	i.untilStage(1, wire.HostStageRebooting)
	i.killHub()
	i.untilStage(1, wire.HostStageWaitingForController)
	i.killHub()
	i.rebooted()
	i.killHub()
	hosts := i.hosts(i.p)
	i.joins(hosts[0])
	i.killHub()
	i.getsReady(hosts[0])
	i.kubelet(hosts[1])
	i.kubelet(hosts[2])
	i.killHub()
	i.untilCluster(i.p, i.id, wire.ClusterStatusFinalizing)
	i.Expect(i.inner.Up(i.Context(), version)).To(Succeed())
	i.killHub()
	i.over()
	i.Expect(i.installer.Runs()).To(Equal(runs), "what was made is kept")
}

// TestTheProgramInsideIsKilledAtTenMoments of one installation.
func TestTheProgramInsideIsKilledAtTenMoments(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	i.ownInner()
	i.begin()
	i.rebooted()
	kill := func() {
		t.Helper()
		i.pass(2 * time.Second)
		i.inside.kill()
		i.inside = i.startInside(i.id)
	}
	kill()
	i.inside.says("the hub knows the cluster")
	kill()
	hosts := i.hosts(i.p)
	for _, h := range hosts {
		i.joins(h)
		kill()
		i.getsReady(h)
		kill()
	}
	i.untilCluster(i.p, i.id, wire.ClusterStatusFinalizing)
	kill()
	i.Expect(i.inner.Up(i.Context(), version)).To(Succeed())
	kill()
	i.over()
}

package service_test

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/wire"
)

func TestClustersThatLackInput(t *testing.T) {
	w := shared(t, service.Options{}, service.ClusterSpec{Version: "4.20", Masters: 3})
	w.register(hostA)
	w.inventory(hostA, func(i *wire.Inventory) { i.Interfaces[0].Ipv4Addresses = nil })
	w.Expect(w.clusterStatus()).To(Equal(wire.ClusterStatusPendingForInput))
	w.is(hostA, wire.HostStatusPendingForInput, "machine network")
}

// comingUp is a cluster of one installed host that has not come up.
func comingUp(t *testing.T, timers service.Timers) *world {
	o := from(reporting())
	o.Timers = timers
	w := shared(t, o, service.ClusterSpec{Hold: true})
	w.register(hostA)
	w.inventory(hostA, nil)
	_, err := w.StartInstallation(w.ctx, sharedCluster)
	w.Expect(err).NotTo(HaveOccurred())
	w.checkDisk(hostA)
	w.comesTo(hostA, wire.HostStatusInstalling)
	w.reaches(hostA, wire.HostStageDone)
	w.Expect(w.clusterStatus()).To(Equal(wire.ClusterStatusFinalizing))
	return w
}

func (w *world) finalizing(stage wire.FinalizingStage) {
	w.Expect(w.FinalizingProgress(w.ctx, sharedCluster, stage)).To(Succeed())
}

func (w *world) stageTimedOut() bool {
	c, err := w.Cluster(w.ctx, sharedCluster, false)
	w.Expect(err).NotTo(HaveOccurred())
	return c.Progress.FinalizingStageTimedOut
}

func TestClustersThatDoNotComeUp(t *testing.T) {
	scenes{
		"and say so": func(t *testing.T) {
			w := comingUp(t, service.Timers{})
			_, err := w.CompleteInstallation(w.ctx, sharedCluster, wire.CompletionParams{ErrorInfo: "its API never answered"})
			w.Expect(err).NotTo(HaveOccurred())
			c, err := w.Cluster(w.ctx, sharedCluster, false)
			w.Expect(err).NotTo(HaveOccurred())
			w.Expect(c.Status).To(Equal(wire.ClusterStatusError))
			w.Expect(c.StatusInfo).To(HaveSuffix("does not come up: its API never answered"))
		},
		"at all": func(t *testing.T) {
			w := comingUp(t, service.Timers{})
			pass(4*time.Hour + 50*time.Minute)
			w.Expect(w.clusterStatus()).To(Equal(wire.ClusterStatusFinalizing))
			pass(20 * time.Minute)
			w.Expect(w.clusterStatus()).To(Equal(wire.ClusterStatusError))
		},
		"because a stage takes too long": func(t *testing.T) {
			w := comingUp(t, service.Timers{})
			w.finalizing(wire.FinalizingStageAddingRouterCa)
			pass(69 * time.Minute)
			w.Expect(w.clusterStatus()).To(Equal(wire.ClusterStatusFinalizing))
			pass(2 * time.Minute)
			w.Expect(w.clusterStatus()).To(Equal(wire.ClusterStatusError))
		},
		"while a stage takes too long that they can do without": func(t *testing.T) {
			w := comingUp(t, service.Timers{})
			w.finalizing(wire.FinalizingStageApplyingOlmManifests)
			pass(11 * time.Minute)
			w.Expect(w.stageTimedOut()).To(BeTrue())
			w.Expect(w.clusterStatus()).To(Equal(wire.ClusterStatusFinalizing))
			w.finalizing(wire.FinalizingStageWaitingForOlmOperatorSetupJobs)
			w.Expect(w.stageTimedOut()).To(BeFalse(), "the next stage has time of its own")
		},
		"with soft limits": func(t *testing.T) {
			w := comingUp(t, service.Timers{Soft: true})
			w.finalizing(wire.FinalizingStageWaitingForClusterOperators)
			pass(71 * time.Minute)
			w.Expect(w.stageTimedOut()).To(BeTrue())
			w.Expect(w.clusterStatus()).To(Equal(wire.ClusterStatusFinalizing))
		},
	}.play(t)
}

func TestResetForgetsHowTheClusterCameUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := comingUp(t, service.Timers{})
		w.finalizing(wire.FinalizingStageAddingRouterCa)
		w.Expect(w.ClusterLogsProgress(w.ctx, sharedCluster, wire.LogsStateCollecting)).To(Succeed())
		c, err := w.ResetCluster(w.ctx, sharedCluster)
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(c.LogsInfo).To(BeEmpty())
		c, err = w.Cluster(w.ctx, sharedCluster, false)
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(c.Progress.FinalizingStage).To(BeEmpty())
		w.Expect(c.Progress.TotalPercentage).To(BeZero())
	})
}

func TestLogsOfACluster(t *testing.T) {
	scenes{
		"that do not come": func(t *testing.T) {
			w := comingUp(t, service.Timers{})
			_, err := w.CancelInstallation(w.ctx, sharedCluster)
			w.Expect(err).NotTo(HaveOccurred())
			w.Expect(service.Code(w.ClusterLogsProgress(w.ctx, sharedCluster, "dancing"))).To(Equal(400))
			w.Expect(w.ClusterLogsProgress(w.ctx, sharedCluster, wire.LogsStateCollecting)).To(Succeed())
			logs := func() wire.LogsState {
				c, err := w.Cluster(w.ctx, sharedCluster, false)
				w.Expect(err).NotTo(HaveOccurred())
				return c.LogsInfo
			}
			pass(59 * time.Minute)
			w.Expect(logs()).To(Equal(wire.LogsStateCollecting))
			pass(2 * time.Minute)
			w.Expect(logs()).To(Equal(wire.LogsStateTimeout))
			w.Expect(w.StoreClusterLogs(w.ctx, sharedCluster, strings.NewReader("late"))).To(Succeed())
			f, err := w.ClusterLogs(w.ctx, sharedCluster)
			w.Expect(err).NotTo(HaveOccurred())
			w.Expect(io.ReadAll(f)).To(Equal([]byte("late")))
			w.Expect(f.Close()).To(Succeed())
			w.Expect(logs()).To(Equal(wire.LogsStateCompleted))
		},
	}.play(t)
}

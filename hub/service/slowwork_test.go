package service_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/wire"
)

// TestSlowSourceHoldsNobodyUp: while Ignition is asked for, the cluster and its hosts
// can be worked on.
func TestSlowSourceHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := reporting()
		w := shared(t, from(source), service.ClusterSpec{Hold: true})
		w.register(hostA)
		w.inventory(hostA, nil)
		asked := 0
		source.before = func(context.Context) error {
			asked++
			ctx, cancel := context.WithTimeout(w.ctx, time.Minute)
			defer cancel()
			w.Expect(w.Reply(ctx, key(hostA), wire.StepReply{StepType: wire.StepTypeNTPSynchronizer, Output: `{"ntp_sources":[{"source_name":"a","source_state":"synced"}]}`})).To(Succeed())
			return nil
		}
		_, err := w.StartInstallation(w.ctx, sharedCluster)
		w.Expect(err).NotTo(HaveOccurred())
		synctest.Wait() // the preparation asks
		w.Expect(asked).NotTo(BeZero())
		c, err := w.Cluster(w.ctx, sharedCluster, false)
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(c.LastInstallationPreparation.Status).To(Equal(wire.LastInstallationPreparationStatusSuccess))
	})
}

// TestHostThatIsResetAfterItsCluster: what it forgets is forgotten for good, also when the reset of
// its cluster came first.
func TestHostThatIsResetAfterItsCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := start(t, service.Options{}, nil)
		w.installing(hostA)
		h, err := w.Host(w.ctx, key(hostA))
		w.Expect(err).NotTo(HaveOccurred())
		_, err = w.CancelInstallation(w.ctx, *h.ClusterID)
		w.Expect(err).NotTo(HaveOccurred())
		_, err = w.ResetCluster(w.ctx, *h.ClusterID)
		w.Expect(err).NotTo(HaveOccurred())
		_, err = w.ResetHost(w.ctx, key(hostA))
		w.Expect(err).NotTo(HaveOccurred())
		w.register(hostA)
		w.inventory(hostA, nil)
		w.Expect(w.status(hostA)).To(Equal(wire.HostStatusPreparingForInstallation), "it begins anew, and does not wait to repeat: "+w.info(hostA))
	})
}

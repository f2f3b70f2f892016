package service_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/ignition"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/wire"
)

// busy is a source that asks somebody else first.
type busy struct{ ask func() }

func (b *busy) Role(_ context.Context, _, file string) ([]byte, error) {
	if b.ask != nil {
		b.ask()
	}
	if file == "kubeconfig-noingress" {
		return []byte("kind: Config"), nil
	}
	return nil, ignition.ErrNone
}

// TestSlowSourceHoldsNobodyUp: while Ignition is asked for, the cluster and its hosts
// can be worked on.
func TestSlowSourceHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &busy{}
		w := shared(t, service.Options{Ignition: source}, service.ClusterSpec{Hold: true})
		w.register(hostA)
		w.inventory(hostA, nil)
		asked := 0
		source.ask = func() {
			asked++
			ctx, cancel := context.WithTimeout(w.ctx, time.Minute)
			defer cancel()
			w.Expect(w.Reply(ctx, key(hostA), wire.StepReply{StepType: wire.StepTypeNTPSynchronizer, Output: `{"ntp_sources":[{"source_name":"a","source_state":"synced"}]}`})).To(Succeed())
		}
		c, err := w.StartInstallation(w.ctx, sharedCluster)
		source.ask = nil
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(asked).NotTo(BeZero())
		w.Expect(c.MonitoredOperators).NotTo(BeEmpty(), "it is watched to its end")
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

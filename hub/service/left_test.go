package service_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// kept are the names of the files of the shared cluster that the store has.
func (w *world) kept() (names []string) {
	w.t.Helper()
	w.Expect(w.records.View(w.ctx, func(r *store.Reader) (err error) {
		names, err = r.ClusterFileNames(sharedCluster, "")
		return err
	})).To(Succeed())
	return names
}

// TestTheIgnitionOfAHostThatLeavesGoes from the store, sealed as it is: it opens the cluster that the
// host is no longer of.
func TestTheIgnitionOfAHostThatLeavesGoes(t *testing.T) {
	const ofHost, ofCluster = "made/host/" + envID + "/" + hostA, "made/rest"
	for name, tc := range map[string]struct {
		leave func(*world) error
		stays []string
		// fails has the installation fail before; else it comes to its end.
		fails bool
	}{
		"it is unbound": {func(w *world) error {
			w.unbind(hostA)
			w.Expect(w.status(hostA)).NotTo(Equal(wire.HostStatusInstalled))
			return nil
		}, []string{ofCluster}, false},
		"it is removed":          {func(w *world) error { return w.DeleteHost(w.ctx, key(hostA)) }, []string{ofCluster}, false},
		"its cluster is removed": {func(w *world) error { return w.DeleteCluster(w.ctx, sharedCluster) }, nil, false},
		"its cluster is reset": {func(w *world) error {
			_, err := w.ResetCluster(w.ctx, sharedCluster)
			return err
		}, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := reclaiming(t)
			w.installing(hostA)
			w.Expect(w.kept()).To(ConsistOf(ofHost, ofCluster))
			if tc.fails {
				w.Expect(w.stage(hostA, wire.HostStageFailed)).To(Succeed())
			} else {
				w.reaches(hostA, wire.HostStageDone)
			}
			w.Expect(tc.leave(w)).To(Succeed())
			w.Expect(w.kept()).To(ConsistOf(tc.stays))
			_, err := w.HostIgnition(w.ctx, key(hostA))
			w.Expect(service.Code(err)).To(BeElementOf(404, 409))
		})
	}
}

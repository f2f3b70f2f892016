package service_test

import (
	"context"
	"testing"
	"testing/synctest"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/service"
)

// TestWhatIsMadeForARemovedClusterIsCalledOff: a program that makes Ignition has the cluster's
// pull secret, and runs for minutes.
func TestWhatIsMadeForARemovedClusterIsCalledOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan struct{})
		source := hanging()
		hang := source.before
		source.before = func(ctx context.Context) error {
			defer close(ended)
			return hang(ctx)
		}
		w := shared(t, from(source), service.ClusterSpec{Hold: true})
		w.register(hostA)
		w.inventory(hostA, nil)
		_, err := w.StartInstallation(w.ctx, sharedCluster)
		w.Expect(err).NotTo(HaveOccurred())
		synctest.Wait()
		w.Expect(ended).NotTo(BeClosed())
		w.Expect(w.DeleteCluster(w.ctx, sharedCluster)).To(Succeed())
		synctest.Wait()
		w.Expect(ended).To(BeClosed())
	})
}

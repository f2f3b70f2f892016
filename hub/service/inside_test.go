package service_test

import (
	"testing"
	"testing/synctest"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/wire"
)

// TestWhatAProgramInsideTheClusterSays is waited for, where there is one: of hosts of the
// installation that a person had to help, and of those that join later.
func TestWhatAProgramInsideTheClusterSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := shared(t, from(inside()), service.ClusterSpec{})
		w.installing(hostA)
		w.reaches(hostA, wire.HostStageRebooting)
		w.register(hostA) // it boots the live image again
		w.Expect(w.clusterStatus()).To(Equal(wire.ClusterStatusInstallingPendingUserAction))
		w.reaches(hostA, wire.HostStageDone)
		w.Expect(w.clusterStatus()).To(Equal(wire.ClusterStatusFinalizing), "its hosts are there, and it has not said that it runs")
		_, err := w.CompleteInstallation(w.ctx, sharedCluster, wire.CompletionParams{IsSuccess: true})
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(w.clusterStatus()).To(Equal(wire.ClusterStatusInstalled))

		_, err = w.AllowAddHosts(w.ctx, sharedCluster)
		w.Expect(err).NotTo(HaveOccurred())
		w.register(hostB)
		w.inventory(hostB, nil)
		synctest.Wait() // its Ignition is made
		w.reaches(hostB, wire.HostStageInstalling, wire.HostStageRebooting)
		w.is(hostB, wire.HostStatusInstallingInProgress, "")
		w.reaches(hostB, wire.HostStageDone)
		w.is(hostB, wire.HostStatusAddedToExistingCluster, "The host was added to the cluster")
	})
}

package service_test

import (
	"strings"
	"testing"
	"testing/synctest"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/service"
)

// TestLogsLeaveWithTheirCluster: its own, and those of the hosts that go with it.
func TestLogsLeaveWithTheirCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := shared(t, service.Options{}, service.ClusterSpec{})
		w.register(hostA)
		w.inventory(hostA, nil)
		w.Expect(w.StoreHostLogs(w.ctx, sharedCluster, key(hostA), strings.NewReader("host"))).To(Succeed())
		w.Expect(w.StoreClusterLogs(w.ctx, sharedCluster, strings.NewReader("cluster"))).To(Succeed())
		w.Expect(w.DeleteCluster(w.ctx, sharedCluster)).To(Succeed())
		_, err := w.HostLogs(w.ctx, key(hostA))
		w.Expect(service.Code(err)).To(Equal(404))
		_, err = w.ClusterLogs(w.ctx, sharedCluster)
		w.Expect(service.Code(err)).To(Equal(404))
	})
}

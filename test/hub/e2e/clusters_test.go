//go:build e2e

package e2e

import (
	"net/http"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/wire"
)

// TestThreeHosts form a cluster and are installed, each of them once.
func TestThreeHosts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.newCluster(3)
	p := w.newPool(id)
	for range 3 {
		w.boot(p)
	}
	w.install(p, id)
	w.installs(p)
	w.finish(p, id)
	roles := map[string]int{}
	for _, h := range w.hosts(p) {
		roles[string(h.Role)]++
		w.Expect(w.written(h.ID)).To(Equal(1), h.ID)
	}
	w.Expect(roles).To(Equal(map[string]int{"master": 3}))
}

// TestSingleNode, and then a host that joins it. Meanwhile the installed host is
// booted from the live image once more, and is not installed again.
func TestSingleNodeAndAHostThatJoins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.newCluster(1)
	p := w.newPool(id)
	first := w.boot(p)
	w.install(p, id)
	w.installs(p)
	w.finish(p, id)
	host := w.host(first)
	w.Expect(w.written(host.ID)).To(Equal(1))

	w.do(http.MethodPost, "/clusters/"+id+"/actions/allow-add-hosts", nil, nil)
	w.untilCluster(p, id, wire.ClusterStatusAddingHosts)
	joining := w.newPool(id)
	second := w.boot(joining)
	w.until(joining, wire.HostStatusKnown)
	w.do(http.MethodPost, "/infra-envs/"+joining.id+"/hosts/"+w.host(second).ID+"/actions/install", nil, nil)
	first.reboot()
	w.installs(joining)
	w.joinLater(joining, w.host(second))
	w.Expect(w.written(w.host(second).ID)).To(Equal(1))
	w.until(p, wire.HostStatusInstalled)
	w.Expect(w.written(host.ID)).To(Equal(1), "an installed host is not installed again")
}

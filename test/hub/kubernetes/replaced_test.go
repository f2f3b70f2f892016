//go:build e2e

package kubernetes

import (
	"net/http"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/cluster/manifests"
	"github.com/ironflow/ironflow/hub/wire"
)

// TestAControlPlaneHostIsReplaced: a host of the control plane is lost with its disk, the very one that the cluster's own
// program ran on. Another machine gets its address and joins: nobody but its user has deleted it at the hub, and its node.
func TestAControlPlaneHostIsReplaced(t *testing.T) {
	w := newWorld(t)
	id, running, _ := w.threeControlPlanes()
	where, err := running.NodeOf(t.Context(), manifests.Namespace)
	w.Expect(err).NotTo(HaveOccurred())
	var lost *host
	for _, h := range w.hosts {
		if h.name() == where {
			lost = h
		}
	}
	w.Expect(lost).NotTo(BeNil(), where)
	lost.machine.Kill()
	lost.lost = true
	w.said(lost.name() + " is lost")
	w.Eventually(func() []string {
		state, _ := running.Look(t.Context())
		return state.Waits
	}, patience, look).Should(ContainElement("node "+lost.name()+" is not Ready"), "the others have noticed it")
	w.do(http.MethodDelete, lost.path(), nil)
	w.do(http.MethodPost, "/clusters/"+id+"/actions/allow-add-hosts", nil)
	h := w.bootAt(lost.pool, lost.n)
	h.known(id)
	w.do(http.MethodPatch, h.path(), wire.HostUpdateParams{HostRole: new(string(wire.HostRoleMaster))})
	h.known(id)
	h.cgroupV1()
	w.do(http.MethodPost, h.path()+"/actions/install", nil)
	h.installs(id)
	h.start()
	w.said(h.name() + " starts in its place")
	h.done(wire.HostStatusAddedToExistingCluster)
	w.said(h.name() + " has joined")
	w.Expect(running.Forget(t.Context(), lost.name())).To(Succeed())
	w.Eventually(func() (string, error) { // a pod of the lost node's goes with it, sooner or later
		if err := running.Greet(t.Context(), w.site.Manifest()); err != nil {
			return "", err
		}
		return running.NodeOf(t.Context(), "default")
	}, patience, look).ShouldNot(Or(BeEmpty(), Equal(lost.name())))
	w.up(id, running, 3)
	w.works(running, 3)
	said := h.machine.Run(t, "journalctl", "--no-pager", "--unit", "ironflow-kubeadm")
	w.Expect(strings.Count(said, "the member is removed")).To(Equal(1), said)
}

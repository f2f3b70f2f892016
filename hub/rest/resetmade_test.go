package rest_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/operators"
	"github.com/ironflow/ironflow/hub/wire"
)

// TestAResetMakesAnotherCluster: what was made for an installation that was reset may be known to others, and is on disks
// of hosts. The next one has keys and credentials of its own, though nothing else is different.
func TestAResetMakesAnotherCluster(t *testing.T) {
	g := NewWithT(t)
	hub := withInstaller(t, operators.Table{})
	s := threeHosts(t).ofInstaller().done()
	p := s.play(t, hub)
	user, cluster := newClient(t, hub.User()), "/clusters/"+p.cluster
	becomes := func(want string) {
		t.Helper()
		g.Eventually(func() string { c, _ := p.readCluster(t); return c.Status }, "30s", "20ms").Should(Equal(want))
	}
	made := func() string {
		t.Helper()
		becomes(wire.ClusterStatusReady)
		g.Expect(p.order(t).Reason).To(BeEmpty())
		becomes(wire.ClusterStatusInstalling)
		return user.do("GET", cluster+"/downloads/credentials?file_name=kubeconfig-noingress", "", 200)
	}
	first := made()
	user.do("POST", cluster+"/actions/reset", "", 202)
	for n, h := range s.hosts {
		agent := p.agentOf(t, hub, n)
		agent.Register(t, h.key)
		h.tell(t, agent)
	}
	g.Expect(made()).NotTo(Equal(first))
}

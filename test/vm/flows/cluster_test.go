//go:build machine

package flows

import (
	"strings"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/test/vm"
)

// clusterOfThree is a cluster of three hosts by the hub: a whole machine, and two
// simulated ones, whose agents run dry.
func clusterOfThree(f *flow) {
	simulated := f.world.options.Simulated
	const cluster, name, word = "three", "whole", "whole-d1"
	f.Expect(f.world.CreateInfraEnv(f.Context())).To(Succeed())
	f.Expect(f.world.CreateCluster(f.Context(), cluster, 1+len(simulated))).To(Succeed())
	h := f.host(Spec{Name: name})
	console := h.Console()
	f.Expect(h.Create(f.Context(), both(ForCluster(cluster, "master"), SayInstalled(word)))).To(Succeed())
	others := make([]*Host, len(simulated))
	for i, s := range simulated {
		others[i] = f.rehearse(s)
		f.Expect(others[i].Create(f.Context(), ForCluster(cluster, "master"))).To(Succeed())
	}
	f.arrives(h, console, word, cluster)
	for _, other := range others {
		f.Expect(other.UntilState(f.Context(), metal3v1.StateProvisioned, installLimit)).To(Succeed())
		state, known := f.world.Fleet.State(other.Name)
		f.Expect(known).To(BeTrue())
		f.Expect(state.Disk).NotTo(BeNil(), "%s runs what was installed", other.Name)
	}
}

// rehearse is the host of a simulated machine.
func (f *flow) rehearse(s *scenario.Scenario) *Host {
	f.Helper()
	state, known := f.world.Fleet.State(s.Name)
	f.Expect(known).To(BeTrue())
	h := &Host{Name: s.Name, UUID: state.UUID, Timeline: NewTimeline(time.Now()), world: f.world, Config: vm.Config{
		NICs:  []vm.NIC{{MAC: strings.ToLower(s.Hardware.NICs[0].MAC)}},
		Disks: []vm.Disk{{Serial: s.Hardware.Disks[0].Serial}},
	}}
	f.Cleanup(h.unfollow)
	return h
}

package connectivity_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/connectivity"
	"github.com/ironflow/ironflow/hub/wire"
)

// fleet is a cluster whose hosts have one address in each of two networks.
type fleet struct {
	ids []string
	// near and far are the addresses of each host in the machine network and elsewhere.
	near, far []string
	// cut tells that a host does not reach another one, in one direction.
	cut map[[2]int]bool
}

var machineNetwork = netip.MustParsePrefix("10.0.0.0/16")

const layer2, layer3 = "10.0.0.0/16", connectivity.IPv4

func newFleet(n int) *fleet {
	f := &fleet{cut: map[[2]int]bool{}}
	for i := range n {
		f.ids = append(f.ids, fmt.Sprintf("host-%04d", i))
		f.near = append(f.near, fmt.Sprintf("10.0.%d.%d", i/250, i%250+1))
		f.far = append(f.far, fmt.Sprintf("172.16.%d.%d", i/250, i%250+1))
	}
	return f
}

func (f *fleet) apart(a, b int) { f.cut[[2]int{a, b}], f.cut[[2]int{b, a}] = true, true }

// report is what a host says of all others; the links that are cut are cut on
// both layers.
func (f *fleet) report(from int) *wire.ConnectivityReport {
	out := &wire.ConnectivityReport{}
	for to, id := range f.ids {
		if to == from {
			continue
		}
		ok := !f.cut[[2]int{from, to}]
		out.RemoteHosts = append(out.RemoteHosts, wire.ConnectivityRemoteHost{
			HostID:         id,
			L2Connectivity: []wire.L2Connectivity{{RemoteIPAddress: f.near[to], Successful: ok}},
			L3Connectivity: []wire.L3Connectivity{{RemoteIPAddress: f.near[to]}, {RemoteIPAddress: f.far[to], Successful: ok}},
		})
	}
	return out
}

// groups reports in the given order.
func (f *fleet) groups(order []int) map[string][]string {
	ids := slices.Clone(f.ids)
	slices.Reverse(ids) // the caller's order has no meaning
	g := connectivity.New(append([]connectivity.Network{connectivity.Subnet(machineNetwork)}, connectivity.Families()...), ids)
	for _, i := range order {
		g = g.With(f.ids[i], f.report(i))
	}
	return g.Groups(connectivity.Least)
}

func (f *fleet) all() []int {
	var out []int
	for i := range f.ids {
		out = append(out, i)
	}
	return out
}

func TestMajorityGroups(t *testing.T) {
	for _, size := range []int{3, 100, 500} {
		for name, tc := range map[string]struct {
			cut  func(*fleet)
			want func(*fleet) []string
		}{
			"all reach one another": {func(*fleet) {}, func(f *fleet) []string { return f.ids }},
			"one is cut off": {
				func(f *fleet) {
					for i := range f.ids[1:] {
						f.apart(0, i+1)
					}
				},
				func(f *fleet) []string { return atLeast(f.ids[1:]) },
			},
			"one is heard and does not hear": {
				func(f *fleet) {
					for i := range f.ids[1:] {
						f.cut[[2]int{0, i + 1}] = true
					}
				},
				func(f *fleet) []string { return atLeast(f.ids[1:]) },
			},
			"a link is broken in one direction": {
				func(f *fleet) { f.cut[[2]int{0, 1}] = true },
				func(f *fleet) []string { return atLeast(append([]string{f.ids[0]}, f.ids[2:]...)) },
			},
			"the network fell apart": {
				func(f *fleet) {
					for i := range f.ids {
						for j := range f.ids {
							if i%5 < 2 != (j%5 < 2) {
								f.cut[[2]int{i, j}] = true
							}
						}
					}
				},
				func(f *fleet) []string {
					var out []string
					for i, id := range f.ids {
						if i%5 >= 2 {
							out = append(out, id)
						}
					}
					return atLeast(out)
				},
			},
		} {
			t.Run(fmt.Sprintf("%d hosts, %s", size, name), func(t *testing.T) {
				g := NewWithT(t)
				f := newFleet(size)
				tc.cut(f)
				groups := f.groups(f.all())
				g.Expect(groups[layer2]).To(Equal(tc.want(f)))
				g.Expect(groups[layer3]).To(Equal(tc.want(f)), "the other network is reached over a route only")
				g.Expect(groups[connectivity.IPv6]).To(BeEmpty())
			})
		}
	}
}

// atLeast is the group, or none when it is too small to be one.
func atLeast(ids []string) []string {
	if len(ids) < connectivity.Least {
		return []string{}
	}
	return ids
}

// TestGroupsOfRandomNetworks holds for any network: the hosts of a group reach
// one another, no other host reaches all of them, and the order in which hosts
// report does not matter, nor do reports that were replaced.
func TestGroupsOfRandomNetworks(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		f := newFleet(3 + random.IntN(30))
		for range random.IntN(len(f.ids) * len(f.ids) / 2) {
			f.cut[[2]int{random.IntN(len(f.ids)), random.IntN(len(f.ids))}] = true
		}
		g := NewWithT(t)
		order := f.all()
		group := f.groups(order)[layer2]
		random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		g.Expect(f.groups(append(order, order...))[layer2]).To(Equal(group), "seed %d", seed)
		if len(group) == 0 {
			continue
		}
		mutual := func(a, b int) bool { return a == b || !f.cut[[2]int{a, b}] && !f.cut[[2]int{b, a}] }
		for i, id := range f.ids {
			reachesAll := true
			for j, other := range f.ids {
				if slices.Contains(group, other) {
					reachesAll = reachesAll && mutual(i, j)
				}
			}
			g.Expect(slices.Contains(group, id)).To(Equal(reachesAll), "seed %d, %s", seed, id)
		}
	}
}

// TestTheLargerPartWins: whatever else is broken, a part of the network in which
// all is well and that is larger than all the rest is the group.
func TestTheLargerPartWins(t *testing.T) {
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 2))
		n := 7 + random.IntN(60)
		sound := n/2 + 1 + random.IntN(n/3)
		f := newFleet(n)
		random.Shuffle(n, func(i, j int) { f.ids[i], f.ids[j] = f.ids[j], f.ids[i] })
		for i := sound; i < n; i++ {
			for j := range sound { // the rest is cut off from the sound part
				f.apart(i, j)
			}
			if random.IntN(2) == 0 {
				f.apart(i, sound+random.IntN(n-sound))
			}
		}
		NewWithT(t).Expect(f.groups(f.all())[layer2]).To(Equal(slices.Sorted(slices.Values(f.ids[:sound]))), "seed %d", seed)
	}
}

func TestReportOfForeignHosts(t *testing.T) {
	g := NewWithT(t)
	graph := connectivity.New(connectivity.Families(), []string{"a", "b", "c"})
	graph = graph.With("stranger", &wire.ConnectivityReport{})
	for _, id := range []string{"a", "b", "c"} {
		report := &wire.ConnectivityReport{
			RemoteHosts: []wire.ConnectivityRemoteHost{
				{HostID: "stranger"}, {HostID: "a", L3Connectivity: []wire.L3Connectivity{{RemoteIPAddress: "no address", Successful: true}}},
			},
		}
		for _, to := range []string{"a", "b", "c"} {
			report.RemoteHosts = append(report.RemoteHosts, wire.ConnectivityRemoteHost{HostID: to, L3Connectivity: []wire.L3Connectivity{{RemoteIPAddress: "2001:db8::1", Successful: true}}})
		}
		graph = graph.With(id, report)
	}
	g.Expect(graph.Groups(3)).To(Equal(map[string][]string{connectivity.IPv4: {}, connectivity.IPv6: {"a", "b", "c"}}))
	graph = graph.With("c", nil)
	g.Expect(graph.Groups(2)[connectivity.IPv6]).To(Equal([]string{"a", "b"}), "a host that forgot its report reaches nobody")
}

// TestGrow: whatever was reported before counts for the hosts that were there, and
// a host that comes later is heard of as if it had been there from the start.
func TestGrow(t *testing.T) {
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 3))
		f := newFleet(4 + random.IntN(80))
		for range random.IntN(len(f.ids) * len(f.ids) / 4) {
			f.cut[[2]int{random.IntN(len(f.ids)), random.IntN(len(f.ids))}] = true
		}
		g := NewWithT(t)
		want := f.groups(f.all())
		first := 1 + random.IntN(len(f.ids)-1)
		graph := connectivity.New(append([]connectivity.Network{connectivity.Subnet(machineNetwork)}, connectivity.Families()...), f.ids[:first])
		known := func(i int) *wire.ConnectivityReport { // of the hosts that are there
			report := f.report(i)
			report.RemoteHosts = slices.DeleteFunc(report.RemoteHosts, func(r wire.ConnectivityRemoteHost) bool { return slices.Index(f.ids, r.HostID) >= first })
			return report
		}
		for i := range first {
			graph = graph.With(f.ids[i], known(i))
		}
		before := graph.Groups(connectivity.Least)
		grown, ok := graph.Grow(f.ids)
		g.Expect(ok).To(BeTrue(), "seed %d", seed)
		for i := range f.ids {
			grown = grown.With(f.ids[i], f.report(i))
		}
		g.Expect(grown.Groups(connectivity.Least)).To(Equal(want), "seed %d", seed)
		g.Expect(graph.Groups(connectivity.Least)).To(Equal(before), "seed %d: the graph before is as it was", seed)
	}
}

// TestGrowNeedsTheReports where one of them named the host that comes, or one left.
func TestGrowNeedsTheReports(t *testing.T) {
	g := NewWithT(t)
	f := newFleet(5)
	graph := connectivity.New(connectivity.Families(), f.ids[:4])
	graph = graph.With(f.ids[0], f.report(0)) // which names the fifth
	_, ok := graph.Grow(f.ids)
	g.Expect(ok).To(BeFalse(), "a host that came was named before")
	_, ok = graph.Grow(f.ids[:3])
	g.Expect(ok).To(BeFalse(), "a host has left")
	_, ok = graph.Grow(append(slices.Clone(f.ids[:4]), "other"))
	g.Expect(ok).To(BeTrue())
	crowd := &wire.ConnectivityReport{}
	for i := range 20_000 {
		crowd.RemoteHosts = append(crowd.RemoteHosts, wire.ConnectivityRemoteHost{HostID: fmt.Sprint(i)})
	}
	_, ok = graph.With(f.ids[1], crowd).Grow(append(slices.Clone(f.ids[:4]), "other"))
	g.Expect(ok).To(BeFalse(), "more strangers than are kept")
}

// TestTheSameReportIsTheSameGraph, so that nothing is computed for it.
func TestTheSameReportIsTheSameGraph(t *testing.T) {
	g := NewWithT(t)
	f := newFleet(5)
	graph := connectivity.New(connectivity.Families(), f.ids)
	once := graph.With(f.ids[0], f.report(0))
	g.Expect(once).NotTo(BeIdenticalTo(graph))
	g.Expect(once.With(f.ids[0], f.report(0))).To(BeIdenticalTo(once))
}

// BenchmarkReport is what one changed report of a cluster of 500 costs, with the
// groups that follow from it.
func BenchmarkReport(b *testing.B) {
	for _, size := range []int{5, 500} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			f := newFleet(size)
			g := connectivity.New([]connectivity.Network{connectivity.Subnet(machineNetwork)}, f.ids)
			for i := range f.ids {
				g = g.With(f.ids[i], f.report(i))
			}
			report := f.report(0)
			for b.Loop() {
				g.With(f.ids[0], report).Groups(connectivity.Least)
			}
		})
	}
}

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
		g.Report(f.ids[i], f.report(i))
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
	graph.Report("stranger", &wire.ConnectivityReport{})
	for _, id := range []string{"a", "b", "c"} {
		report := &wire.ConnectivityReport{RemoteHosts: []wire.ConnectivityRemoteHost{{HostID: "stranger"}, {HostID: "a", L3Connectivity: []wire.L3Connectivity{{RemoteIPAddress: "no address", Successful: true}}}}}
		for _, to := range []string{"a", "b", "c"} {
			report.RemoteHosts = append(report.RemoteHosts, wire.ConnectivityRemoteHost{HostID: to, L3Connectivity: []wire.L3Connectivity{{RemoteIPAddress: "2001:db8::1", Successful: true}}})
		}
		graph.Report(id, report)
	}
	g.Expect(graph.Groups(3)).To(Equal(map[string][]string{connectivity.IPv4: {}, connectivity.IPv6: {"a", "b", "c"}}))
	graph.Report("c", nil)
	g.Expect(graph.Groups(2)[connectivity.IPv6]).To(Equal([]string{"a", "b"}), "a host that forgot its report reaches nobody")
}

// BenchmarkReport is what one changed report of a cluster of 500 costs, with the
// groups that follow from it.
func BenchmarkReport(b *testing.B) {
	for _, size := range []int{5, 500} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			f := newFleet(size)
			g := connectivity.New([]connectivity.Network{connectivity.Subnet(machineNetwork)}, f.ids)
			for i := range f.ids {
				g.Report(f.ids[i], f.report(i))
			}
			report := f.report(0)
			for b.Loop() {
				g.Report(f.ids[0], report)
				g.Groups(connectivity.Least)
			}
		})
	}
}

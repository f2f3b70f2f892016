package capacity_test

import (
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/ironflow/ironflow/controllers/host/capacity"
)

func key(i int) types.NamespacedName {
	return types.NamespacedName{Namespace: "site", Name: fmt.Sprintf("host-%d", i)}
}

func TestLimits(t *testing.T) {
	rack := func(n int) capacity.Place {
		return capacity.Place{Ironic: "default", Domain: fmt.Sprintf("rack-%d", n)}
	}
	network := capacity.Place{Network: true, Ironic: "default"}
	for name, c := range map[string]struct {
		limits capacity.Limits
		places []capacity.Place // of hosts that ask, in order
		want   []capacity.Verdict
	}{
		"no limits": {capacity.Limits{}, []capacity.Place{network, network, rack(1)}, []capacity.Verdict{{Granted: true}, {Granted: true}, {Granted: true}}},
		"all hosts": {
			capacity.Limits{Total: 1},
			[]capacity.Place{network, rack(1), rack(2)},
			[]capacity.Verdict{{Granted: true}, {Limit: "all hosts", Of: 1}, {Limit: "all hosts", Of: 1, Ahead: 1}},
		},
		"virtual media does not count as network": {
			capacity.Limits{Network: 1},
			[]capacity.Place{network, rack(1), network},
			[]capacity.Verdict{{Granted: true}, {Granted: true}, {Limit: "hosts that boot over the network", Of: 1}},
		},
		"each Ironic for itself": {
			capacity.Limits{Ironic: 1},
			[]capacity.Place{{Ironic: "east"}, {Ironic: "west"}, {Ironic: "east"}},
			[]capacity.Verdict{{Granted: true}, {Granted: true}, {Limit: "Ironic east", Of: 1}},
		},
		"a full rack does not hold up the others": {
			capacity.Limits{Total: 3, Domain: 1},
			[]capacity.Place{rack(1), rack(1), rack(2), rack(1)},
			[]capacity.Verdict{{Granted: true}, {Limit: "failure domain rack-1", Of: 1}, {Granted: true}, {Limit: "failure domain rack-1", Of: 1, Ahead: 1}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			q := capacity.New(c.limits)
			for i, place := range c.places {
				g.Expect(q.Ask(key(i), place)).To(Equal(c.want[i]), "host %d", i)
				g.Expect(q.Ask(key(i), place)).To(Equal(c.want[i]), "asking again changes nothing")
			}
		})
	}
}

func TestWhoCameFirstIsLetInFirst(t *testing.T) {
	g := NewWithT(t)
	q := capacity.New(capacity.Limits{Total: 1})
	var granted []string
	q.OnGrant(func(k types.NamespacedName) { granted = append(granted, k.Name) })
	q.Hold(key(9), capacity.Place{}) // found at work after a restart
	for i := range 3 {
		g.Expect(q.Ask(key(i), capacity.Place{}).Granted).To(BeFalse())
	}
	q.Leave(key(1)) // does not want any more
	q.Leave(key(9))
	q.Leave(key(0))
	g.Expect(granted).To(Equal([]string{"host-0", "host-2"}))
	g.Expect(q.Holds(key(2))).To(BeTrue())
}

// TestWhoWaitedBeforeAStartComesFirst: by how long it has waited, whoever asks first.
func TestWhoWaitedBeforeAStartComesFirst(t *testing.T) {
	g := NewWithT(t)
	q := capacity.New(capacity.Limits{Total: 1})
	var granted []string
	q.OnGrant(func(k types.NamespacedName) { granted = append(granted, k.Name) })
	q.Close("east")
	east, west, start := capacity.Place{Ironic: "east"}, capacity.Place{Ironic: "west"}, time.Unix(1e9, 0)
	q.Hold(key(9), west)
	q.Ask(key(0), east) // is new
	q.Ask(key(1), east) // has waited before, and asks before it gets its place
	q.Restore(key(2), west, start.Add(time.Minute))
	q.Restore(key(1), east, start.Add(time.Hour))
	q.Restore(key(3), east, start)
	q.Restore(key(9), west, start) // is at work
	q.Open("east")
	g.Expect(q.Ask(key(1), east)).To(Equal(capacity.Verdict{Limit: "all hosts", Of: 1, Ahead: 2}), "asking again changes nothing")
	granted = nil
	for _, i := range []int{9, 3, 2, 1} {
		q.Leave(key(i))
	}
	g.Expect(granted).To(Equal([]string{"host-3", "host-2", "host-1", "host-0"}))
}

// TestAClosedIronicHoldsUpItsOwnHosts keeps those of one Ironic in line until who is at
// work there is known: then they are told, in order.
func TestAClosedIronicHoldsUpItsOwnHosts(t *testing.T) {
	g := NewWithT(t)
	q := capacity.New(capacity.Limits{Total: 2})
	var told []string
	q.OnGrant(func(k types.NamespacedName) { told = append(told, k.Name) })
	q.Close("east")
	for i := range 3 {
		g.Expect(q.Ask(key(i), capacity.Place{Ironic: "east"})).To(BeZero())
	}
	g.Expect(q.Ask(key(3), capacity.Place{Ironic: "west"}).Granted).To(BeTrue())
	q.Open("east")
	g.Expect(told).To(Equal([]string{"host-0", "host-1", "host-2"}))
	g.Expect(q.Holds(key(0))).To(BeTrue())
	g.Expect(q.Ask(key(1), capacity.Place{Ironic: "east"})).To(Equal(capacity.Verdict{Limit: "all hosts", Of: 2}))
}

// TestNoLimitIsExceeded lets hosts come and go at random: no limit is ever
// exceeded, and whoever waits does so for a limit that is used up.
func TestNoLimitIsExceeded(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		limits := capacity.Limits{
			Total: rapid.IntRange(0, 4).Draw(r, "total"), Network: rapid.IntRange(0, 3).Draw(r, "network"),
			Ironic: rapid.IntRange(0, 3).Draw(r, "ironic"), Domain: rapid.IntRange(0, 2).Draw(r, "domain"),
		}
		q := capacity.New(limits)
		working, waiting := map[int]capacity.Place{}, map[int]capacity.Place{}
		q.OnGrant(func(k types.NamespacedName) {
			for i, p := range waiting {
				if key(i) == k {
					working[i] = p
					delete(waiting, i)
				}
			}
		})
		for range rapid.IntRange(1, 60).Draw(r, "moves") {
			i := rapid.IntRange(0, 9).Draw(r, "host")
			p := capacity.Place{Network: i%2 == 0, Ironic: fmt.Sprint(i % 3), Domain: fmt.Sprint(i % 4)}
			if rapid.Bool().Draw(r, "leaves") {
				delete(working, i)
				delete(waiting, i)
				q.Leave(key(i))
			} else if q.Ask(key(i), p).Granted {
				working[i] = p
			} else {
				waiting[i] = p
			}
			check(r, q, limits, working, waiting)
		}
	})
}

// check compares the queue with the limits, counted anew.
func check(r *rapid.T, q *capacity.Queue, l capacity.Limits, working, waiting map[int]capacity.Place) {
	counts := map[string]int{}
	for _, p := range working {
		for _, name := range names(p) {
			counts[name]++
		}
	}
	limit := map[byte]int{'t': l.Total, 'n': l.Network, 'i': l.Ironic, 'd': l.Domain}
	for name, n := range counts {
		if most := limit[name[0]]; most > 0 && n > most {
			r.Fatalf("%d hosts work in %s, %d may", n, name, most)
		}
	}
	for i, p := range waiting {
		full := false
		for _, name := range names(p) {
			full = full || limit[name[0]] > 0 && counts[name] >= limit[name[0]]
		}
		if !full || q.Holds(key(i)) {
			r.Fatalf("host %d waits although there is room: %v", i, counts)
		}
	}
}

// names are the counters of a place.
func names(p capacity.Place) []string {
	list := []string{"total", "ironic" + p.Ironic, "domain" + p.Domain}
	if p.Network {
		list = append(list, "network")
	}
	return list
}

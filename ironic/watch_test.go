package ironic_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// news collects what a watch delivers.
type news struct {
	mu      sync.Mutex
	changes []ironic.Change
	at      []time.Time
}

func (n *news) take() []ironic.Change {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := n.changes
	n.changes, n.at = nil, nil
	return all
}

// of returns the changes of one kind.
func of(all []ironic.Change, kind ironic.ChangeKind) []ironic.Change {
	var some []ironic.Change
	for _, c := range all {
		if c.Kind == kind {
			some = append(some, c)
		}
	}
	return some
}

// watching starts a watch in the current bubble and waits for its first sweep.
func watching(ctx context.Context, g *ironic.Gateway, o ironic.WatchOptions) (*ironic.Watch, *news, func()) {
	ctx, cancel := context.WithCancel(ctx)
	w, n := ironic.NewWatch(g, o), &news{}
	var all sync.WaitGroup
	all.Go(func() { _ = w.Run(ctx) })
	all.Go(func() {
		for {
			select {
			case c := <-w.Changes():
				n.mu.Lock()
				n.changes, n.at = append(n.changes, c), append(n.at, time.Now())
				n.mu.Unlock()
			case <-ctx.Done():
				return
			}
		}
	})
	<-w.Synced()
	synctest.Wait()
	return w, n, func() { cancel(); all.Wait() }
}

// fleet makes a simulated Ironic with resting nodes.
func fleet(t *testing.T, o simulator.Options, size int) (*ironic.Gateway, *simulator.Server, []string) {
	t.Helper()
	g, s := newGateway(t, o)
	uuids := make([]string, size)
	for i := range uuids {
		uuids[i] = enrol(t, g, fmt.Sprintf("ns~host-%04d", i)).UUID
	}
	s.ResetCounts()
	return g, s, uuids
}

func TestWatchAtRestKeepsToItsBudget(t *testing.T) {
	for name, size := range map[string]int{"one node": 1, "one feed page": 50, "more than two sweep pages": 2500} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := NewWithT(t)
				g, s, _ := fleet(t, simulator.Options{}, size)
				_, got, stop := watching(t.Context(), g, ironic.WatchOptions{})
				defer stop()
				e.Expect(of(got.take(), ironic.Appeared)).To(HaveLen(size))
				pass(time.Minute + 5*time.Second) // between two reads
				s.ResetCounts()
				pass(time.Hour)
				pages := (size + 999) / 1000
				e.Expect(s.Total("")).To(BeNumerically("<=", 120+12*pages), "%v", s.Counts())
				e.Expect(s.Total("")).To(Equal(s.Total("GET /v1/nodes")), "no request per node: %v", s.Counts())
				e.Expect(got.take()).To(BeEmpty())
			})
		})
	}
}

func TestWatchFindsChanges(t *testing.T) {
	second := time.Second
	cases := map[string]struct {
		inFlight bool
		change   func(s *simulator.Server, uuid string)
		within   time.Duration
		kind     ironic.ChangeKind
		row      func(r ironic.Row) any
		want     any
	}{
		"state, host in flight": {
			inFlight: true, within: second, kind: ironic.Changed,
			change: func(s *simulator.Server, uuid string) {
				s.Edit(uuid, map[string]any{"provision_state": "manageable"})
			},
			row: func(r ironic.Row) any { return r.ProvisionState }, want: ironic.StateManageable,
		},
		"power changed by somebody, nothing in flight": {
			within: 30 * second, kind: ironic.Changed,
			change: func(s *simulator.Server, uuid string) { s.Edit(uuid, map[string]any{"power_state": "power on"}) },
			row:    func(r ironic.Row) any { return r.PowerState }, want: ironic.PowerOn,
		},
		"fault": {
			within: 30 * second, kind: ironic.Changed,
			change: func(s *simulator.Server, uuid string) {
				s.Edit(uuid, map[string]any{"fault": "power failure", "maintenance": true})
			},
			row: func(r ironic.Row) any { return r.Fault }, want: "power failure",
		},
		"health": {
			within: 30 * second, kind: ironic.Changed,
			change: func(s *simulator.Server, uuid string) { s.Edit(uuid, map[string]any{"health": "Critical"}) },
			row:    func(r ironic.Row) any { return r.Health }, want: "Critical",
		},
		"node deleted": {
			within: 5*time.Minute + second, kind: ironic.Vanished,
			change: func(s *simulator.Server, uuid string) { s.Remove(uuid) },
			row:    func(r ironic.Row) any { return r.UUID != "" }, want: true,
		},
		"database lost": {
			within: 30 * second, kind: ironic.Vanished,
			change: func(s *simulator.Server, _ string) { s.Wipe() },
			row:    func(r ironic.Row) any { return r.UUID != "" }, want: true,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := NewWithT(t)
				g, s, uuids := fleet(t, simulator.Options{}, 120)
				s.Edit(uuids[0], working)
				w, got, stop := watching(t.Context(), g, ironic.WatchOptions{})
				defer stop()
				if c.inFlight {
					w.Expect(uuids[0], true)
				}
				pass(time.Minute)
				got.take()
				uuid := uuids[77]
				c.change(s, uuid)
				pass(c.within)
				synctest.Wait()
				var mine []ironic.Change
				for _, change := range got.take() {
					if change.UUID == uuid {
						mine = append(mine, change)
					}
				}
				e.Expect(mine).To(HaveLen(1))
				e.Expect(mine[0].Kind).To(Equal(c.kind))
				e.Expect(c.row(mine[0].Row)).To(Equal(c.want))
				e.Expect(mine[0].Name).To(Equal("ns~host-0077"))
			})
		})
	}
}

// An Ironic that does not know a field refuses the list that asks for it.
func TestWatchOfAnIronicWithoutHealth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := NewWithT(t)
		g, s, uuids := fleet(t, simulator.Options{MaxMinor: 108}, 3)
		s.Edit(uuids[0], map[string]any{"health": "Critical"})
		w, _, stop := watching(t.Context(), g, ironic.WatchOptions{})
		defer stop()
		s.Edit(uuids[0], map[string]any{"power_state": "power on"})
		pass(30 * time.Second)
		row, known := w.Row(uuids[0])
		e.Expect(known).To(BeTrue())
		e.Expect(row.PowerState).To(Equal(ironic.PowerOn))
		e.Expect(row.Health).To(BeEmpty())
		e.Expect(w.Err()).NotTo(HaveOccurred())
	})
}

// working is what makes a node one that a host waits for.
var working = map[string]any{"provision_state": "cleaning"}

// atRest counts the requests of a minute.
func atRest(s *simulator.Server) int {
	pass(time.Minute)
	s.ResetCounts()
	pass(time.Minute)
	return s.Total("")
}

// A node that is expected to end what it does is looked for every second. That ends
// with the node's work, and with the node, whether or not its host says so.
func TestWatchRestsWhenNothingIsInFlight(t *testing.T) {
	for name, over := range map[string]func(w *ironic.Watch, s *simulator.Server, uuid string){
		"the node has done its work": func(_ *ironic.Watch, s *simulator.Server, uuid string) {
			s.Edit(uuid, map[string]any{"provision_state": "available"})
		},
		"the node was deleted":     func(_ *ironic.Watch, s *simulator.Server, uuid string) { s.Remove(uuid) },
		"we have deleted the node": func(w *ironic.Watch, s *simulator.Server, uuid string) { s.Remove(uuid); w.Forget(uuid) },
		"the database was lost":    func(_ *ironic.Watch, s *simulator.Server, _ string) { s.Wipe() },
		"the host says so":         func(w *ironic.Watch, _ *simulator.Server, uuid string) { w.Expect(uuid, false) },
		"its host was late to hear it": func(w *ironic.Watch, s *simulator.Server, uuid string) {
			s.Remove(uuid)
			w.Forget(uuid)
			w.Expect(uuid, true)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := NewWithT(t)
				g, s, uuids := fleet(t, simulator.Options{}, 120)
				s.Edit(uuids[7], map[string]any{"provision_state": "wait call-back"})
				w, _, stop := watching(t.Context(), g, ironic.WatchOptions{})
				defer stop()
				w.Expect(uuids[7], true)
				e.Expect(atRest(s)).To(BeNumerically(">=", 60))
				over(w, s, uuids[7])
				pass(5 * time.Minute) // a sweep
				e.Expect(atRest(s)).To(BeNumerically("<=", 3), "%v", s.Counts())
			})
		})
	}
}

// A burst larger than a feed page, mixed with nodes that moved to the front
// without any visible change, must not hide anything.
func TestFeedReadsOnUntilItKnowsTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := NewWithT(t)
		g, s, uuids := fleet(t, simulator.Options{}, 700)
		s.Edit(uuids[0], working)
		w, got, stop := watching(t.Context(), g, ironic.WatchOptions{Sweep: 24 * time.Hour, InFlight: time.Hour})
		defer stop()
		w.Expect(uuids[0], true)
		pass(10 * time.Second)
		for _, uuid := range uuids {
			s.Edit(uuid, nil) // gives every node a change time and a place
		}
		pass(10 * time.Second)
		e.Expect(got.take()).To(HaveLen(700), "appeared")
		for _, uuid := range uuids[100:400] {
			s.Edit(uuid, map[string]any{"provision_state": "manageable"})
		}
		for i := range 120 {
			s.Edit(uuids[(i*7)%100], nil) // heartbeats, in another order than before
		}
		pass(1100 * time.Millisecond)
		synctest.Wait()
		e.Expect(of(got.take(), ironic.Changed)).To(HaveLen(300))
		s.ResetCounts()
		pass(10 * time.Second)
		e.Expect(s.Total("GET /v1/nodes")).To(BeNumerically("<=", 11), "quiet again: one page a second")
	})
}

// TestWhatOthersSawHidesNothing changes a node, and after it more nodes than a page
// holds, which answers to requests of ours have described already: the feed must
// not take those for the known rest.
func TestWhatOthersSawHidesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := NewWithT(t)
		g, s, uuids := fleet(t, simulator.Options{}, 200)
		s.Edit(uuids[0], working)
		w, got, stop := watching(t.Context(), g, ironic.WatchOptions{InFlight: time.Hour})
		defer stop()
		w.Expect(uuids[0], true)
		for _, uuid := range uuids {
			s.Edit(uuid, map[string]any{"power_state": "power on"}) // so that all have a place in the feed
		}
		pass(10 * time.Second)
		got.take()
		s.Edit(uuids[0], map[string]any{"provision_state": "manageable"})
		for _, uuid := range uuids[1:150] {
			s.Edit(uuid, map[string]any{"provision_state": "verifying"})
			n, err := g.Get(t.Context(), uuid)
			e.Expect(err).NotTo(HaveOccurred())
			w.Learn(n.Row)
		}
		pass(2 * time.Second)
		news := of(got.take(), ironic.Changed)
		e.Expect(news).To(HaveLen(1), "what we know is no news")
		e.Expect(news[0].UUID).To(Equal(uuids[0]))
	})
}

// TestWhatAListLacksIsNoNews: a read in full tells of an agent that has long left; the
// lists do not.
func TestWhatAListLacksIsNoNews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := NewWithT(t)
		g, s, uuids := fleet(t, simulator.Options{}, 3)
		w, got, stop := watching(t.Context(), g, ironic.WatchOptions{})
		defer stop()
		s.Edit(uuids[1], map[string]any{"driver_internal_info": map[string]any{"agent_url": "https://192.0.2.1:9999", "agent_status_message": "50 %"}})
		pass(40 * time.Second)
		got.take()
		n, err := g.Get(t.Context(), uuids[1])
		e.Expect(err).NotTo(HaveOccurred())
		e.Expect(n.Agent.URL).NotTo(BeEmpty())
		w.Learn(n.Row)
		pass(10 * time.Minute)
		e.Expect(got.take()).To(BeEmpty())
	})
}

func TestNudgeLooksAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := NewWithT(t)
		g, s, uuids := fleet(t, simulator.Options{}, 3)
		w, got, stop := watching(t.Context(), g, ironic.WatchOptions{})
		defer stop()
		pass(40 * time.Second)
		got.take()
		s.ResetCounts()
		s.Edit(uuids[1], map[string]any{"power_state": "power on"})
		for range 100 {
			w.Nudge()
		}
		synctest.Wait()
		pass(200 * time.Millisecond)
		synctest.Wait()
		e.Expect(got.take()).To(HaveLen(1))
		e.Expect(s.Total("")).To(BeNumerically("<=", 2), "nudges become one")
	})
}

func TestProgressAndLostAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := NewWithT(t)
		g, s, uuids := fleet(t, simulator.Options{Heartbeat: time.Minute, Delays: simulator.Delays{Deploy: time.Hour, Work: time.Second}}, 60)
		s.Edit(uuids[5], map[string]any{"provision_state": "available"})
		e.Expect(g.Transition(t.Context(), uuids[5], ironic.Transition{Target: ironic.TargetActive})).To(Succeed())
		w, got, stop := watching(t.Context(), g, ironic.WatchOptions{HeartbeatTimeout: 300 * time.Second})
		defer stop()
		w.Expect(uuids[5], true)
		pass(6 * time.Second)
		row, known := w.Row(uuids[5])
		e.Expect(known).To(BeTrue())
		e.Expect(row.ProvisionState).To(Equal(ironic.StateDeployWait))
		e.Expect(row.DeployStep.String()).To(Equal("deploy.write_image"))
		e.Expect(row.Agent.URL).NotTo(BeEmpty())
		got.take()
		pass(20 * time.Minute)
		e.Expect(got.take()).To(BeEmpty(), "heartbeats alone are no news")
		s.LoseAgent(uuids[5], true)
		pass(195 * time.Second)
		e.Expect(got.take()).To(BeEmpty(), "0.6 of the timeout and the margin are not over since the last beat")
		pass(time.Minute + 10*time.Second)
		lost := of(got.take(), ironic.LostAgent)
		e.Expect(lost).To(HaveLen(1))
		e.Expect(lost[0].UUID).To(Equal(uuids[5]))
		pass(10 * time.Minute)
		e.Expect(of(got.take(), ironic.LostAgent)).To(BeEmpty(), "said once")
	})
}

// TestTheRhythmOfHeartbeatsIsLearnt: how often a ramdisk beats is Ironic's own setting, which its API does not tell. None
// counts as lost before that is known, nor before a pause has lasted for longer than any that may be.
func TestTheRhythmOfHeartbeatsIsLearnt(t *testing.T) {
	for name, c := range map[string]struct{ pause, heard, silent, lost time.Duration }{
		"one beat says nothing":             {5 * time.Minute, time.Minute, 2 * time.Hour, 0},
		"no more than the default's":        {2 * time.Minute, 20 * time.Minute, 8 * time.Minute, 2 * time.Minute},
		"of a time-out that was raised":     {5 * time.Minute, 20 * time.Minute, 20 * time.Minute, 6 * time.Minute},
		"what is shorter is not its rhythm": {20 * time.Second, time.Hour, 2 * time.Hour, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := NewWithT(t)
				g, s, uuids := fleet(t, simulator.Options{Heartbeat: c.pause, Delays: simulator.Delays{Deploy: 5 * time.Hour, Work: time.Second}}, 1)
				s.Edit(uuids[0], map[string]any{"provision_state": "available"})
				w, got, stop := watching(t.Context(), g, ironic.WatchOptions{})
				defer stop()
				e.Expect(g.Transition(t.Context(), uuids[0], ironic.Transition{Target: ironic.TargetActive})).To(Succeed())
				w.Expect(uuids[0], true)
				pass(c.heard)
				s.LoseAgent(uuids[0], true)
				pass(c.silent - c.pause)
				e.Expect(of(got.take(), ironic.LostAgent)).To(BeEmpty(), "it may only be slow")
				pass(c.pause + c.lost)
				e.Expect(len(of(got.take(), ironic.LostAgent)) == 1).To(Equal(c.lost != 0))
			})
		})
	}
}

func TestWatchSurvivesAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := NewWithT(t)
		g, s, uuids := fleet(t, simulator.Options{}, 120)
		w, got, stop := watching(t.Context(), g, ironic.WatchOptions{})
		defer stop()
		pass(time.Minute)
		got.take()
		e.Expect(w.Err()).NotTo(HaveOccurred())
		s.Intercept(func(*http.Request) *simulator.Fault { return &simulator.Fault{Cut: true} })
		pass(10 * time.Minute)
		e.Expect(ironic.KindOf(w.Err())).To(Equal(ironic.Unavailable))
		s.Remove(uuids[3])
		s.Edit(uuids[4], map[string]any{"power_state": "power on"})
		s.ResetCounts()
		pass(10 * time.Minute)
		e.Expect(s.Total("")).To(BeNumerically("<=", 21), "it does not hammer a dead Ironic")
		s.Intercept(nil)
		pass(31 * time.Second)
		e.Expect(w.Err()).NotTo(HaveOccurred())
		changes := got.take()
		e.Expect(of(changes, ironic.Vanished)).To(HaveLen(1), "a sweep follows at once")
		e.Expect(of(changes, ironic.Changed)).To(HaveLen(1))
	})
}

// edit is one random change of a node.
type edit struct {
	node  int
	field string
	value any
	after time.Duration
}

func edits(nodes int) *rapid.Generator[[]edit] {
	one := rapid.Custom(func(t *rapid.T) edit {
		e := edit{node: rapid.IntRange(0, nodes-1).Draw(t, "node"), after: time.Duration(rapid.IntRange(0, 1500).Draw(t, "ms")) * time.Millisecond}
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			e.field, e.value = "provision_state", rapid.SampledFrom([]string{"manageable", "available", "active", "wait call-back", "deploying", "deploy failed"}).Draw(t, "state")
		case 1:
			e.field, e.value = "power_state", rapid.SampledFrom([]string{"power on", "power off"}).Draw(t, "power")
		case 2:
			e.field, e.value = "last_error", rapid.SampledFrom([]string{"", "boom"}).Draw(t, "error")
		case 3:
			e.field, e.value = "maintenance", rapid.Bool().Draw(t, "maintenance")
		case 4:
			e.field = "remove"
		default:
			e.field = "touch" // moves to the front, changes nothing that is compared
		}
		return e
	})
	return rapid.SliceOfN(one, 1, 120)
}

// Whatever happens in whatever order, the watch ends up knowing exactly what
// Ironic has, and has told the last row of every node.
func TestRandomChangesAreNeverMissed(t *testing.T) {
	const nodes = 60
	rapid.Check(t, func(rt *rapid.T) {
		script := edits(nodes).Draw(rt, "edits")
		busy := rapid.Bool().Draw(rt, "in flight")
		var problem string
		synctest.Test(t, func(t *testing.T) {
			g, s, uuids := fleet(t, simulator.Options{}, nodes)
			if busy {
				s.Edit(uuids[0], working)
			}
			w, got, stop := watching(t.Context(), g, ironic.WatchOptions{FeedPage: 20})
			defer stop()
			if busy {
				w.Expect(uuids[0], true)
			}
			told := map[string]ironic.Change{}
			for _, e := range script {
				pass(e.after)
				switch e.field {
				case "remove":
					s.Remove(uuids[e.node])
				case "touch":
					s.Edit(uuids[e.node], nil)
				default:
					s.Edit(uuids[e.node], map[string]any{e.field: e.value})
				}
			}
			pass(5*time.Minute + 2*time.Second)
			synctest.Wait()
			for _, c := range got.take() {
				told[c.UUID] = c
			}
			problem = compare(w, s, uuids, told)
		})
		if problem != "" {
			rt.Fatal(problem)
		}
	})
}

func compare(w *ironic.Watch, s *simulator.Server, uuids []string, told map[string]ironic.Change) string {
	var wrong []string
	for _, uuid := range uuids {
		row, known := w.Row(uuid)
		node, exists := s.Node(uuid)
		switch {
		case known != exists:
			wrong = append(wrong, fmt.Sprintf("%s: known %t, exists %t", uuid, known, exists))
		case !exists && told[uuid].Kind != ironic.Vanished:
			wrong = append(wrong, fmt.Sprintf("%s: its end was not told", uuid))
		case exists && (string(row.ProvisionState) != node.ProvisionState || string(row.PowerState) != node.PowerState ||
			row.LastError != node.LastError || row.Maintenance != node.Maintenance):
			wrong = append(wrong, fmt.Sprintf("%s: row %+v, node %+v", uuid, row, node))
		case exists && told[uuid].Row.ProvisionState != row.ProvisionState:
			wrong = append(wrong, fmt.Sprintf("%s: told %v, row %v", uuid, told[uuid].Row.ProvisionState, row.ProvisionState))
		}
	}
	return strings.Join(wrong, "\n")
}

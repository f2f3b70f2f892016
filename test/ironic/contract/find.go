package contract

import (
	"context"
	"net/http"
	"strings"
	"sync"

	. "github.com/onsi/gomega" //nolint:staticcheck // these are tests: matchers read as sentences

	"github.com/ironflow/ironflow/ironic"
)

// missing is a node that nobody has.
const missing = "00000000-0000-4000-8000-00000000dead"

func probe(w *World) {
	w.Expect(w.Gateway.Ready(w.T.Context())).To(Succeed())
	w.Expect(w.Gateway.APIVersion()).To(MatchRegexp(`^1\.\d+$`))
	w.Expect(w.Gateway.Drivers()).To(ContainElement(And(HaveField("Name", "redfish"), HaveField("Deploy", ContainElements("custom-agent", "direct", "ramdisk")))))
	for _, feature := range []ironic.Feature{ironic.FeatureDeployAbort, ironic.FeatureDisablePowerOff, ironic.FeatureVirtualMediaStatus} {
		w.Expect(w.Gateway.Supports(feature)).To(BeTrue(), string(feature))
	}
}

func byID(w *World) {
	n, _ := w.Enrol()
	found, err := w.Gateway.Find(w.T.Context(), ironic.Identity{UUID: n.UUID})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(found.Name).To(Equal(n.Name))
	w.Expect(found.ProvisionState).To(Equal(ironic.StateEnroll))
	w.Expect(found.CreatedAt).NotTo(BeZero())
	_, err = w.Gateway.Get(w.T.Context(), missing)
	w.Expect(ironic.KindOf(err)).To(Equal(ironic.Gone), "%v", err)
	_, err = w.Gateway.Find(w.T.Context(), ironic.Identity{UUID: missing})
	w.Expect(err).To(MatchError(ironic.ErrNotFound))
}

func byName(w *World) {
	n, _ := w.Enrol()
	found, err := w.Gateway.Find(w.T.Context(), ironic.Identity{UUID: missing, Name: n.Name})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(found.UUID).To(Equal(n.UUID))
	_, plain, _ := strings.Cut(n.Name, "~")
	w.Update(n, ironic.Desired{Name: &plain})
	found, err = w.Gateway.Find(w.T.Context(), ironic.Identity{Name: n.Name})
	w.Expect(err).NotTo(HaveOccurred(), "enrolled by an older version, without the namespace")
	w.Expect(found.UUID).To(Equal(n.UUID))
}

func byMAC(w *World) {
	n, m := w.Enrol()
	id := ironic.Identity{Name: w.Name(), BootMAC: strings.ToUpper(m.MAC)}
	_, err := w.Gateway.Find(w.T.Context(), id)
	w.Expect(err).To(BeEquivalentTo(&ironic.MACConflictError{MAC: m.MAC, OtherNode: n.Name, OtherID: n.UUID}))
	none := ""
	w.Update(n, ironic.Desired{Name: &none})
	found, err := w.Gateway.Find(w.T.Context(), id)
	w.Expect(err).NotTo(HaveOccurred(), "a node without a name is taken over")
	w.Expect(found.UUID).To(Equal(n.UUID))
	_, err = w.Gateway.Find(w.T.Context(), ironic.Identity{Name: w.Name(), BootMAC: "52:54:00:de:ad:00"})
	w.Expect(err).To(MatchError(ironic.ErrNotFound))
}

// many follows a node through its states by the watch alone.
func many(w *World) {
	n, _ := w.Enrol()
	watch := ironic.NewWatch(w.Gateway, w.Watch)
	ctx, cancel := context.WithCancel(w.T.Context())
	var mu sync.Mutex
	var seen []ironic.Change
	var all sync.WaitGroup
	all.Go(func() { _ = watch.Run(ctx) })
	all.Go(func() {
		for {
			select {
			case c := <-watch.Changes():
				if c.UUID == n.UUID {
					mu.Lock()
					seen = append(seen, c)
					mu.Unlock()
				}
			case <-ctx.Done():
				return
			}
		}
	})
	defer all.Wait()
	defer cancel()
	last := func() ironic.Change {
		mu.Lock()
		defer mu.Unlock()
		if len(seen) == 0 {
			return ironic.Change{}
		}
		return seen[len(seen)-1]
	}
	w.Eventually(last, w.Patience, w.Look).Should(HaveField("Kind", ironic.Appeared))
	expect := func(state ironic.ProvisionState) { // as who has asked for it does
		row, _ := watch.Row(n.UUID)
		row.ProvisionState = state
		watch.Learn(row)
		watch.Expect(n.UUID, true)
	}
	w.Accepted(func() error {
		return w.Gateway.Transition(ctx, n.UUID, ironic.Transition{Target: ironic.TargetManage})
	})
	expect(ironic.StateVerifying)
	w.Eventually(last, w.Patience, w.Look).Should(HaveField("Row.ProvisionState", ironic.StateManageable))
	w.Accepted(func() error {
		return w.Gateway.Transition(ctx, n.UUID, ironic.Transition{Target: ironic.TargetClean, CleanSteps: []ironic.Step{step(map[string]any{"seconds": 3})}})
	})
	expect(ironic.StateCleaning)
	w.Eventually(last, w.Patience, w.Look).Should(HaveField("Row.ProvisionState", ironic.StateCleanWait))
	w.Eventually(last, w.Patience, w.Look).Should(HaveField("Row.ProvisionState", ironic.StateManageable))
	w.Accepted(func() error { return w.Gateway.Delete(ctx, n.UUID) })
	w.Eventually(last, w.Patience, w.Look).Should(HaveField("Kind", ironic.Vanished))
}

// health asks for the health of nodes in a list, as the watch does, in the first
// version that has it and in the one before.
func health(w *World) {
	w.Enrol()
	var plain http.RoundTripper
	g := w.Connect(w.T, func(next http.RoundTripper) http.RoundTripper { plain = next; return w.Recorder.Wrap(next) })
	w.Expect(g.Ready(w.T.Context())).To(Succeed())
	w.Expect(g.Supports(ironic.FeatureHealth)).To(BeTrue())
	for version, want := range map[string]int{"1.109": http.StatusOK, "1.108": http.StatusNotAcceptable} {
		r, err := http.NewRequestWithContext(w.T.Context(), http.MethodGet, g.URL()+"nodes?fields=uuid,health", http.NoBody)
		w.Expect(err).NotTo(HaveOccurred())
		r.Header.Set("X-Openstack-Ironic-Api-Version", version)
		answer, err := w.Recorder.Wrap(plain).RoundTrip(r)
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(answer.Body.Close()).To(Succeed())
		w.Expect(answer.StatusCode).To(Equal(want), version)
	}
}

func refusals(w *World) {
	n, _ := w.Enrol()
	ctx := w.T.Context()
	cases := map[string]struct {
		call func() error
		kind ironic.Kind
		text string
	}{
		"a verb that the state does not allow": {
			func() error {
				return w.Gateway.Transition(ctx, n.UUID, ironic.Transition{Target: ironic.TargetActive})
			}, ironic.Rejected, `can not be performed`,
		},
		"a node that is gone": {
			func() error { return w.Gateway.SetPower(ctx, missing, ironic.PowerRequest{Target: ironic.PowerOn}) }, ironic.Gone, missing,
		},
		"a power state that does not exist": {
			func() error { return w.Gateway.SetPower(ctx, n.UUID, ironic.PowerRequest{Target: "levitate"}) }, ironic.Rejected, "levitate",
		},
		"removal of a key that is not there": {
			func() error {
				_, _, err := w.Gateway.Update(ctx, &ironic.Node{Row: ironic.Row{UUID: n.UUID}, Extra: map[string]any{"ghost": 1}},
					ironic.Desired{Extra: ironic.Fields{"ghost": ironic.Remove}})
				return err
			}, ironic.Rejected, "ghost",
		},
		"a driver without a conductor": {
			func() error {
				_, err := w.Gateway.Enrol(ctx, ironic.Enrolment{Name: w.Name(), Driver: "nonsense"})
				return err
			}, ironic.Unavailable, "nonsense",
		},
	}
	for name, c := range cases {
		err := c.call()
		w.Expect(ironic.KindOf(err)).To(Equal(c.kind), "%s: %v", name, err)
		w.Expect(err.Error()).To(ContainSubstring(c.text), name)
	}
	busy := w.Do(n, ironic.Transition{Target: ironic.TargetManage}, ironic.StateManageable)
	w.Expect(w.Gateway.SetPower(ctx, busy.UUID, ironic.PowerRequest{Target: ironic.PowerOn})).To(Succeed())
	err := w.Gateway.Transition(ctx, busy.UUID, ironic.Transition{Target: ironic.TargetProvide})
	if err != nil { // a fast BMC may have finished
		w.Expect(ironic.KindOf(err)).To(Equal(ironic.Busy), "%v", err)
		w.Expect(err.Error()).To(ContainSubstring("locked by host"))
	}
}

package tables

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/ironflow/ironflow/hub/rules"
)

// Watched notes which rules of a machine decide, and in which tests.
type Watched[F any] struct {
	machine *rules.Machine[F]

	mu    sync.Mutex
	tests []map[string]bool // by the number of the rule
}

// Watch notes from now on which rules of the machine decide. current names the test
// that runs; what decides while it is empty is not noted. It changes the machine, so
// that the program as shipped needs nothing for it: each rule gets one more guard, the
// last one, which is asked only when the rule decides.
func Watch[F any](m *rules.Machine[F], current func() string) *Watched[F] {
	w := &Watched[F]{machine: m, tests: make([]map[string]bool, len(m.Rules))}
	for i := range m.Rules {
		w.tests[i] = map[string]bool{}
		note := rules.Guard[F]{Holds: func(F) bool {
			test, _, _ := strings.Cut(current(), "/")
			w.mu.Lock()
			defer w.mu.Unlock()
			if test != "" {
				w.tests[i][test] = true
			}
			return true
		}}
		m.Rules[i].When = append(slices.Clone(m.Rules[i].When), note)
	}
	return w
}

// Tests returns the names of the tests in which the rule of this number decided.
func (w *Watched[F]) Tests(rule int) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(maps.Keys(w.tests[rule]))
}

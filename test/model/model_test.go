package model

import (
	"os"
	"runtime/debug"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
)

// TestLives lets every scenario come to its end by itself.
func TestLives(t *testing.T) {
	for _, s := range Scenarios() {
		t.Run(s.Name, func(t *testing.T) {
			g := NewWithT(t)
			r, err := newRun()
			g.Expect(err).NotTo(HaveOccurred())
			w := s.begin(r, 0, 0)
			var steps []string
			for range longLife {
				m, more := w.fair()
				if !more || w.broken != "" {
					break
				}
				r.make(w, step{move: m})
				steps = append(steps, m.String())
			}
			w.checkAll()
			expectNothingNew(t, Result{Found: []Counterexample{{Scenario: s.Name, Steps: steps, Broken: w.broken}}})
		})
	}
}

// TestHistories searches all histories of one change of a user and one disturbance, the
// shortest first, as far as its number of worlds goes.
func TestHistories(t *testing.T) {
	g := NewWithT(t)
	defer debug.SetGCPercent(debug.SetGCPercent(300))
	l := Limits{Users: 1, Faults: 1, States: 30_000, Depth: 40, Workers: 2}
	if testing.Short() {
		l.States = 1000
	}
	result, err := Search(t.Context(), Scenarios(), l)
	g.Expect(err).NotTo(HaveOccurred())
	t.Logf("%d worlds, %d steps, depth %d, complete %t", result.States, result.Steps, result.Depth, result.Complete)
	expectNothingNew(t, result)
}

// expectNothingNew fails for counterexamples that are not known.
func expectNothingNew(t *testing.T, result Result) {
	t.Helper()
	for _, c := range result.Found {
		if c.Broken != "" && !slices.ContainsFunc(known, func(text string) bool { return ParseCounterexample(text).covers(c) }) {
			t.Errorf("%s\nIts story: MODEL_STORY=FILE go test -v -run TestStory ./test/model", c)
		}
	}
}

// TestKnown tells which known faults are there no more.
func TestKnown(t *testing.T) {
	for _, text := range known {
		g := NewWithT(t)
		_, broken, err := Replay(Scenarios(), text)
		g.Expect(err).NotTo(HaveOccurred())
		if broken == "" {
			t.Logf("mended: it belongs to the stories that are replayed:\n%s", text)
		}
	}
}

// TestMended replays what was mended.
func TestMended(t *testing.T) {
	for name, text := range mended {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			story, broken, err := Replay(Scenarios(), text)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(broken).To(BeEmpty(), story)
		})
	}
}

// TestStory tells the history in the file that MODEL_STORY names.
func TestStory(t *testing.T) {
	name := os.Getenv("MODEL_STORY")
	if name == "" {
		t.Skip("MODEL_STORY names no file")
	}
	g := NewWithT(t)
	text, err := os.ReadFile(name) //nolint:gosec // the name is the user's
	g.Expect(err).NotTo(HaveOccurred())
	story, broken, err := Replay(Scenarios(), string(text))
	t.Logf("%s\n%s", story, broken)
	g.Expect(err).NotTo(HaveOccurred())
}

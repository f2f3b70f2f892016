package model

import (
	"maps"
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
			if w.broken != "" {
				expectKnown(t, Counterexample{Scenario: s.Name, Steps: steps, Broken: w.broken})
			}
		})
	}
}

// TestHistories searches all histories of two changes of users, of two disturbances, and
// of one each, the shortest first, as far as its number of worlds goes; and those that a scenario is about,
// from where little is missing.
func TestHistories(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(300))
	most, nobodys := ofMost(), ofNobodysWish()
	for name, l := range map[string]struct {
		Limits

		scenarios []Scenario
	}{
		"a change and a disturbance": {Limits{Users: 1, Faults: 1, States: 11_000}, most},
		"two changes":                {Limits{Users: 2, States: 11_000}, most},
		"two disturbances":           {Limits{Faults: 2, States: 11_000}, most},
		"shortly before a machine may be touched unasked": {Limits{Users: 2, Faults: 1, States: 8_000, Focused: true}, nobodys},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			if testing.Short() {
				l.States = 500
			}
			l.Depth, l.Workers, l.Known, l.Found = 60, 2, knownOnes(), 10
			result, err := Search(t.Context(), l.scenarios, l.Limits)
			g.Expect(err).NotTo(HaveOccurred())
			t.Logf("%d worlds, %d steps, depth %d, complete %t", result.States, result.Steps, result.Depth, result.Complete)
			for _, c := range result.Found {
				expectKnown(t, c)
			}
		})
	}
}

// knownOnes are the known counterexamples.
func knownOnes() []Counterexample {
	var list []Counterexample
	for _, k := range known {
		list = append(list, ParseCounterexample(k.story))
	}
	return list
}

// expectKnown fails for a counterexample that is not known.
func expectKnown(t *testing.T, c Counterexample) {
	t.Helper()
	if !slices.ContainsFunc(knownOnes(), func(known Counterexample) bool { return known.covers(c) }) {
		t.Errorf("%s\nIts story: MODEL_STORY=FILE go test -v -run TestStory ./test/model", c)
	}
}

// TestKnown tells which known faults are there no more.
func TestKnown(t *testing.T) {
	for _, k := range known {
		g := NewWithT(t)
		_, broken, err := Replay(Scenarios(), k.story)
		g.Expect(err).NotTo(HaveOccurred())
		if broken == "" {
			t.Logf("mended: it belongs to the stories that are replayed: %s%s", k.why, k.story)
		}
	}
}

// TestMended replays what was mended.
func TestMended(t *testing.T) {
	all := maps.Clone(mended)
	maps.Copy(all, mendedBackups)
	for name, text := range all {
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
	text, err := os.ReadFile(name)
	g.Expect(err).NotTo(HaveOccurred())
	story, broken, err := Replay(Scenarios(), string(text))
	t.Logf("%s\n%s", story, broken)
	g.Expect(err).NotTo(HaveOccurred())
}

package model

import (
	"os"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// TestLives lets every scenario come to its end by itself.
func TestLives(t *testing.T) {
	for _, s := range Scenarios() {
		t.Run(s.Name, func(t *testing.T) {
			g := NewWithT(t)
			r, err := newRun()
			g.Expect(err).NotTo(HaveOccurred())
			r.telling = testing.Verbose()
			w := s.begin(r, 0, 0)
			for range longLife {
				for _, told := range w.told {
					t.Log(told)
				}
				w.told = nil
				m, more := w.fair()
				if !more {
					break
				}
				t.Log(m)
				r.make(w, step{move: m})
			}
			w.checkAll()
			g.Expect(w.broken).To(BeEmpty())
		})
	}
}

func TestQuick(t *testing.T) {
	g := NewWithT(t)
	began := time.Now()
	result, err := Search(t.Context(), Scenarios(), Limits{Users: 1, Faults: 1, States: 20000, Depth: 30, Workers: 2})
	g.Expect(err).NotTo(HaveOccurred())
	for _, c := range result.Found {
		t.Logf("%s", c)
	}
	t.Logf("%d states, %d steps, depth %d, complete %t, %s", result.States, result.Steps, result.Depth, result.Complete, time.Since(began))
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

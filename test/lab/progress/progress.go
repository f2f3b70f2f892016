// Package progress tells a person what takes time, how long it usually takes
// and how long it has taken so far. Long work is wrapped in [Func.Track]; who
// shows it decides how, [Lines] being the plain way.
package progress

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// Interval is the time between two signs of life of the same work.
const Interval = 15 * time.Second

// State says what has become of a piece of work.
type State int

// The states of a piece of work.
const (
	Started State = iota
	Running
	Done
	Failed
)

// Event is one sign of life.
type Event struct {
	// Part is what is worked on: "control plane", "ironic", "bmc".
	Part string
	// Text is what is done to it, in the present tense.
	Text string
	// State is where the work stands.
	State State
	// Elapsed is the time since the start of the work.
	Elapsed time.Duration
	// Usual is how long the work usually takes; zero if that is not worth a word.
	Usual time.Duration
}

// String is the event as a line for a person, without a line feed.
func (e Event) String() string {
	line := fmt.Sprintf("%-14s %s", e.Part+":", e.Text)
	elapsed := e.Elapsed.Round(100 * time.Millisecond)
	if elapsed >= 10*time.Second {
		elapsed = elapsed.Round(time.Second)
	}
	switch {
	case e.State == Started && e.Usual > 0:
		return fmt.Sprintf("%s (usually %s)", line, e.Usual)
	case e.State == Running && e.Usual > 0:
		return fmt.Sprintf("%s … %s of usually %s", line, elapsed, e.Usual)
	case e.State == Running:
		return fmt.Sprintf("%s … %s", line, elapsed)
	case e.State == Done:
		return fmt.Sprintf("%s: done in %s", line, elapsed)
	case e.State == Failed:
		return fmt.Sprintf("%s: failed after %s", line, elapsed)
	default:
		return line
	}
}

// Func receives events, from several goroutines at once. A nil Func discards them.
type Func func(Event)

// Lines writes one line per event.
func Lines(w io.Writer) Func {
	var mu sync.Mutex
	return func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		// A closed terminal must not stop the work.
		_, _ = fmt.Fprintln(w, e)
	}
}

// Say reports something that takes no time.
func (f Func) Say(part, format string, args ...any) {
	if f != nil {
		f(Event{Part: part, Text: fmt.Sprintf(format, args...)})
	}
}

// Track does the work and reports its start, a sign of life every [Interval],
// and its end. It returns the work's error.
func (f Func) Track(part, text string, usual time.Duration, work func() error) error {
	if f == nil {
		return work()
	}
	start := time.Now()
	report := func(state State) {
		f(Event{Part: part, Text: text, State: state, Elapsed: time.Since(start), Usual: usual})
	}
	report(Started)
	ended := make(chan struct{})
	var ticking sync.WaitGroup
	ticking.Go(func() {
		ticker := time.NewTicker(Interval)
		defer ticker.Stop()
		for {
			select {
			case <-ended:
				return
			case <-ticker.C:
				report(Running)
			}
		}
	})
	err := work()
	close(ended)
	ticking.Wait()
	if err != nil {
		report(Failed)
	} else {
		report(Done)
	}
	return err
}

package demo

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/controllers/host/view/render"
)

// screen shows messages and the hosts: on a terminal a table that is redrawn
// below the messages, elsewhere one line whenever a host enters another phase or
// step.
type screen struct {
	out      io.Writer
	terminal bool
	width    int
	start    time.Time

	mu    sync.Mutex
	drawn int
	last  map[string]string
}

func newScreen(o Options) *screen {
	return &screen{out: o.Out, terminal: o.Terminal, width: o.Width, start: time.Now(), last: map[string]string{}}
}

// Say prints one line with the time since the start.
func (s *screen) Say(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	fmt.Fprintf(s.out, "%7s  %s\n", render.Elapsed(time.Since(s.start)), fmt.Sprintf(format, args...))
}

// Show brings the picture of the hosts up to date.
func (s *screen) Show(hosts []view.View) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.terminal {
		s.redraw(hosts)
		return
	}
	for _, v := range hosts {
		words := slices.DeleteFunc([]string{v.Phase, v.Step, reason(v)}, func(word string) bool { return word == "" })
		line := strings.Join(words, "  ")
		if s.last[v.Name] == line {
			continue
		}
		s.last[v.Name] = line
		fmt.Fprintf(s.out, "%7s  %-10s %s\n", render.Elapsed(time.Since(s.start)), v.Name, line)
	}
}

func reason(v view.View) string {
	if v.Reason == "" {
		return ""
	}
	return "✗ " + v.Reason
}

// redraw replaces the table that was drawn last.
func (s *screen) redraw(hosts []view.View) {
	var text strings.Builder
	if err := render.Table(&text, hosts, time.Now(), render.TableOptions{Bar: true, Width: s.width}); err != nil {
		return
	}
	s.erase()
	fmt.Fprint(s.out, text.String())
	s.drawn = strings.Count(text.String(), "\n")
}

// Keep leaves the table that was drawn last on the screen; what follows goes below it.
func (s *screen) Keep() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drawn = 0
}

// erase removes the table, so that a message can take its place.
func (s *screen) erase() {
	if s.drawn > 0 {
		fmt.Fprintf(s.out, "\033[%dA\033[J", s.drawn)
		s.drawn = 0
	}
}

package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"
)

// meter shows how far a run is.
type meter interface {
	done(r result)
	end()
}

// newMeter returns a bar on a terminal and lines elsewhere. One BMC needs none.
func newMeter(w io.Writer, total int) meter {
	file, isFile := w.(*os.File)
	switch {
	case total == 1:
		return silent{}
	case isFile && term.IsTerminal(int(file.Fd())):
		b := &bar{w: w, total: total}
		b.draw()
		return b
	}
	return &lines{w: w, total: total}
}

// silent shows nothing.
type silent struct{}

func (silent) done(result) {}
func (silent) end()        {}

// lines writes one line per BMC.
type lines struct {
	mu       sync.Mutex
	w        io.Writer
	n, total int
}

func (l *lines) done(r result) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n++
	var what string
	if r.failure != nil {
		what = r.failure.Address + ": " + r.failure.Kind
	} else {
		what = strings.TrimSpace(r.report.Address + ": " + r.report.Vendor + " " + r.report.Model)
	}
	fmt.Fprintf(l.w, "%d/%d %s\n", l.n, l.total, what)
}

func (l *lines) end() {}

// bar redraws one line.
type bar struct {
	mu               sync.Mutex
	w                io.Writer
	n, failed, total int
}

// barWidth is how many signs a full bar has.
const barWidth = 40

func (b *bar) done(r result) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.n++
	if r.failure != nil {
		b.failed++
	}
	b.draw()
}

func (b *bar) draw() {
	full := b.n * barWidth / b.total
	fmt.Fprintf(b.w, "\r[%s%s] %d/%d BMCs, %d failed", strings.Repeat("#", full), strings.Repeat(".", barWidth-full), b.n, b.total, b.failed)
}

// end wipes the bar: what was found follows.
func (b *bar) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	fmt.Fprint(b.w, "\r\x1b[K")
}

package step

import (
	"encoding/json"
	"io"
	"sync"
	"time"
)

// progressEvery is the shortest time between two progress lines.
const progressEvery = time.Second

// progressLine is one line of progress on stdout.
type progressLine struct {
	Time    time.Time `json:"t"`
	Stage   string    `json:"stage"`
	Percent int       `json:"percent"`
	Text    string    `json:"text"`
}

// progress writes progress lines to w: the first at once, later ones at most
// once a second, where the newest replaces those that waited. Equal lines are
// written once.
type progress struct {
	mu      sync.Mutex
	out     *json.Encoder
	last    progressLine
	written time.Time
	waiting *progressLine
	timer   *time.Timer
	closed  bool
}

func newProgress(w io.Writer) *progress {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return &progress{out: enc}
}

// Report takes one step of progress; it does not wait for the next free second.
func (p *progress) Report(stage string, percent int, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	line := progressLine{Time: time.Now().UTC(), Stage: stage, Percent: max(percent, 0), Text: text}
	if p.closed {
		return
	}
	wait := progressEvery - time.Since(p.written)
	if wait <= 0 {
		p.write(line)
		return
	}
	p.waiting = &line
	if p.timer == nil {
		p.timer = time.AfterFunc(wait, p.flush)
	}
}

func (p *progress) flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer = nil
	if line := p.waiting; line != nil && !p.closed {
		p.write(*line)
	}
}

// write must be called with the lock held. A reader that is gone is not this
// step's trouble: the installation goes on, so write errors are ignored.
func (p *progress) write(line progressLine) {
	p.waiting = nil
	if line.Stage == p.last.Stage && line.Percent == p.last.Percent && line.Text == p.last.Text {
		return
	}
	p.last, p.written = line, time.Now()
	_ = p.out.Encode(line)
}

// Close writes what still waits, then the report as the last line.
func (p *progress) Close(r Report) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer != nil {
		p.timer.Stop()
	}
	if p.waiting != nil {
		p.write(*p.waiting)
	}
	p.closed = true
	return p.out.Encode(r)
}

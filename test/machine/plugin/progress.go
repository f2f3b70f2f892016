package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// Figures of the plugin: progress becomes a heartbeat at a new stage and each
// 10 %, but not more often than every 10 s. maxMessage counts letters.
const (
	beatEvery   = 10 * time.Second
	beatPercent = 10
	maxMessage  = 255
)

// Line is a line of progress.
type Line struct {
	Stage   string `json:"stage"`
	Percent int    `json:"percent"`
	Text    string `json:"text"`
}

// beat sends one heartbeat, with a text if there is one.
type beat func(ctx context.Context, message string) error

// progress chooses which lines become heartbeats, and sends them. Whoever reads
// the step's output never waits for Ironic. The newest line counts; one that
// comes too soon, or that did not reach Ironic, is sent, or replaced by a newer
// one, later.
type progress struct {
	// mark tells one deployment's text from the next one's: Ironic keeps it.
	mark    string
	log     *slog.Logger
	changed chan struct{}
	mu      sync.Mutex
	newest  Line
	sent    *Line
}

func newProgress(node json.RawMessage, now time.Time, log *slog.Logger) *progress {
	var ids struct {
		Instance string `json:"instance_uuid"`
		UUID     string `json:"uuid"`
	}
	_ = json.Unmarshal(node, &ids) // a node without an id has an empty mark
	id := ids.Instance
	if id == "" {
		id = ids.UUID
	}
	return &progress{mark: fmt.Sprintf(" [%.8s %s]", id, now.UTC().Format("15:04:05Z")), log: log, changed: make(chan struct{}, 1)}
}

// take takes the next line; it does not wait.
func (p *progress) take(line Line) {
	p.mu.Lock()
	p.newest = line
	p.mu.Unlock()
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// start sends heartbeats until stop is called or the context ends. A heartbeat
// that is on its way is not called back.
func (p *progress) start(ctx context.Context, send beat) (stop func()) {
	stopped := make(chan struct{})
	go p.run(ctx, stopped, send)
	return func() { close(stopped) }
}

func (p *progress) run(ctx context.Context, stopped <-chan struct{}, send beat) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-stopped:
			return
		case <-p.changed:
		}
		for line, news := p.news(); news; line, news = p.news() {
			if err := send(ctx, p.message(line)); err != nil {
				p.log.Warn("progress did not reach Ironic", "error", err)
			} else {
				p.sent = &line
			}
			select {
			case <-ctx.Done():
				return
			case <-stopped:
				return
			case <-time.After(beatEvery):
			}
		}
	}
}

// news returns the newest line, and whether it is worth a heartbeat.
func (p *progress) news() (Line, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.newest, p.sent == nil || p.newest.Stage != p.sent.Stage || p.newest.Percent >= p.sent.Percent+beatPercent
}

// message is the line's text. One that is too long loses its end, not the mark.
func (p *progress) message(line Line) string {
	text := []rune(fmt.Sprintf("%s %d%% %s", line.Stage, line.Percent, line.Text))
	if room := maxMessage - len([]rune(p.mark)); len(text) > room {
		text = append(text[:room-1], '…')
	}
	return string(text) + p.mark
}

// Package notify tells systemd, and through it the deploy step, how the agent
// is: READY=1 once, and STATUS= with the text of [hostfile.Status], whose fields are
// in the status file by then. A status is sent when it changes and is renewed at least every [Renew], because a step
// takes a silent agent for a stuck one. Outside of systemd nothing is sent.
package notify

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"github.com/ironflow/ironflow/api/hostfile"
)

// Renew is the longest silence; the step allows five minutes between two signs.
const Renew = 2 * time.Minute

// maxText bounds a status, so that the datagram stays small.
const maxText = 400

// Notifier sends the agent's state. Make it with [New].
type Notifier struct {
	send func(state string) error
	keep func(hostfile.Status) error
	log  *slog.Logger

	mu    sync.Mutex
	last  hostfile.Status
	ready bool
	sent  chan struct{}
}

// Systemd sends to the service manager of this process, by $NOTIFY_SOCKET; without
// one it does nothing.
func Systemd(state string) error {
	_, err := daemon.SdNotify(false, state)
	return err
}

// New returns a notifier that sends with the function, such as [Systemd], and keeps
// each status with the other, such as [File], before it is sent; nil sends, or keeps,
// nothing. A process has one service manager but may have many agents.
func New(log *slog.Logger, send func(state string) error, keep func(hostfile.Status) error) *Notifier {
	if send == nil {
		send = func(string) error { return nil }
	}
	if keep == nil {
		keep = func(hostfile.Status) error { return nil }
	}
	return &Notifier{send: send, keep: keep, log: log, last: hostfile.Status{Part: hostfile.PartStarting, Percent: -1}, sent: make(chan struct{}, 1)}
}

// Ready sends READY=1; only the first call does anything.
func (n *Notifier) Ready() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ready {
		return
	}
	n.ready = true
	n.deliver("READY=1")
}

// Status sends the status with the present time, unless it says the same as the
// last one. Who calls it logs; a status is for whoever looks now.
func (n *Notifier) Status(s hostfile.Status) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(s.Text) > maxText {
		s.Text = strings.ToValidUTF8(s.Text[:maxText], "") + " …"
	}
	s.At = time.Time{}
	if s == n.last {
		return
	}
	n.last = s
	n.deliverStatus()
	select {
	case n.sent <- struct{}{}:
	default:
	}
}

// Waiting is a status of the part "waiting".
func (n *Notifier) Waiting(text string) {
	n.Status(hostfile.Status{Part: hostfile.PartWaiting, Percent: -1, Text: text})
}

// Starting is a status before READY; afterwards it counts as waiting.
func (n *Notifier) Starting(text string) {
	n.mu.Lock()
	ready := n.ready
	n.mu.Unlock()
	if ready {
		n.Waiting(text)
		return
	}
	n.Status(hostfile.Status{Part: hostfile.PartStarting, Percent: -1, Text: text})
}

// Last is the status that was sent last.
func (n *Notifier) Last() hostfile.Status {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.last
}

// Run renews the status until the context ends.
func (n *Notifier) Run(ctx context.Context) {
	timer := time.NewTimer(Renew)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.sent:
		case <-timer.C:
			n.mu.Lock()
			n.deliverStatus()
			n.mu.Unlock()
		}
		timer.Reset(Renew)
	}
}

func (n *Notifier) deliverStatus() {
	s := n.last
	s.At = time.Now()
	if err := n.keep(s); err != nil {
		n.log.Warn("the status cannot be kept; the step reads it from its text", "error", err)
	}
	n.deliver("STATUS=" + s.String())
}

func (n *Notifier) deliver(state string) {
	if err := n.send(state); err != nil {
		n.log.Warn("cannot notify the service manager", "error", err)
	}
}

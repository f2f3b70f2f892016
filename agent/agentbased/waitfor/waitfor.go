// Package waitfor follows an agent-based installation from outside, until the bootstrap host
// has handed over or the cluster is installed: progress of each host as it changes, the reason
// when nothing moves, and an end with a meaning. The hub is asked with a watcher's token. It
// goes away with the bootstrap host; from then on the cluster itself is asked, if there is a
// way to. Judging is pure (see [Judge]); the main type is [Wait].
package waitfor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/hub/wire"
)

// Goal is what is waited for.
type Goal string

// The goals.
const (
	// BootstrapComplete: the bootstrap host has handed the control plane over and reboots.
	BootstrapComplete Goal = "bootstrap-complete"
	// InstallComplete: the cluster is installed.
	InstallComplete Goal = "install-complete"
)

// Goals lists them.
func Goals() []Goal { return []Goal{BootstrapComplete, InstallComplete} }

// Hub makes single calls; see [hubclient.Client].
type Hub interface {
	Do(ctx context.Context, r hubclient.Request) error
}

// Cluster is the installed cluster's own word.
type Cluster interface {
	// State is the state of a cluster that was to have that many hosts; an error means
	// that nobody answers.
	State(ctx context.Context, hosts int) (State, error)
}

// State is what a cluster says of itself.
type State struct {
	// Up tells that its API answers, Complete that it is installed.
	Up, Complete bool
	// Text says what it is at, or lacks.
	Text string
}

// Wait is one run.
type Wait struct {
	Hub Hub
	// Cluster is asked when the hub does not answer; nil for no way to.
	Cluster Cluster
	Goal    Goal
	// Every is the time between two looks, Quiet after how long without a change the
	// reason is told, Deadline how long it may take in total.
	Every, Quiet, Deadline time.Duration
	// Patience is for how long nobody may answer.
	Patience time.Duration
	// Tell is given every change.
	Tell func(Line)
}

// seen is what the run knows.
type seen struct {
	cluster *wire.Cluster
	// clusterState is the cluster's own word, of which text was told last.
	text string
	// moved is when something changed last, told whether the reason was given since; answered
	// is when somebody answered last.
	moved, answered time.Time
	told            bool
	// gone is when the hub was first without an answer since the last one.
	gone time.Time
	// event is the time of the newest event, said what it says.
	event time.Time
	said  string
	down  error
}

// Run waits. The result is its end; it tells that as the last line, too.
func (w Wait) Run(ctx context.Context) Result {
	began := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, w.Deadline, errDeadline)
	defer cancel()
	ticker := time.NewTicker(w.Every)
	defer ticker.Stop()
	s := &seen{moved: began, answered: began}
	for {
		if result, ended := w.look(ctx, s); ended {
			return w.end(s, result)
		}
		select {
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), errDeadline) {
				return w.end(s, Result{Outcome: Deadline, Reason: fmt.Sprintf("not %s after %s. %s", w.Goal, w.Deadline, reasons(s))})
			}
			return w.end(s, Result{Outcome: Interrupted, Reason: "interrupted; the installation goes on"})
		case <-ticker.C:
		}
	}
}

var errDeadline = errors.New("deadline")

func (w Wait) end(s *seen, r Result) Result {
	w.tell(Line{Kind: KindEnd, Cluster: nameOf(s.cluster), Outcome: r.Outcome.Name(), Code: new(r.Outcome.Code()), Text: r.Reason})
	return r
}

func (w Wait) tell(l Line) {
	l.Time = time.Now().UTC()
	w.Tell(l)
}

// look makes one pass.
func (w Wait) look(ctx context.Context, s *seen) (Result, bool) {
	now := time.Now()
	cluster, err := w.ask(ctx)
	switch code := hubclient.Code(err); {
	case ctx.Err() != nil:
		return Result{}, false // the caller says why
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return Result{Outcome: Refused, Reason: fmt.Sprintf("the hub refuses the token: %v. Next: give the watcher's token of this image", err)}, true
	case errors.Is(err, errSeveral):
		return Result{Outcome: Failed, Reason: err.Error()}, true
	case err != nil:
		return w.away(ctx, s, err)
	}
	if s.down != nil {
		w.moved(s, now, Line{Kind: KindHub, Text: "the hub answers"})
	}
	s.down, s.answered = nil, now
	if cluster == nil {
		w.events(ctx, s, now) // the host whose cluster cannot be registered says why
		return w.still(s, now)
	}
	for _, line := range Changes(s.cluster, cluster) {
		w.moved(s, now, line)
	}
	s.cluster = cluster
	w.events(ctx, s, now)
	if result, ended := Judge(cluster, w.Goal); ended {
		return result, true
	}
	return w.still(s, now)
}

func (w Wait) moved(s *seen, now time.Time, line Line) {
	s.moved, s.told = now, false
	w.tell(line)
}

// still tells the reason when nothing has moved for long.
func (w Wait) still(s *seen, now time.Time) (Result, bool) {
	if !s.told && now.Sub(s.moved) >= w.Quiet {
		s.told = true
		w.tell(Line{Kind: KindStill, Cluster: nameOf(s.cluster), Text: fmt.Sprintf("nothing has moved for %s. %s", now.Sub(s.moved).Round(time.Second), reasons(s))})
	}
	return Result{}, false
}

// handover is how long the hub has to be away until a cluster whose API answers does without
// the bootstrap host: until then that host may be where the API is, and the hub starts again
// within seconds when it was killed.
const handover = 2 * time.Minute

// away goes on without the hub: the cluster itself may answer.
func (w Wait) away(ctx context.Context, s *seen, err error) (Result, bool) {
	now := time.Now()
	if s.down == nil {
		s.gone = now
		w.moved(s, now, Line{Kind: KindHub, Cluster: nameOf(s.cluster), Text: "the hub does not answer: " + err.Error()})
	}
	s.down = err
	if w.Cluster != nil && !joining(s.cluster) { // a cluster that ran before cannot tell
		state, err := w.Cluster.State(ctx, hostsOf(s.cluster))
		switch {
		case ctx.Err() != nil:
			return Result{}, false
		case err == nil && (state.Complete || state.Up && w.Goal == BootstrapComplete && now.Sub(s.gone) >= handover):
			return Result{Outcome: Complete, Reason: "the cluster says so: " + state.Text}, true
		case err == nil:
			s.answered = now
			if state.Text != s.text {
				s.text = state.Text
				w.moved(s, now, Line{Kind: KindCluster, Cluster: nameOf(s.cluster), Text: state.Text})
			}
			return w.still(s, now)
		}
	}
	if now.Sub(s.answered) >= w.Patience {
		return Result{Outcome: Away, Reason: fmt.Sprintf("nobody has answered for %s: %v. %s", now.Sub(s.answered).Round(time.Second), err, lastWord(s, w.Cluster != nil))}, true
	}
	return w.still(s, now)
}

// lastWord is what the hub said before it went away, and what to do.
func lastWord(s *seen, asked bool) string {
	next := "Next: look at the console of the rendezvous host, and whether this machine reaches it"
	if s.cluster != nil && !asked {
		next = "Next: the hub ends with the bootstrap host; give the cluster's kubeconfig to ask the cluster itself"
	}
	if joining(s.cluster) {
		next = "Next: the hub ends when its host reboots; look whether the host's node is in the cluster, or else at the host's console"
	}
	if s.cluster == nil {
		return next
	}
	return fmt.Sprintf("The last that it said: cluster %s is %s (%s). %s", s.cluster.Name, s.cluster.Status, s.cluster.StatusInfo, next)
}

var errSeveral = errors.New("the hub has several clusters, and an agent-based installation has one")

// ask returns the hub's cluster with its hosts; nil while there is none.
func (w Wait) ask(ctx context.Context) (*wire.Cluster, error) {
	var list []wire.Cluster
	if err := w.Hub.Do(ctx, hubclient.Request{Method: http.MethodGet, Path: "/clusters", Out: &list}); err != nil {
		return nil, err
	}
	switch len(list) {
	case 0:
		return nil, nil // no cluster yet is an answer
	case 1:
	default:
		return nil, errSeveral
	}
	cluster := &wire.Cluster{}
	err := w.Hub.Do(ctx, hubclient.Request{Method: http.MethodGet, Path: "/clusters/" + url.PathEscape(list[0].ID), Out: cluster})
	return cluster, err
}

// newest is how many events are asked for in a pass, and consequence which: a list is one
// parameter, with commas.
const (
	newest      = "50"
	consequence = wire.EventSeverityWarning + "," + wire.EventSeverityError + "," + wire.EventSeverityCritical
)

// events tells those of consequence that came since the last pass. They are told beside the
// state, so a hub that refuses them holds nothing up. All of the hub's count: a host that cannot
// register, and says why, is of no cluster yet.
func (w Wait) events(ctx context.Context, s *seen, now time.Time) {
	var list []wire.Event
	query := url.Values{"limit": {newest}, "order": {"descending"}, "severities": {consequence}}
	if err := w.Hub.Do(ctx, hubclient.Request{Method: http.MethodGet, Path: "/events", Query: query, Out: &list}); err != nil {
		return
	}
	last := s.event
	for _, e := range slices.Backward(list) {
		at := e.EventTime.Time
		if !at.After(last) {
			continue
		}
		s.event, s.said = at, e.Message
		w.moved(s, now, Line{Kind: KindEvent, Cluster: nameOf(s.cluster), Severity: e.Severity, Text: e.Message})
	}
}

func nameOf(c *wire.Cluster) string {
	if c == nil {
		return ""
	}
	return c.Name
}

// joining tells that hosts join the cluster, which ran before.
func joining(c *wire.Cluster) bool { return c != nil && c.Status == wire.ClusterStatusAddingHosts }

func hostsOf(c *wire.Cluster) int {
	if c == nil {
		return 0
	}
	return len(c.Hosts)
}

package ironic

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// rowPage is one page of a list.
type rowPage struct {
	Nodes []wireRow `json:"nodes"`
	Next  string    `json:"next"` // only whether there is one counts: proxies change addresses
}

// page is one page of a list.
type page struct {
	rows  []Row
	more  bool
	asked time.Time // what happened later is not in it
}

// list reads one page of nodes.
func (g *Gateway) list(ctx context.Context, r reader, query url.Values) (page, error) {
	var wire rowPage
	p := page{asked: time.Now()}
	g.metrics.reads.WithLabelValues(g.Name(), r.String()).Inc()
	err := g.do(ctx, call{op: "list nodes for " + r.String(), method: http.MethodGet, path: "nodes?" + query.Encode(), into: &wire})
	if err != nil {
		return p, err
	}
	p.rows = make([]Row, 0, len(wire.Nodes))
	for i := range wire.Nodes {
		p.rows = append(p.rows, wire.Nodes[i].row())
	}
	p.more = wire.Next != "" && len(p.rows) > 0
	return p, nil
}

// read lets one reader do one turn.
func (w *Watch) read(ctx context.Context, r reader, s *schedule) error {
	switch r {
	case feedReader:
		return w.readFeed(ctx)
	case inFlightReader:
		return w.readInFlight(ctx)
	default:
		return w.readSweep(ctx, s)
	}
}

// readFeed reads the newest changes, page by page, until a page ends in rows
// that are known. When one page holds all nodes of Ironic, those that it lacks
// are gone.
func (w *Watch) readFeed(ctx context.Context) error {
	query := url.Values{"sort_key": {"updated_at"}, "sort_dir": {"desc"}, "limit": {strconv.Itoa(w.options.FeedPage)}, "fields": {w.gateway.listedFields(ctx, "")}}
	var all []Row
	for {
		p, err := w.gateway.list(ctx, feedReader, query)
		if err != nil {
			return err
		}
		rows, first := p.rows, len(all) == 0
		all = append(all, rows...)
		if w.mergeFeed(p, all, first) {
			return nil
		}
		query.Set("marker", rows[len(rows)-1].UUID)
	}
}

// mergeFeed takes one page in and reports whether it was the last to read.
func (w *Watch) mergeFeed(p page, all []Row, first bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	last := !p.more || w.table.settled(p.rows)
	if first && !p.more {
		w.table.sweep++ // everything is on this page: as good as a sweep
	}
	for _, r := range p.rows {
		w.report(feedReader)(w.table.merge(r, false, p.asked))
	}
	if first && !p.more {
		for _, c := range w.table.unseen() {
			w.report(feedReader)(c, true)
		}
	}
	if last {
		w.table.arrange(all)
	}
	return last
}

// readInFlight reads the busy states that hold hosts of ours. Nodes that left
// theirs are looked up one by one, unless the feed tells first.
func (w *Watch) readInFlight(ctx context.Context) error {
	w.mu.Lock()
	states := w.table.busyStates()
	w.mu.Unlock()
	var left []string
	for _, state := range sortedKeys(states) {
		seen, err := w.readState(ctx, state)
		if err != nil {
			return err
		}
		for _, uuid := range states[state] {
			if !seen[uuid] {
				left = append(left, uuid)
			}
		}
	}
	if len(left) == 0 {
		return nil
	}
	if err := w.readFeed(ctx); err != nil {
		return err
	}
	return w.readLeft(ctx, left, states)
}

// readState reads all nodes in one state and returns who they are.
func (w *Watch) readState(ctx context.Context, state ProvisionState) (map[string]bool, error) {
	query := url.Values{"provision_state": {string(state)}, "limit": {strconv.Itoa(w.options.SweepPage)}, "fields": {w.gateway.listedFields(ctx, state)}}
	seen := map[string]bool{}
	for {
		p, err := w.gateway.list(ctx, inFlightReader, query)
		if err != nil {
			return nil, err
		}
		w.mu.Lock()
		now := time.Now()
		for _, r := range p.rows {
			seen[r.UUID] = true
			w.report(inFlightReader)(w.table.merge(r, state == StateDeployWait, p.asked))
			if state == StateDeployWait {
				w.report(inFlightReader)(w.table.observe(r.UUID, now, w.options.lostAfter))
			}
		}
		w.mu.Unlock()
		if !p.more {
			return seen, nil
		}
		query.Set("marker", p.rows[len(p.rows)-1].UUID)
	}
}

// readLeft looks up the nodes of which the feed did not say where they went.
func (w *Watch) readLeft(ctx context.Context, left []string, states map[ProvisionState][]string) error {
	was := map[string]ProvisionState{}
	for state, uuids := range states {
		for _, uuid := range uuids {
			was[uuid] = state
		}
	}
	for _, uuid := range left {
		if row, known := w.Row(uuid); !known || row.ProvisionState != was[uuid] {
			continue
		}
		var node wireRow
		query := url.Values{"fields": {w.gateway.listedFields(ctx, "")}}
		asked := time.Now()
		err := w.gateway.get(ctx, "get node state", uuid, nodePath(uuid)+"?"+query.Encode(), &node)
		w.mu.Lock()
		switch KindOf(err) {
		case Accepted:
			w.report(inFlightReader)(w.table.merge(node.row(), false, asked))
			err = nil
		case Gone:
			w.report(inFlightReader)(w.table.remove(uuid))
			err = nil
		default: // told by err
		}
		w.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

// readSweep reads one page of the sweep over all nodes. The order is Ironic's own
// (by id), in which no node can be passed over while others change.
func (w *Watch) readSweep(ctx context.Context, s *schedule) error {
	query := url.Values{"limit": {strconv.Itoa(w.options.SweepPage)}, "fields": {w.gateway.listedFields(ctx, "")}}
	w.mu.Lock()
	if !s.sweeping {
		w.table.sweep++
		s.sweeping, s.marker = true, ""
	}
	w.mu.Unlock()
	if s.marker != "" {
		query.Set("marker", s.marker)
	}
	p, err := w.gateway.list(ctx, sweepReader, query)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range p.rows {
		w.report(sweepReader)(w.table.merge(r, false, p.asked))
	}
	if p.more {
		s.marker = p.rows[len(p.rows)-1].UUID
		return nil
	}
	for _, c := range w.table.unseen() {
		w.report(sweepReader)(c, true)
	}
	s.sweeping = false
	if !s.synced {
		close(w.synced)
	}
	return nil
}

// report returns a function that queues a change, if it is one.
func (w *Watch) report(r reader) func(Change, bool) {
	return func(c Change, is bool) {
		if !is {
			return
		}
		w.gateway.metrics.changes.WithLabelValues(w.gateway.Name(), r.String(), c.Kind.String()).Inc()
		w.queue.push(c)
	}
}

package model

import (
	"reflect"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/ironic"
)

// watch is the node watch of a world: it sees every change at once, unless it is behind.
type watch struct{ run *run }

// shows are the rows that the watch shows.
func (w *World) shows() map[string]ironic.Row {
	if w.rows != nil {
		return w.rows
	}
	rows := map[string]ironic.Row{}
	for id, n := range w.nodes {
		rows[id] = n.Row
	}
	return rows
}

// catchUp has the watch see what it has missed.
func (w *World) catchUp() {
	old := w.rows
	w.rows = nil
	seen := w.shows()
	for _, id := range sortedKeys(old) {
		if !reflect.DeepEqual(old[id], seen[id]) {
			w.wakeForNode(old[id], seen[id])
		}
	}
	for _, id := range sortedKeys(seen) {
		if _, known := old[id]; !known {
			w.wakeForNode(ironic.Row{}, seen[id])
		}
	}
}

// Row implements ironics.Table.
func (t watch) Row(id string) (ironic.Row, bool) {
	row, found := t.run.world.shows()[id]
	return row, found
}

// Named implements ironics.Table.
func (t watch) Named(name string) (row ironic.Row, found, complete bool) {
	rows := t.run.world.shows()
	for _, id := range sortedKeys(rows) {
		if row := rows[id]; row.Name == name && name != "" {
			return row, true, true
		}
	}
	return ironic.Row{}, false, true
}

// OfMachine implements ironics.Table.
func (t watch) OfMachine(keys ...string) (ids []string) {
	rows := t.run.world.shows()
	for _, id := range sortedKeys(rows) {
		if slices.ContainsFunc(strings.Split(rows[id].Machine, "\n"), func(key string) bool { return slices.Contains(keys, key) }) {
			ids = append(ids, id)
		}
	}
	return ids
}

// Learn implements ironics.Table.
func (t watch) Learn(row ironic.Row) {
	if t.run.world.rows != nil {
		t.run.world.rows[row.UUID] = row
	}
}

// Forget implements ironics.Table.
func (t watch) Forget(id string) { delete(t.run.world.rows, id) }

// Expect implements ironics.Watch.
func (watch) Expect(string, bool) {}

// Nudge implements ironics.Watch.
func (watch) Nudge() {}

// Changes implements ironics.Watch.
func (watch) Changes() <-chan ironic.Change { return nil }

// synced is a channel that is closed.
var synced = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// Synced implements ironics.Watch.
func (watch) Synced() <-chan struct{} { return synced }

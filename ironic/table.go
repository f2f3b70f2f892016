package ironic

import (
	"iter"
	"slices"
	"strings"
	"time"
)

// table is what the watch knows of all nodes. Its methods merge what a reader
// saw and return the differences; they do no I/O and take the time as a value.
type table struct {
	rows  map[string]*entry
	names map[string]string // UUID by name
	// machines are the UUIDs of the nodes of each key of Row.Machine.
	machines map[string][]string
	sweep    int // number of the running or last sweep
	place    int // the highest place in the feed that was given out
	// expected are the nodes, all of them known, that hosts of ours wait for.
	expected map[string]bool
	// rhythm is the longest pause between two heartbeats of a ramdisk that was seen from
	// its begin to its end, with nothing happening that makes a ramdisk beat besides.
	rhythm time.Duration
}

// entry is one node.
type entry struct {
	row   Row
	swept int // the sweep during or after which it was last seen
	// place orders the nodes by when they were last seen to change: higher is
	// newer, 0 unknown. A node that was not touched keeps its place among others.
	place int
	// moved means that it has changed since it got its place, as somebody else than
	// the feed has told: it stands further in front, and nodes that stand behind it
	// may have changed as well.
	moved bool
	beat  beat
	// told is when an answer to one of our own requests described the node: what a
	// list that was asked for earlier says is older.
	told time.Time
}

// beat is the last heartbeat that was seen, by our own clock.
type beat struct {
	value  time.Time // Ironic's, compared for equality only
	seenAt time.Time // when the value was first seen
	begun  bool      // seenAt is when it came: it followed another one
	did    string    // what the ramdisk was doing then
	told   bool      // its loss was reported
}

func newTable() *table {
	return &table{rows: map[string]*entry{}, names: map[string]string{}, machines: map[string][]string{}, expected: map[string]bool{}}
}

// put sets a node's row.
func (t *table) put(r Row) *entry {
	e, known := t.rows[r.UUID]
	if !known {
		e = &entry{}
		t.rows[r.UUID] = e
	}
	if e.row.Name != r.Name {
		if t.names[e.row.Name] == r.UUID {
			delete(t.names, e.row.Name)
		}
		if r.Name != "" {
			t.names[r.Name] = r.UUID
		}
	}
	if e.row.Machine != r.Machine {
		t.leaveMachine(e.row)
		for key := range machineKeys(r) {
			t.machines[key] = append(t.machines[key], r.UUID)
		}
	}
	e.row, e.swept = r, t.sweep
	return e
}

// machineKeys are the keys of a node's machine.
func machineKeys(r Row) iter.Seq[string] {
	return func(yield func(string) bool) {
		for key := range strings.Lines(r.Machine) {
			if !yield(strings.TrimSuffix(key, "\n")) {
				return
			}
		}
	}
}

// leaveMachine forgets which machine a node is of.
func (t *table) leaveMachine(r Row) {
	for key := range machineKeys(r) {
		left := slices.DeleteFunc(t.machines[key], func(uuid string) bool { return uuid == r.UUID })
		if t.machines[key] = left; len(left) == 0 {
			delete(t.machines, key)
		}
	}
}

// learn takes in what an answer of now says about a node.
func (t *table) learn(r Row, now time.Time) {
	e := t.put(r)
	e.told, e.moved = now, true
}

// merge takes in one row of a list that was asked for at a time, and returns the
// change that it is, if any.
func (t *table) merge(r Row, withProgress bool, asked time.Time) (Change, bool) {
	e, known := t.rows[r.UUID]
	if !known {
		t.put(r)
		return Change{Kind: Appeared, UUID: r.UUID, Name: r.Name, Row: r}, true
	}
	e.swept = t.sweep
	if !asked.After(e.told) { // at one instant, nobody can tell which was first
		return Change{}, false
	}
	if !r.inFlight() {
		delete(t.expected, r.UUID) // whoever waits for it is told, and may expect more
	}
	previous := e.row
	if !withProgress && r.ProvisionState.Busy() {
		r.DeployStep, r.Agent = previous.DeployStep, previous.Agent
	}
	t.put(r)
	// That a list lacks what a read in full has told of an agent is no news.
	if r.sameFields(previous) && (!withProgress || r.sameProgress(previous)) {
		return Change{}, false
	}
	e.moved = true // until the feed has given it its place
	return Change{Kind: Changed, UUID: r.UUID, Name: r.Name, Row: r, Previous: previous}, true
}

// remove forgets a node that Ironic does not have any more.
func (t *table) remove(uuid string) (Change, bool) {
	e, known := t.rows[uuid]
	if !known {
		return Change{}, false
	}
	delete(t.rows, uuid)
	delete(t.expected, uuid)
	if t.names[e.row.Name] == uuid {
		delete(t.names, e.row.Name)
	}
	t.leaveMachine(e.row)
	return Change{Kind: Vanished, UUID: uuid, Name: e.row.Name, Row: e.row, Previous: e.row}, true
}

// unseen removes every node that was not listed since the sweep began.
func (t *table) unseen() []Change {
	var gone []Change
	for uuid, e := range t.rows {
		if e.swept != t.sweep {
			if c, ok := t.remove(uuid); ok {
				gone = append(gone, c)
			}
		}
	}
	return gone
}

// settledRun is how many rows in a row, at the end of a feed page, must be
// neither changed nor moved before the rest of the list is taken as known. One
// would do if updated_at were to be had: heartbeats and our own writes move a
// node to the front without changing its row, and such a node must not hide
// those behind it.
const settledRun = 10

// settled reports whether a feed page ends in rows that did not change, whoever
// saw it, and stand in the order in which they stood before. It is asked before
// the page is merged.
func (t *table) settled(page []Row) bool {
	if len(page) == 0 {
		return true
	}
	run := page[max(0, len(page)-settledRun):]
	before := 0
	for _, r := range run {
		e, known := t.rows[r.UUID]
		if !known || e.moved || !e.row.sameFields(r) {
			return false
		}
		if e.place == 0 {
			continue // never seen in the feed: by its content alone
		}
		if before != 0 && e.place >= before {
			return false
		}
		before = e.place
	}
	return true
}

// arrange records the order of the rows that the feed listed, newest first.
func (t *table) arrange(rows []Row) {
	t.place += len(rows)
	place := t.place
	for _, r := range rows {
		if e, known := t.rows[r.UUID]; known {
			e.place, e.moved = place, false
		}
		place--
	}
}

// observe looks at the heartbeat of a row that was just merged and reports an
// agent that fell silent: lostAfter is the limit, by the rhythm; zero for none.
func (t *table) observe(uuid string, now time.Time, lostAfter func(rhythm time.Duration) time.Duration) (Change, bool) {
	e, known := t.rows[uuid]
	if !known {
		return Change{}, false
	}
	if e.row.Agent.URL == "" {
		e.beat = beat{} // the next one is of another boot
		return Change{}, false
	}
	if last := e.row.Agent.LastHeartbeat; !last.Equal(e.beat.value) || e.beat.seenAt.IsZero() {
		next := beat{value: last, seenAt: now, begun: !e.beat.seenAt.IsZero(), did: e.row.DeployStep.String() + e.row.Agent.StatusMessage}
		if e.beat.begun && !e.beat.told && e.beat.did == next.did {
			t.rhythm = max(t.rhythm, now.Sub(e.beat.seenAt))
		}
		e.beat = next
		return Change{}, false
	}
	limit := lostAfter(t.rhythm)
	if e.beat.told || limit == 0 || now.Sub(e.beat.seenAt) <= limit {
		return Change{}, false
	}
	e.beat.told = true
	return Change{Kind: LostAgent, UUID: uuid, Name: e.row.Name, Row: e.row, Previous: e.row}, true
}

// forgive restarts the age of all heartbeats.
func (t *table) forgive(now time.Time) {
	for _, e := range t.rows {
		if !e.beat.seenAt.IsZero() {
			e.beat.seenAt, e.beat.begun = now, false
		}
	}
}

// expect says whether a host waits for a node. One that is not known is not waited for.
func (t *table) expect(uuid string, inFlight bool) {
	if _, known := t.rows[uuid]; known && inFlight {
		t.expected[uuid] = true
	} else {
		delete(t.expected, uuid)
	}
}

// busyStates groups the expected nodes by the busy state that they were last
// seen in.
func (t *table) busyStates() map[ProvisionState][]string {
	states := map[ProvisionState][]string{}
	for uuid := range t.expected {
		if e, known := t.rows[uuid]; known && e.row.ProvisionState.Busy() {
			states[e.row.ProvisionState] = append(states[e.row.ProvisionState], uuid)
		}
	}
	return states
}

package rules

import (
	"slices"
	"strconv"
	"time"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
)

// Entry is one entry of a log.
type Entry struct {
	// Service is the path of the log's entries.
	Service string
	ID      string
	// Created is zero where the BMC gives no time.
	Created  time.Time
	Severity v1alpha1.HealthState
	Message  string
	// MessageID is the key in a message registry, if any.
	MessageID string
	// Resolved says that it does not hold any more.
	Resolved bool
	// heard is when it was read first.
	heard time.Time
}

// Cursor is the entry of a log up to which it was read. An ID alone does not do: they
// start anew when a log is cleared.
type Cursor struct {
	ID      string
	Created time.Time
	// Page is the path of the page that it was on, for a log that begins with its
	// oldest entry.
	Page string
	// behind says that older entries are still being gone through.
	behind bool
}

// at says whether an entry is the cursor's.
func (c *Cursor) at(e *Entry) bool { return c.ID == e.ID && c.Created.Equal(e.Created) }

// LogReading is what was read of one log in one pass.
type LogReading struct {
	// Service is the path of its entries.
	Service string
	// Entries are what was read, oldest first, with entries that were read before.
	Entries []Entry
	// All says that it is the whole log, End that it goes up to the newest entry.
	All, End bool
	// Page is the path of the page of the last one.
	Page string
}

// Holds says whether an entry is among those that the cursor is at: then nothing
// before it is new.
func Holds(entries []Entry, c Cursor) bool {
	return slices.ContainsFunc(entries, func(e Entry) bool { return c.at(&e) })
}

// OldestFirst says in which order a log comes: by the times of its first and last
// entry, or their IDs where the times do not tell.
func OldestFirst(entries []Entry) bool {
	if len(entries) < 2 {
		return true
	}
	first, last := entries[0], entries[len(entries)-1]
	if !first.Created.IsZero() && !last.Created.IsZero() && !first.Created.Equal(last.Created) {
		return first.Created.Before(last.Created)
	}
	a, errA := strconv.Atoi(first.ID)
	b, errB := strconv.Atoi(last.ID)
	return errA != nil || errB != nil || a < b
}

// fresh are the entries behind the cursor.
func fresh(l LogReading, c Cursor) []Entry {
	for i := range slices.Backward(l.Entries) {
		if c.at(&l.Entries[i]) {
			return l.Entries[i+1:]
		}
	}
	// The entry is gone: the log was cleared, or has overwritten it. What is newer is
	// new; where times are missing, so is everything in a log that was read as a whole.
	var found []Entry
	for _, e := range l.Entries {
		if e.Created.IsZero() && l.All || !e.Created.IsZero() && !e.Created.Before(c.Created) {
			found = append(found, e)
		}
	}
	return found
}

const (
	// keptEntries is how many bad entries are remembered.
	keptEntries = 16
	// entryCounts is how long a bad entry makes the row of the logs bad.
	entryCounts = 24 * time.Hour
	// maxAlerts bounds those of one pass.
	maxAlerts = 20
)

// readLogs moves the cursors on and returns the bad entries that are new. Of a log
// that is read for the first time, over however many passes, nothing is new.
func readLogs(now Reading, next *Past) []Entry {
	var news []Entry
	for _, l := range now.Logs {
		cursor, known := next.Logs[l.Service]
		entries := l.Entries
		if known {
			entries = fresh(l, cursor)
		}
		resolve(next, l)
		for _, e := range entries {
			if !bad(e.Severity) || e.Resolved {
				continue
			}
			remember(now.Time, next, e)
			if known && !cursor.behind {
				news = append(news, e)
			}
		}
		behind := !l.End && (!known || cursor.behind)
		switch {
		case len(l.Entries) > 0:
			last := l.Entries[len(l.Entries)-1]
			next.Logs[l.Service] = Cursor{ID: last.ID, Created: last.Created, Page: l.Page, behind: behind}
		case !known || l.All:
			// An empty log: whatever comes is new.
			next.Logs[l.Service] = Cursor{Created: cursor.Created}
		}
	}
	next.Entries = slices.DeleteFunc(next.Entries, func(e Entry) bool { return old(now.Time, e) })
	return news
}

// resolve forgets entries that are resolved now, and those of a log that was read as
// a whole and does not hold them any more.
func resolve(next *Past, l LogReading) {
	next.Entries = slices.DeleteFunc(next.Entries, func(kept Entry) bool {
		if kept.Service != l.Service {
			return false
		}
		at := Cursor{ID: kept.ID, Created: kept.Created}
		for i := range l.Entries {
			if at.at(&l.Entries[i]) {
				return l.Entries[i].Resolved
			}
		}
		return l.All
	})
}

// remember keeps a bad entry for the row of the logs.
func remember(now time.Time, next *Past, e Entry) {
	e.heard = now
	for _, kept := range next.Entries {
		if kept.Service == e.Service && kept.ID == e.ID && kept.Created.Equal(e.Created) {
			return
		}
	}
	if old(now, e) {
		return
	}
	next.Entries = append(next.Entries, e)
	if len(next.Entries) > keptEntries {
		next.Entries = next.Entries[1:]
	}
}

// old says whether an entry is too old to count. Where it has no time, or one of a
// clock that was not set, the time when it was read does.
func old(now time.Time, e Entry) bool {
	at := e.Created
	if at.Year() < 2000 || at.After(now) {
		at = e.heard
	}
	return now.Sub(at) > entryCounts
}

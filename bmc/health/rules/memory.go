package rules

import (
	"maps"
	"slices"
	"time"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
)

// Reading is what was read in one pass.
type Reading struct {
	// Time is when, by our clock.
	Time time.Time
	// Silent says why the BMC gave no answer; empty when it did.
	Silent string
	// Off says that the host is off: many BMCs show no parts then.
	Off bool
	// Parts are those that were read.
	Parts []Part
	// Whole are the domains of which every part was read: what is not among Parts is
	// not there any more.
	Whole map[Domain]bool
	// Missing says why a domain could not be read.
	Missing map[Domain]string
	// Logs are the new parts of the logs.
	Logs []LogReading
	// Next is where the next pass goes on that cannot read everything.
	Next string
	// Requests is how many were made.
	Requests int
}

// Past is what is kept from one pass to the next. It is a value; the zero value is
// that of a BMC that was never read.
type Past struct {
	Domains map[Domain]Row
	// Bad are the parts that were not well when they were last read, by domain and ID.
	Bad map[Domain]map[string]Finding
	// Logs say how far each log was read, by the path of its entries.
	Logs map[string]Cursor
	// Entries are the latest bad entries of the logs.
	Entries []Entry
	// Next is Reading.Next.
	Next string
}

// Row is how a domain stands.
type Row struct {
	// Shown is the state that is shown, Last the one that was read last: two reads
	// have to agree before another is shown.
	Shown v1alpha1.HealthState
	Last  v1alpha1.HealthState
	// Told is the last one that was told as an alert.
	Told v1alpha1.HealthState
	// Part is the ID of the worst part, Message what is said of it.
	Part    string
	Message string
}

// Finding is a part that is not well.
type Finding struct {
	Verdict

	Kind Kind
	Name string
}

// Pending says that something looks different, and a second read has to confirm it:
// best soon.
func (p *Past) Pending() bool {
	for _, row := range p.Domains {
		if row.Last != "" && row.Last != row.Shown {
			return true
		}
	}
	return false
}

// clone copies all that Judge changes.
func (p *Past) clone() Past {
	next := Past{Domains: maps.Clone(p.Domains), Bad: map[Domain]map[string]Finding{}, Logs: maps.Clone(p.Logs), Entries: slices.Clone(p.Entries), Next: p.Next}
	if next.Domains == nil {
		next.Domains = map[Domain]Row{}
	}
	if next.Logs == nil {
		next.Logs = map[string]Cursor{}
	}
	for domain, parts := range p.Bad {
		next.Bad[domain] = maps.Clone(parts)
	}
	return next
}

// Alert is something new for people.
type Alert struct {
	Domain   Domain
	Severity v1alpha1.HealthState
	Message  string
	// Time is the log entry's, or that of the reading.
	Time time.Time
	// ID is the log entry's, empty for a domain's change.
	ID string
}

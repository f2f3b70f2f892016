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
	// Lists are the resources that were read and hold their parts themselves: a part
	// whose ID begins with one of them, and that is not among Parts, is gone.
	Lists []string
	// Missing says why a domain could not be read.
	Missing map[Domain]string
	// Unread says of a domain why nothing is known of a group of its parts: of a storage,
	// a chassis or a list of which nothing was read in this pass or an earlier one.
	Unread map[Domain]string
	// Left are the parts of a domain that are there and were not read in this pass.
	Left map[Domain]Left
	// Groups are the groups of parts that are known, by what leads to them.
	Groups map[string]Seen
	// Logs are the new parts of the logs.
	Logs []LogReading
	// Turns are where the next pass goes on that cannot read everything.
	Turns Turns
	// Storages are what the storages led to when they were read last, by their paths.
	Storages map[string]Led
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
	// Turns, Groups and Storages are those of the last reading.
	Turns    Turns
	Groups   map[string]Seen
	Storages map[string]Led
	// Touring says that a domain has groups of which nothing was read yet.
	Touring bool
}

// NotYet is said of groups that have not had their turn. It is the same in each pass.
const NotYet = "not every group of its parts has been read yet: the rest follows in turn"

// Turns are what was read last of what is read in turn: sections of the machine, storages,
// parts of which nothing is known, and parts that are said to be well.
type Turns struct {
	Section, Storage, Need, Idle string
}

// Seen is a group of parts: a storage, a list, a section of the machine.
type Seen struct {
	Domain Domain
	// Section is the part of the machine that leads to it.
	Section string
	// Read says that something of it was read, in this pass or an earlier one.
	Read bool
	// Why is why not, where that is known.
	Why string
}

// Led is what a storage leads to: parts that are read one by one.
type Led struct {
	// Well says that the storage speaks for all of them, and calls them well.
	Well  bool
	Parts []Ref
}

// Ref is a part that has a path.
type Ref struct {
	Kind Kind
	Path string
}

// Left is what was not read of a domain.
type Left struct {
	Parts int
	// Why is the first reason.
	Why string
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
	// Now says that it was read in the last pass, Times how often it was found so in a row.
	Now   bool
	Times int
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
	next := Past{Domains: maps.Clone(p.Domains), Bad: map[Domain]map[string]Finding{}, Logs: maps.Clone(p.Logs), Entries: slices.Clone(p.Entries), Turns: p.Turns, Groups: p.Groups, Storages: p.Storages, Touring: p.Touring}
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

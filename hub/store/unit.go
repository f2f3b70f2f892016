package store

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/ironflow/ironflow/hub/seal"
	"github.com/ironflow/ironflow/hub/wire"
)

// Unit is what one unit of work changes.
type Unit struct {
	// Read are the records that the work relies on without changing them.
	Read []Ref
	// InfraEnvs, Clusters and Hosts are made (version zero) or replaced.
	InfraEnvs []*InfraEnv
	Clusters  []*Cluster
	Hosts     []*Host
	// Jobs and Leases are made (version zero) or replaced.
	Jobs   []*Job
	Leases []*Lease
	// Files are written or removed, after the records.
	Files []ClusterFile
	// Gone are the records to remove. An infra-env can be removed only without hosts.
	Gone []Ref
	// Events are appended to the timeline.
	Events []wire.Event
	// CheckIns are signs of life. One that is older than what is stored, or of an
	// unknown host, changes nothing.
	CheckIns []CheckIn
	// Changes are announced.
	Changes []Change

	keys seal.Keys // of [Sealed]
}

// Empty reports whether there is nothing to store.
func (u *Unit) Empty() bool {
	return len(u.InfraEnvs)+len(u.Clusters)+len(u.Hosts)+len(u.Jobs)+len(u.Leases)+len(u.Files)+len(u.Gone)+len(u.Events)+len(u.CheckIns)+len(u.Changes) == 0
}

// Kind tells the records apart.
type Kind int

// The kinds of records, in the order in which a unit locks them.
const (
	KindInfraEnv Kind = iota
	KindCluster
	KindHost
	KindJob
	KindLease
)

// Ref names a record at a version.
type Ref struct {
	Kind Kind
	// InfraEnvID is set for hosts.
	InfraEnvID, ID string
	// Version is what was read; zero for a record that was not there.
	Version int64
}

// Ref returns the record's name and version.
func (e *InfraEnv) Ref() Ref { return Ref{Kind: KindInfraEnv, ID: e.API.ID, Version: e.Version} }

// Ref returns the record's name and version.
func (c *Cluster) Ref() Ref { return Ref{Kind: KindCluster, ID: c.API.ID, Version: c.Version} }

// Ref returns the record's name and version.
func (h *Host) Ref() Ref {
	return Ref{Kind: KindHost, InfraEnvID: h.API.InfraEnvID, ID: h.API.ID, Version: h.Version}
}

// name is the record without its version.
func (r Ref) name() Ref {
	r.Version = 0
	return r
}

// compareRefs is the order in which all programs lock records, so that they never wait for each other in a circle.
func compareRefs(a, b Ref) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), strings.Compare(a.InfraEnvID, b.InfraEnvID), strings.Compare(a.ID, b.ID))
}

// CheckIn is a host's sign of life.
type CheckIn struct {
	Host HostKey
	// At is when it came, by the hub's clock.
	At time.Time
	// Clock is the host's own clock, in Unix seconds; zero when it did not say.
	Clock int64
}

// What tells what changed about a record.
type What string

// The changes that are announced.
const (
	ChangedInfraEnv  What = "infra-env"
	ChangedCluster   What = "cluster"
	ChangedHost      What = "host"      // registered, settings, approval, binding
	ChangedStatus    What = "status"    // status or its text
	ChangedProgress  What = "progress"  // stage, percent
	ChangedInventory What = "inventory" // inventory, and with it the MAC addresses
	ChangedDeleted   What = "deleted"
	ChangedJob       What = "job" // made, ended or called off
	// ChangedAll says that changes may have been missed: anything may be different.
	ChangedAll What = "all"
)

// Change announces a stored change. It says where to look, not what to find.
type Change struct {
	InfraEnvID string `json:"e,omitempty"`
	// HostID is empty for changes of an infra-env or a cluster.
	HostID string `json:"h,omitempty"`
	// ClusterID is the host's or the cluster's own; empty for unbound hosts.
	ClusterID string `json:"c,omitempty"`
	What      What   `json:"w"`
}

// operation is what a unit does with one record.
type operation struct {
	ref Ref
	do  func(*tx) error
	// stored is called once all of the unit is stored; it may be nil.
	stored func()
}

// operations encodes the unit's records, before anything is locked.
func (u *Unit) operations() ([]operation, error) {
	var ops []operation
	var failures []error
	add := func(o operation, err error) { ops, failures = append(ops, o), append(failures, err) }
	for _, e := range u.InfraEnvs {
		add(putInfraEnv(e, u.keys))
	}
	for _, c := range u.Clusters {
		add(putCluster(c, u.keys))
	}
	for _, h := range u.Hosts {
		add(putHost(h, u.keys))
	}
	for _, j := range u.Jobs {
		add(putJob(j))
	}
	for _, l := range u.Leases {
		add(putLease(l), nil)
	}
	for _, r := range u.Gone {
		add(operation{ref: r, do: func(t *tx) error { return t.remove(r) }}, nil)
	}
	changed := map[Ref]bool{}
	for _, o := range ops {
		changed[o.ref.name()] = true
	}
	for _, r := range u.Read {
		if !changed[r.name()] {
			add(operation{ref: r, do: func(t *tx) error { return t.check(r) }}, nil)
		}
	}
	slices.SortFunc(ops, func(a, b operation) int { return compareRefs(a.ref, b.ref) })
	return ops, errors.Join(failures...)
}

// nextVersion follows a version. A new record begins at a random number, so that
// a version never means two records, even when one takes the place of another.
func nextVersion(v int64) int64 {
	if v == 0 {
		return 1 + rand.Int64N(1<<62) //nolint:gosec // it is no secret
	}
	return v + 1
}

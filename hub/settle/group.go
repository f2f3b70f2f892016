package settle

import (
	"slices"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/evaluate"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

// cluster is a cluster in a unit of work.
type cluster struct {
	// stored is the group as it is stored; without one when it was not kept.
	stored *entry
	// now is the group with what the unit has changed, as of a generation of the
	// unit; settled is the one that all of its hosts were evaluated by, nil for none.
	now, settled *evaluate.Group
	generation   int
	// made are the members that were made of the unit's records, noted the reports
	// that now has.
	made  map[store.HostKey]made
	noted map[*validations.HostFacts]bool
	// record is the cluster's own, at the unit's end.
	record *store.Cluster
}

// made is a member with all that it was made of.
type made struct {
	of     seen
	member *evaluate.Member
}

// seen is all of a record that a member is made of.
type seen struct {
	facts                  *validations.HostFacts
	version                int64
	name, status, reason   string
	role, suggested        wire.HostRole
	approved               bool
	percent, clock         int64
	heard                  int64
	installTo, needsShared string
}

func seenOf(h *store.Host, facts *validations.HostFacts, shared string) seen {
	s := seen{
		facts: facts, version: h.Version, name: h.API.RequestedHostname, status: h.API.Status, reason: h.Reason, role: h.API.Role, suggested: h.API.SuggestedRole,
		approved: h.Approved, clock: h.API.Timestamp, heard: h.API.CheckedInAt.UnixNano(), installTo: h.API.InstallationDiskID, needsShared: shared,
	}
	if h.API.Progress != nil {
		s.percent = h.API.Progress.InstallationPercentage
	}
	return s
}

// group returns the cluster with its hosts as the unit has them. Hosts that the
// unit has not read are as they were stored.
func (w *Work) group(c *store.Cluster) (*evaluate.Group, error) {
	known, err := w.known(c)
	if err != nil {
		return nil, err
	}
	if known.now != nil && known.generation == w.Generation() {
		return known.now, nil
	}
	shared, prev := evaluate.Shared(c), known.now
	if prev == nil {
		prev = known.stored.group
	}
	if prev == nil || !prev.Shared(shared) {
		// All hosts are evaluated again, and what they are worth may depend on it.
		if _, err := w.HostsOf(c.API.ID); err != nil {
			return nil, err
		}
	}
	var now *evaluate.Group
	if prev != nil {
		members, reports := w.gather(known, c, shared)
		now = w.Gather(prev, c, shared, members, reports)
	}
	if now == nil {
		if now, err = w.gatherAll(known, c, shared); err != nil {
			return nil, err
		}
	}
	known.now, known.generation = now, w.Generation()
	return now, nil
}

// gather puts together the members, with the reports that are not noted yet.
func (w *Work) gather(known *cluster, c *store.Cluster, shared string) ([]*evaluate.Member, map[store.HostKey]*wire.ConnectivityReport) {
	var stored []*evaluate.Member
	if known.stored.group != nil {
		stored = known.stored.group.Members
	}
	members, reports := make([]*evaluate.Member, 0, len(stored)+1), map[store.HostKey]*wire.ConnectivityReport{}
	mine := w.Loaded(c.API.ID)
	for len(stored) > 0 || len(mine) > 0 {
		if len(mine) == 0 || len(stored) > 0 && stored[0].Key.Compare(mine[0].Key()) < 0 {
			if _, read := w.Peek(stored[0].Key); !read {
				members = append(members, w.heard(stored[0]))
			}
			stored = stored[1:]
			continue
		}
		h := mine[0]
		if mine = mine[1:]; len(stored) > 0 && stored[0].Key == h.Key() {
			stored = stored[1:]
		}
		facts := w.Facts(h)
		members = append(members, w.member(known, h, c, facts, shared))
		if news := facts.Connectivity != nil || facts.Links == nil; news && !known.noted[facts] {
			reports[h.Key()], known.noted[facts] = facts.Connectivity, true
		}
	}
	return members, reports
}

// gatherAll makes the group of all records of the cluster and its hosts.
func (w *Work) gatherAll(known *cluster, c *store.Cluster, shared string) (*evaluate.Group, error) {
	hosts, err := w.HostsOf(c.API.ID)
	if err != nil {
		return nil, err
	}
	if err := w.Reader.ReadConnectivity(hosts); err != nil {
		return nil, err
	}
	members, reports := make([]*evaluate.Member, 0, len(hosts)), map[store.HostKey]*wire.ConnectivityReport{}
	for _, h := range hosts {
		facts := w.allFacts(h)
		members = append(members, w.member(known, h, c, facts, shared))
		reports[h.Key()], known.noted[facts] = facts.Connectivity, true
	}
	return w.Gather(nil, c, shared, members, reports), nil
}

func (w *Work) member(known *cluster, h *store.Host, c *store.Cluster, facts *validations.HostFacts, shared string) *evaluate.Member {
	of := seenOf(h, facts, shared)
	if old, ok := known.made[h.Key()]; ok && old.of == of {
		return old.member
	}
	m := w.MemberOf(h, c, facts)
	known.made[h.Key()] = made{of, m}
	return m
}

// heard gives a kept member the last sign of life of its host.
func (w *Work) heard(m *evaluate.Member) *evaluate.Member {
	if known, ok := w.recent[m]; ok {
		return known
	}
	h := &w.scratch
	h.API.InfraEnvID, h.API.ID = m.Key.InfraEnvID, m.Key.HostID
	h.API.CheckedInAt, h.API.Timestamp = wire.At(m.HeardAt), m.Clock
	w.Heard(h)
	out := m
	if h.API.CheckedInAt.After(m.HeardAt) {
		out = m.Heard(h.API.CheckedInAt.Time, h.API.Timestamp)
	}
	w.recent[m] = out
	return out
}

// known returns what the unit knows of a cluster: what is kept of it where that is
// what is stored.
func (w *Work) known(c *store.Cluster) (*cluster, error) {
	if known := w.clusters[c.API.ID]; known != nil {
		return known, nil
	}
	known := &cluster{stored: &entry{}, made: map[store.HostKey]made{}, noted: map[*validations.HostFacts]bool{}}
	switch e := w.units.kept.get(c.API.ID); {
	case e == nil || c.Version == 0:
	case e.version == c.Version && w.Now.Sub(e.read) < clocksFor:
		known.stored = e
	default:
		caughtUp, err := w.catchUp(c, e)
		if err != nil {
			return nil, err
		}
		known.stored = caughtUp
	}
	if known.stored.evaluated {
		known.settled = known.stored.group
	}
	w.clusters[c.API.ID] = known
	return known, nil
}

// catchUp brings a kept cluster up to what is stored: another program has changed
// it, or may have heard of its hosts. Where that takes all reports, it keeps nothing.
func (w *Work) catchUp(c *store.Cluster, e *entry) (*entry, error) {
	stored, err := w.Reader.Cluster(c.API.ID) // the unit may have changed its own
	if err != nil {
		return nil, err
	}
	shared := evaluate.Shared(stored)
	if !e.group.Shared(shared) {
		return &entry{}, nil
	}
	marks, err := w.Reader.Marks(c.API.ID)
	if err != nil {
		return nil, err
	}
	members, reports := make([]*evaluate.Member, 0, len(marks)), map[store.HostKey]*wire.ConnectivityReport{}
	for _, mark := range marks {
		m := e.group.Find(mark.Host)
		if m == nil || m.Version != mark.Version {
			h, err := w.Reader.Host(mark.Host)
			if err != nil {
				return nil, err
			}
			facts := validations.Decode(&h.API, validations.Known{Inventory: h.Inventory()})
			m, reports[mark.Host] = w.MemberOf(h, stored, facts), facts.Connectivity
		} else if mark.At.After(m.HeardAt) {
			m = m.Heard(mark.At, mark.Clock)
		}
		members = append(members, m)
	}
	group := w.Gather(e.group, stored, shared, members, reports)
	if group == nil {
		return &entry{}, nil
	}
	return &entry{group: group, version: c.Version, evaluated: e.evaluated, read: w.Now}, nil
}

// conclude has the groups as they will be stored.
func (w *Work) conclude() error {
	for id, known := range w.clusters {
		c, err := w.Cluster(id)
		if apierror.IsNotFound(err) {
			delete(w.clusters, id)
			continue
		}
		if err != nil {
			return err
		}
		known.generation = -1
		if _, err := w.group(c); err != nil {
			return err
		}
		known.record = c
	}
	return nil
}

// keep keeps the clusters of a unit that was stored.
func (u *Units) keep(w *Work) {
	for id, known := range w.clusters {
		e := &entry{version: known.record.Version, evaluated: known.isSettled(), read: known.stored.read}
		if known.stored.group == nil {
			e.read = w.Now
		}
		members := slices.Clone(known.now.Members)
		for i, m := range members {
			if h, _ := w.Peek(m.Key); h != nil && h.Version != m.Version {
				members[i] = m.Stored(h.Version)
			}
		}
		e.group = known.now.WithMembers(members)
		u.kept.put(id, e)
	}
}

// isSettled reports whether the results of all hosts follow from the group as it is.
func (k *cluster) isSettled() bool {
	if k.settled == nil {
		return false
	}
	all, some := evaluate.Differ(k.settled, k.now)
	return !all && len(some) == 0
}

package evaluate

import (
	"slices"
	"time"

	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

// Member is a host as its cluster sees it: about a kilobyte, so that those of a
// cluster of 500 can be kept in memory. It does not change.
type Member struct {
	validations.Member
	Key store.HostKey
	// Version is that of the record which the member was made of.
	Version int64

	Status, Reason string
	Approved       bool
	// Percent is how far the installation is.
	Percent int64
	// Role is what was given, Suggested what the hub would give.
	Role, Suggested wire.HostRole
	// Strength is what the host's role depends on; false in Known when that is not known yet.
	Strength Strength
	Known    bool
	// Links are what the connectivity report said.
	Links *validations.Links
	// Clock and HeardAt are the host's clock, in Unix seconds, and when it told it.
	Clock   int64
	HeardAt time.Time
}

// MemberOf digests a host for its cluster.
func (e Evaluator) MemberOf(h *store.Host, c *store.Cluster, facts *validations.HostFacts) *Member {
	m := &Member{
		Member: facts.Member(), Key: h.Key(), Version: h.Version,
		Status: h.API.Status, Reason: h.Reason, Approved: h.Approved, Role: h.API.Role, Suggested: h.API.SuggestedRole,
		Strength: roleFacts(h, facts), Links: facts.Links, Clock: h.API.Timestamp, HeardAt: h.API.CheckedInAt.Time,
	}
	m.Strength.First = e.NodeZero.Is(h)
	m.Known = facts.Inventory != nil || IsGivenRole(h.API.Role)
	for _, role := range []wire.HostRole{wire.HostRoleMaster, wire.HostRoleArbiter} {
		if m.Known && facts.Meets(e.Needs.For(c.API.OpenshiftVersion, role, SingleNode(c))) {
			m.Strength.Fits = append(m.Strength.Fits, role)
		}
	}
	if h.API.Progress != nil {
		m.Percent = h.API.Progress.InstallationPercentage
	}
	return m
}

// clockStep is how much a clock may change without a word: less than polls take,
// and far less than what clocks may differ by.
const clockStep = time.Second

// Heard returns the member with a later sign of life. It is the same one where its
// clock says the same as before.
func (m *Member) Heard(at time.Time, clock int64) *Member {
	ahead, known := validations.ClockAhead(clock, at)
	if known == m.ClockKnown && (ahead-m.ClockAhead).Abs() < clockStep {
		return m
	}
	out := *m
	out.Clock, out.HeardAt, out.ClockAhead, out.ClockKnown = clock, at, ahead, known
	return &out
}

// Stored returns the member of the record's new version.
func (m *Member) Stored(version int64) *Member {
	out := *m
	out.Version = version
	return &out
}

// roleKey tells hosts of several infra-envs apart.
func roleKey(key store.HostKey) string { return key.InfraEnvID + "/" + key.HostID }

// roleFacts are what the host's role depends on.
func roleFacts(h *store.Host, facts *validations.HostFacts) Strength {
	r := Strength{ID: roleKey(h.Key()), Given: h.API.Role}
	i := facts.Inventory
	if i == nil {
		return r
	}
	r.GPUs = len(i.GPUs)
	if i.CPU != nil {
		r.CPUs = i.CPU.Count
	}
	if i.Memory != nil {
		r.MemoryBytes = i.Memory.PhysicalBytes
	}
	for _, d := range i.Disks {
		if d.InstallationEligibility.Eligible {
			r.DiskBytes = max(r.DiskBytes, d.SizeBytes)
		}
	}
	return r
}

// Roles gives roles to the hosts that are known well enough.
func (e Evaluator) Roles(c *store.Cluster, members []*Member) map[store.HostKey]wire.HostRole {
	var known []Strength
	for _, m := range members {
		if m.Known {
			known = append(known, m.Strength)
		}
	}
	masters, arbiters := c.Masters, c.Arbiters
	if c.API.Kind == wire.ClusterKindAddHostsCluster {
		masters, arbiters = 0, 0
	}
	found := assign(known, masters, arbiters)
	out := make(map[store.HostKey]wire.HostRole, len(found))
	for _, m := range members {
		if role, ok := found[m.Strength.ID]; ok {
			out[m.Key] = role
		}
	}
	return out
}

// Strongest sorts the hosts' keys, the strongest host first.
func Strongest(members []*Member) []store.HostKey {
	byID := map[string]store.HostKey{}
	var all []Strength
	for _, m := range members {
		byID[m.Strength.ID] = m.Key
		all = append(all, m.Strength)
	}
	var out []store.HostKey
	for _, h := range strongestFirst(all) {
		out = append(out, byID[h.ID])
	}
	return out
}

// sameFacts reports whether the cluster's facts are the same with either.
func sameFacts(a, b *Member) bool {
	if a == b {
		return true
	}
	x, y := a.Member, b.Member
	return x.ID == y.ID && x.Name == y.Name && x.Label == y.Label && x.Role == y.Role && x.HasInventory == y.HasInventory &&
		x.ClockAhead == y.ClockAhead && x.ClockKnown == y.ClockKnown &&
		slices.Equal(x.Subnets, y.Subnets) && slices.Equal(x.Addresses, y.Addresses) && slices.Equal(x.Strangers, y.Strangers) &&
		slices.Equal(x.GPUs, y.GPUs) && slices.Equal(x.Spare, y.Spare)
}

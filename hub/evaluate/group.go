package evaluate

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/ironflow/ironflow/hub/connectivity"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

// Group is a cluster with its hosts at one moment: all that they have in common.
// It does not change; [Gather] makes the next one of it.
type Group struct {
	// Members are the hosts by key.
	Members []*Member
	// Facts are computed once for all of them.
	Facts *validations.ClusterFacts
	// shared is the cluster's record as far as its hosts depend on it.
	shared string
	graph  *connectivity.Graph
	// sum is what Facts were copied from; the same one means the same but for the settings.
	sum *validations.ClusterFacts
}

// Shared is the cluster's record without what the hub computes of its hosts:
// where it has changed, all hosts are evaluated again.
func Shared(c *store.Cluster) string {
	bare := *c
	a := &bare.API
	a.ValidationsInfo, a.ConnectivityMajorityGroups, a.IPCollisions, a.Progress, a.Hosts = "", "", "", nil, nil
	a.TotalHostCount, a.EnabledHostCount, a.ReadyHostCount = 0, 0, 0
	a.StatusInfo, a.StatusUpdatedAt, a.UpdatedAt = "", wire.DateTime{}, time.Time{}
	bare.PreparedAt, bare.Preparations = time.Time{}, 0
	raw, err := json.Marshal(&bare)
	if err != nil {
		return ""
	}
	return string(raw)
}

// Shared reports whether the group was made with that.
func (g *Group) Shared(shared string) bool { return g.shared == shared }

// WithMembers is the group with members that differ in their versions only.
func (g *Group) WithMembers(members []*Member) *Group {
	out := *g
	out.Members = members
	return &out
}

// Find returns the member; nil when there is none.
func (g *Group) Find(key store.HostKey) *Member {
	i, found := slices.BinarySearchFunc(g.Members, key, func(m *Member, key store.HostKey) int { return m.Key.Compare(key) })
	if !found {
		return nil
	}
	return g.Members[i]
}

// Gather makes the group of a cluster and its members, which are in order. prev is
// the group before; nil for none. reports are those of the members whose
// connectivity report may have changed since, nil for one that has none; without
// prev they are those of all members. It returns nil where prev is not enough to
// go on with: it has to be done without it.
func (r *Rules) Gather(prev *Group, c *store.Cluster, shared string, members []*Member, reports map[store.HostKey]*wire.ConnectivityReport) *Group {
	g := &Group{Members: members, shared: shared}
	settings := validations.Read(&c.API, validations.Wanted{Masters: c.Masters, Arbiters: c.Arbiters, Workers: c.Workers})
	settings.Operators, settings.LostOperators = r.OperatorsOf(c)
	if g.graph = graphOf(prev, settings.Networks(), members); g.graph == nil {
		return nil
	}
	for _, m := range members {
		if report, given := reports[m.Key]; given {
			g.graph = g.graph.With(m.ID, report)
		}
	}
	if prev != nil && prev.graph == g.graph && slices.EqualFunc(prev.Members, members, sameFacts) && prev.Facts.Least() == settings.Least() {
		facts := *prev.sum
		facts.Settings = settings
		g.Facts, g.sum = &facts, prev.sum
		return g
	}
	var groups map[string][]string
	if prev != nil && prev.graph == g.graph && prev.Facts.Least() == settings.Least() {
		groups = prev.Facts.Groups
	} else {
		groups = g.graph.Groups(settings.Least())
	}
	plain := make([]validations.Member, 0, len(members))
	for _, m := range members {
		plain = append(plain, m.Member)
	}
	g.sum = validations.Summarise(settings, plain, groups)
	g.Facts = g.sum
	return g
}

// graphOf is the graph to begin with; nil where the one before is not enough.
func graphOf(prev *Group, networks []connectivity.Network, members []*Member) *connectivity.Graph {
	ids := make([]string, 0, len(members))
	for _, m := range members {
		ids = append(ids, m.ID)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	switch {
	case prev == nil:
		return connectivity.New(networks, ids)
	case !prev.graph.Is(networks):
		return nil
	case prev.graph.Has(ids):
		return prev.graph
	}
	grown, ok := prev.graph.Grow(ids)
	if !ok {
		return nil
	}
	return grown
}

// Differ finds the hosts that are evaluated otherwise in the group now than in the one
// before, because of what others have changed; all tells that every host is.
func Differ(before, now *Group) (all bool, hosts map[store.HostKey]bool) {
	enough := func(g *Group) int { return min(len(g.Members), g.Facts.Least()) }
	if before.shared != now.shared || enough(before) != enough(now) {
		return true, nil
	}
	if len(now.Facts.Operators) > 0 && before.Facts.HasWorkers() != now.Facts.HasWorkers() {
		return true, nil // what operators put on the control plane depends on it
	}
	hosts = map[store.HostKey]bool{}
	if before.sum == now.sum {
		return false, hosts
	}
	ids := map[string]bool{}
	for network, group := range now.Facts.Groups {
		xor(ids, before.Facts.Groups[network], group)
	}
	names := changed(before.Facts.Names, now.Facts.Names, func(a, b int) bool { return a == b })
	strangers := changed(before.Facts.Strangers, now.Facts.Strangers, slices.Equal[[]string])
	peers := changed(before.Facts.Roles, now.Facts.Roles, func(a, b wire.HostRole) bool { return a == b })
	maps.Copy(peers, changed(before.Facts.Labels, now.Facts.Labels, func(a, b string) bool { return a == b }))
	for _, m := range now.Members {
		if ids[m.ID] || names[m.Name] || len(strangers) > 0 && slices.ContainsFunc(m.Addresses, func(a string) bool { return strangers[a] }) ||
			len(peers) > 0 && m.Links != nil && slices.ContainsFunc(m.Links.Peers, func(p validations.Peer) bool { return peers[p.ID] }) {
			hosts[m.Key] = true
		}
	}
	return false, hosts
}

// SameRoles reports whether the hosts get the same roles in both groups.
func SameRoles(a, b *Group) bool {
	return a.shared == b.shared && slices.EqualFunc(a.Members, b.Members, func(x, y *Member) bool {
		p, q := x.Strength, y.Strength
		return x == y || x.Key == y.Key && x.Suggested == y.Suggested && x.Known == y.Known && p.First == q.First && p.Given == q.Given && p.CPUs == q.CPUs &&
			p.MemoryBytes == q.MemoryBytes && p.DiskBytes == q.DiskBytes && p.GPUs == q.GPUs && slices.Equal(p.Fits, q.Fits)
	})
}

// xor adds what is in one of the lists only.
func xor(to map[string]bool, a, b []string) {
	if slices.Equal(a, b) {
		return
	}
	in := map[string]int{}
	for _, id := range a {
		in[id]++
	}
	for _, id := range b {
		in[id]--
	}
	for id, n := range in {
		if n != 0 {
			to[id] = true
		}
	}
}

// changed are the keys whose values differ, also those that only one of the maps has.
func changed[V any](a, b map[string]V, same func(V, V) bool) map[string]bool {
	out := map[string]bool{}
	for key, v := range b {
		if old, had := a[key]; !had || !same(old, v) {
			out[key] = true
		}
	}
	for key := range a {
		if _, has := b[key]; !has {
			out[key] = true
		}
	}
	return out
}

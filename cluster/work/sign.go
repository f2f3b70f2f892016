package work

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"maps"
	"net/url"
	"slices"

	"github.com/ironflow/ironflow/cluster/csr"
	"github.com/ironflow/ironflow/cluster/observe"
)

// object is a Kubernetes object, or a part of one.
type object = map[string]any

// looksAtOnce bounds how many requests are read in one pass.
const looksAtOnce = 100

// looked is what is known of a request after a look, until what it is held against changes.
type looked struct {
	// node is for the name of the node in it, and other for that of another host that it was held against.
	node, other seen
	reason      csr.Reason
}

// seen is a name, and what there was of that name.
type seen struct{ name, world uint64 }

// sign approves the signing requests that are a host's, and says of the others once
// that they are left alone. Of the kinds of the cluster it waits for the nodes alone, which a
// request is held against: who serves another kind may need the very node that asks.
//
// The content of a request is read when it is looked at, one after the other, and no request twice before there is
// something new of its host or node: strangers can make any number of them.
func (r *Runner) sign(ctx context.Context, v view) {
	if v.nodes == nil {
		return // they have not been listed
	}
	requests := r.Caches.Requests.All()
	r.forget(requests)
	world := csr.World{Hosts: v.hosts, Nodes: v.nodes, API: v.cluster.API}
	states := r.states(world)
	var open []string
	for name, q := range requests {
		if r.open(q, states, v) {
			open = append(open, name)
		}
	}
	for i, name := range r.turn(open) {
		if i == looksAtOnce {
			r.Caches.Wake() // another pass goes on
			return
		}
		r.memory.turn = name
		q, found, err := r.read(ctx, name)
		if err != nil {
			r.Log.Warn("a signing request cannot be read; trying again", "request", name, "error", err)
			return
		}
		if found {
			r.judge(ctx, q, world, states, v)
		}
	}
}

// forget drops what is remembered of requests that are no more.
func (r *Runner) forget(requests map[string]csr.Listed) {
	here := map[string]bool{}
	for _, q := range requests {
		here[q.UID] = true
	}
	for _, known := range []map[string]bool{r.memory.approved, r.memory.said, r.memory.told, r.memory.failed} {
		maps.DeleteFunc(known, func(uid string, _ bool) bool { return !here[uid] })
	}
	maps.DeleteFunc(r.memory.looked, func(uid string, _ looked) bool { return !here[uid] })
}

// states are for the names of hosts and nodes what [csr.Judge] sees of them. Neither is kept as text, which for
// many requests is more than this program may hold.
func (r *Runner) states(w csr.World) map[uint64]uint64 {
	states := map[uint64]uint64{}
	api := fmt.Sprintln(w.API)
	add := func(name string, of ...any) {
		key := r.sum(name)
		states[key] = r.sum(fmt.Sprintln(append(of, states[key])...))
	}
	for _, h := range w.Hosts {
		add(h.Name, h.ID, h.Role, h.Status, h.Stage, h.Addresses, api)
	}
	for name, n := range w.Nodes {
		add(name, n.UID, n.Ready, n.Silent, n.Addresses)
	}
	return states
}

func (r *Runner) sum(text string) uint64 { return maphash.String(r.memory.seed, text) }

// open tells that the request has to be looked at.
func (r *Runner) open(q csr.Listed, states map[uint64]uint64, v view) bool {
	switch {
	case !q.ApprovedAt.IsZero() && (v.alone || r.memory.told[q.UID]), q.ApprovedAt.IsZero() && r.memory.approved[q.UID]:
		return false
	}
	before, was := r.memory.looked[q.UID]
	return !was || states[before.node.name] != before.node.world || states[before.other.name] != before.other.world
}

// turn sorts names so that each has its turn, whatever becomes of those before it.
func (r *Runner) turn(names []string) []string {
	slices.Sort(names)
	i, found := slices.BinarySearch(names, r.memory.turn)
	if found {
		i++
	}
	return slices.Concat(names[i:], names[:i])
}

// read reads a request; false for one that is gone. It is a list of one, since the program's role in clusters that
// have it for long lets it list requests, and not get one.
func (r *Runner) read(ctx context.Context, name string) (csr.Request, bool, error) {
	var list struct{ Items []json.RawMessage }
	err := r.Kube.Get(ctx, observe.Requests+"?"+url.Values{"fieldSelector": {"metadata.name=" + name}}.Encode(), &list)
	if err != nil || len(list.Items) == 0 {
		return csr.Request{}, false, err
	}
	q, err := observe.Request(list.Items[0])
	return q, err == nil && q.Name == name, err
}

// judge judges a request, and does what follows.
func (r *Runner) judge(ctx context.Context, q csr.Request, world csr.World, states map[uint64]uint64, v view) {
	if !q.ApprovedAt.IsZero() {
		if known := r.tellSigned(ctx, q, v); !known {
			r.remember(q, csr.Verdict{Node: q.Node(), Reason: csr.Approved}, states)
		}
		return
	}
	verdict := csr.Judge(q, world)
	switch verdict.Decision {
	case csr.Approve:
		r.approve(ctx, q, verdict, v)
	case csr.Leave:
		if r.leave(ctx, q, verdict) {
			r.remember(q, verdict, states)
		}
	case csr.Wait:
		r.remember(q, verdict, states)
	case csr.Ignore: // somebody has settled it just now
	}
}

// remember has a request wait until there is something new of its node, or of the other host that it was held against.
func (r *Runner) remember(q csr.Request, v csr.Verdict, states map[uint64]uint64) {
	of := func(name string) seen {
		key := r.sum(name)
		return seen{key, states[key]}
	}
	r.memory.looked[q.UID] = looked{node: of(v.Node), other: of(v.Other), reason: v.Reason}
}

package host

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/ironflow/ironflow/controllers/host/policy"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/ironic"
)

// memory is what is worth remembering of a host between passes although it can
// be found out again: losing it costs a request, never a mistake.
type memory struct {
	// NodeID is the node that the rest is about.
	NodeID string
	// Looked is when the node was last read in full.
	Looked time.Time
	// Ports names the ports that were ensured.
	Ports string
	// Node is the node as last read in full, while that is worth something.
	Node *ironic.Node
	// Fresh means that the node was enrolled by this process.
	Fresh bool
	// NoInventory means that the node was not inspected yet.
	NoInventory bool
	// PowerAsked is the last accepted power request that was not seen fulfilled.
	PowerAsked ironic.PowerState
	// SoftRefused means that the driver knows no soft power action.
	SoftRefused bool
	// LostAgent is the agent that the watch reported as lost; zero for none.
	LostAgent silence
	// Rebooted is when the machine was last rebooted to learn why an installation
	// was cut off.
	Rebooted time.Time
	// Busy is who has held the node, and since when.
	Busy policy.Holder
	// TurnedAway means that a restart was announced, but not accepted.
	TurnedAway bool
	// Verifying is since when the node is seen to be verified.
	Verifying time.Time
	// Seen is the fingerprint of what the present error was recorded with.
	Seen string
	// Patient means that an inspection runs and nothing is wished but its end: that it
	// now waits for the machine is no reason to look at the host.
	Patient bool
	// Removed means that the node was deleted by this process.
	Removed bool
	// Released is the host that was let go of: what the cache still shows of it is
	// over. Its node's end may be heard of before its own.
	Released types.UID
}

// recalled are the phases and states of a node in which nothing of it changes that
// the watch does not show: Ironic has not worked on it yet, or inspects it.
var recalled = map[policy.State][]ironic.ProvisionState{
	metal3.StateRegistering: {ironic.StateEnroll, ironic.StateVerifying, ironic.StateManageable},
	metal3.StateInspecting:  {ironic.StateManageable, ironic.StateInspecting, ironic.StateInspectWait},
}

// recall returns what is worth keeping of a node that is known in full; nil for
// nothing. What Ironic keeps for itself is left out: nothing is decided by it.
func recall(state policy.State, s policy.Detail, n *ironic.Node) *ironic.Node {
	if n == nil || s != policy.Full && s != policy.Cached || n.Maintenance || n.Fault != "" || !slices.Contains(recalled[state], n.ProvisionState) {
		return nil
	}
	kept := *n
	kept.DriverInternalInfo, kept.Agent = nil, ironic.AgentInfo{}
	return &kept
}

// memories keeps one memory per host. A host has one worker at a time; only the
// watch writes from elsewhere.
type memories struct {
	mu sync.Mutex
	m  map[types.NamespacedName]memory
}

func newMemories() *memories { return &memories{m: map[types.NamespacedName]memory{}} }

// get returns what is remembered of a host.
func (s *memories) get(key types.NamespacedName) memory {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.m[key]
}

// silence is the report of an agent that fell silent: on which node, and when that
// had heard of it last. It says nothing about another node, and is over when the
// agent is heard of again.
type silence struct {
	Node string
	Last time.Time
}

// of reports whether the silence is that of a node's agent, and lasts.
func (s silence) of(n *ironic.Node) bool {
	return n != nil && s.Node != "" && s.Node == n.UUID && !n.Agent.LastHeartbeat.After(s.Last)
}

// begin gets what is remembered of a host that is looked at from now on: what it is
// woken for meanwhile may be news to it.
func (s *memories) begin(key types.NamespacedName) memory {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.m[key]
	if m.Patient {
		m.Patient = false
		s.m[key] = m
	}
	return m
}

// patient reports whether a host with this node has nothing to do before its
// inspection ends.
func (s *memories) patient(key types.NamespacedName, node string) bool {
	m := s.get(key)
	return m.Patient && m.NodeID == node
}

// put remembers. An agent that was reported as lost meanwhile stays so, unless
// handled says that the report was acted on.
func (s *memories) put(key types.NamespacedName, m memory, handled bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m.LostAgent = silence{}
	if !handled {
		m.LostAgent = s.m[key].LostAgent
	}
	s.m[key] = m
}

// lostAgent notes a report of the watch.
func (s *memories) lostAgent(key types.NamespacedName, row ironic.Row) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.m[key]
	m.LostAgent = silence{Node: row.UUID, Last: row.Agent.LastHeartbeat}
	s.m[key] = m
}

// forget drops a host that is gone.
func (s *memories) forget(key types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.m, key)
}

// patient reports whether the host waits for nothing but the end of an inspection.
func (p *pass) patient() bool {
	o := &p.o
	return o.State() == metal3.StateInspecting && o.Node != nil && o.Node.ProvisionState == ironic.StateInspecting &&
		!o.Deleting() && !o.Failing() && !policy.WantsDetach(o.Host) && len(policy.ForcedReboots(o.Host)) == 0 && policy.MarkOf(o.Host) == nil
}

// remember keeps what the next pass is spared by.
func (p *pass) remember(ctx context.Context, key client.ObjectKey) {
	o := &p.o
	before := p.memories.get(key)
	m := memory{
		NodeID: o.Host.Status.Provisioning.ID, Looked: o.Looked, Ports: o.Ports,
		Node: recall(o.State(), o.Detail, o.Node), Fresh: o.Fresh && !o.Steady(), NoInventory: o.NoInventory,
		PowerAsked: o.PowerAsked, SoftRefused: o.SoftRefused, Rebooted: o.Rebooted, Busy: o.Busy,
		TurnedAway: o.TurnedAway, Removed: o.Detail == policy.Missing && before.Removed, Patient: p.patient(),
	}
	if o.Node != nil && o.Node.ProvisionState == ironic.StateVerifying {
		m.Verifying = cmp.Or(o.Verifying, o.Now)
	}
	if o.Node == nil || policy.Fulfilled(o.Node, m.PowerAsked) || p.failedNow {
		m.PowerAsked = "" // its failure counts once
	}
	switch {
	case !o.Failing() && policy.FailedDetaches(o.Host) == 0:
	case p.failedNow || before.Seen == "":
		m.Seen = p.fingerprint(ctx, o)
	default:
		m.Seen = before.Seen
	}
	handled := before.LostAgent == p.lost && !o.LostAgent
	p.memories.put(key, m, handled)
}

// Package memory keeps what is worth remembering of a host between passes although it
// can be found out again: losing it costs a request, never a mistake. The main type is
// [Memories]. It saves reads of the node: with it a host costs 9 requests to Ironic at
// most until it is available (ironic_per_host of `make bench-fleet`).
package memory

import (
	"slices"
	"sync"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/controllers/host/policy/nodeaction"
	"github.com/ironflow/ironflow/ironic"
)

// Memory is what is remembered of one host.
type Memory struct {
	// Kept is what the next decision is told as it is.
	policy.Kept
	// NodeID is the node that the rest is about.
	NodeID string
	// Node is the node as last read in full, while that is worth something. Lost: one
	// more read.
	Node *ironic.Node
	// LostAgent is the agent that the watch reported as lost; zero for none.
	LostAgent Silence
	// Removed means that the node was deleted by this process. Lost: it is looked for.
	Removed bool
	// Told counts how often the BMC has told of the machine's power, Answered how much of
	// that was heeded. Lost: Ironic looks at the power by itself, once a minute as a rule.
	Told, Answered uint64
	// Released is the host that was let go of: what the cache still shows of it is
	// over. Its node's end may be heard of before its own. Lost: the cache is new as well.
	Released types.UID
}

// cached are the phases and states of a node in which nothing of it changes that
// the watch does not show: Ironic has not worked on it yet, or inspects it.
var cached = map[policy.State][]ironic.ProvisionState{
	metal3.StateRegistering: {ironic.StateEnroll, ironic.StateVerifying, ironic.StateManageable},
	metal3.StateInspecting:  {ironic.StateManageable, ironic.StateInspecting, ironic.StateInspectWait},
}

// Cached returns what is worth keeping of a node that is known in full; nil for
// nothing. What Ironic keeps for itself is left out: nothing is decided by it.
func Cached(state policy.State, s nodeaction.Sight) *ironic.Node {
	n, known := s.InFull()
	if !known || n.Maintenance || n.Fault != "" || !slices.Contains(cached[state], n.ProvisionState) {
		return nil
	}
	kept := *n.Node()
	kept.DriverInternalInfo, kept.Agent = nil, ironic.AgentInfo{}
	return &kept
}

// Memories keep one memory per host; the zero value is empty. A host has one worker at
// a time; only the watch writes from elsewhere.
type Memories struct {
	mu sync.Mutex
	m  map[types.NamespacedName]Memory
}

// Get returns what is remembered of a host.
func (s *Memories) Get(key types.NamespacedName) Memory {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.m[key]
}

// Load replaces all that is remembered of a host: a rehearsal goes on from anywhere.
func (s *Memories) Load(key types.NamespacedName, m Memory) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.set(key, m)
}

// Silence is the report of an agent that fell silent: on which node, and when that
// had heard of it last. It says nothing about another node, and is over when the
// agent is heard of again.
type Silence struct {
	Node string
	Last time.Time
}

// Of reports whether the silence is that of a node's agent, and lasts.
func (s Silence) Of(n *ironic.Row) bool {
	return n != nil && s.Node != "" && s.Node == n.UUID && !n.Agent.LastHeartbeat.After(s.Last)
}

// Put remembers. An agent that was reported as lost meanwhile stays so, unless
// handled says that the report was acted on.
func (s *Memories) Put(key types.NamespacedName, m Memory, handled bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m.LostAgent, m.Told = Silence{}, s.m[key].Told
	if !handled {
		m.LostAgent = s.m[key].LostAgent
	}
	s.set(key, m)
}

// LostAgent notes a report of the watch.
func (s *Memories) LostAgent(key types.NamespacedName, row ironic.Row) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.m[key]
	m.LostAgent = Silence{Node: row.UUID, Last: row.Agent.LastHeartbeat}
	s.set(key, m)
}

// TellPower notes that a BMC has told of its machine's power.
func (s *Memories) TellPower(key types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.m[key]
	m.Told++
	s.set(key, m)
}

func (s *Memories) set(key types.NamespacedName, m Memory) {
	if s.m == nil {
		s.m = map[types.NamespacedName]Memory{}
	}
	s.m[key] = m
}

// Unsee drops what was seen of a host's machine at work, since nobody looks any more.
func (s *Memories) Unsee(key types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, known := s.m[key]
	if m.SeenIn = ""; known {
		s.m[key] = m
	}
}

// Forget drops a host that is gone.
func (s *Memories) Forget(key types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.m, key)
}

package snapshots

import (
	"time"

	"github.com/ironflow/ironflow/hub/auth"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// MaxSize bounds a snapshot that is kept, in bytes; a host whose snapshot is
// larger is answered from the store.
const MaxSize = 4 << 10

// Host is the snapshot of one host. It does not change.
type Host struct {
	Key       store.HostKey
	ClusterID string
	// Bearer is who speaks for the host, and TwinSeenAt when another machine was last seen
	// to do so; zero for never.
	Bearer     auth.Bearer
	TwinSeenAt time.Time
	// ReadAt is when the records were read that it is made of.
	ReadAt time.Time
	// Steps are the instructions. The peers' argument of a connectivity check is left out.
	Steps wire.Steps
	// Peer is how peers are told of the host: a wire.ConnectivityCheckHost in JSON,
	// empty when it is not to be asked for.
	Peer []byte
	// Agent is the agent's version.
	Agent string
	// CheckedInAt is when the host was last heard of when the snapshot was made.
	CheckedInAt time.Time
	// Patience is how long the host may be silent; zero for any time.
	Patience time.Duration
	// Away tells that the host counts as silent: its next poll changes its record.
	Away bool
	// Results are digests of what the hub has made of the host's last reply to each check, so that the same reply is
	// known to change nothing. A check that is not there has no result yet.
	Results map[wire.StepType]uint64
}

// Size is about what the snapshot holds, in bytes.
func (h *Host) Size() int {
	n := 512 + len(h.Peer) + len(h.Agent) + len(h.Bearer.Machine) + 32*len(h.Results) // keys, times and the maps that it is in
	for _, s := range h.Steps.Instructions {
		n += 64 + len(s.StepType)
		for _, a := range s.Args {
			n += 16 + len(a)
		}
	}
	return n
}

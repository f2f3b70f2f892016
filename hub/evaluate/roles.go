package evaluate

import (
	"cmp"
	"slices"

	"github.com/ironflow/ironflow/hub/wire"
)

// Strength is what a host's role depends on.
type Strength struct {
	ID string
	// First is of a host that is of the control plane before all others, if it can be.
	First bool
	// Given is a role that somebody gave; empty or auto-assign for none.
	Given wire.HostRole
	// CPUs, memory and the size of the largest disk that can be installed to; the
	// larger, the stronger.
	CPUs, MemoryBytes, DiskBytes int64
	// GPUs make a host a better worker.
	GPUs int
	// Fits are the roles that the host meets the requirements of.
	Fits []wire.HostRole
}

// IsGivenRole tells whether it is a role that somebody gave.
func IsGivenRole(role wire.HostRole) bool { return role != "" && role != wire.HostRoleAutoAssign }

// assign returns the role of each host by id, whatever order the hosts come in.
//
// Roles that somebody gave are kept. Of the other hosts, the smallest that meet
// the requirements become masters, then arbiters; the rest are workers. A control plane
// that meets them is large enough, and what is larger is worth more to the workloads; it
// is also what clients of this protocol expect, who would find their clusters' roles
// changed by the move to this hub otherwise. Who wants it another way gives the roles.
//
// Where too few hosts meet the requirements of a role it stays open, so that a cluster
// says what it lacks instead of taking a host that cannot do the work.
func assign(hosts []Strength, masters, arbiters int) map[string]wire.HostRole {
	out := map[string]wire.HostRole{}
	free := map[wire.HostRole]int{wire.HostRoleMaster: masters, wire.HostRoleArbiter: arbiters}
	for _, h := range hosts {
		if IsGivenRole(h.Given) {
			out[h.ID] = h.Given
			free[h.Given]--
		}
	}
	for _, h := range smallestFirst(hosts) {
		if IsGivenRole(h.Given) {
			continue
		}
		out[h.ID] = wire.HostRoleWorker
		for _, role := range []wire.HostRole{wire.HostRoleMaster, wire.HostRoleArbiter} {
			if free[role] > 0 && slices.Contains(h.Fits, role) {
				out[h.ID] = role
				free[role]--
				break
			}
		}
	}
	return out
}

// smallestFirst sorts the hosts: without GPU first, then by CPUs, memory and disk, the least
// first, then by id.
func smallestFirst(hosts []Strength) []Strength {
	sorted := slices.Clone(hosts)
	slices.SortFunc(sorted, func(a, b Strength) int {
		return cmp.Or(beforeAll(a, b), cmp.Compare(a.GPUs, b.GPUs), cmp.Compare(a.CPUs, b.CPUs), cmp.Compare(a.MemoryBytes, b.MemoryBytes),
			cmp.Compare(a.DiskBytes, b.DiskBytes), cmp.Compare(a.ID, b.ID))
	})
	return sorted
}

// strongestFirst sorts the hosts: without GPU first, then by CPUs, memory and disk,
// the most first, then by id.
func strongestFirst(hosts []Strength) []Strength {
	sorted := slices.Clone(hosts)
	slices.SortFunc(sorted, func(a, b Strength) int {
		return cmp.Or(beforeAll(a, b), cmp.Compare(a.GPUs, b.GPUs), cmp.Compare(b.CPUs, a.CPUs), cmp.Compare(b.MemoryBytes, a.MemoryBytes),
			cmp.Compare(b.DiskBytes, a.DiskBytes), cmp.Compare(a.ID, b.ID))
	})
	return sorted
}

// beforeAll compares hosts by [Strength.First].
func beforeAll(a, b Strength) int {
	switch {
	case a.First == b.First:
		return 0
	case a.First:
		return -1
	}
	return 1
}

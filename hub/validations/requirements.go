package validations

import "github.com/ironflow/ironflow/hub/wire"

// Requirements are what a host needs at least.
type Requirements struct {
	CPUs      int64
	MemoryMiB int64
	DiskGB    int64
	// DiskSpeedMs is the slowest accepted 99th percentile of fdatasync; zero accepts any.
	DiskSpeedMs int64
}

// Minimal are the requirements of a cluster without a release: what any
// CoreOS-like system needs.
var Minimal = Requirements{CPUs: 1, MemoryMiB: 1024, DiskGB: 10}

// Table gives requirements by role. Roles that are missing ask for Default.
type Table struct {
	Roles   map[wire.HostRole]Requirements
	Default Requirements
	// SingleNode applies to the only host of its cluster.
	SingleNode Requirements
}

// OpenShift are the published requirements of a cluster with a release.
var OpenShift = Table{
	Roles: map[wire.HostRole]Requirements{
		wire.HostRoleMaster:  {CPUs: 4, MemoryMiB: 16384, DiskGB: 100, DiskSpeedMs: 10},
		wire.HostRoleArbiter: {CPUs: 2, MemoryMiB: 8192, DiskGB: 50, DiskSpeedMs: 10},
		wire.HostRoleWorker:  {CPUs: 2, MemoryMiB: 8192, DiskGB: 100, DiskSpeedMs: 10},
	},
	Default:    Requirements{CPUs: 2, MemoryMiB: 8192, DiskGB: 50, DiskSpeedMs: 10},
	SingleNode: Requirements{CPUs: 8, MemoryMiB: 16384, DiskGB: 100, DiskSpeedMs: 10},
}

// For returns what a host of the role needs. A cluster without a release
// (empty version) asks for [Minimal] only.
func (t Table) For(version string, role wire.HostRole, singleNode bool) Requirements {
	if version == "" {
		return Minimal
	}
	if singleNode {
		return t.SingleNode
	}
	if r, ok := t.Roles[role]; ok {
		return r
	}
	return t.Default
}

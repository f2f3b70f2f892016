package validations

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/ironflow/ironflow/hub/releases/versions"
	"github.com/ironflow/ironflow/hub/wire"
)

// Requirements are what a host needs at least.
type Requirements struct {
	CPUs      int64
	MemoryMiB int64
	DiskGB    int64
	// DiskSpeedMs is the slowest accepted 99th percentile of fdatasync; zero accepts any.
	DiskSpeedMs int64
	// Version is the release that they are for; empty without one.
	Version string
	// LatencyMs and LossPercent are limits between hosts of one role; nil accepts any.
	LatencyMs, LossPercent *float64
}

// Minimal are the requirements of a cluster without a release: what any
// CoreOS-like system needs.
var Minimal = Requirements{CPUs: 1, MemoryMiB: 1024, DiskGB: 10}

// Roles of a [Release] beside those of the protocol.
const (
	singleNodeRole wire.HostRole = "sno"
	edgeWorkerRole wire.HostRole = "edge-worker"
)

// Release gives the requirements by role from a version on, or of just that version.
type Release struct {
	// Version is "default" for the release that all others fall back to.
	Version string
	// AndLater applies to later versions, too.
	AndLater bool
	Roles    map[wire.HostRole]Requirements
}

// Table gives requirements by release. The order has no meaning.
type Table []Release

const defaultRelease = "default"

// OpenShift are the published requirements of a cluster with a release.
var OpenShift = Table{
	{Version: defaultRelease, Roles: map[wire.HostRole]Requirements{
		wire.HostRoleMaster:  {CPUs: 4, MemoryMiB: 16384, DiskGB: 100, DiskSpeedMs: 10, LatencyMs: new(100.0), LossPercent: new(0.0)},
		wire.HostRoleArbiter: {CPUs: 2, MemoryMiB: 8192, DiskGB: 50, DiskSpeedMs: 10, LatencyMs: new(1000.0), LossPercent: new(0.0)},
		wire.HostRoleWorker:  {CPUs: 2, MemoryMiB: 8192, DiskGB: 100, DiskSpeedMs: 10, LatencyMs: new(1000.0), LossPercent: new(10.0)},
		singleNodeRole:       {CPUs: 8, MemoryMiB: 16384, DiskGB: 100, DiskSpeedMs: 10},
		edgeWorkerRole:       {CPUs: 2, MemoryMiB: 8192, DiskGB: 15, DiskSpeedMs: 10},
	}},
	{Version: "4.22", AndLater: true, Roles: map[wire.HostRole]Requirements{
		singleNodeRole: {CPUs: 4, MemoryMiB: 16384, DiskGB: 100, DiskSpeedMs: 10},
	}},
}

// For returns what a host of the role needs. A cluster without a release
// (empty version) asks for [Minimal] only.
func (t Table) For(version string, role wire.HostRole, singleNode bool) Requirements {
	switch {
	case version == "":
		return Minimal
	case singleNode:
		return t.role(version, singleNodeRole)
	case role == "" || role == wire.HostRoleAutoAssign:
		return t.Minimum(version, false)
	}
	return t.role(version, role)
}

// Minimum is what a host needs whatever its role will be.
func (t Table) Minimum(version string, singleNode bool) Requirements {
	if version == "" || singleNode {
		return t.For(version, "", singleNode)
	}
	least := t.role(version, wire.HostRoleMaster)
	for _, role := range []wire.HostRole{wire.HostRoleArbiter, wire.HostRoleWorker} {
		r := t.role(version, role)
		least.CPUs, least.MemoryMiB, least.DiskGB = min(least.CPUs, r.CPUs), min(least.MemoryMiB, r.MemoryMiB), min(least.DiskGB, r.DiskGB)
	}
	return least
}

// role looks the role up: in the release, then in the default one; what is
// missing there is a worker.
func (t Table) role(version string, role wire.HostRole) Requirements {
	for _, release := range []*Release{t.release(version), t.named(defaultRelease)} {
		if release != nil {
			if r, ok := release.Roles[role]; ok {
				r.Version = version
				return r
			}
		}
	}
	if role == wire.HostRoleWorker {
		r := Minimal
		r.Version = version
		return r
	}
	return t.role(version, wire.HostRoleWorker)
}

// release is the entry for just this version, else the highest one that also
// applies to later versions.
func (t Table) release(version string) *Release {
	if exact := t.named(version); exact != nil {
		return exact
	}
	var best *Release
	for i := range t {
		r := &t[i]
		if r.AndLater && !versions.Older(version, r.Version) && (best == nil || versions.Older(best.Version, r.Version)) {
			best = r
		}
	}
	return best
}

func (t Table) named(version string) *Release {
	if i := slices.IndexFunc(t, func(r Release) bool { return r.Version == version }); i >= 0 {
		return &t[i]
	}
	return nil
}

// ParseTable reads requirements in the form that existing hubs take them: a JSON
// list by version, see the models versioned-host-requirements.
func ParseTable(raw []byte) (Table, error) {
	var entries []wire.VersionedHostRequirements
	if err := json.Unmarshal(raw, &entries); err != nil {
		return nil, fmt.Errorf("requirements of hosts: %w", err)
	}
	var t Table
	for _, e := range entries {
		r := Release{Version: e.Version, AndLater: e.MatchType == wire.VersionedHostRequirementsMatchTypeMinVersion, Roles: map[wire.HostRole]Requirements{}}
		if r.Version != defaultRelease && len(versions.Numbers(r.Version)) == 0 {
			return nil, fmt.Errorf("requirements of hosts: version %q is neither a number nor %q", r.Version, defaultRelease)
		}
		for role, details := range map[wire.HostRole]*wire.VersionedClusterHostRequirementsDetails{
			wire.HostRoleMaster: e.Master, wire.HostRoleArbiter: e.Arbiter, wire.HostRoleWorker: e.Worker, singleNodeRole: e.Sno, edgeWorkerRole: e.EdgeWorker,
		} {
			if details != nil && details.NetworkLatencyThresholdMs != nil && *details.NetworkLatencyThresholdMs < fastMs {
				return nil, fmt.Errorf("requirements of hosts: version %q, network_latency_threshold_ms %g: want at least %d", e.Version, *details.NetworkLatencyThresholdMs, fastMs)
			}
			if details != nil {
				r.Roles[role] = requirementsOf(details)
			}
		}
		t = append(t, r)
	}
	if d := t.named(defaultRelease); d == nil || d.Roles[wire.HostRoleMaster] == (Requirements{}) || d.Roles[wire.HostRoleWorker] == (Requirements{}) {
		return nil, fmt.Errorf("requirements of hosts: no entry %q with master and worker", defaultRelease)
	}
	return t, nil
}

func requirementsOf(d *wire.VersionedClusterHostRequirementsDetails) Requirements {
	number := func(n *int64) int64 {
		if n == nil {
			return 0
		}
		return *n
	}
	return Requirements{
		CPUs: number(d.CPUCores), MemoryMiB: number(d.RAMMib), DiskGB: number(d.DiskSizeGb),
		DiskSpeedMs: number(d.InstallationDiskSpeedThresholdMs), LatencyMs: d.NetworkLatencyThresholdMs, LossPercent: d.PacketLossPercentage,
	}
}

// edgeProducts are machines that are workers with requirements of their own.
var edgeProducts = []string{"BlueField SoC"}

// RequirementRole is the role that the host's requirements are looked up by.
func (f *HostFacts) RequirementRole() wire.HostRole {
	role := f.Role()
	edge := f.Inventory != nil && f.Inventory.SystemVendor != nil && slices.Contains(edgeProducts, f.Inventory.SystemVendor.ProductName)
	if edge && role != wire.HostRoleMaster && role != wire.HostRoleArbiter {
		return edgeWorkerRole
	}
	return role
}

// Meets tells whether the host's CPUs, memory and disks meet the requirements.
func (f *HostFacts) Meets(needs Requirements) bool {
	in := HostInput{HostFacts: f, Needs: needs}
	return f.Inventory != nil && roleCPUs(in).status == Success && roleMemory(in).status == Success && hasDisk(in).status == Success
}

package judge

import (
	"github.com/ironflow/ironflow/hub/roles"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

// RoleKey tells hosts of several infra-envs apart.
func RoleKey(h *store.Host) string { return h.API.InfraEnvID + "/" + h.API.ID }

// RoleFacts are what the host's role depends on.
func RoleFacts(h *store.Host, facts *validations.HostFacts) roles.Host {
	r := roles.Host{ID: RoleKey(h), Given: h.API.Role}
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

// Roles gives roles to the hosts that are known well enough, by [RoleKey].
// facts returns the reports of a host.
func (j Judge) Roles(c *store.Cluster, hosts []*store.Host, facts func(*store.Host) *validations.HostFacts) map[string]wire.HostRole {
	var known []roles.Host
	for _, h := range hosts {
		f := facts(h)
		r := RoleFacts(h, f)
		if f.Inventory == nil && !roles.IsGiven(r.Given) {
			continue
		}
		for _, role := range []wire.HostRole{wire.HostRoleMaster, wire.HostRoleArbiter} {
			if f.Meets(j.Needs.For(c.API.OpenshiftVersion, role, SingleNode(c))) {
				r.Fits = append(r.Fits, role)
			}
		}
		known = append(known, r)
	}
	masters, arbiters := c.Masters, c.Arbiters
	if c.API.Kind == wire.ClusterKindAddHostsCluster {
		masters, arbiters = 0, 0
	}
	return roles.Assign(known, masters, arbiters)
}

// NeedsOf are the requirements of a host's role; c is nil for an unbound host.
func (j Judge) NeedsOf(c *store.Cluster, facts *validations.HostFacts) validations.Requirements {
	if c == nil {
		return validations.Minimal
	}
	return j.Needs.For(c.API.OpenshiftVersion, facts.RequirementRole(), SingleNode(c))
}

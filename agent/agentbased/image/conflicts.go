package image

import (
	"net/netip"

	"github.com/ironflow/ironflow/agent/agentbased/manifests"
)

// addresses tells of static ones that two have: hosts, or a host and the cluster.
func (r *reading) addresses(d *manifests.Draft) {
	owners := map[netip.Addr]string{}
	for _, text := range d.VIPs {
		if a, err := netip.ParseAddr(text); err == nil { // others have been told
			owners[a] = "the cluster has as a virtual one"
		}
	}
	for i := range r.hosts {
		h := &r.hosts[i]
		for _, a := range h.Addresses {
			if owner, taken := owners[a.Addr()]; taken {
				h.at.Wrong(h.path, "has the address %s, which %s: write another one", a.Addr(), owner)
				continue
			}
			owners[a.Addr()] = "is of host " + h.Name
		}
	}
}

// counts tells of more hosts in manifests than are asked for: the installation would wait
// for a person. Of the two files, their reader does.
func (r *reading) counts(d *manifests.Draft) {
	if d.Install != nil || d.Agent != nil || d.Wanted.Hosts() == 0 {
		return
	}
	const path = "spec.provisionRequirements"
	count := map[string]int{}
	for i := range r.hosts {
		count[r.hosts[i].Role]++
	}
	for _, role := range []struct {
		name, field string
		asked       int
	}{{"master", "controlPlaneAgents", d.Wanted.ControlPlaneAgents}, {"arbiter", "arbiterAgents", d.Wanted.ArbiterAgents}, {"worker", "workerAgents", d.Wanted.WorkerAgents}} {
		if n := count[role.name]; n > role.asked {
			d.ClusterInstallAt.Wrong(path+"."+role.field, "asks for %d, and %s has %d of role %s: change one of them", role.asked, hostFolder, n, role.name)
		}
	}
	if n, all := len(r.hosts), d.Wanted.Hosts(); n > all {
		d.ClusterInstallAt.Wrong(path, "asks for %d hosts, and %d are described in %s and by NMStateConfigs: change one of them", all, n, hostFolder)
	}
}

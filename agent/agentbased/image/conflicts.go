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

// quorum tells of a control plane that no cluster of a release can have: its hosts would all
// boot, and its hub would wait for a person. A plain Kubernetes asks for none.
func (r *reading) quorum(d *manifests.Draft) {
	if r.plan.Release == "" {
		return
	}
	at, path := d.ClusterInstallAt, "spec.provisionRequirements.controlPlaneAgents"
	if d.Install != nil {
		at, path = d.InstallAt, "controlPlane.replicas"
	}
	switch want := d.Wanted; {
	case want.ControlPlaneAgents == 2 && want.ArbiterAgents == 0:
		at.Wrong(path, "is 2 without an arbiter, and has no quorum: write 1 or 3, or add an arbiter")
	case want.ControlPlaneAgents == 1 && want.WorkerAgents > 0:
		at.Wrong(path, "is 1 beside other hosts, which is no cluster of a release: write 3, or install the single node alone and add hosts when it runs")
	}
}

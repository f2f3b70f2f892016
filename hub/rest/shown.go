package rest

import (
	"maps"
	"net/netip"
	"reflect"
	"slices"

	"github.com/ironflow/ironflow/hub/clusters"
	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/operators"
	"github.com/ironflow/ironflow/hub/support"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

// Existing clients read many members without asking whether they are there. What a
// record leaves open is filled in when it is shown, so that the record still tells what
// somebody has set from what nobody has, and no decision hangs on a default.

// shown completes an answer, or an item of a list. What it has no rule for stays as it is.
func shown(answer any) any {
	switch a := answer.(type) {
	case wire.Host:
		return namedHost(a)
	case wire.HostRegistrationResponse:
		a.Host = namedHost(a.Host)
		return a
	case wire.Cluster:
		return shownCluster(a)
	case wire.InfraEnv:
		return shownInfraEnv(a)
	case wire.Steps:
		return shownSteps(a)
	case wire.MonitoredOperatorsList:
		return withLists(a)
	}
	return answer
}

// namedHost completes a host that is shown alone. Its inventory, which may be long, is
// looked into only for a name.
func namedHost(h wire.Host) wire.Host {
	if h.RequestedHostname != "" {
		return shownHost(h, nil)
	}
	return shownHost(h, machineOf(h))
}

// shownHost completes a host. It has a name as soon as anything is known of it: programs
// inside a cluster look for their nodes by it.
func shownHost(h wire.Host, inventory *wire.Inventory) wire.Host {
	fill(&h.RequestedHostname, validations.Hostname(&h, inventory))
	fill(&h.RequestedHostname, h.ID)
	fill(&h.Role, wire.HostRoleAutoAssign)
	h.Progress = or(h.Progress, wire.HostProgressInfo{})
	h.MediaStatus = or(h.MediaStatus, wire.HostMediaStatusConnected)
	if len(h.ProgressStages) == 0 && h.Kind == wire.HostKindAddToExistingClusterHost {
		h.ProgressStages = hostmachine.Stages(h.Role, false, false)
	}
	return withLists(h)
}

// shownCluster completes a cluster and its hosts.
func shownCluster(c wire.Cluster) wire.Cluster {
	c.FeatureUsage = support.Usage(&c) // of what somebody has set
	hosts := make([]wire.Host, 0, len(c.Hosts))
	networks := hostNetworks{}
	for _, h := range c.Hosts {
		inventory := machineOf(h)
		networks.add(h.ID, inventory)
		hosts = append(hosts, shownHost(h, inventory))
	}
	c.Hosts, c.HostNetworks = hosts, networks.list()
	c = clusters.Defaults(c)
	c.Progress = or(c.Progress, wire.ClusterProgressInfo{})
	c.MonitoredOperators = withLists(operators.Reported(&c))
	c.OperatorBundles = withLists(c.OperatorBundles)
	return withLists(c)
}

func shownInfraEnv(e wire.InfraEnv) wire.InfraEnv {
	proxy := wire.Proxy{}
	if e.Proxy != nil {
		proxy = *e.Proxy
	}
	proxy.HTTPProxy, proxy.HTTPSProxy, proxy.NoProxy = or(proxy.HTTPProxy, ""), or(proxy.HTTPSProxy, ""), or(proxy.NoProxy, "")
	e.Proxy = &proxy
	fill(&e.CPUArchitecture, wire.InfraEnvCPUArchitectureX8664)
	return e
}

// shownSteps has lists for the agent to walk through. Its argument may be shared.
func shownSteps(s wire.Steps) wire.Steps {
	given := s.Instructions
	s.Instructions = make([]wire.Step, 0, len(given))
	for _, step := range given {
		if step.Args == nil {
			step.Args = []string{}
		}
		s.Instructions = append(s.Instructions, step)
	}
	return s
}

// hostNetworks are the subnets that hosts are in, each with the hosts' ids.
type hostNetworks map[netip.Prefix][]string

func (n hostNetworks) add(id string, inventory *wire.Inventory) {
	if inventory == nil {
		return
	}
	for _, nic := range inventory.Interfaces {
		for _, text := range slices.Concat(nic.Ipv4Addresses, nic.Ipv6Addresses) {
			p, err := netip.ParsePrefix(text)
			if err != nil || p.Addr().IsLoopback() || p.Addr().IsLinkLocalUnicast() || slices.Contains(n[p.Masked()], id) {
				continue
			}
			n[p.Masked()] = append(n[p.Masked()], id)
		}
	}
}

// list is in the order of addresses, so that the same hosts make the same answer.
func (n hostNetworks) list() []wire.HostNetwork {
	out := []wire.HostNetwork{}
	for _, p := range slices.SortedFunc(maps.Keys(n), netip.Prefix.Compare) {
		out = append(out, wire.HostNetwork{CIDR: p.String(), HostIDs: n[p]})
	}
	return out
}

// fill sets a text that is empty.
func fill[T ~string](member *T, value T) {
	if *member == "" {
		*member = value
	}
}

// or is the member that was given, or a new one.
func or[T any](given *T, value T) *T {
	if given != nil {
		return given
	}
	return &value
}

// withLists has an empty list in the place of none, in a model or in each model of a
// list: clients count what is in them.
func withLists[T any](model T) T {
	v := reflect.ValueOf(&model).Elem()
	if v.Kind() != reflect.Slice {
		fillLists(v)
		return model
	}
	list := reflect.MakeSlice(v.Type(), v.Len(), v.Len()) // the given one may be shared
	reflect.Copy(list, v)
	for i := range list.Len() {
		fillLists(list.Index(i))
	}
	v.Set(list)
	return model
}

func fillLists(model reflect.Value) {
	for _, f := range model.Fields() {
		if f.Kind() == reflect.Slice && f.IsNil() {
			f.Set(reflect.MakeSlice(f.Type(), 0, 0))
		}
	}
}

// Package operators is the table of what can be installed into a cluster of OpenShift
// beside its release: operators of its lifecycle manager (OLM), with what they need of
// hosts and cluster, and the manifests that subscribe to them.
//
// The table is data ([Builtin]); a site adds rows or replaces them with a file of the
// same form ([Table.With]). A row may bring objects of its own, beside those or in the place of those
// that follow from it. Nothing here looks at a host: see hub/validations for that.
// The main type is [Table].
package operators

import (
	_ "embed"
	"encoding/json"
	"slices"

	"github.com/ironflow/ironflow/hub/wire"
)

//go:embed table.yaml
var builtin []byte

// Table is what a hub offers. The zero value offers nothing. It does not change.
type Table struct {
	Bundles   []Bundle   `json:"bundles,omitempty"`
	Operators []Operator `json:"operators,omitempty"`
}

// Bundle is a set of operators that are chosen together.
type Bundle struct {
	ID          string `json:"id"`
	Title       string `json:"title"`
	Description string `json:"description,omitempty"`
	// Operators come with the bundle; Optional ones may be chosen with it.
	Operators []string `json:"operators"`
	Optional  []string `json:"optional,omitempty"`
}

// Namespaces that an operator watches.
const (
	// WatchesOwn is just its own namespace; the default.
	WatchesOwn = "own"
	// WatchesAll are all, from a namespace of its own.
	WatchesAll = "all"
	// WatchesShared are all, from a namespace that every cluster has with its group.
	WatchesShared = "shared"
)

// Operator is a row of the table.
type Operator struct {
	// Name is the protocol's; Title is for people.
	Name  string `json:"name"`
	Title string `json:"title"`
	// Check begins the id of its validations; empty for the name.
	Check string `json:"check,omitempty"`
	// Feature is its id among the support levels; empty for one that the protocol does not know.
	Feature wire.FeatureSupportLevelID `json:"feature,omitempty"`

	// Namespace is where it runs. Package, Channel and Catalog are where it comes from; an
	// empty channel is the package's default in the catalog of the cluster's release, an
	// empty catalog redhat-operators. Subscription is that object's name, empty for Package.
	Namespace    string `json:"namespace"`
	Package      string `json:"package"`
	Subscription string `json:"subscription,omitempty"`
	Channel      string `json:"channel,omitempty"`
	Catalog      string `json:"catalog,omitempty"`
	// Watches is one of the constants; empty for WatchesOwn.
	Watches string `json:"watches,omitempty"`
	// Minutes is how long it may take to come up.
	Minutes int64 `json:"minutes"`

	// Needs are operators that come with it, SingleNodeNeeds those in their place on a
	// single node; Excludes are those that it cannot be beside.
	Needs           []string `json:"needs,omitempty"`
	SingleNodeNeeds []string `json:"single_node_needs,omitempty"`
	Excludes        []string `json:"excludes,omitempty"`

	// Since is the first release that has it, Until the first that does not any more.
	Since string `json:"since,omitempty"`
	Until string `json:"until,omitempty"`
	// Architectures that it runs on; empty for any. On those of Preview, it is a developers' preview.
	Architectures []string `json:"architectures,omitempty"`
	Preview       []string `json:"preview,omitempty"`
	// NotOn are platforms that it does not run on.
	NotOn []wire.PlatformType `json:"not_on,omitempty"`
	// SeveralHosts tells that a single node is not enough.
	SeveralHosts bool `json:"several_hosts,omitempty"`

	// Hosts is what it asks of them.
	Hosts Hosts `json:"hosts,omitzero"`

	// Manifests are further objects that go into the cluster with it, such as a catalog or a custom resource, as
	// JSON. A Namespace, an OperatorGroup or a Subscription takes the place of the one that follows from the row.
	Manifests []json.RawMessage `json:"manifests,omitempty"`
}

// Hosts is what an operator asks of the hosts of a cluster, beyond the release.
type Hosts struct {
	// Roles are the amounts by role: master, worker, arbiter, and sno for a single node,
	// which is a master where nothing is said of it.
	Roles map[string]Amount `json:"roles,omitempty"`
	// PerDisk is added for each disk that the operator may take.
	PerDisk Amount `json:"per_disk,omitzero"`
	// Workload tells that only hosts that take workloads are meant: workers, and the
	// control plane where there are no workers.
	Workload bool `json:"workload,omitempty"`
	// Disks are those beside the installation disk; nil for none.
	Disks *Disks `json:"disks,omitempty"`
	// Virtualization tells that the CPUs have to run virtual machines.
	Virtualization bool `json:"virtualization,omitempty"`
	// GPUs are PCI vendor ids: a host of the cluster needs a GPU of one of them, and a
	// host that has one must not have secure boot on.
	GPUs []string `json:"gpus,omitempty"`
	// Workers is how many of them the cluster needs.
	Workers int `json:"workers,omitempty"`
}

// Amount is of CPUs and memory.
type Amount struct {
	CPUs      int64 `json:"cpus,omitempty"`
	MemoryMiB int64 `json:"memory_mib,omitempty"`
}

// Disks are what an operator stores on.
type Disks struct {
	// Each tells that every host needs one; otherwise so many Hosts do.
	Each  bool `json:"each,omitempty"`
	Hosts int  `json:"hosts,omitempty"`
	// MinGB is the least size, in GB.
	MinGB int64 `json:"min_gb,omitempty"`
}

// Builtin is the table that the hub comes with. It panics where that is broken, which a
// test holds.
func Builtin() Table {
	t, err := parse(builtin)
	if err != nil {
		panic(err) //nolint:forbidigo // the table is a part of the program, and a test reads it
	}
	if err := t.check(); err != nil {
		panic(err) //nolint:forbidigo // the table is a part of the program, and a test reads it
	}
	return t
}

// Find returns the row of the name; nil when there is none.
func (t Table) Find(name string) *Operator {
	i := slices.IndexFunc(t.Operators, func(o Operator) bool { return o.Name == name })
	if i < 0 {
		return nil
	}
	return &t.Operators[i]
}

// FindBundle returns the bundle; nil when there is none.
func (t Table) FindBundle(id string) *Bundle {
	i := slices.IndexFunc(t.Bundles, func(b Bundle) bool { return b.ID == id })
	if i < 0 {
		return nil
	}
	return &t.Bundles[i]
}

// Names are those of all operators, sorted.
func (t Table) Names() []string {
	out := make([]string, 0, len(t.Operators))
	for _, o := range t.Operators {
		out = append(out, o.Name)
	}
	slices.Sort(out)
	return out
}

// bundlesOf are the ids of the bundles that an operator belongs to, sorted.
func (t Table) bundlesOf(name string) []string {
	out := []string{}
	for _, b := range t.Bundles {
		if slices.Contains(b.Operators, name) || slices.Contains(b.Optional, name) {
			out = append(out, b.ID)
		}
	}
	slices.Sort(out)
	return out
}

// SubscriptionName is that of its subscription.
func (o *Operator) SubscriptionName() string {
	if o.Subscription == "" {
		return o.Package
	}
	return o.Subscription
}

// ValidationID is that of its validations, of hosts as of clusters.
func (o *Operator) ValidationID() string {
	if o.Check == "" {
		return o.Name + "-requirements-satisfied"
	}
	return o.Check + "-requirements-satisfied"
}

// Dependencies are the operators that come with it.
func (o *Operator) Dependencies(singleNode bool) []string {
	if singleNode && len(o.SingleNodeNeeds) > 0 {
		return o.SingleNodeNeeds
	}
	return o.Needs
}

// SingleNode is the role under which a table says what a single node needs.
const SingleNode = "sno"

// Amount is what a host of the role needs for it, without its disks.
func (h *Hosts) Amount(role wire.HostRole, singleNode bool) Amount {
	if singleNode {
		if own, ok := h.Roles[SingleNode]; ok {
			return own
		}
		return h.Roles[string(wire.HostRoleMaster)]
	}
	switch role {
	case wire.HostRoleMaster, wire.HostRoleArbiter:
		return h.Roles[string(role)]
	case wire.HostRoleBootstrap:
		return h.Roles[string(wire.HostRoleMaster)]
	case wire.HostRoleWorker, wire.HostRoleAutoAssign:
	}
	return h.Roles[string(wire.HostRoleWorker)]
}

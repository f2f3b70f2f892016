package main

import (
	"slices"
	"strings"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
)

// kind is something that people ask about by name.
type kind struct {
	// name is what it is called, in the singular; many in the plural.
	name, many string
	// aliases are what else it is called, and prefixes of names such as host/node-1.
	aliases []string
	// made are the resources that it is made of, as kubectl calls them.
	made []made
	// named finds those of these names among all of a namespace; nil where the name is the object's.
	named func(all []*unstructured.Unstructured, names []string) ([]*unstructured.Unstructured, error)
	// table are the columns and rows for a person.
	table func(all []*unstructured.Unstructured, o tableOptions) (table, error)
}

// made is one resource of a kind.
type made struct {
	resource string
	gvk      schema.GroupVersionKind
}

// table is what a person reads.
type table struct {
	head []string
	rows []row
}

// row is a line of a table, and the objects that it tells of.
type row struct {
	namespace string
	keys      []string
	cells     []string
}

// tableOptions choose what a table has.
type tableOptions struct {
	now time.Time
	// wide adds columns, bars draws percentages.
	wide, bars bool
}

// hostKind, clusterKind and agentKind are the kinds that there are.
var (
	hostKind = kind{
		name: "host", many: "hosts", aliases: []string{"bmh", "baremetalhost", "baremetalhosts"},
		made:  []made{{"baremetalhosts.metal3.io", metal3v1.GroupVersion.WithKind("BareMetalHost")}},
		table: hostTable,
	}
	clusterKind = kind{
		name: "cluster", many: "clusters", aliases: slices.Concat(deploymentPrefixes, installPrefixes),
		made: []made{
			{"clusterdeployments.hive.openshift.io", hivev1.GroupVersion.WithKind("ClusterDeployment")},
			{"agentclusterinstalls.extensions.hive.openshift.io", hiveextv1.GroupVersion.WithKind("AgentClusterInstall")},
		},
		named: clustersNamed, table: clusterTable,
	}
	agentKind = kind{
		name: "agent", many: "agents",
		made:  []made{{"agents.agent-install.openshift.io", agentv1.GroupVersion.WithKind("Agent")}},
		named: agentsNamed, table: agentTable,
	}
	// infraEnvKind has no table: names of it are completed.
	infraEnvKind = kind{
		name: "infraenv", many: "infraenvs",
		made: []made{{"infraenvs.agent-install.openshift.io", agentv1.GroupVersion.WithKind("InfraEnv")}},
	}
	kinds = []kind{hostKind, clusterKind, agentKind}
)

// isCalled reports whether people mean the kind by the word.
func (k kind) isCalled(word string) bool {
	word, group, _ := strings.Cut(strings.ToLower(word), ".")
	if !slices.Contains(slices.Concat([]string{k.name, k.many}, k.aliases), word) {
		return false
	}
	return group == "" || slices.ContainsFunc(k.made, func(m made) bool { return m.gvk.Group == group })
}

// bare takes the kind off names such as host/node-1. Clusters keep theirs, which says which of two objects is meant.
func (k kind) bare(names []string) ([]string, error) {
	var out []string
	for _, name := range names {
		prefix, rest, has := strings.Cut(name, "/")
		switch {
		case !has:
			rest = name
		case !k.isCalled(prefix):
			return nil, usage("%q is no %s: want NAME or %s/NAME", name, k.name, k.name)
		case rest == "":
			return nil, usage("%q has no name", name)
		case k.name == clusterKind.name && !k.plain(prefix):
			rest = strings.SplitN(strings.ToLower(prefix), ".", 2)[0] + "/" + rest
		}
		out = append(out, rest)
	}
	return out, nil
}

// plain reports a word that says nothing about which of a kind's resources is meant.
func (k kind) plain(word string) bool { return word == k.name || word == k.many }

// is reports whether an object is of the kind.
func (k kind) is(gvk schema.GroupVersionKind) bool {
	return slices.ContainsFunc(k.made, func(m made) bool { return m.gvk.GroupKind() == gvk.GroupKind() })
}

// kindOf is the kind that a word means.
func kindOf(word string) (kind, bool) {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.isCalled(word) })
	if i < 0 {
		return kind{}, false
	}
	return kinds[i], true
}

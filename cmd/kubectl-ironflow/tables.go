package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/controllers/host/view/render"
)

func hostTable(all []*unstructured.Unstructured, o tableOptions) (table, error) {
	options := render.TableOptions{Bar: o.bars, Wide: o.wide}
	t := table{head: render.Head(options)}
	for _, object := range all {
		h, err := typed[metal3v1.BareMetalHost](object)
		if err != nil {
			return table{}, err
		}
		t.rows = append(t.rows, row{namespace: h.Namespace, keys: []string{keyOf(object)}, cells: render.Row(view.Of(h), o.now, options)})
	}
	return t, nil
}

func clusterTable(all []*unstructured.Unstructured, o tableOptions) (table, error) {
	t := table{head: []string{"CLUSTER", "STATE", "PERCENT", "HOSTS", "WAITING FOR"}}
	if o.wide {
		t.head = append(t.head, "WHO ENDS IT", "OBJECTS")
	}
	found, err := clustersOf(all)
	if err != nil {
		return table{}, err
	}
	for _, c := range found {
		a := clusterWhy(c)
		state, percent, hosts := "nobody installs it", "", ""
		if c.install != nil {
			status := &c.install.Status
			state = cmp.Or(status.DebugInfo.State, "new")
			if p := status.Progress; p != nil {
				percent = fmt.Sprintf("%d%%", p.TotalPercentage)
			}
			hosts = fmt.Sprint(c.install.Spec.ProvisionRequirements.Total())
		}
		cells := []string{c.name(), state, percent, hosts, cmp.Or(a.waits, a.reason)}
		if o.wide {
			cells = append(cells, cmp.Or(a.who, a.next), c.String())
		}
		t.rows = append(t.rows, row{namespace: c.namespace(), keys: c.keys(), cells: render.Cells(cells)})
	}
	return t, nil
}

// clustersOf pairs the objects of clusters, also of several namespaces.
func clustersOf(all []*unstructured.Unstructured) ([]cluster, error) {
	deployments, err := typedAll[hivev1.ClusterDeployment](all, "ClusterDeployment")
	if err != nil {
		return nil, err
	}
	installs, err := typedAll[hiveextv1.AgentClusterInstall](all, "AgentClusterInstall")
	if err != nil {
		return nil, err
	}
	found := pair(deployments, installs)
	slices.SortFunc(found, func(a, b cluster) int {
		return cmp.Or(strings.Compare(a.namespace(), b.namespace()), strings.Compare(a.name(), b.name()))
	})
	return found, nil
}

// clustersNamed are the objects of the clusters that are meant by the names.
func clustersNamed(all []*unstructured.Unstructured, wanted []string) ([]*unstructured.Unstructured, error) {
	found, err := clustersOf(all)
	if err != nil {
		return nil, err
	}
	keep := map[string]bool{}
	for _, name := range wanted {
		c, err := choose(found, name)
		if err != nil {
			return nil, err
		}
		for _, key := range c.keys() {
			keep[key] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(o *unstructured.Unstructured) bool { return !keep[keyOf(o)] }), nil
}

func agentTable(all []*unstructured.Unstructured, o tableOptions) (table, error) {
	t := table{head: []string{"HOST", "AGENT", "ROLE", "STATE", "STAGE", "PERCENT", "CLUSTER"}}
	if o.wide {
		t.head = append(t.head, "APPROVED", "INFO")
	}
	for _, object := range all {
		a, err := typed[agentv1.Agent](object)
		if err != nil {
			return table{}, err
		}
		stage, percent := "", ""
		if p := a.Status.Progress; p != nil {
			stage = strings.TrimSpace(p.CurrentStage + " " + p.ProgressInfo)
			percent = fmt.Sprintf("%d%%", p.InstallationPercentage)
		}
		in := ""
		if ref := a.Spec.ClusterDeploymentName; ref != nil {
			in = ref.Name
		}
		cells := []string{agentName(a), a.Name, a.Status.Role, a.Status.DebugInfo.State, stage, percent, in}
		if o.wide {
			cells = append(cells, yesNo(a.Spec.Approved), a.Status.DebugInfo.StateInfo)
		}
		t.rows = append(t.rows, row{namespace: a.Namespace, keys: []string{keyOf(object)}, cells: render.Cells(cells)})
	}
	return t, nil
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// agentsNamed finds Agents by their own name, by what the host calls itself, or by its BareMetalHost.
func agentsNamed(all []*unstructured.Unstructured, wanted []string) ([]*unstructured.Unstructured, error) {
	var found []*unstructured.Unstructured
	for _, name := range wanted {
		var meant []*unstructured.Unstructured
		for _, o := range all {
			a, err := typed[agentv1.Agent](o)
			if err != nil {
				return nil, err
			}
			if slices.Contains([]string{a.Name, agentName(a), a.Labels[names.AgentHostLabel]}, name) {
				meant = append(meant, o)
			}
		}
		switch len(meant) {
		case 0:
			return nil, fmt.Errorf("agent %s is not there: no Agent is called so, and no host that has registered is; kubectl ironflow get agents lists them", name)
		case 1:
			found = append(found, meant[0])
		default:
			var objects []string
			for _, o := range meant {
				objects = append(objects, o.GetName())
			}
			return nil, fmt.Errorf("several Agents are called %s: %s; name one of these", name, strings.Join(objects, ", "))
		}
	}
	return found, nil
}

package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/controllers/host/view/render"
)

// clusterHosts are the hosts of a cluster.
type clusterHosts struct {
	// wanted is how many the cluster is to have; 0 when nobody says so.
	wanted int
	agents []agentv1.Agent
	// machines are their BareMetalHosts, as far as they have one, by namespace and the label of the Agent.
	machines map[client.ObjectKey]view.View
	// coming are those whose Agent has not come yet: their InfraEnv is the cluster's.
	coming []view.View
	// unread are what could not be read.
	unread []render.Node
}

// gatherHosts reads what belongs to the cluster. Where only the namespace may be read, what is elsewhere is said to be missing.
func gatherHosts(ctx context.Context, cl client.Client, namespace string, c cluster) clusterHosts {
	out := clusterHosts{machines: map[client.ObjectKey]view.View{}}
	key := client.ObjectKey{Namespace: namespace}
	if c.install != nil {
		out.wanted, key.Name = c.install.Spec.ProvisionRequirements.Total(), c.install.Spec.ClusterDeploymentRef.Name
	} else {
		key.Name = c.deployment.Name
	}
	var agents agentv1.AgentList
	var environments agentv1.InfraEnvList
	var hosts metal3v1.BareMetalHostList
	for _, kind := range []struct {
		name string
		list client.ObjectList
	}{{"Agents", &agents}, {"InfraEnvs", &environments}, {"BareMetalHosts", &hosts}} {
		err := cl.List(ctx, kind.list)
		if apierrors.IsForbidden(err) {
			out.unread = append(out.unread, render.Leaff("%s of other namespaces than %s may not be read", kind.name, namespace))
			err = cl.List(ctx, kind.list, client.InNamespace(namespace))
		}
		if err != nil {
			out.unread = append(out.unread, render.Leaff("%s: %v", kind.name, err))
		}
	}
	out.agents = slices.DeleteFunc(agents.Items, func(a agentv1.Agent) bool { return !refers(a.Spec.ClusterDeploymentName, key) })
	slices.SortFunc(out.agents, func(a, b agentv1.Agent) int {
		return cmp.Or(cmp.Compare(roleOrder(a.Status.Role), roleOrder(b.Status.Role)), strings.Compare(agentName(&a), agentName(&b)), strings.Compare(a.Name, b.Name))
	})
	out.match(hosts.Items, func(env client.ObjectKey) bool {
		return slices.ContainsFunc(environments.Items, func(e agentv1.InfraEnv) bool {
			return client.ObjectKeyFromObject(&e) == env && refers(e.Spec.ClusterRef, key)
		})
	})
	return out
}

func refers(ref *agentv1.ClusterReference, to client.ObjectKey) bool {
	return ref != nil && ref.Namespace == to.Namespace && ref.Name == to.Name
}

// match finds the machines of the Agents, and those whose Agent is still to come.
func (c *clusterHosts) match(hosts []metal3v1.BareMetalHost, ours func(env client.ObjectKey) bool) {
	expected := map[client.ObjectKey]bool{}
	for i := range c.agents {
		if label := c.agents[i].Labels[names.AgentHostLabel]; label != "" {
			expected[client.ObjectKey{Namespace: c.agents[i].Namespace, Name: label}] = true
		}
	}
	for i := range hosts {
		at := client.ObjectKey{Namespace: hosts[i].Namespace, Name: names.HostLabel(hosts[i].Name)}
		if expected[at] {
			c.machines[at] = view.Of(&hosts[i])
		} else if env := hosts[i].Labels[names.InfraEnvLabel]; env != "" && ours(client.ObjectKey{Namespace: hosts[i].Namespace, Name: env}) {
			c.coming = append(c.coming, view.Of(&hosts[i]))
		}
	}
	slices.SortFunc(c.coming, func(a, b view.View) int { return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name) })
}

// at counts the hosts at a stage.
func (c clusterHosts) at(stage string) (n int) {
	for i := range c.agents {
		if p := c.agents[i].Status.Progress; p != nil && p.CurrentStage == stage {
			n++
		}
	}
	return n
}

func (c clusterHosts) node(now time.Time) render.Node {
	n := render.Node{Title: fmt.Sprintf("hosts: %d", len(c.agents))}
	if c.wanted > 0 {
		n.Title += fmt.Sprintf(" of %d", c.wanted)
	}
	for i := range c.agents {
		n.Children = append(n.Children, c.hostNode(&c.agents[i], now))
	}
	for _, v := range c.coming {
		n.Children = append(n.Children, render.Node{Title: "BareMetalHost/" + v.Name + ": has not registered yet", Children: machineLines(v)})
	}
	n.Children = append(n.Children, c.unread...)
	return n
}

// hostNode is one host: where it is, what it waits for, what fails, and its machine.
func (c clusterHosts) hostNode(a *agentv1.Agent, now time.Time) render.Node {
	title := cmp.Or(a.Status.Role, "no role yet") + " " + agentName(a)
	if a.Status.Bootstrap {
		title += " (bootstrap)"
	}
	failing := checksNode(a.Status.ValidationsInfo, func(v agentv1.ValidationResult) check { return check{v.ID, v.Status, v.Message} })
	info := a.Status.DebugInfo.StateInfo
	if failing.Title != "" {
		info = "" // it repeats them
	}
	n := render.Node{Title: title + ": " + cmp.Or(a.Status.DebugInfo.State, "not known to the hub yet"), Children: []render.Node{
		render.Leaf("stage", stageLine(a.Status.Progress, now)), render.Leaf("info", info), approvalNode(a), failing,
	}}
	if s := agentv1.FindCondition(a.Status.Conditions, agentv1.ConditionSpecSynced); s != nil && s.Status == corev1.ConditionFalse {
		n.Children = append(n.Children, conditionLine(s.Type, string(s.Status), s.Reason, s.Message))
	}
	if v, has := c.machines[client.ObjectKey{Namespace: a.Namespace, Name: a.Labels[names.AgentHostLabel]}]; has {
		n.Children = append(n.Children, render.Node{Title: "BareMetalHost/" + v.Name, Children: machineLines(v)})
	}
	return n
}

// stageLine is the stage with how far it is, how far the host is, and since when.
func stageLine(p *agentv1.HostProgressInfo, now time.Time) string {
	if p == nil || p.CurrentStage == "" {
		return ""
	}
	line := strings.TrimSpace(p.CurrentStage + " " + p.ProgressInfo)
	if p.InstallationPercentage > 0 {
		line += fmt.Sprintf(" (%d%% of the installation)", p.InstallationPercentage)
	}
	if p.StageStartTime != nil && p.CurrentStage != "Done" {
		if d := render.Elapsed(now.Sub(p.StageStartTime.Time)); d != "" {
			line += ", for " + d
		}
	}
	return line
}

// approvalNode asks for the approval that a host waits for.
func approvalNode(a *agentv1.Agent) render.Node {
	if a.Spec.Approved {
		return render.Node{}
	}
	return render.Node{Title: "waiting for: its approval", Children: []render.Node{render.Leaf("who ends it", "a person: "+approval(a))}}
}

// machineLines are what the machine is doing.
func machineLines(v view.View) []render.Node {
	return []render.Node{
		render.Leaf("phase", v.Phase), render.Leaf("step", stepLine(v)), render.Leaf("waiting for", v.WaitingFor),
		render.Leaf("reason", v.Reason), render.Leaf("next", v.NextAction),
	}
}

// agentName is what people call the host.
func agentName(a *agentv1.Agent) string {
	return cmp.Or(a.Spec.Hostname, a.Status.Inventory.Hostname, a.Name)
}

// roleOrder sorts hosts as a cluster needs them.
func roleOrder(role string) int {
	order := []string{"bootstrap", "master", "arbiter", "worker"}
	if i := slices.Index(order, role); i >= 0 {
		return i
	}
	return len(order)
}

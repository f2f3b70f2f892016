package work

import (
	"context"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/ironflow/ironflow/cluster/facts"
	"github.com/ironflow/ironflow/cluster/finalize"
	"github.com/ironflow/ironflow/cluster/hubapi"
	"github.com/ironflow/ironflow/cluster/kube"
	"github.com/ironflow/ironflow/cluster/nodes"
	"github.com/ironflow/ironflow/cluster/observe"
	"github.com/ironflow/ironflow/cluster/operators"
	"github.com/ironflow/ironflow/hub/wire"
)

// state is what the cluster has, as the caches know it.
func (r *Runner) state(v view) operators.State {
	s := operators.State{
		Hosts: v.hosts, Nodes: v.nodes, Operators: r.Caches.Operators.All(), API: r.memory.api,
		Subscriptions: r.Caches.Subscriptions.All(), Services: r.Caches.Services.All(), Pods: r.Caches.Pods.All(),
	}
	if version, ok := r.Caches.Versions.All()["version"]; ok && s.Operators != nil {
		s.Operators[operators.Version] = version
	}
	return s
}

// comingUp are the statuses in which the hub takes reports of operators.
var comingUp = []string{wire.ClusterStatusInstalling, wire.ClusterStatusInstallingPendingUserAction, wire.ClusterStatusFinalizing}

// report tells the hub of nodes and operators, after the nodes got what they should
// have. It tells whether anything was told, so that the hub is looked at again.
func (r *Runner) report(ctx context.Context, v view) (bool, error) {
	plain := !operators.OpenShift(r.state(v), v.cluster.Operators)
	patches, reports := nodes.Plan(v.hosts, v.nodes, nodes.Options{
		Plain: plain, SchedulableMasters: v.cluster.SchedulableMasters, ComingUp: slices.Contains(comingUp, v.cluster.Status), Refused: r.memory.labels,
	})
	for _, p := range patches {
		r.patch(ctx, p)
	}
	told := false
	for _, q := range reports {
		if err := r.Hub.Progress(ctx, q.Host, q.Stage); err != nil {
			// One that the hub will not have does not keep it from the others.
			if code := hubapi.Code(err); code != http.StatusConflict && code != http.StatusBadRequest && code != http.StatusNotFound {
				return told, err
			}
			r.Log.Warn("the hub does not take a host's stage", "host", q.Host.Name, "stage", q.Stage, "error", err)
			continue
		}
		told = true
		r.Metrics.Report("host")
		r.Log.Info("host reported", "host", q.Host.Name, "stage", q.Stage)
	}
	if !slices.Contains(comingUp, v.cluster.Status) {
		return told, nil
	}
	r.probe(ctx, v, plain)
	for _, o := range operators.Reports(r.state(v), v.cluster, r.Now()) {
		if err := r.Hub.Operator(ctx, o); err != nil {
			return told, err
		}
		told = true
		r.Metrics.Report("operator")
		r.Log.Info("operator reported", "operator", o.Name, "status", o.Status)
	}
	return told, nil
}

// patch gives a node labels and taints. Taints are a list that others write, too: it is
// read again, and written only as long as nobody has changed the node in between.
func (r *Runner) patch(ctx context.Context, p nodes.Patch) {
	path := observe.Nodes + "/" + url.PathEscape(p.Node.Name)
	meta, change := object{"labels": p.Labels}, object{}
	if p.Retaint {
		var now struct {
			Metadata struct{ ResourceVersion string }
			Spec     struct{ Taints []facts.Taint }
		}
		if err := r.Kube.Get(ctx, path, &now); err != nil {
			r.Log.Warn("a node cannot be read; trying again", "node", p.Node.Name, "error", err)
			return
		}
		if !slices.EqualFunc(now.Spec.Taints, p.Node.Taints, func(a, b facts.Taint) bool { return a.Key == b.Key && a.Value == b.Value && a.Effect == b.Effect }) {
			return // the watch will tell, and it is decided again
		}
		meta["resourceVersion"] = now.Metadata.ResourceVersion
		change["spec"] = object{"taints": p.Taints}
	}
	change["metadata"] = meta
	switch err := r.Kube.MergePatch(ctx, path, change); kube.Code(err) {
	case 0:
		if err == nil {
			r.Log.Info("node got its labels and taints", "node", p.Node.Name, "labels", slices.Sorted(maps.Keys(p.Labels)))
			return
		}
		r.Log.Warn("a node cannot be changed; trying again", "node", p.Node.Name, "error", err)
	case http.StatusUnprocessableEntity, http.StatusBadRequest:
		r.memory.labels[p.Host] = true
		r.Log.Error("the API server does not take the labels that the hub has for a host; it goes on without them", "node", p.Node.Name, "error", err)
		about := object{"apiVersion": "v1", "kind": "Node", "name": p.Node.Name, "uid": p.Node.UID}
		if err := r.event(ctx, about, p.Node.UID, "LabelsRefused", err.Error()); err != nil {
			r.Log.Warn("an event cannot be written", "node", p.Node.Name, "error", err)
		}
	default:
		r.Log.Warn("a node cannot be changed; trying again", "node", p.Node.Name, "error", err)
	}
}

// probeTimeout is how long an API may take to say that it is ready.
const probeTimeout = 5 * time.Second

// probe asks the API of each control-plane host of a plain cluster that is at its end,
// at an address that both its node and the hub say is its own.
func (r *Runner) probe(ctx context.Context, v view, plain bool) {
	r.memory.api = nil
	if !plain || v.cluster.Status != wire.ClusterStatusFinalizing {
		return
	}
	var mu sync.Mutex
	var asking sync.WaitGroup
	found := map[string]string{}
	for _, h := range v.hosts {
		node, ok := nodes.Of(h, v.hosts, v.nodes)
		if !ok || h.Role != wire.HostRoleMaster && h.Role != wire.HostRoleBootstrap {
			continue
		}
		i := slices.IndexFunc(node.Addresses, func(a netip.Addr) bool { return slices.Contains(h.Addresses, a) })
		if i < 0 {
			found[node.Name] = "none of its node's addresses is the host's"
			continue
		}
		asking.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, probeTimeout)
			defer cancel()
			why := r.Probe(ctx, node.Addresses[i].String())
			mu.Lock()
			defer mu.Unlock()
			found[node.Name] = why
		})
	}
	asking.Wait()
	r.memory.api = found
}

// ingressCA is where OpenShift has the authority of its routes.
const ingressCA = "/api/v1/namespaces/openshift-config-managed/configmaps/default-ingress-cert"

// next is what comes next on the way to the end.
func (r *Runner) next(ctx context.Context, v view) finalize.Step {
	o := finalize.Observed{Cluster: v.cluster, State: r.state(v)}
	if v.cluster.Status == wire.ClusterStatusFinalizing && v.cluster.Stage == wire.FinalizingStageAddingRouterCa {
		var config struct{ Data map[string]string }
		if err := r.Kube.Get(ctx, ingressCA, &config); err != nil && kube.Code(err) != http.StatusNotFound {
			r.Log.Warn("the authority of the cluster's routes cannot be read", "error", err)
		}
		o.IngressCA = config.Data["ca-bundle.crt"]
	}
	return finalize.Next(o)
}

// act makes the step's calls in order.
func (r *Runner) act(ctx context.Context, v view, step finalize.Step) (bool, error) {
	acted := false
	for _, a := range step.Acts {
		var err error
		what := "stage"
		switch {
		case a.Stage != "":
			err = r.Hub.Stage(ctx, a.Stage)
		case a.IngressCA != "":
			what, err = "ingress-ca", r.Hub.IngressCA(ctx, a.IngressCA)
		case a.Complete != nil:
			if v.cluster.Stage == wire.FinalizingStageDone && r.Now().Sub(r.memory.completed) < completeEvery {
				continue
			}
			what, err = "complete", r.Hub.Complete(ctx, *a.Complete)
			if err == nil {
				r.memory.completed = r.Now()
			}
		}
		if err != nil {
			return acted, err
		}
		acted = true
		r.Metrics.Report(what)
		r.Log.Info("reported", "what", what, "stage", a.Stage)
	}
	return acted, nil
}

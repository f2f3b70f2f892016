package work

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ironflow/ironflow/cluster/facts"
	"github.com/ironflow/ironflow/cluster/finalize"
	"github.com/ironflow/ironflow/cluster/hubapi"
	"github.com/ironflow/ironflow/cluster/kept"
	"github.com/ironflow/ironflow/cluster/manifests"
	"github.com/ironflow/ironflow/cluster/nodes"
	"github.com/ironflow/ironflow/cluster/operators"
)

// goneAfter is how long a hub that ends with one of the cluster's hosts has not answered when
// it counts as gone: one that was killed is back within seconds.
const goneAfter = 2 * time.Minute

// keptAt is the config map with what is known without the hub.
const keptAt = "/api/v1/namespaces/" + manifests.Namespace + "/configmaps/" + kept.Name

// keep writes what is known to where it outlives the hub, and this program. What cannot be
// written is tried again with the next pass.
func (r *Runner) keep(ctx context.Context, record kept.Record) {
	r.memory.record = &record
	text, err := record.Text()
	if err == nil && text == r.memory.kept {
		return
	}
	if err == nil {
		err = r.Kube.MergePatch(ctx, keptAt, object{"data": object{kept.Heard: text}})
	}
	if err != nil {
		r.Log.Warn("what the hub says cannot be kept for when it is gone; trying again", "error", err)
		return
	}
	r.memory.kept = text
}

// alone makes a pass without the hub, if that has ended with its host. It is false as long
// as the hub answers or may come back, or nothing is known of the hosts.
func (r *Runner) alone(ctx context.Context, away error) (delay time.Duration, outcome Outcome, did bool) {
	switch {
	case !r.HubLeaves:
		return 0, "", false
	case away == nil || hubapi.Code(away) != 0:
		r.memory.answered = r.Now()
		return 0, "", false
	case r.Now().Sub(r.memory.answered) < r.or(r.Gone, goneAfter):
		return 0, "", false
	}
	record, err := r.known(ctx)
	if err != nil {
		r.Log.Warn("the hub has ended with its host, and what is known of the hosts cannot be read; trying again", "error", err)
		return 0, "", false
	}
	r.memory.heard = true // nobody is to be waited for any more
	v := view{cluster: record.Cluster(), hosts: record.Left(), nodes: r.Caches.Nodes.All(), alone: true}
	r.sign(ctx, v)
	if !r.Caches.Ready() {
		return r.or(r.Busy, busy), "", true
	}
	record.Hosts = r.settle(ctx, v)
	r.keep(ctx, record)
	delay, outcome = r.over(record.Hosts)
	return delay, outcome, true
}

// known is what is known of the hosts: what the hub said to this process, or else what is kept.
func (r *Runner) known(ctx context.Context) (kept.Record, error) {
	if r.memory.record != nil {
		return *r.memory.record, nil
	}
	var config struct{ Data map[string]string }
	if err := r.Kube.Get(ctx, keptAt, &config); err != nil {
		return kept.Record{}, err
	}
	return kept.Parse(config.Data)
}

// settle gives nodes what they should have, and returns the hosts with the stages that they
// have reached by that.
func (r *Runner) settle(ctx context.Context, v view) []facts.Host {
	plain := !operators.OpenShift(r.state(v), v.cluster.Operators)
	patches, reports := nodes.Plan(v.hosts, v.nodes, nodes.Options{Plain: plain, SchedulableMasters: v.cluster.SchedulableMasters, Refused: r.memory.labels})
	for _, p := range patches {
		r.patch(ctx, p)
	}
	for _, q := range reports {
		i := slices.IndexFunc(v.hosts, func(h facts.Host) bool { return h.ID == q.Host.ID })
		v.hosts[i] = kept.Reached(v.hosts[i], q.Stage)
		r.Log.Info("host noted; the hub has ended", "host", q.Host.Name, "stage", q.Stage)
	}
	return v.hosts
}

// over tells when to look again, and whether there is anything left to do.
func (r *Runner) over(hosts []facts.Host) (time.Duration, Outcome) {
	if missing := kept.Missing(hosts); len(missing) > 0 {
		if waits := strings.Join(missing, ", "); waits != r.memory.waits {
			r.memory.waits = waits
			r.Log.Info("the hub has ended with its host; waiting for nodes that are Ready", "for", waits)
		}
		return r.or(r.Busy, busy), ""
	}
	if !r.Stay {
		return 0, Outcome(finalize.Installed)
	}
	if !r.memory.staying.Swap(true) {
		r.Log.Info("all hosts are nodes; signing requests are looked after without the hub")
	}
	return r.or(r.Rest, rest), ""
}

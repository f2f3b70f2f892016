package work

import (
	"context"
	"io"
	"slices"
	"time"

	"github.com/ironflow/ironflow/cluster/csr"
	"github.com/ironflow/ironflow/cluster/logs"
	"github.com/ironflow/ironflow/hub/wire"
)

// periodicLogs sends the logs of an installation that goes on, so that one that fails
// for good has left some.
func (r *Runner) periodicLogs(ctx context.Context, v view) {
	if !slices.Contains(comingUp, v.cluster.Status) || r.Now().Sub(r.memory.logged) < logsEvery {
		return
	}
	r.memory.logged = r.Now()
	if err := r.upload(ctx, v); err != nil {
		r.Log.Warn("the hub has not taken the logs", "error", err)
	}
}

// upload sends what is known of the cluster's inside. It makes nothing that was there
// before worse: the hub keeps the newest.
func (r *Runner) upload(ctx context.Context, v view) error {
	files := []logs.File{
		{Name: "ironflow-cluster.log", Value: r.Ring.Lines()},
		{Name: "hosts.json", Value: v.hosts},
		{Name: "cluster.json", Value: v.cluster},
		{Name: "nodes.json", Value: r.Caches.Nodes.All()},
		{Name: "signing-requests.json", Value: r.signing()},
		{Name: "operators.json", Value: r.state(v).Operators},
		{Name: "services.json", Value: r.Caches.Services.All()},
		{Name: "subscriptions.json", Value: r.Caches.Subscriptions.All()},
		{Name: "system-pods.json", Value: r.Caches.Pods.All()},
		{Name: "api.json", Value: r.memory.api},
	}
	if err := r.Hub.LogsProgress(ctx, wire.LogsStateCollecting); err != nil {
		return err
	}
	if err := r.Hub.UploadLogs(ctx, "logs.tar.gz", func(w io.Writer) error { return logs.Write(w, r.Now(), files) }); err != nil {
		return err
	}
	return r.Hub.LogsProgress(ctx, wire.LogsStateCompleted)
}

// signed is what the logs say of a signing request.
type signed struct {
	Signer     string
	ApprovedAt time.Time  `json:",omitzero"`
	Waits      csr.Reason `json:",omitempty"`
}

// signing are the signing requests by name, with the rule that one was not approved by.
func (r *Runner) signing() map[string]signed {
	out := map[string]signed{}
	for name, q := range r.Caches.Requests.All() {
		s := signed{Signer: q.Signer, ApprovedAt: q.ApprovedAt}
		if q.ApprovedAt.IsZero() {
			s.Waits = r.memory.looked[q.UID].reason
		}
		out[name] = s
	}
	return out
}

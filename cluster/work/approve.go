package work

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/ironflow/ironflow/cluster/csr"
	"github.com/ironflow/ironflow/cluster/hubapi"
	"github.com/ironflow/ironflow/cluster/kube"
	"github.com/ironflow/ironflow/cluster/observe"
	"github.com/ironflow/ironflow/hub/wire"
)

// approve adds the condition to the very object that was judged: one that has changed
// since is refused by the API server, and judged again.
func (r *Runner) approve(ctx context.Context, q csr.Request, v csr.Verdict, all view) {
	now := r.Now().UTC().Format(time.RFC3339)
	err := r.Kube.Put(ctx, observe.Requests+"/"+url.PathEscape(q.Name)+"/approval", object{
		"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest",
		"metadata": object{"name": q.Name, "uid": q.UID, "resourceVersion": q.Version},
		"spec":     object{"signerName": q.Signer, "request": q.PEM, "usages": q.Usages},
		"status": object{"conditions": []object{{
			"type": "Approved", "status": "True", "reason": csr.ApprovedBy, "message": v.Message, "lastUpdateTime": now, "lastTransitionTime": now,
		}}},
	})
	if err != nil {
		r.Log.Warn("a signing request cannot be approved; trying again", "request", q.Name, "host", v.Host, "error", err)
		if kube.Code(err) != http.StatusConflict { // it has changed, and is judged again
			r.tell(ctx, q, all, r.memory.failed, wire.SigningProps{At: wire.At(r.Now()), Error: err.Error()})
		}
		return
	}
	r.memory.approved[q.UID] = true
	delete(r.memory.looked, q.UID) // it is looked at once more, for the hub to hear of it
	r.Metrics.Request(q.Signer, string(v.Decision), string(v.Reason))
	r.Log.Info("signing request approved", "request", q.Name, "signer", q.Signer, "host", v.Host)
}

// tellSigned tells the hub of a request that was approved, by this program or by one before it;
// false where the hub does not have the host.
func (r *Runner) tellSigned(ctx context.Context, q csr.Request, v view) (known bool) {
	return r.tell(ctx, q, v, r.memory.told, wire.SigningProps{At: wire.At(q.ApprovedAt)})
}

// tell tells the hub once of a request. A hub that is away hears of it by a later pass; one that refuses to
// hear of it knows no such event, or not the host any more. It is false where there is no such host.
func (r *Runner) tell(ctx context.Context, q csr.Request, v view, told map[string]bool, p wire.SigningProps) (known bool) {
	if told[q.UID] || v.alone {
		return true
	}
	host, found := csr.Host(q, v.hosts)
	if !found {
		return false
	}
	p.Request, p.Type = q.Name, q.Type()
	err := r.Hub.Signing(ctx, host, p)
	code := hubapi.Code(err)
	told[q.UID] = err == nil || final(code)
	if err != nil {
		r.Log.Info("the hub was not told of a signing request", "request", q.Name, "host", host.Name, "error", err)
	}
	return true
}

// final tells that a hub which has answered so will never take it. One that does not know the token may know the next.
func final(code int) bool {
	switch code {
	case http.StatusUnauthorized, http.StatusTooManyRequests:
		return false
	}
	return code >= http.StatusBadRequest && code < http.StatusInternalServerError
}

// eventsPerHour bounds what is said of requests: whoever has a bootstrap token can make any number.
const eventsPerHour = 100

// budget counts what was said within an hour.
type budget struct {
	since time.Time
	spent int
}

func (b *budget) take(now time.Time) bool {
	if now.Sub(b.since) >= time.Hour {
		*b = budget{since: now}
	}
	b.spent++
	return b.spent <= eventsPerHour
}

// leave says why a request is left alone. The event's name follows from the request
// and the reason, so that a program that starts again does not say it again. It is false where
// that has to be tried again.
func (r *Runner) leave(ctx context.Context, q csr.Request, v csr.Verdict) (said bool) {
	if r.memory.said[q.UID] {
		return true
	}
	r.memory.said[q.UID] = true
	r.Metrics.Request(q.Signer, string(v.Decision), string(v.Reason))
	if !r.memory.budget.take(r.Now()) {
		return true
	}
	r.Log.Info("signing request left alone", "request", q.Name, "signer", q.Signer, "reason", v.Reason, "message", v.Message)
	reference := object{"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "name": q.Name, "uid": q.UID}
	if err := r.event(ctx, reference, q.UID, "LeftAlone"+string(v.Reason), "not approved: "+v.Message); err != nil {
		delete(r.memory.said, q.UID)
		r.Log.Warn("an event cannot be written", "request", q.Name, "error", err)
		return false
	}
	return true
}

// event writes a warning about an object without a namespace, once.
func (r *Runner) event(ctx context.Context, about object, uid, reason, message string) error {
	sum := sha256.Sum256([]byte(uid + "\x00" + reason))
	now := r.Now().UTC().Format(time.RFC3339)
	err := r.Kube.Post(ctx, "/api/v1/namespaces/default/events", object{
		"apiVersion": "v1", "kind": "Event",
		"metadata":       object{"name": "ironflow-cluster." + hex.EncodeToString(sum[:10]), "namespace": "default"},
		"involvedObject": about, "reason": reason, "message": fmt.Sprintf("%.1000s", message), "type": "Warning",
		"source": object{"component": "ironflow-cluster"}, "firstTimestamp": now, "lastTimestamp": now, "count": 1,
		"reportingComponent": "ironflow-cluster",
	})
	if kube.Code(err) == http.StatusConflict {
		return nil
	}
	return err
}

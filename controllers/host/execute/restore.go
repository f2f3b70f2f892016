package execute

import (
	"context"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// restore stores a status with members that this version does not know. The API server
// keeps those that the cluster's schema has, and drops the others without a word: hence
// it is looked at what is stored.
func (w *Work) restore(ctx context.Context, a policy.Restore) error {
	h := w.Known.Host
	before := h.Status
	h.Status, w.Saver.Also = a.Status, a.Unknown
	_, err := w.Saver.Status(ctx, h)
	if apierrors.IsInvalid(err) {
		w.Log.Info("the cluster's schema refuses the moved status with what this version does not know", "reason", err.Error())
		w.Saver.Also = nil
		_, err = w.Saver.Status(ctx, h)
	}
	if err != nil {
		h.Status, w.Saver.Also = before, nil // nothing of it is to be stored without the rest
		return err
	}
	if lost := a.Unknown.Lacking(w.stored(ctx)["status"]); len(lost) > 0 {
		w.Events = append(w.Events, reconcile.Event{
			Warning: true, Reason: "StatusMembersDropped",
			Message: "Members of the moved status that this version does not know are not in what the cluster stores: " + strings.Join(lost, ", ") +
				". The host goes on without them. Next: nothing, or update the CRD and move the host again",
		})
	}
	return nil
}

// stored is the host with all that the API server has of it; nil if that cannot be read.
func (w *Work) stored(ctx context.Context) map[string]any {
	all := &unstructured.Unstructured{}
	all.SetGroupVersionKind(metal3.GroupVersion.WithKind("BareMetalHost"))
	if err := w.Store.Live.Get(ctx, client.ObjectKeyFromObject(w.Known.Host), all); err != nil {
		w.Log.Error(err, "cannot read what is stored of the moved status")
		return nil
	}
	return all.Object
}

package host

import (
	"context"
	"strings"

	"github.com/ironflow/ironflow/controllers/host/policy"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/controllers/reconcile"
)

// restore stores a status with members that this version does not know. The API server
// keeps those that the cluster's schema has, and drops the others without a word: hence
// it is looked at what is stored.
func (p *pass) restore(ctx context.Context, a policy.Restore) error {
	h := p.o.Host
	before := h.Status
	h.Status, p.saver.Also = a.Status, a.Unknown
	_, err := p.saver.Status(ctx, h)
	if apierrors.IsInvalid(err) {
		p.log.Info("the cluster's schema refuses the moved status with what this version does not know", "reason", err.Error())
		p.saver.Also = nil
		_, err = p.saver.Status(ctx, h)
	}
	if err != nil {
		h.Status, p.saver.Also = before, nil // nothing of it is to be stored without the rest
		return err
	}
	if lost := a.Unknown.Lacking(p.stored(ctx)["status"]); len(lost) > 0 {
		p.events = append(p.events, reconcile.Event{
			Warning: true, Reason: "StatusMembersDropped",
			Message: "Members of the moved status that this version does not know are not in what the cluster stores: " + strings.Join(lost, ", ") +
				". The host goes on without them. Next: nothing, or update the CRD and move the host again",
		})
	}
	return nil
}

// stored is the host with all that the API server has of it; nil if that cannot be read.
func (p *pass) stored(ctx context.Context) map[string]any {
	all := &unstructured.Unstructured{}
	all.SetGroupVersionKind(metal3.GroupVersion.WithKind("BareMetalHost"))
	if err := p.secrets.live.Get(ctx, client.ObjectKeyFromObject(p.o.Host), all); err != nil {
		p.log.Error(err, "cannot read what is stored of the moved status")
		return nil
	}
	return all.Object
}

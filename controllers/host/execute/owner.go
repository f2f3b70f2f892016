package execute

import (
	"context"
	"errors"
	"fmt"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/ironics"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/controllers/host/policy/nodeaction"
	"github.com/ironflow/ironflow/ironic"
)

// findOwner looks whose the node is that was found. All hosts are gone through, but
// only for a node that does not have the host's full name: once in its life.
func (w *Work) findOwner(ctx context.Context, a nodeaction.FindOwner) error {
	o := &w.Known
	e, err := w.evidence(ctx)
	if err != nil {
		return err
	}
	before := o.Owner.Other
	o.Owner = policy.Judge(o.Host, a.Node(), e)
	if o.Owner.Foreign != "" || o.Owner.Other != "" {
		w.Lose(nodeaction.Sight{})
	}
	if o.Owner.Other == "" {
		o.Owner.Other = before
	}
	return nil
}

// evidence gathers what speaks for and against the node being the host's.
func (w *Work) evidence(ctx context.Context) (policy.Evidence, error) {
	h, n := w.Known.Host, w.Known.Node
	e := policy.Evidence{Enrolled: n.UUID == w.Known.Owner.Enrolled}
	var hosts metal3.BareMetalHostList
	if err := w.Hosts.List(ctx, &hosts, client.UnsafeDisableDeepCopy); err != nil {
		return e, fmt.Errorf("look whose node %s is: %w", policy.DisplayName(n), err)
	}
	for i := range hosts.Items {
		if other := &hosts.Items[i]; other.Namespace != h.Namespace || other.Name != h.Name {
			e.Weigh(h, other, n)
		}
	}
	if n.UUID == h.Status.Provisioning.ID || e.Enrolled {
		return e, w.whoIsNamed(ctx, &e)
	}
	if e.OnPort = n.Name == ""; e.OnPort || h.Spec.BootMACAddress == "" {
		return e, nil // without a name it was found by its port
	}
	node, _, err := w.Gateway.NodeOfPort(ctx, h.Spec.BootMACAddress)
	e.OnPort = node == n.UUID
	return e, err
}

// whoIsNamed looks for a host of the node's name that is not in the cache: of a
// namespace that this controller does not watch.
func (w *Work) whoIsNamed(ctx context.Context, e *policy.Evidence) error {
	namespace, name, full := strings.Cut(w.Known.Node.Name, names.NodeNameSeparator)
	if e.Named != "" || !full {
		return nil
	}
	other, key := &metal3.BareMetalHost{}, types.NamespacedName{Namespace: namespace, Name: name}
	err := w.Store.Live.Get(ctx, key, other)
	switch {
	case err == nil:
		e.Weigh(w.Known.Host, other, w.Known.Node)
	case apierrors.IsForbidden(err):
		e.Named = key.String() + ", which this controller may not look at"
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("look for host %s, which a node is named after: %w", key, err)
	}
	return nil
}

// lookAtBMC looks whether a node is there that the watch has seen at the host's BMC. It is the
// host's by its full name, or by the id that an enrolment of the host has named.
func (w *Work) lookAtBMC(ctx context.Context, a policy.LookAtBMC) error {
	o := &w.Known
	if id := nodespec.EnrolmentID(o.Host); id != "" {
		n, err := w.Gateway.Get(ctx, id)
		if err == nil {
			o.Owner.Enrolled = n.UUID
		}
		if ironic.KindOf(err) != ironic.Gone {
			return w.see(n, err)
		}
	}
	n, err := w.Gateway.Get(ctx, a.ID)
	switch {
	case ironic.KindOf(err) == ironic.Gone:
		w.Watch.Forget(a.ID)
	case err != nil || n.Name == nodespec.NodeName(o.Host):
		return w.see(n, err)
	default:
		w.Watch.Learn(n.Row)
	}
	if o.AtBMC = ironics.OtherAtBMC(w.Watch, o.Host); o.AtBMC == a.ID {
		o.Owner = policy.JudgeAtBMC(o.Host, a.ID)
	}
	return nil
}

// foreignAddress takes down that the host's boot MAC address is on a node that has
// another host's name, and reports whether err says so.
func (w *Work) foreignAddress(err error) bool {
	conflict, is := errors.AsType[*ironic.MACConflictError](err)
	if is {
		w.Known.Owner.Foreign = conflict.Error()
	}
	return is
}

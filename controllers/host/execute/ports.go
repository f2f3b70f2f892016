package execute

import (
	"context"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/controllers/host/policy/nodeaction"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/ironic"
)

// ensurePorts creates the missing ports, with a look first if they are not known.
func (w *Work) ensurePorts(ctx context.Context, a nodeaction.EnsurePorts) (err error) {
	id := a.Node().UUID
	if len(a.Gone) > 0 {
		if err := w.Gateway.RemovePorts(ctx, id, a.Gone); err != nil {
			return err
		}
	}
	var left []ironic.PortLeftOut
	if a.Missing != nil {
		left, err = w.Gateway.AddPorts(ctx, id, a.Missing)
	} else {
		left, err = w.Gateway.EnsurePorts(ctx, id, a.Ports)
	}
	if err != nil || len(left) == 0 {
		return err
	}
	return w.leftOut(ctx, left)
}

// leftOut says which ports were not made. An address that another host's machine has as
// well tells nothing, and Ironic must not take that machine for this one by it: its port
// goes, unless that machine boots from it, or somebody keeps everybody off its host.
func (w *Work) leftOut(ctx context.Context, left []ironic.PortLeftOut) error {
	var texts []string
	for _, p := range left {
		texts = append(texts, p.MAC+" ("+p.Reason+")")
		other, err := w.hostOf(ctx, p.Owner)
		switch {
		case err != nil:
			return err
		case other == nil || reconcile.KeptOff(other) != "" || other.Spec.BootMACAddress == "" || strings.EqualFold(other.Spec.BootMACAddress, p.MAC):
			continue
		}
		// One that is at work keeps it for now: the next host of that address asks again.
		if err := w.Gateway.RemovePorts(ctx, p.Owner, []string{p.MAC}); ironic.KindOf(err) == ironic.Unavailable {
			return err
		}
	}
	w.Events = append(w.Events, reconcile.Event{
		Reason: "PortsLeftOut",
		Message: "Network interfaces without a port in Ironic: " + strings.Join(texts, "; ") +
			". Nothing is missing as long as the machine boots from spec.bootMACAddress",
	})
	return nil
}

// hostOf is the host whose status names a node; nil for none.
func (w *Work) hostOf(ctx context.Context, node string) (*metal3.BareMetalHost, error) {
	var hosts metal3.BareMetalHostList
	if node == "" {
		return nil, nil
	}
	if err := w.Hosts.List(ctx, &hosts, client.UnsafeDisableDeepCopy); err != nil {
		return nil, err
	}
	for i := range hosts.Items {
		if hosts.Items[i].Status.Provisioning.ID == node {
			return &hosts.Items[i], nil
		}
	}
	return nil, nil
}

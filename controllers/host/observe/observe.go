package observe

import (
	"context"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/controllers/host/ironics"
	"github.com/ironflow/ironflow/controllers/host/memory"
	"github.com/ironflow/ironflow/controllers/host/metrics"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/controllers/host/policy/nodeaction"
	"github.com/ironflow/ironflow/controllers/host/resources"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// Observe reads what every pass needs. What is remembered of another node than the
// host's is dropped from m.
func (b *Observer) Observe(ctx context.Context, h *metal3.BareMetalHost, m *memory.Memory, watch ironics.Table) (*policy.Observed, error) {
	o := &policy.Observed{Now: b.Now(), Host: h, Settings: b.Settings}
	if reconcile.KeptOff(h) == "" {
		if err := b.observeObjects(ctx, o, watch); err != nil {
			return nil, err
		}
	} else {
		o.BMC.Access, _ = nodespec.AccessOf(h) // it counts for the same limits as before
	}
	if b.Progress != nil {
		o.Progress, _ = b.Progress.HostProgress(client.ObjectKeyFromObject(h))
	}
	if b.Reads != nil {
		o.Read = b.Reads.ImageRead(client.ObjectKeyFromObject(h))
	}
	readSummary(o, m, watch)
	o.Kept = m.Kept
	o.LostAgent, o.Told, o.PowerTold = m.LostAgent.Of(o.Node), m.Told, m.Told != m.Answered
	err := policy.JudgeInventory(o, resources.Booting(ctx, b.Store.Cache, h))
	if err != nil {
		return nil, err
	}
	o.Retry, err = b.retryAsked(ctx, o)
	return o, err
}

// Forget drops what is remembered for a host that is gone.
func (b *Observer) Forget(key types.NamespacedName) {
	if b.Progress != nil {
		b.Progress.Leave(key)
	}
}

// observeObjects reads what belongs to the host. The Secrets on the way are marked as
// the host's, which is not for a host that everybody is kept off.
func (b *Observer) observeObjects(ctx context.Context, o *policy.Observed, watch ironics.Table) (err error) {
	h := o.Host
	if o.Hardware, err = b.Store.Hardware(ctx, h); err != nil {
		return err
	}
	if state := o.State(); state != metal3.StateUnmanaged && (state != policy.StateNone || h.HasBMCDetails()) {
		if o.BMC, err = b.Store.BMC(ctx, h); err != nil {
			b.Metrics.Add(policy.Count{Metric: metrics.CredentialsUnhandled})
			return err
		}
	}
	if err := b.observeDoubles(ctx, o, watch); err != nil {
		return err
	}
	if err := b.observeNetwork(ctx, o); err != nil {
		return err
	}
	if o.Settings.BuildImages {
		image, err := b.Store.Image(ctx, h)
		if err != nil {
			return err
		}
		want := nodespec.ImageSpec(o.NodeInput())
		if o.Image, err = b.Store.JudgeImage(ctx, h, image, want, o.Settings.LiveImageFor(want.Architecture).Kernel); err != nil {
			return err
		}
	}
	if o.Media, err = b.observeMedia(ctx, h); err != nil {
		return err
	}
	if o.Firmware, err = b.observeFirmware(ctx, h); err != nil {
		return err
	}
	o.Preflight, err = b.observePreflight(ctx, h)
	return err
}

// observePreflight reads the verdict on the host's wishes in the phases that wait for
// it, and in the one from which a pass may go on to them.
func (b *Observer) observePreflight(ctx context.Context, h *metal3.BareMetalHost) (policy.Preflight, error) {
	if b.Preflights == nil {
		return policy.Preflight{}, nil
	}
	switch h.Status.Provisioning.State {
	case metal3.StateRegistering, metal3.StateInspecting, metal3.StatePreparing, metal3.StateAvailable, metal3.StateReady:
		return b.Preflights.Preflight(ctx, h)
	default:
		return policy.Preflight{}, nil
	}
}

// readSummary takes what the watch knows of the host's node. What is remembered of
// another node is dropped.
func readSummary(o *policy.Observed, m *memory.Memory, watch ironics.Table) {
	id := o.Host.Status.Provisioning.ID
	if m.NodeID != id {
		kept := policy.Kept{SeenIn: m.SeenIn, SeenOf: m.SeenOf} // of the machine, by whatever node: a new one may have an id that could not be stored yet
		*m = memory.Memory{Kept: kept, NodeID: id, LostAgent: m.LostAgent, Told: m.Told, Answered: m.Answered}
	}
	if id == "" {
		return
	}
	if m.Removed {
		o.Sight = nodeaction.Missing()
		return
	}
	row, known := watch.Row(id)
	if !known {
		return
	}
	o.Sight = nodeaction.Summary(row)
	if m.Node != nil && m.Node.UUID == id {
		o.Sight = nodeaction.Remembered(*m.Node, row)
	}
}

package bmc

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/bios"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/preflight"
	"github.com/ironflow/ironflow/bmc/verify"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// Reasons of InSync.
const (
	ReasonInSync   = "InSync"
	ReasonDrift    = "Drift"
	ReasonAtWork   = "AtWork"
	ReasonNotKnown = "NotKnown"
)

// lasting reports whether there is something that preparation brings about and that
// can be looked for afterwards.
func lasting(w preflight.Wishes) bool {
	return w.Volumes != nil || len(w.Settings) > 0 || len(w.Updates) > 0
}

// rested is when the host came to rest after its last phase; zero while it has not.
func rested(h *metal3.BareMetalHost) time.Time {
	switch h.Status.Provisioning.State {
	case metal3.StateAvailable, metal3.StateReady, metal3.StateProvisioned, metal3.StateExternallyProvisioned:
	default:
		return time.Time{}
	}
	c := meta.FindStatusCondition(h.Status.Conditions, metal3.ProgressingCondition)
	if c == nil || c.Status != metav1.ConditionFalse || h.Status.ErrorType != "" || h.Status.OperationalStatus != metal3.OperationalStatusOK {
		return time.Time{}
	}
	return c.LastTransitionTime.Time
}

// observed is what is compared: all of it that is known without asking the BMC.
type observed struct {
	Wishes preflight.Wishes
	Ironic verify.Ironic
	Report metav1.Time
	// Made says that the volumes were.
	Made bool
}

// inSync compares what was wished for with what Ironic and the BMC show afterwards. A
// client that is nil has nobody to ask. Nothing is ever done to the machine for it.
func (r *reconciler) inSync(ctx context.Context, h *metal3.BareMetalHost, b *v1alpha1.BMC, o hostObjects, c *client.Client) {
	key := kclient.ObjectKeyFromObject(h)
	say := func(status metav1.ConditionStatus, reason, message string) {
		reconcile.SetCondition(b, v1alpha1.InSync, status, reason, message)
	}
	since := rested(h)
	switch report := b.Status.Report; {
	case !lasting(o.wishes):
		reconcile.DropCondition(b, v1alpha1.InSync)
	case since.IsZero():
		say(metav1.ConditionUnknown, ReasonAtWork, "the host is not at rest: what was asked for is compared with what is there afterwards")
	case c == nil || report == nil || b.Status.Probed == nil || b.Status.Probed.Time.Time.Before(since):
		say(metav1.ConditionUnknown, ReasonNotKnown, "there is no report of the BMC from after the work on the host")
	default:
		now := observed{
			Wishes: o.wishes, Ironic: shownByIronic(o), Report: report.Time,
			Made: apiequality.Semantic.DeepEqual(h.Status.Provisioning.RAID, h.Spec.RAID),
		}
		digest := digestOf(now)
		if r.compared(key) == digest && meta.FindStatusCondition(b.Status.Conditions, v1alpha1.InSync) != nil {
			return
		}
		status, reason, message := compare(ctx, report, now, c)
		say(status, reason, message)
		r.setCompared(key, digest)
		return
	}
	r.setCompared(key, "")
}

// compare asks the BMC for its settings, where some were wished for, and says what differs.
func compare(ctx context.Context, report *v1alpha1.BMCReport, now observed, c *client.Client) (status metav1.ConditionStatus, reason, message string) {
	want := verify.Wanted{Settings: now.Wishes.Settings}
	if now.Made {
		want.Volumes = now.Wishes.Volumes
	}
	shown := verify.BMC{Report: report}
	var unread error
	if len(want.Settings) > 0 {
		shown.Settings, shown.Registry, unread = bios.Read(ctx, c, where(report))
	}
	var lines []string
	for _, d := range verify.Compare(want, now.Ironic, shown) {
		lines = append(lines, d.String())
	}
	switch {
	case len(lines) > 0:
		return metav1.ConditionFalse, ReasonDrift, strings.Join(lines, " ")
	case unread != nil && shown.Settings == nil:
		return metav1.ConditionUnknown, ReasonNotKnown, unread.Error()
	default:
		return metav1.ConditionTrue, ReasonInSync, "what Ironic and the BMC show is what was asked for"
	}
}

// where is the place of the BIOS settings, as a report has it.
func where(report *v1alpha1.BMCReport) bios.Where {
	w := bios.Where{System: report.System}
	if report.BIOS != nil {
		w.RegistryPath = report.BIOS.RegistryPath
	}
	return w
}

// shownByIronic is what Ironic reports, as the objects of the host have it. Its
// volumes are in none of them.
func shownByIronic(o hostObjects) verify.Ironic {
	var shown verify.Ironic
	if o.settings != nil {
		shown.Settings = o.settings.Status.Settings
	}
	if o.components != nil && len(o.components.Status.Components) > 0 {
		shown.Versions = map[string]string{}
		for _, c := range o.components.Status.Components {
			shown.Versions[c.Component] = c.CurrentVersion
		}
	}
	return shown
}

func digestOf(now observed) string {
	raw, err := json.Marshal(now)
	if err != nil {
		return "" // no value of these types fails
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:8])
}

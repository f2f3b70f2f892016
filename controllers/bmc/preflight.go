package bmc

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/bmc/bios"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/preflight"
	"github.com/ironflow/ironflow/bmc/wishes"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// Reasons of PreflightPassed.
const (
	ReasonPassed          = "Passed"
	ReasonOverridden      = "Overridden"
	ReasonPreflightFailed = "PreflightFailed"
	ReasonNoReport        = "NoReport"
)

// judge holds the host's wishes against the report, if there are other wishes, another
// report, or something new of the images that they name. It always comes to a verdict,
// at the latest when the servers of images have had their time: the host waits for one.
// A client that is nil has nobody to ask for BIOS settings. It returns when to look
// again; 0 for when something changes.
func (r *reconciler) judge(ctx context.Context, h *metal3.BareMetalHost, b *v1alpha1.BMC, o hostObjects, c *client.Client) (after time.Duration) {
	report := b.Status.Report
	now := v1alpha1.PreflightStatus{Wishes: o.digest(report), Overridden: overridden(h), Report: reportOf(b)}
	known := r.known(h, weighed(b.Status.Preflight, now, o, report))
	what, after := next(b.Status.Preflight, now, o.wishes, known)
	if what != judgeAnew {
		return after
	}
	w := o.weighing(known.Sizes)
	var settings *bios.Settings
	var registry *bios.Registry
	if c != nil && report != nil && len(w.Settings) > 0 {
		settings, registry, _ = bios.Read(ctx, c, where(report)) // what cannot be read is not known, and blocks nothing
	}
	now.Mismatches = preflight.Check(w, report, registry, settings)
	b.Status.Preflight = &now
	passed(b)
	return lookAgain(now.Mismatches)
}

// reportOf tells reports of a BMC apart; nil is for none.
func reportOf(b *v1alpha1.BMC) *metav1.Time {
	if b.Status.Report == nil {
		return nil
	}
	return &b.Status.Report.Time
}

// overridden reports a host that is to go on whatever the verdict is.
func overridden(h *metal3.BareMetalHost) bool {
	return h.Annotations[names.PreflightOverride] == "true"
}

// passed says what the verdict means.
func passed(b *v1alpha1.BMC) {
	p := b.Status.Preflight
	switch text := describe(p.Mismatches); {
	case len(p.Mismatches) > 0 && p.Overridden:
		reconcile.SetCondition(b, v1alpha1.PreflightPassed, metav1.ConditionTrue, ReasonOverridden, "the annotation "+names.PreflightOverride+" lets the host go on with: "+text)
	case len(p.Mismatches) > 0:
		reconcile.SetCondition(b, v1alpha1.PreflightPassed, metav1.ConditionFalse, ReasonPreflightFailed, text)
	case b.Status.Report == nil:
		reconcile.SetCondition(b, v1alpha1.PreflightPassed, metav1.ConditionUnknown, ReasonNoReport, "there is no report of the BMC to hold the host's wishes against")
	default:
		reconcile.SetCondition(b, v1alpha1.PreflightPassed, metav1.ConditionTrue, ReasonPassed, "nothing that is known speaks against the host's wishes")
	}
}

// describe is a verdict for people.
func describe(mismatches []v1alpha1.Mismatch) string {
	lines := make([]string, 0, len(mismatches))
	for _, m := range mismatches {
		lines = append(lines, m.Kind+" "+m.Field+": "+m.Message)
	}
	return strings.Join(lines, "; ")
}

// hostObjects is what a host asks of its hardware, and the objects that hold it; nil for none.
type hostObjects struct {
	// wishes know no sizes of images: a verdict is about what was asked for.
	wishes     preflight.Wishes
	all        wishes.Objects
	settings   *metal3.HostFirmwareSettings
	components *metal3.HostFirmwareComponents
}

// LiveImage is the address of the live ISO that a host boots where none is built for it;
// empty for none. Nil knows of none.
type LiveImage func(h *metal3.BareMetalHost) string

// errUnread is for objects that could not be read, unlike wishes that make no sense.
var errUnread = errors.New("read what a host asks of its hardware")

// objectsOf reads what a host asks of its hardware. The objects are those of the cache: nothing
// of them is changed.
func objectsOf(ctx context.Context, reader kclient.Reader, live LiveImage, h *metal3.BareMetalHost) (hostObjects, error) {
	h = readOf(h) // a verdict has the same wishes for whoever makes and for whoever reads it
	o := wishes.Objects{Host: h, Settings: &metal3.HostFirmwareSettings{}, Components: &metal3.HostFirmwareComponents{}, Image: &metal3.PreprovisioningImage{}}
	var errs []error
	read := func(object kclient.Object) bool {
		err := reader.Get(ctx, kclient.ObjectKeyFromObject(h), object, kclient.UnsafeDisableDeepCopy)
		if err != nil && !apierrors.IsNotFound(err) {
			errs = append(errs, fmt.Errorf("host %q: %w: %w", h.Name, errUnread, err))
		}
		return err == nil
	}
	if !read(o.Settings) {
		o.Settings = nil
	}
	if !read(o.Components) {
		o.Components = nil
	}
	if !read(o.Image) {
		o.Image = nil
	}
	if len(errs) > 0 {
		return hostObjects{}, errors.Join(errs...)
	}
	if live != nil {
		o.LiveImage = live(h)
	}
	w, err := wishes.Of(o)
	return hostObjects{wishes: w, all: o, settings: o.Settings, components: o.Components}, err
}

// Verdicts are what the host controller reads of BMCs.
type Verdicts struct {
	// Client reads from the manager's cache.
	Client kclient.Reader
	// LiveImage is that of [Options].
	LiveImage LiveImage
}

// Preflight is the verdict on the host's wishes as they are now.
func (v Verdicts) Preflight(ctx context.Context, h *metal3.BareMetalHost) (policy.Preflight, error) {
	o, err := objectsOf(ctx, v.Client, v.LiveImage, h)
	switch {
	case errors.Is(err, errUnread):
		return policy.Preflight{}, err
	case err != nil:
		return policy.Preflight{}, nil //nolint:nilerr // an address that cannot be read is an error of its own on the host
	}
	b := &v1alpha1.BMC{}
	switch err := v.Client.Get(ctx, kclient.ObjectKeyFromObject(h), b, kclient.UnsafeDisableDeepCopy); {
	case apierrors.IsNotFound(err):
		return policy.Preflight{On: true}, nil
	case err != nil:
		return policy.Preflight{}, fmt.Errorf("read the BMC of host %q: %w", h.Name, err)
	}
	p := b.Status.Preflight
	judged := p != nil && p.Wishes == o.digest(b.Status.Report) && p.Overridden == overridden(h) && p.Report.Equal(reportOf(b)) && !ofFormer(b, h)
	verdict := policy.Preflight{On: true, Judged: judged}
	if verdict.Judged && !p.Overridden {
		verdict.Mismatch = describe(p.Mismatches)
	}
	return verdict, nil
}

package bmc

import (
	"context"
	"slices"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/images"
	"github.com/ironflow/ironflow/bmc/preflight"
	"github.com/ironflow/ironflow/bmc/wishes"
)

// Sizes know how large images are, as far as their servers say, and do not let anybody
// wait for it; *images.SizeCache implements it.
type Sizes interface {
	Look(addresses []string, who string, told func()) images.Known
}

// step is what is done about a verdict.
type step string

const (
	letStand     step = "let the last verdict stand"
	waitForSizes step = "wait for sizes of images"
	judgeAnew    step = "judge anew"
)

// next decides about the verdict, and says when to look again; 0 for when something
// changes. The new one has all but its mismatches.
func next(last *v1alpha1.PreflightStatus, now v1alpha1.PreflightStatus, w preflight.Wishes, known images.Known) (what step, after time.Duration) {
	switch {
	case known.Open:
		return waitForSizes, images.Turn
	case !same(last, now):
		return judgeAnew, 0 // what is not known of images refuses nothing
	case !preflight.TooLarge(last.Mismatches):
		return letStand, 0
	case known.Missing && !all(preflight.Refused(w, last.Mismatches), known.Sizes):
		return letStand, images.Again // a server that is away takes back no refusal of its images
	default:
		return judgeAnew, 0
	}
}

// all reports whether the sizes of these images are known.
func all(images []string, sizes map[string]int64) bool {
	return !slices.ContainsFunc(images, func(address string) bool { return sizes[address] == 0 })
}

// same reports whether the last verdict is about the wishes, the report and the word of
// a person as they are now.
func same(last *v1alpha1.PreflightStatus, now v1alpha1.PreflightStatus) bool {
	return last != nil && last.Wishes == now.Wishes && last.Overridden == now.Overridden && last.Report.Equal(now.Report)
}

// weighed are the images whose sizes a verdict needs: none where the last one stands.
// One that was about sizes does not: behind the same address there may be a smaller image.
func weighed(last *v1alpha1.PreflightStatus, now v1alpha1.PreflightStatus, o hostObjects, report *v1alpha1.BMCReport) []string {
	if same(last, now) && !preflight.TooLarge(last.Mismatches) {
		return nil
	}
	return wishes.Weighed(o.all, o.wishes, report)
}

// digest tells wishes apart, BMCs, and images where their sizes matter.
func (o hostObjects) digest(report *v1alpha1.BMCReport) string {
	return preflight.Digest(o.wishes, append(wishes.Weighed(o.all, o.wishes, report), o.all.Host.Spec.BMC.Address)...)
}

// lookAgain is when a verdict is looked at again though nothing has changed in the
// cluster; 0 for never.
func lookAgain(mismatches []v1alpha1.Mismatch) time.Duration {
	if preflight.TooLarge(mismatches) {
		return images.Keep
	}
	return 0
}

// weighing are the wishes with what is known of their images.
func (o hostObjects) weighing(sizes map[string]int64) preflight.Wishes {
	o.all.Sizes = sizes
	w, err := wishes.Of(o.all)
	if err != nil {
		return o.wishes // they were read before, so that this cannot be
	}
	return w
}

// known is what is known of images. The host has another pass when there is more.
func (r *reconciler) known(h *metal3.BareMetalHost, addresses []string) images.Known {
	if r.options.Sizes == nil || len(addresses) == 0 {
		return images.Known{}
	}
	key := kclient.ObjectKeyFromObject(h)
	return r.options.Sizes.Look(addresses, key.String(), func() { r.wake(key) })
}

// hear has passes made for hosts of whose images something was learned.
func (r *reconciler) hear(_ context.Context, q workqueue.TypedRateLimitingInterface[ctrl.Request]) error {
	r.wake = func(key kclient.ObjectKey) { q.Add(ctrl.Request{NamespacedName: key}) }
	return nil
}

// within is the result of a pass after which there is another one no later than after; 0
// is no bound. Who has to try again does so by other rules.
func within(result ctrl.Result, err error, after time.Duration) ctrl.Result {
	if err == nil && after > 0 && (result.RequeueAfter == 0 || after < result.RequeueAfter) {
		result.RequeueAfter = after
	}
	return result
}

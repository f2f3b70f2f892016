package bmc

import (
	"context"
	"strings"
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/images"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/test/bmc/simulator"
	shared "github.com/ironflow/ironflow/test/bmc/world"
)

// takes is a site's row: virtual media take so many MiB.
func takes(mib string) []v1alpha1.AppliedQuirk {
	return []v1alpha1.AppliedQuirk{{ID: "site-media", Effect: "image-size", Value: mib}}
}

// asked asks for another report.
func asked(h *metal3.BareMetalHost) { h.Annotations = map[string]string{names.Probe: "again"} }

// moved has the host name another BMC, which does not answer.
func moved(w *world) {
	w.Host(func(h *metal3.BareMetalHost) {
		h.Spec.BMC.Address = strings.Replace(h.Spec.BMC.Address, w.URL, "http://127.0.0.1:1", 1)
	})
}

// TestAReportWithASmallerBound: the verdict on the report before lets no host go on while
// the sizes of its images are asked for again.
func TestAReportWithASmallerBound(t *testing.T) {
	server := newImages()
	w := newWorld(t, simulator.System{}, sizes(server))
	w.quirks = takes("8192")
	w.Host(boots(large))
	w.registering()
	w.Until(v1alpha1.PreflightPassed, metav1.ConditionTrue, ReasonPassed)
	server.holds = make(chan struct{})
	w.ahead.Store(int64(images.Keep))
	w.quirks = fits
	w.Host(asked)
	w.Eventually(func() string { return w.BMC().Status.Probed.Request }).WithTimeout(time.Minute).Should(Equal("again"))
	during := w.verdict()
	close(server.holds)
	w.Expect(during).To(Equal(policy.Preflight{On: true}))
	w.Until(v1alpha1.PreflightPassed, metav1.ConditionFalse, ReasonPreflightFailed)
}

// TestTwoReportsOfOneSecond are two reports.
func TestTwoReportsOfOneSecond(t *testing.T) {
	w := &world{World: shared.New(t, simulator.System{}), pool: shared.Pool(), quirks: takes("8192")}
	sizes(newImages())(w)
	second := metav1.NewTime(time.Now().Truncate(time.Second))
	w.Start(nil, func(mgr ctrl.Manager) error {
		w.Expect(mgr.Add(w.sizes)).To(Succeed())
		return Setup(mgr, Options{BMCs: w.pool, Now: time.Now, Sizes: w.sizes, Probe: func(context.Context, *client.Client, client.Target) (*v1alpha1.BMCReport, error) {
			return &v1alpha1.BMCReport{Time: second, Quirks: w.quirks}, nil
		}})
	})
	w.CreateSecret(shared.Secret, shared.User, shared.Password)
	w.CreateHost()
	w.Host(boots(large))
	w.registering()
	w.Until(v1alpha1.PreflightPassed, metav1.ConditionTrue, ReasonPassed)
	w.quirks = fits
	w.Host(asked)
	w.Until(v1alpha1.PreflightPassed, metav1.ConditionFalse, ReasonPreflightFailed)
}

// TestAnotherBMCThatIsAway: what the one before refused does not hold the host, of whose
// BMC nothing is known now.
func TestAnotherBMCThatIsAway(t *testing.T) {
	w := newWorld(t, simulator.System{}, sizes(newImages()))
	w.quirks = fits
	w.Host(boots(large))
	w.registering()
	w.Until(v1alpha1.PreflightPassed, metav1.ConditionFalse, ReasonPreflightFailed)
	moved(w)
	w.Until(v1alpha1.PreflightPassed, metav1.ConditionUnknown, ReasonNoReport)
	w.Expect(w.verdict()).To(Equal(policy.Preflight{On: true, Judged: true}))
}

// TestAnotherBMCIsJudgedFirst: what the one before let pass is no word on the next.
func TestAnotherBMCIsJudgedFirst(t *testing.T) {
	w := newWorld(t, simulator.System{})
	w.registering()
	w.Until(v1alpha1.PreflightPassed, metav1.ConditionTrue, ReasonPassed)
	h := &metal3.BareMetalHost{}
	w.Expect(w.Kube.Get(t.Context(), key, h)).To(Succeed())
	h.Spec.BMC.Address = strings.Replace(h.Spec.BMC.Address, w.URL, "http://192.0.2.1", 1)
	w.Expect(Verdicts{Client: w.Kube}.Preflight(t.Context(), h)).To(Equal(policy.Preflight{On: true}))
}

// TestALiveImageOfBefore that was built for the host plays no part once all hosts boot one.
func TestALiveImageOfBefore(t *testing.T) {
	for name, c := range map[string]struct {
		before, now string
		status      metav1.ConditionStatus
		reason      string
	}{
		"too large, and the one of now is not": {before: large, now: small, status: metav1.ConditionTrue, reason: ReasonPassed},
		"not too large, and the one of now is": {before: small, now: large, status: metav1.ConditionFalse, reason: ReasonPreflightFailed},
	} {
		t.Run(name, func(t *testing.T) {
			settings := nodespec.Settings{DeployISO: c.now, Architecture: "x86_64"}
			w := newWorld(t, simulator.System{}, sizes(newImages()), func(w *world) { w.live = settings.LiveISO })
			w.quirks = fits
			image := &metal3.PreprovisioningImage{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
			w.Create(image)
			image.Status.ImageUrl, image.Status.Format = c.before, metal3.ImageFormatISO
			w.Expect(w.Kube.Status().Update(t.Context(), image)).To(Succeed())
			w.registering()
			w.Until(v1alpha1.PreflightPassed, c.status, c.reason)
		})
	}
}

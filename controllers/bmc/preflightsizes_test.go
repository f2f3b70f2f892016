package bmc

import (
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/images"
	"github.com/ironflow/ironflow/bmc/preflight"
	"github.com/ironflow/ironflow/bmc/wishes"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/test/bmc/simulator"
)

// web is the server of images, of a size each by their paths.
type web struct {
	sizes map[string]int64
	away  atomic.Bool
	// holds, unless nil, is how long the server keeps answers back.
	holds chan struct{}
	asked atomic.Int64
}

func (s *web) RoundTrip(r *http.Request) (*http.Response, error) {
	s.asked.Add(1)
	if s.holds != nil {
		<-s.holds
	}
	if s.away.Load() {
		return nil, errors.New("connection refused")
	}
	return &http.Response{StatusCode: http.StatusOK, ContentLength: s.sizes[r.URL.Path], Body: http.NoBody, Request: r}, nil
}

// sizes makes the controller's cache of sizes, which asks the server.
func sizes(s *web) func(w *world) {
	return func(w *world) {
		w.sizes = images.NewSizeCache(&http.Client{Transport: s}, func() time.Time { return time.Now().Add(time.Duration(w.ahead.Load())) })
	}
}

const (
	large = "https://images.example/large.iso"
	small = "https://images.example/small.iso"
)

// fits is a site's row: virtual media take 1 GiB.
var fits = []v1alpha1.AppliedQuirk{{ID: "site-media", Effect: "image-size", Value: "1024"}}

func newImages() *web {
	return &web{sizes: map[string]int64{"/large.iso": 3 << 30, "/small.iso": 1 << 20}}
}

// boots has the host boot a live ISO.
func boots(url string) func(h *metal3.BareMetalHost) {
	return func(h *metal3.BareMetalHost) { h.Spec.Image = &metal3.Image{URL: url, DiskFormat: new("live-iso")} }
}

// TestAnImageThatIsTooLarge: the host is told so with the numbers, and goes on by itself
// when it names another image, or when there is another one in the same place.
func TestAnImageThatIsTooLarge(t *testing.T) {
	for name, correct := range map[string]func(w *world, server *web){
		"another address": func(w *world, _ *web) { w.Host(boots(small)) },
		"another image in its place": func(w *world, server *web) {
			server.sizes["/large.iso"] = 1 << 20
			w.ahead.Store(int64(images.Keep))
			// What a timer does when so much time is over for all.
			w.Host(func(h *metal3.BareMetalHost) { h.Spec.Description = "rack 7" })
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := newImages()
			w := newWorld(t, simulator.System{}, sizes(server))
			w.quirks = fits
			w.Host(boots(large))
			w.registering()
			b := w.Until(v1alpha1.PreflightPassed, metav1.ConditionFalse, ReasonPreflightFailed)
			w.Expect(b.Status.Preflight.Mismatches).To(ConsistOf(And(
				HaveField("Field", "spec.image.url"), HaveField("Reason", preflight.ReasonImageSize), HaveField("Message", ContainSubstring("has 3 GiB, and virtual media of this BMC take 1 GiB")),
			)))
			w.Expect(w.verdict()).To(And(HaveField("Judged", true), HaveField("Mismatch", ContainSubstring("3 GiB"))))
			correct(w, server)
			w.Until(v1alpha1.PreflightPassed, metav1.ConditionTrue, ReasonPassed)
			w.Expect(w.verdict()).To(Equal(policy.Preflight{On: true, Judged: true}))
			w.Expect(server.asked.Load()).To(BeEquivalentTo(2))
		})
	}
}

// TestARefusalEndsThoughAnotherImageIsNotKnown: the host's own live image is one of which
// nobody says the size.
func TestARefusalEndsThoughAnotherImageIsNotKnown(t *testing.T) {
	server := newImages()
	w := newWorld(t, simulator.System{}, sizes(server))
	w.quirks = fits
	image := &metal3.PreprovisioningImage{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	w.Create(image)
	image.Status.ImageUrl, image.Status.Format = "https://images.example/unsaid.iso", metal3.ImageFormatISO
	w.Expect(w.Kube.Status().Update(t.Context(), image)).To(Succeed())
	w.Host(boots(large))
	w.registering()
	w.Until(v1alpha1.PreflightPassed, metav1.ConditionFalse, ReasonPreflightFailed)
	server.sizes["/large.iso"] = 1 << 20
	w.ahead.Store(int64(images.Keep))
	w.Host(func(h *metal3.BareMetalHost) { h.Spec.Description = "rack 7" })
	w.Until(v1alpha1.PreflightPassed, metav1.ConditionTrue, ReasonPassed)
}

// TestTheLiveImageOfAllHosts is a wish like one that is built for a host.
func TestTheLiveImageOfAllHosts(t *testing.T) {
	settings := nodespec.Settings{DeployISO: small, ByArchitecture: map[string]nodespec.LiveImageURLs{"aarch64": {ISO: large}}, Architecture: "x86_64"}
	w := newWorld(t, simulator.System{}, sizes(newImages()), func(w *world) { w.live = settings.LiveISO })
	w.quirks = fits
	w.registering()
	w.Until(v1alpha1.PreflightPassed, metav1.ConditionTrue, ReasonPassed)
	w.Host(func(h *metal3.BareMetalHost) {
		h.Status.HardwareDetails = &metal3.HardwareDetails{CPU: metal3.CPU{Arch: "aarch64"}}
	})
	b := w.Until(v1alpha1.PreflightPassed, metav1.ConditionFalse, ReasonPreflightFailed)
	w.Expect(b.Status.Preflight.Mismatches).To(ConsistOf(HaveField("Message", ContainSubstring("has 3 GiB"))))
	w.Expect(w.verdict()).To(And(HaveField("Judged", true), HaveField("Mismatch", ContainSubstring("3 GiB"))))
	settings.BuildImages = true
	w.Expect(settings.LiveISO(&metal3.BareMetalHost{})).To(BeEmpty(), "its own is not built yet")
}

// TestAHostWaitsForTheSizeOfItsImage: no verdict comes before the server has answered,
// so that nothing is done for an image that turns out too large.
func TestAHostWaitsForTheSizeOfItsImage(t *testing.T) {
	server := newImages()
	server.holds = make(chan struct{})
	w := newWorld(t, simulator.System{}, sizes(server))
	w.quirks = fits
	w.Host(boots(large))
	w.registering()
	w.Eventually(server.asked.Load).WithTimeout(time.Minute).Should(BeEquivalentTo(1))
	w.Consistently(func() policy.Preflight { return w.verdict() }).WithTimeout(300 * time.Millisecond).Should(Equal(policy.Preflight{On: true}))
	close(server.holds)
	w.Until(v1alpha1.PreflightPassed, metav1.ConditionFalse, ReasonPreflightFailed)
}

// TestAnotherImageIsAnotherWish: a verdict on one image is none on the next, though both
// are asked for in the same way.
func TestAnotherImageIsAnotherWish(t *testing.T) {
	w := newWorld(t, simulator.System{}, sizes(newImages()))
	w.quirks = fits
	w.Host(boots(small))
	w.registering()
	w.Until(v1alpha1.PreflightPassed, metav1.ConditionTrue, ReasonPassed)
	w.Host(boots(large))
	at := w.verdict()
	w.Expect(at.Mismatch+fmt.Sprint(at.Judged)).To(Or(Equal("false"), ContainSubstring("3 GiB")), "not for a moment")
	w.Until(v1alpha1.PreflightPassed, metav1.ConditionFalse, ReasonPreflightFailed)
}

// TestImagesThatRefuseNothing: what nobody says is not known, and who takes any image is
// not in question.
func TestImagesThatRefuseNothing(t *testing.T) {
	for name, c := range map[string]struct {
		away   bool
		quirks []v1alpha1.AppliedQuirk
		asked  int
	}{
		"a server that is away":   {away: true, quirks: fits, asked: 1},
		"a BMC that has no bound": {},
	} {
		t.Run(name, func(t *testing.T) {
			server := newImages()
			server.away.Store(c.away)
			w := newWorld(t, simulator.System{}, sizes(server))
			w.quirks = c.quirks
			w.Host(boots(large))
			w.registering()
			w.Until(v1alpha1.PreflightPassed, metav1.ConditionTrue, ReasonPassed)
			w.Expect(w.verdict()).To(Equal(policy.Preflight{On: true, Judged: true}))
			w.Expect(server.asked.Load()).To(BeEquivalentTo(c.asked))
		})
	}
}

// TestNext: when a verdict is passed, and when it is looked at again.
func TestNext(t *testing.T) {
	now := v1alpha1.PreflightStatus{Wishes: "wishes"}
	verdict := func(reasons ...string) *v1alpha1.PreflightStatus {
		v := now
		for _, reason := range reasons {
			v.Mismatches = append(v.Mismatches, v1alpha1.Mismatch{Field: "spec.updates[0].url", Reason: reason})
		}
		return &v
	}
	tooLarge := verdict(preflight.ReasonRAIDLevel, preflight.ReasonUpdateSize)
	for name, c := range map[string]struct {
		last  *v1alpha1.PreflightStatus
		known images.Known
		want  step
		after time.Duration
	}{
		"the first":                             {want: judgeAnew},
		"the first, before the sizes are there": {known: images.Known{Open: true}, want: waitForSizes, after: images.Turn},
		"the first, of a server that is away":   {known: images.Known{Missing: true}, want: judgeAnew},
		"other wishes":                          {last: &v1alpha1.PreflightStatus{Wishes: "others"}, want: judgeAnew},
		"another report":                        {last: &v1alpha1.PreflightStatus{Wishes: "wishes", Report: new(metav1.Now())}, want: judgeAnew},
		"a person's word":                       {last: &v1alpha1.PreflightStatus{Wishes: "wishes", Overridden: true}, want: judgeAnew},
		"nothing new":                           {last: verdict(), want: letStand},
		"a mismatch of another kind":            {last: verdict(preflight.ReasonRAIDLevel), want: letStand},
		"too large, and now known":              {last: tooLarge, want: judgeAnew},
		"too large, and being asked for again":  {last: tooLarge, known: images.Known{Open: true}, want: waitForSizes, after: images.Turn},
		"too large, and the server is away now": {last: tooLarge, known: images.Known{Missing: true}, want: letStand, after: images.Again},
		"too large, and another one is known":   {last: tooLarge, known: images.Known{Missing: true, Sizes: map[string]int64{"other": 1}}, want: letStand, after: images.Again},
		"too large, and another one is not":     {last: tooLarge, known: images.Known{Missing: true, Sizes: map[string]int64{"one": 1}}, want: judgeAnew},
		"too large, and nobody asks any more":   {last: tooLarge, want: judgeAnew},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			what, after := next(c.last, now, preflight.Wishes{Updates: []preflight.Update{{URL: "one"}, {URL: "other"}}}, c.known)
			g.Expect(what).To(Equal(c.want))
			g.Expect(after).To(Equal(c.after))
		})
	}
}

// TestAFleetWithOneImage: a thousand hosts that are refused for it ask its server once,
// and once again each time it may have changed.
func TestAFleetWithOneImage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		server := newImages()
		server.holds = make(chan struct{})
		b := images.NewSizeCache(&http.Client{Transport: server}, time.Now)
		go func() { _ = b.Start(t.Context()) }()
		var woken atomic.Int64
		r := &reconciler{options: Options{Sizes: b}, wake: func(types.NamespacedName) { woken.Add(1) }}
		report := &v1alpha1.BMCReport{Quirks: fits}
		fleet := make([]*v1alpha1.BMC, 1000)
		round := func() (latest time.Duration) {
			for i := range fleet {
				h := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: fmt.Sprint("host-", i)}}
				h.Spec.BMC.Address = "redfish-virtualmedia://192.0.2.1/redfish/v1/Systems/1"
				boots(large)(h)
				w, err := wishes.Of(wishes.Objects{Host: h})
				g.Expect(err).NotTo(HaveOccurred())
				if fleet[i] == nil {
					fleet[i] = &v1alpha1.BMC{Status: v1alpha1.BMCStatus{Report: report}}
				}
				latest = max(latest, r.judge(t.Context(), h, fleet[i], hostObjects{wishes: w, all: wishes.Objects{Host: h}}, nil))
			}
			synctest.Wait()
			return latest
		}
		g.Expect(round()).To(Equal(images.Turn), "passes end without waiting")
		g.Expect(woken.Load()).To(BeZero())
		close(server.holds)
		synctest.Wait()
		g.Expect(woken.Load()).To(BeEquivalentTo(1000))
		g.Expect(round()).To(Equal(images.Keep))
		for _, host := range fleet {
			g.Expect(preflight.TooLarge(host.Status.Preflight.Mismatches)).To(BeTrue())
		}
		g.Expect(server.asked.Load()).To(BeEquivalentTo(1))
		for range 3 {
			<-time.After(images.Keep)
			round()
		}
		g.Expect(server.asked.Load()).To(BeEquivalentTo(4))
		server.sizes["/large.iso"] = 1 << 20
		<-time.After(images.Keep)
		round()
		g.Expect(round()).To(BeZero(), "nobody looks at it any more")
		for _, host := range fleet {
			g.Expect(host.Status.Preflight.Mismatches).To(BeEmpty())
		}
	})
}

// TestWithin: the earlier of two reasons for another pass counts.
func TestWithin(t *testing.T) {
	g := NewWithT(t)
	g.Expect(within(ctrl.Result{}, nil, 0)).To(Equal(ctrl.Result{}))
	g.Expect(within(ctrl.Result{}, nil, time.Minute)).To(Equal(ctrl.Result{RequeueAfter: time.Minute}))
	g.Expect(within(ctrl.Result{RequeueAfter: time.Second}, nil, time.Minute)).To(Equal(ctrl.Result{RequeueAfter: time.Second}))
	g.Expect(within(ctrl.Result{RequeueAfter: time.Hour}, nil, time.Minute)).To(Equal(ctrl.Result{RequeueAfter: time.Minute}))
	g.Expect(within(ctrl.Result{}, errors.New("the API is away"), time.Minute)).To(Equal(ctrl.Result{}))
}

package bmc

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/images"
	"github.com/ironflow/ironflow/bmc/probe"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/test/bmc/simulator"
	shared "github.com/ironflow/ironflow/test/bmc/world"
)

const password = shared.Password

var key = shared.Key

// world is the controller as the program makes it, with a host and its simulated BMC.
type world struct {
	*shared.World

	pool *client.Pool
	// ahead is how far the controller's clock is, in nanoseconds.
	ahead atomic.Int64
	// quirks are those that the reports have.
	quirks []v1alpha1.AppliedQuirk
	// sizes are those of images; nil knows none.
	sizes *images.SizeCache
	// live has the live images that are not built per host; nil knows of none.
	live LiveImage
	// probing is how many hosts are probed now, mostProbing the most of them at once. Slow makes a probe take time.
	probing, mostProbing atomic.Int64
	slow                 func()
}

func newWorld(t *testing.T, system simulator.System, with ...func(*world)) *world {
	t.Helper()
	w := &world{World: shared.New(t, system), pool: shared.Pool()}
	for _, set := range with {
		set(w)
	}
	w.Start(nil, func(mgr ctrl.Manager) error {
		o := Options{
			LiveImage: w.live,
			BMCs:      w.pool, Now: func() time.Time { return time.Now().Add(time.Duration(w.ahead.Load())) },
			Probe: func(ctx context.Context, c *client.Client, target client.Target) (*v1alpha1.BMCReport, error) {
				now := w.probing.Add(1)
				defer w.probing.Add(-1)
				for most := w.mostProbing.Load(); now > most && !w.mostProbing.CompareAndSwap(most, now); most = w.mostProbing.Load() {
				}
				if w.slow != nil {
					w.slow()
				}
				return probe.Probe(ctx, c, probe.Options{
					Address: target.URL, System: target.System, Username: target.Username,
					Quirks: func(probe.Identity) []v1alpha1.AppliedQuirk { return w.quirks },
				})
			},
		}
		if w.sizes != nil {
			o.Sizes = w.sizes
			w.Expect(mgr.Add(w.sizes)).To(Succeed())
		}
		return Setup(mgr, o)
	})
	w.CreateSecret(shared.Secret, shared.User, shared.Password)
	w.CreateHost()
	return w
}

func (w *world) registering() {
	w.Host(func(h *metal3.BareMetalHost) { h.Status.Provisioning.State = metal3.StateRegistering })
}

func TestABMCIsProbedAtRegistration(t *testing.T) {
	w := newWorld(t, simulator.System{})
	w.Consistently(func() string { return w.BMC().Name }).WithTimeout(300*time.Millisecond).Should(BeEmpty(), "not before the host controller has taken the host")
	w.registering()
	b := w.Until(v1alpha1.Ready, metav1.ConditionTrue, ReasonReady)
	w.Expect(b.Status.Report.Vendor).NotTo(BeEmpty())
	w.Expect(b.OwnerReferences).To(ConsistOf(HaveField("Name", key.Name)), "it goes with its host")
	w.Until(v1alpha1.Reachable, metav1.ConditionTrue, ReasonAnswered)

	asked := w.Sim.Total("")
	w.Host(func(h *metal3.BareMetalHost) { h.Status.Provisioning.State = metal3.StateInspecting })
	w.Consistently(func() int { return w.Sim.Total("") }).WithTimeout(300*time.Millisecond).Should(Equal(asked), "what is known is not asked again")
}

func TestAnotherReportIsMadeWhenAskedFor(t *testing.T) {
	w := newWorld(t, simulator.System{})
	w.registering()
	first := w.Until(v1alpha1.Ready, metav1.ConditionTrue, ReasonReady)
	for _, value := range []string{"1", "2"} {
		w.Host(func(h *metal3.BareMetalHost) { h.Annotations = map[string]string{"ironflow.io/probe": value} })
		w.Eventually(func() string { return w.BMC().Status.Probed.Request }).WithTimeout(time.Minute).Should(Equal(value), "%+v", w.BMC().Status.Conditions)
	}
	w.Expect(w.BMC().Status.Report.Requests).To(BeNumerically("<=", 30))
	w.Expect(w.BMC().UID).To(Equal(first.UID))
}

// TestABMCWithoutSessions: who is known for that is not asked for one again.
func TestABMCWithoutSessions(t *testing.T) {
	const login = "POST /redfish/v1/SessionService/Sessions"
	for name, c := range map[string]struct {
		quirks []v1alpha1.AppliedQuirk
		logins int
	}{
		"a row says so":    {quirks: []v1alpha1.AppliedQuirk{{ID: "site-no-sessions", Effect: "session-or-basic", Value: "basic", Applied: true}}},
		"a row of another": {quirks: []v1alpha1.AppliedQuirk{{ID: "site-sessions", Effect: "session-or-basic", Value: "session", Applied: true}}, logins: 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, simulator.System{})
			w.quirks = c.quirks
			w.registering()
			w.Until(v1alpha1.Ready, metav1.ConditionTrue, ReasonReady)
			w.Expect(w.Sim.Counts()).To(HaveKeyWithValue(login, 1), "the first probe cannot know")
			w.Host(func(h *metal3.BareMetalHost) { h.Annotations = map[string]string{"ironflow.io/probe": "again"} })
			w.Eventually(func() string { return w.BMC().Status.Probed.Request }).WithTimeout(time.Minute).Should(Equal("again"))
			w.Expect(w.Sim.Counts()).To(HaveKeyWithValue(login, 1))
			w.Eventually(w.Sim.Sessions).WithTimeout(time.Minute).Should(HaveLen(c.logins), "the one that is not used any more is ended")
		})
	}
}

func TestAnotherReportIsMadeOfOtherFirmware(t *testing.T) {
	w := newWorld(t, simulator.System{})
	w.registering()
	w.Until(v1alpha1.Ready, metav1.ConditionTrue, ReasonReady)
	c := &metal3.HostFirmwareComponents{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	w.Create(c)
	c.Status.Components = []metal3.FirmwareComponentStatus{{Component: "bmc", CurrentVersion: "2.0"}}
	w.Expect(w.Kube.Status().Update(t.Context(), c)).To(Succeed())
	w.Eventually(func() string { return w.BMC().Status.Probed.Firmware }).WithTimeout(time.Minute).ShouldNot(BeEmpty())
}

func TestWhatAPersonHasToMend(t *testing.T) {
	for name, c := range map[string]struct {
		change func(w *world)
		reason string
		says   string
	}{
		"a BMC without Redfish": {
			change: func(w *world) { w.Host(func(h *metal3.BareMetalHost) { h.Spec.BMC.Address = "ipmi://192.0.2.1" }) }, reason: ReasonNoRedfish, says: "ipmi",
		},
		"no Secret": {
			change: func(w *world) { w.Host(func(h *metal3.BareMetalHost) { h.Spec.BMC.CredentialsName = "other" }) }, reason: ReasonNoCredentials, says: `"other" does not exist`,
		},
		"a wrong password": {
			change: func(w *world) {
				w.CreateSecret("wrong", shared.User, "n0t-The-One")
				w.Host(func(h *metal3.BareMetalHost) { h.Spec.BMC.CredentialsName = "wrong" })
			}, reason: ReasonBadCredentials, says: "refuses",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, simulator.System{})
			c.change(w)
			w.registering()
			b := w.Until(v1alpha1.Ready, metav1.ConditionFalse, c.reason)
			message := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.Ready).Message
			w.Expect(message).To(ContainSubstring(c.says))
			w.Expect(message).NotTo(Or(ContainSubstring(password), ContainSubstring("n0t-The-One")))
		})
	}
}

// TestAnOldReportStays: what was known is not lost while the BMC is away.
func TestAnOldReportStays(t *testing.T) {
	w := newWorld(t, simulator.System{})
	w.registering()
	w.Until(v1alpha1.Ready, metav1.ConditionTrue, ReasonReady)
	w.Expect(w.Sim.SetQuirk("1", simulator.ConnectionCut, simulator.Always)).To(Succeed())
	w.Host(func(h *metal3.BareMetalHost) { h.Annotations = map[string]string{"ironflow.io/probe": "now"} })
	b := w.Until(v1alpha1.Reachable, metav1.ConditionFalse, string(client.Unreachable))
	w.Expect(b.Status.Report).NotTo(BeNil())
	w.Expect(b.Status.Probed.Request).To(BeEmpty(), "it is tried again")
}

// TestAHeldHostIsLeftAlone: nobody asks its BMC.
func TestAHeldHostIsLeftAlone(t *testing.T) {
	w := newWorld(t, simulator.System{})
	w.Host(func(h *metal3.BareMetalHost) { h.Annotations = map[string]string{"ironflow.io/hold": ""} })
	w.registering()
	w.Consistently(func() int { return w.Sim.Total("") }).WithTimeout(300 * time.Millisecond).Should(BeZero())
	w.Host(func(h *metal3.BareMetalHost) { h.Annotations = nil })
	w.Until(v1alpha1.Ready, metav1.ConditionTrue, ReasonReady)
}

func TestNoSecretIsInTheStatus(t *testing.T) {
	w := newWorld(t, simulator.System{})
	w.registering()
	b := w.Until(v1alpha1.Ready, metav1.ConditionTrue, ReasonReady)
	raw, err := json.Marshal(b)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(string(raw)).NotTo(ContainSubstring(password))
}

// level asks for a volume of 10 GiB.
func level(text string) func(*metal3.BareMetalHost) {
	return func(h *metal3.BareMetalHost) {
		h.Spec.RAID = &metal3.RAIDConfig{HardwareRAIDVolumes: []metal3.HardwareRAIDVolume{{Level: text, SizeGibibytes: new(10)}}}
	}
}

// verdict is what the host controller is told.
func (w *world) verdict() policy.Preflight {
	w.T.Helper()
	h := &metal3.BareMetalHost{}
	w.Expect(w.Kube.Get(w.T.Context(), key, h)).To(Succeed())
	p, err := Verdicts{Client: w.Kube, LiveImage: w.live}.Preflight(w.T.Context(), h)
	w.Expect(err).NotTo(HaveOccurred())
	return p
}

// TestTheVerdictOnAWish: from a wish that cannot work to one that can, and over a
// person's word.
func TestTheVerdictOnAWish(t *testing.T) {
	w := newWorld(t, simulator.System{})
	w.Expect(w.verdict()).To(Equal(policy.Preflight{On: true}), "nobody has judged")
	w.Host(level("2"))
	w.registering()
	b := w.Until(v1alpha1.PreflightPassed, metav1.ConditionFalse, ReasonPreflightFailed)
	w.Expect(b.Status.Preflight.Mismatches).To(ContainElement(And(HaveField("Kind", "BareMetalHost"), HaveField("Field", ContainSubstring("spec.raid.hardwareRAIDVolumes[0]")))))
	w.Expect(w.verdict()).To(And(HaveField("Judged", true), HaveField("Mismatch", ContainSubstring("spec.raid.hardwareRAIDVolumes[0]"))))
	w.Until(v1alpha1.Ready, metav1.ConditionFalse, ReasonPreflightFailed)

	w.Host(func(h *metal3.BareMetalHost) {
		h.Annotations = map[string]string{"ironflow.io/preflight-override": "true"}
	})
	w.Until(v1alpha1.PreflightPassed, metav1.ConditionTrue, ReasonOverridden)
	w.Expect(w.verdict()).To(Equal(policy.Preflight{On: true, Judged: true}))

	w.Host(func(h *metal3.BareMetalHost) { h.Annotations = nil; level("1")(h) })
	w.Until(v1alpha1.PreflightPassed, metav1.ConditionTrue, ReasonPassed)
	w.Expect(w.verdict()).To(Equal(policy.Preflight{On: true, Judged: true}))
	w.Until(v1alpha1.Ready, metav1.ConditionTrue, ReasonReady)
}

// TestWhatIsNotKnownDoesNotBlock: a host waits for a verdict, not for a BMC.
func TestWhatIsNotKnownDoesNotBlock(t *testing.T) {
	for name, change := range map[string]func(*world){
		"a BMC that is away":    func(w *world) { w.Expect(w.Sim.SetQuirk("1", simulator.ConnectionCut, simulator.Always)).To(Succeed()) },
		"no Secret":             func(w *world) { w.Host(func(h *metal3.BareMetalHost) { h.Spec.BMC.CredentialsName = "none" }) },
		"a BMC without Redfish": func(w *world) { w.Host(func(h *metal3.BareMetalHost) { h.Spec.BMC.Address = "ipmi://192.0.2.1" }) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, simulator.System{})
			change(w)
			w.registering()
			w.Until(v1alpha1.PreflightPassed, metav1.ConditionUnknown, ReasonNoReport)
			w.Expect(w.verdict()).To(Equal(policy.Preflight{On: true, Judged: true}))
		})
	}
}

// TestASettingThatTheBIOSDoesNotKnow: the registry is read for it.
func TestASettingThatTheBIOSDoesNotKnow(t *testing.T) {
	w := newWorld(t, simulator.System{})
	s := &metal3.HostFirmwareSettings{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	s.Spec.Settings = metal3.DesiredSettingsMap{"NoSuchSetting": intstr.FromString("Enabled")}
	w.Create(s)
	w.registering()
	b := w.Until(v1alpha1.PreflightPassed, metav1.ConditionFalse, ReasonPreflightFailed)
	w.Expect(b.Status.Preflight.Mismatches).To(ContainElement(And(HaveField("Kind", "HostFirmwareSettings"), HaveField("Field", ContainSubstring("NoSuchSetting")))))
}

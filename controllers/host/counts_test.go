package host

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// asked notes what Ironic is asked to do with machines, and lets power fail.
type asked struct {
	dead atomic.Bool

	mu   sync.Mutex
	list []string
}

func (a *asked) behave(o simulator.Operation) simulator.Outcome {
	if o.Name != "power" && (o.Name != "undeploy" || o.Node.ProvisionState != "deleting") {
		return simulator.Outcome{}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if o.Name == "undeploy" {
		a.list = append(a.list, o.Name)
		return simulator.Outcome{}
	}
	a.list = append(a.list, o.Step)
	if a.dead.Load() {
		return simulator.Outcome{Error: "the BMC does not answer"}
	}
	return simulator.Outcome{}
}

// since returns what was asked for since the last time, and forgets it.
func (a *asked) since() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := a.list
	a.list = nil
	return list
}

func failures(n int) func(*metal3.BareMetalHost) bool {
	return func(h *metal3.BareMetalHost) bool { return h.Status.ErrorCount == n && h.Status.ErrorType != "" }
}

// TestASoftPowerOffThatFailsIsFollowedByHardOnes reboots a machine whose BMC is
// dead: each failure is told, and the next attempt later than the last.
func TestASoftPowerOffThatFailsIsFollowedByHardOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		var a asked
		w := newWorld(t, assisted(a.behave), policy.Settings{}, wantInstall)
		defer w.stop()
		w.until("in use", 2*time.Minute, func(h *metal3.BareMetalHost) bool {
			return h.Status.Provisioning.State == metal3.StateProvisioned && h.Status.PoweredOn
		})
		let(time.Minute)
		a.since()
		a.dead.Store(true)
		w.annotate(names.Reboot, "")
		w.until("failed", time.Minute, failures(1))
		for n := 2; n <= 4; n++ {
			least := time.Minute << (n - 2)
			g.Expect(w.until("failed again", time.Hour, failures(n))).To(And(BeNumerically(">", least), BeNumerically("<", 2*least+time.Minute)), "attempt %d", n)
		}
		g.Expect(a.since()).To(Equal([]string{"soft power off", "power off", "power off", "power off"}))
		a.dead.Store(false)
		w.until("rebooted", time.Hour, func(h *metal3.BareMetalHost) bool {
			_, wanted := h.Annotations[names.Reboot]
			return !wanted && h.Status.PoweredOn && h.Status.ErrorType == ""
		})
		g.Expect(a.since()).To(Equal([]string{"power off", "power on"}))
		g.Expect(w.host().Status.ErrorCount).To(BeZero())
	})
}

// atRestWithFailures is an available host whose power could not be switched off for
// some times.
func atRestWithFailures(t *testing.T, a *asked, s policy.Settings, n int) *world {
	t.Helper()
	w := newWorld(t, assisted(a.behave), s, nil)
	w.until("available", time.Minute, func(h *metal3.BareMetalHost) bool {
		return h.Status.Provisioning.State == metal3.StateAvailable && h.Status.PoweredOn
	})
	a.dead.Store(true)
	w.edit(func(h *metal3.BareMetalHost) { h.Spec.Online = false })
	w.until("failing", 2*time.Hour, failures(n))
	return w
}

// TestFailuresOfPowerAreNoneOfDeployments: a host that could not be switched off for
// a while has all its attempts at a deployment.
func TestFailuresOfPowerAreNoneOfDeployments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a asked
		w := atRestWithFailures(t, &a, policy.Settings{MaxAttempts: 3}, 4)
		defer w.stop()
		a.dead.Store(false)
		w.until("off", time.Hour, func(h *metal3.BareMetalHost) bool { return !h.Status.PoweredOn })
		w.until("counted anew", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorCount == 0 })
		w.edit(func(h *metal3.BareMetalHost) { h.Spec.Online = true; wantInstall(h) })
		w.untilState(metal3.StateProvisioned, time.Minute)
	})
}

// TestADeletionHasAttemptsOfItsOwn deletes a host that has failed before.
func TestADeletionHasAttemptsOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		var a asked
		w := atRestWithFailures(t, &a, policy.Settings{}, 5)
		defer w.stop()
		a.since()
		g.Expect(w.kube.Delete(t.Context(), w.host())).To(Succeed())
		w.until("gone", 2*time.Hour, func(h *metal3.BareMetalHost) bool { return h == nil })
		g.Expect(a.since()).To(HaveLen(3+1), "switched off without a word of earlier failures")
	})
}

// TestTheLimitIsOfOneWish fails deployments up to the limit, or short of it.
func TestTheLimitIsOfOneWish(t *testing.T) {
	limited := policy.Settings{MaxAttempts: 2}
	start := func(t *testing.T, change func(*metal3.BareMetalHost)) (*world, *atomic.Bool) {
		var broken atomic.Bool
		broken.Store(true)
		w := newWorld(t, assisted(failing(&broken, "deploy", "deploy.start_assisted_install", "no")), limited, func(h *metal3.BareMetalHost) {
			wantInstall(h)
			if change != nil {
				change(h)
			}
		})
		w.until("failed twice", time.Hour, failures(2))
		return w, &broken
	}
	givenUp := func(h *metal3.BareMetalHost) bool {
		return condition(h, view.StalledCondition).Reason == "RetryLimitReached"
	}
	t.Run("another image while nothing fails", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			g := NewWithT(t)
			w, broken := start(t, nil)
			defer w.stop()
			w.untilState(metal3.StateDeprovisioning, time.Hour)
			broken.Store(false)
			w.edit(func(h *metal3.BareMetalHost) {
				h.Spec.Image = &metal3.Image{URL: "http://images/other.raw", Checksum: "abc"}
			})
			w.untilState(metal3.StateProvisioned, time.Minute)
			g.Expect(condition(w.host(), "DeploymentsFailed").Type).To(BeEmpty(), "it is over")
		})
	})
	t.Run("work in preparing does not count anew", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w, _ := start(t, func(h *metal3.BareMetalHost) { h.Spec.RAID = softRAID.DeepCopy() })
			defer w.stop()
			w.until("given up", time.Hour, givenUp)
		})
	})
	t.Run("the wish goes and comes back", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			g := NewWithT(t)
			w, broken := start(t, nil)
			defer w.stop()
			w.until("given up", time.Hour, givenUp)
			w.edit(func(h *metal3.BareMetalHost) { h.Spec.CustomDeploy = nil })
			w.until("sound", 10*time.Second, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType == "" })
			g.Expect(w.host().Status.ErrorCount).To(BeZero())
			broken.Store(false)
			w.edit(wantInstall)
			w.untilState(metal3.StateProvisioned, time.Minute)
		})
	})
	t.Run("a new program knows the count", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w, _ := start(t, nil)
			defer func() { w.stop() }()
			w.stop()
			w.start(limited)
			w.until("given up", time.Hour, givenUp)
		})
	})
}

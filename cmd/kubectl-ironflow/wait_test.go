package main

import (
	"strings"
	"testing"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/view"
)

func isReady(h *metal3v1.BareMetalHost) {
	h.Status.Provisioning.State, h.Status.ErrorType = metal3v1.StateProvisioned, ""
	meta.SetStatusCondition(&h.Status.Conditions, metav1.Condition{Type: metal3v1.ReadyCondition, Status: metav1.ConditionTrue, Reason: "Provisioned"})
	meta.RemoveStatusCondition(&h.Status.Conditions, view.StalledCondition)
}

func failed(reason string) func(*metal3v1.BareMetalHost) {
	return func(h *metal3v1.BareMetalHost) {
		next := "it is tried again at 2026-05-01T12:04:00Z"
		switch {
		case reason == "RetryLimitReached":
			next = "it is not tried again by itself"
		case view.AdviceFor(reason).Ends:
			next = "it goes on by itself when that is fixed"
		}
		h.Status.ErrorType, h.Status.ErrorMessage = metal3v1.ProvisioningError, "disk sda: write error"
		meta.SetStatusCondition(&h.Status.Conditions, metav1.Condition{
			Type: view.StalledCondition, Status: metav1.ConditionTrue, Reason: reason,
			Message: "disk sda: write error (attempt 2; " + next + "). Next: " + view.AdviceFor(reason).Do,
		})
	}
}

// TestWait ends when the last of the hosts is there; meanwhile one of them fails, and is tried again.
func TestWait(t *testing.T) {
	s := newSite(t).rack()
	p := s.start("wait", "a", "b")
	s.change("a", failed("ProvisioningError"))
	s.change("b", isReady)
	s.Eventually(p.out.String, "10s").Should(ContainSubstring("host b: ready"))
	s.Consistently(p.ended, "200ms").ShouldNot(Receive(), "a is tried again by itself")
	s.change("a", isReady)
	s.Eventually(p.ended, "10s").Should(Receive(BeNil()))
	s.Expect(strings.Split(strings.TrimSpace(p.out.String()), "\n")).To(ConsistOf("host a: ready", "host b: ready"))
}

// TestWaitForAPhase takes no host that has an error.
func TestWaitForAPhase(t *testing.T) {
	s := newSite(t).rack()
	_, _, err := s.run("", "wait", "-l", "rack=2", "--for", "available")
	s.Expect(err).NotTo(HaveOccurred())
	s.change("c", failed("ProvisioningError"))
	_, _, err = s.run("", "wait", "-l", "rack=2", "--for", "available", "--timeout", "200ms")
	s.Expect(codeOf(err)).To(Equal(exitTimeout))
}

// TestAHostThatGoesIsNotWaitedFor: it will never be there.
func TestAHostThatGoesIsNotWaitedFor(t *testing.T) {
	s := newSite(t).rack()
	p := s.start("wait", "a", "b")
	s.change("b", isReady)
	s.Eventually(p.out.String, "10s").Should(ContainSubstring("host b: ready"))
	s.Expect(s.kube.Delete(t.Context(), s.host("a"))).To(Succeed())
	s.Eventually(p.ended, "10s").Should(Receive(MatchError("host a is not there any more")))
}

// TestWaitEndsWhenOnlyAPersonCanGoOn, with what to do and an exit code of its own.
func TestWaitEndsWhenOnlyAPersonCanGoOn(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*metal3v1.BareMetalHost)
		want string
	}{
		"given up":      {failed("RetryLimitReached"), "host a: disk sda: write error: remove the cause of the failures"},
		"a wrong spec":  {failed("InvalidSpec"), "correct the field of the spec"},
		"on hold":       {func(h *metal3v1.BareMetalHost) { h.Annotations = map[string]string{names.Hold: ""} }, "remove the annotation ironflow.io/hold: kubectl ironflow release a -n site"},
		"paused":        {func(h *metal3v1.BareMetalHost) { h.Annotations = map[string]string{metal3v1.PausedAnnotation: ""} }, "it is paused"},
		"detached":      {func(h *metal3v1.BareMetalHost) { h.Annotations = map[string]string{names.Detached: ""} }, "it is detached"},
		"on its way":    {func(*metal3v1.BareMetalHost) {}, ""},
		"tried again":   {failed("ProvisioningError"), ""},
		"an image soon": {failed("LiveImageError"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t).rack()
			s.change("a", c.edit)
			timeout := "1h"
			if c.want == "" {
				timeout = "300ms"
			}
			_, _, err := s.run("", "wait", "a", "--timeout", timeout)
			if c.want == "" {
				s.Expect(codeOf(err)).To(Equal(exitTimeout), "%v", err)
				s.Expect(err).To(MatchError(ContainSubstring("not there after 300ms: host a is")))
				return
			}
			s.Expect(codeOf(err)).To(Equal(exitPerson), "%v", err)
			s.Expect(err).To(MatchError(ContainSubstring(c.want)))
		})
	}
}

// TestWaitNames: a host that is not there is not waited for, and what nobody knows is refused.
func TestWaitNames(t *testing.T) {
	s := newSite(t).rack()
	_, _, err := s.run("", "wait", "nobody")
	s.Expect(err).To(MatchError(ContainSubstring("host site/nobody is not there")))
	_, _, err = command(t, "", "wait", "a", "--for", "cleaned")
	s.Expect(err).To(MatchError(ContainSubstring(`--for "cleaned" is neither ready nor one of`)))
}

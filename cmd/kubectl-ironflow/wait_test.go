package main

import (
	"context"
	"errors"
	"strings"
	"testing"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/view"
)

// change writes a host of the rack.
func change(ctx context.Context, g *WithT, kube client.Client, name string, edit func(*metal3v1.BareMetalHost)) {
	h := &metal3v1.BareMetalHost{}
	g.Expect(kube.Get(ctx, client.ObjectKey{Namespace: "site", Name: name}, h)).To(Succeed())
	edit(h)
	g.Expect(kube.Update(ctx, h)).To(Succeed())
}

func isReady(h *metal3v1.BareMetalHost) {
	h.Status.Provisioning.State = metal3v1.StateProvisioned
	meta.SetStatusCondition(&h.Status.Conditions, metav1.Condition{Type: metal3v1.ReadyCondition, Status: metav1.ConditionTrue, Reason: "Provisioned"})
}

func failed(reason string) func(*metal3v1.BareMetalHost) {
	return func(h *metal3v1.BareMetalHost) {
		h.Status.ErrorType, h.Status.ErrorMessage = metal3v1.ProvisioningError, "disk sda: write error"
		meta.SetStatusCondition(&h.Status.Conditions, metav1.Condition{Type: view.StalledCondition, Status: metav1.ConditionTrue, Reason: reason})
	}
}

// TestWait ends when the last of the hosts is there; meanwhile one of them fails, and is tried again.
func TestWait(t *testing.T) {
	g := NewWithT(t)
	kube := rack(g)
	var out strings.Builder
	w := waiting{client: kube, namespace: "site", names: []string{"a", "b"}, target: waitReady, out: &out}
	done := make(chan error, 1)
	go func() { done <- w.run(t.Context()) }()
	change(t.Context(), g, kube, "a", failed("ProvisioningError"))
	change(t.Context(), g, kube, "b", isReady)
	g.Consistently(done, "200ms").ShouldNot(Receive(), "a is tried again by itself")
	change(t.Context(), g, kube, "a", isReady)
	g.Eventually(done).Should(Receive(BeNil()))
	g.Expect(strings.Split(strings.TrimSpace(out.String()), "\n")).To(ConsistOf("host a: ready", "host b: ready"))
}

// TestWaitForAPhase takes no host that has an error.
func TestWaitForAPhase(t *testing.T) {
	g := NewWithT(t)
	kube := rack(g)
	change(t.Context(), g, kube, "c", func(h *metal3v1.BareMetalHost) { h.Status.Provisioning.State = metal3v1.StateAvailable })
	w := waiting{client: kube, namespace: "site", selector: "rack=2", target: "available", out: &strings.Builder{}}
	g.Expect(w.run(t.Context())).To(Succeed())
}

// TestWaitEndsWhenOnlyAPersonCanGoOn, with what to do and an exit code of its own.
func TestWaitEndsWhenOnlyAPersonCanGoOn(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*metal3v1.BareMetalHost)
		want string
	}{
		"given up":      {failed("RetryLimitReached"), "host a: disk sda: write error: remove the cause of the failures"},
		"a wrong spec":  {failed("InvalidSpec"), "correct the field of the spec"},
		"on hold":       {func(h *metal3v1.BareMetalHost) { h.Annotations = map[string]string{names.Hold: ""} }, "remove the annotation ironflow.io/hold"},
		"paused":        {func(h *metal3v1.BareMetalHost) { h.Annotations = map[string]string{metal3v1.PausedAnnotation: ""} }, "it is paused"},
		"on its way":    {func(*metal3v1.BareMetalHost) {}, ""},
		"tried again":   {failed("ProvisioningError"), ""},
		"an image soon": {failed("LiveImageError"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			kube := rack(g)
			change(t.Context(), g, kube, "a", c.edit)
			ctx, cancel := context.WithCancelCause(t.Context())
			if c.want == "" {
				cancel(errors.New("not there after 1h0m0s"))
			}
			defer cancel(nil)
			w := waiting{client: kube, namespace: "site", names: []string{"a"}, target: waitReady, out: &strings.Builder{}}
			err := w.run(ctx)
			e, ended := errors.AsType[exitError](err)
			if c.want == "" {
				g.Expect(ended).To(BeFalse())
				g.Expect(err).To(MatchError(ContainSubstring("not there after 1h0m0s")))
				return
			}
			g.Expect(ended).To(BeTrue(), "%v", err)
			g.Expect(e.code).To(Equal(exitPerson))
			g.Expect(err).To(MatchError(ContainSubstring(c.want)))
		})
	}
}

// TestWaitNames: a host that is not there is not waited for, and what nobody knows is refused.
func TestWaitNames(t *testing.T) {
	g := NewWithT(t)
	w := waiting{client: rack(g), namespace: "site", names: []string{"nobody"}, target: waitReady, out: &strings.Builder{}}
	g.Expect(w.run(t.Context())).To(MatchError(ContainSubstring("host site/nobody is not there")))
	c := newCommand()
	c.SetArgs([]string{"wait", "a", "--for", "cleaned"})
	g.Expect(c.ExecuteContext(t.Context())).To(MatchError(ContainSubstring(`--for "cleaned" is neither ready nor one of`)))
}

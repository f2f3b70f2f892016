package link_test

import (
	"context"
	"errors"
	"testing"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/link"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// TestWhoWritesInBetweenHasTheHost: a person writes an image, or puts the host on hold, after this controller has looked at it and
// before it writes. What was decided on is not there any more, so nothing is written; it looks again.
func TestWhoWritesInBetweenHasTheHost(t *testing.T) {
	for name, change := range map[string]func(*metal3v1.BareMetalHost){
		"an image": func(h *metal3v1.BareMetalHost) { h.Spec.Image = &metal3v1.Image{URL: "http://images.example/os.raw"} },
		"a hold":   annotated(names.Hold, "me"),
	} {
		t.Run(name, func(t *testing.T) {
			ready := image(metav1.ConditionTrue, agentv1.ReasonInfraEnvAvailable)
			ready.Namespace, ready.Name = key.Namespace, key.Name
			w := newWorld(t, ready, host(metal3v1.StateAvailable, withMAC))
			written := false
			w.r.Client = interceptor.NewClient(w.kube.(client.WithWatch), interceptor.Funcs{
				Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
					if !written {
						written = true
						h := w.host()
						change(h)
						w.Expect(w.kube.Update(ctx, h)).To(Succeed())
					}
					return c.Patch(ctx, o, p, opts...)
				},
			})
			result, err := w.r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
			w.Expect(err).NotTo(HaveOccurred())
			w.Expect(result.RequeueAfter).To(BeNumerically(">", 0), "it looks again")
			w.pass()
			w.Expect(w.host().Spec.CustomDeploy).To(BeNil())
		})
	}
}

// dumb is a hub that does not answer.
type dumb struct{}

var errDumb = errors.New("no answer")

func (dumb) CompleteHost(context.Context, store.HostKey) error     { return errDumb }
func (dumb) FailHost(context.Context, store.HostKey, string) error { return errDumb }

// TestAHubThatDoesNotAnswerKeepsNobodyBack: a host is given back although the hub cannot be told anything. One whose end the hub is to
// be told of is tried again, and stays attached meanwhile.
func TestAHubThatDoesNotAnswerKeepsNobodyBack(t *testing.T) {
	rebooted := func(a *agentv1.Agent) {
		linked(a)
		a.Status.Progress = &agentv1.HostProgressInfo{CurrentStage: string(wire.HostStageRebooting)}
	}
	w := newWorld(t, host(metal3v1.StateProvisioned, asked, withMAC), registered(machineID, time.Now(), rebooted))
	w.infraEnv("edge")
	hub := w.r.Hub
	w.r.Hub = dumb{}
	_, err := w.r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
	w.Expect(err).To(MatchError(errDumb))
	w.Expect(w.host().Annotations).NotTo(HaveKey(names.Detached))

	w.r.Hub = hub // it answers that it has no record of the host: it has lost its store
	w.Expect(w.pass().Annotations).To(HaveKeyWithValue(names.Detached, link.Owner))
	w.Expect(w.linkedSays().Reason).To(Equal(link.ReasonLinked))

	w.r.Hub = dumb{}
	h := w.host()
	h.Annotations[names.GiveBack] = h.Name
	w.Expect(w.kube.Update(t.Context(), h)).To(Succeed())
	w.Expect(w.pass().Spec.CustomDeploy).To(BeNil())
}

package agents

import (
	"context"
	"testing"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// lagging gives the feed a cache that shows no Agent yet. Each call for an Agent is told of before it is made.
func (w *world) lagging(told func(call string)) {
	kube := w.kube.(client.WithWatch)
	get := func(call string, found error) func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
		return func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			if _, is := obj.(*agentv1.Agent); is {
				told(call)
				if found != nil {
					return found
				}
			}
			return c.Get(ctx, key, obj, opts...)
		}
	}
	w.feed.client = interceptor.NewClient(kube, interceptor.Funcs{
		Get: get("cache", apierrors.NewNotFound(schema.GroupResource{Resource: "agents"}, w.host.HostID)),
		Create: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
			told("create")
			return c.Create(ctx, obj, opts...)
		},
	})
	w.feed.live = interceptor.NewClient(kube, interceptor.Funcs{Get: get("live", nil)})
}

// forgotten deletes the Agent as a person does, and with it the record.
func (w *world) forgotten() {
	w.t.Helper()
	w.Expect(w.kube.Delete(w.t.Context(), w.agent())).To(Succeed())
	w.pass()
	_, _, err := w.hub.View(w.t.Context(), w.host)
	w.Expect(service.IsNotFound(err)).To(BeTrue())
}

func (w *world) agents() []agentv1.Agent {
	w.t.Helper()
	var list agentv1.AgentList
	w.Expect(w.kube.List(w.t.Context(), &list)).To(Succeed())
	return list.Items
}

// TestAnAgentThatSomebodyDeletesIsNotMadeAnew: the cache does not show the Agent yet that the feed has made a moment
// ago, and somebody deletes it, and with it the record, while the feed looks at the next change of the host: before
// one of its calls, or after the last.
func TestAnAgentThatSomebodyDeletesIsNotMadeAnew(t *testing.T) {
	for _, before := range []string{"cache", "live", "create", "end"} {
		t.Run(before, func(t *testing.T) {
			w := newWorld(t, service.InfraEnvSpec{})
			w.register(testhub.Inventory(1))
			deleted := false
			at := func(call string) {
				if call == before {
					deleted = true
					w.forgotten()
				}
			}
			w.lagging(at)
			w.feed.host(t.Context(), w.host)
			if !deleted {
				w.forgotten()
			}
			w.Expect(w.agents()).To(BeEmpty(), "an Agent without a record stays until somebody finds it")
		})
	}
}

// TestAllHostsAreLookedAtTogether: the InfraEnvs are read once, however many hosts there are.
func TestAllHostsAreLookedAtTogether(t *testing.T) {
	w := newWorld(t, service.InfraEnvSpec{})
	for range 3 {
		key := store.HostKey{InfraEnvID: w.host.InfraEnvID, HostID: uuid.NewString()}
		_, err := w.hub.RegisterHost(t.Context(), service.Registration{InfraEnvID: key.InfraEnvID, HostID: key.HostID})
		w.Expect(err).NotTo(HaveOccurred())
	}
	reads := 0
	w.feed.client = interceptor.NewClient(w.kube.(client.WithWatch), interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if _, is := list.(*agentv1.InfraEnvList); is {
				reads++
			}
			return c.List(ctx, list, opts...)
		},
	})
	woken := make(chan int)
	w.feed.out = w.woken
	go func() {
		for range 3 {
			<-w.woken
		}
		close(woken)
	}()
	w.feed.all(t.Context())
	<-woken
	w.Expect(w.agents()).To(HaveLen(3))
	w.Expect(reads).To(Equal(1))
}

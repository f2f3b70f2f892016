package bmcevents

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/bmc/events"
)

// TestWhoIsHeard: the BMC that a host has now, with the key that it has now, and nobody else.
func TestWhoIsHeard(t *testing.T) {
	g := NewWithT(t)
	keys, err := events.NewKeys(secretOf("k"))
	g.Expect(err).NotTo(HaveOccurred())
	e := newDispatcher(t, false, nil)
	e.receiver = events.NewReceiver(events.Options{Keys: keys, Sink: e, Heard: e.heard, Now: e.now})
	e.hosts, e.machines = map[types.UID]*host{}, map[machine]int{}
	heard := func(h *metal3.BareMetalHost) bool {
		k := keys.Of(sourceOf(h), generation(h))
		answer := httptest.NewRecorder()
		e.receiver.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, events.Prefix+k.Part, strings.NewReader(fmt.Sprintf(`{"Context":%q}`, k.Context))))
		return answer.Code == http.StatusNoContent
	}
	first := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: "a"}}
	first.Spec.BMC.Address = "redfish://192.0.2.1"
	g.Expect(heard(first)).To(BeFalse())
	follow := e.follow()
	follow.OnAdd(first, true)
	g.Expect(heard(first)).To(BeTrue())

	waiter := e.await("a")
	otherKey := first.DeepCopy()
	otherKey.Annotations = map[string]string{names.EventKey: "1"}
	follow.OnUpdate(first, otherKey)
	g.Expect(heard(first)).To(BeFalse(), "somebody may know the key of before")
	g.Expect(heard(otherKey)).To(BeTrue())
	g.Expect(waiter).To(Receive(), "who waits for the host, waits on")

	otherBMC := otherKey.DeepCopy()
	otherBMC.Spec.BMC.Address = "redfish://192.0.2.2"
	follow.OnUpdate(otherKey, otherBMC)
	g.Expect(e.lastHeard("a")).To(BeZero())
	g.Expect(heard(otherKey)).To(BeFalse(), "that BMC is not the host's any more")
	g.Expect(heard(otherBMC)).To(BeTrue())
	g.Expect(e.lastHeard("a")).To(Equal(noon))

	anew := otherBMC.DeepCopy()
	anew.UID = "b"
	follow.OnUpdate(otherBMC, anew)
	g.Expect(heard(otherBMC)).To(BeFalse(), "it went while nobody looked")
	g.Expect(heard(anew)).To(BeTrue())
	g.Expect(e.hosts).To(HaveLen(1))
	follow.OnDelete(anew)
	g.Expect(heard(anew)).To(BeFalse())
	g.Expect(e.hosts).To(BeEmpty())
}

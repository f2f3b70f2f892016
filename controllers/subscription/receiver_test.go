package subscription

import (
	"net/http"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/client-go/tools/events"

	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// TestADestinationIsToldWithoutItsToken: events and status are read by more people than may
// read the subscription's receiver.
func TestADestinationIsToldWithoutItsToken(t *testing.T) {
	for destination, want := range map[string]string{
		"https://events.test/services/T0/B0/tokentoken":  "https://events.test",
		"https://events.test:8443/hook?key=tokentoken#a": "https://events.test:8443",
		"https://user:tokentoken@events.test/":           "https://events.test",
		"tokentoken":                                     "the destination of the spec",
		"://":                                            "the destination of the spec",
	} {
		t.Run(destination, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(receiver(destination)).To(Equal(want))
			g.Expect(withoutDestination("cannot POST to "+destination+": refused", destination)).To(Equal("cannot POST to " + want + ": refused"))
		})
	}
	g := NewWithT(t)
	g.Expect(withoutDestination("no route for /services/T0/B0/tokentoken", "https://events.test/services/T0/B0/tokentoken")).To(Equal("no route for …"))
}

// TestWhatASubscriptionTells has one made, and one refused with its destination in the text.
func TestWhatASubscriptionTells(t *testing.T) {
	const destination = "https://events.test/services/tokentoken"
	for name, fault := range map[string]*simulator.Fault{
		"made":    nil,
		"refused": {Status: http.StatusInternalServerError, Text: "The BMC does not reach " + destination},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			obj := w.object()
			obj.Spec.Destination = destination
			w.Expect(w.kube.Update(t.Context(), obj)).To(Succeed())
			sink := events.NewFakeRecorder(9)
			w.rec.recorder = reconcile.Recorder{Sink: sink}
			w.sim.Intercept(func(r *http.Request) *simulator.Fault {
				if r.Method != http.MethodPost {
					return nil
				}
				return fault
			})
			w.settle()
			var told strings.Builder
			for len(sink.Events) > 0 {
				told.WriteString(<-sink.Events)
			}
			w.Expect(told.String()).To(ContainSubstring("https://events.test"))
			w.Expect(told.String() + w.object().Status.Error).NotTo(ContainSubstring("tokentoken"))
		})
	}
}

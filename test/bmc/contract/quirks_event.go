package contract

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	. "github.com/onsi/gomega" //nolint:staticcheck // these are tests: matchers read as sentences

	"github.com/ironflow/ironflow/test/bmc/simulator"
)

var alert = simulator.Event{Type: "Alert", MessageID: "Alert.1.0.FanFailed", Severity: "OK", Message: "Fan 1 stands still."}

// eventQuirks are the cases of events and subscriptions.
var eventQuirks = map[simulator.Quirk]func(w *World){
	simulator.NoSSE: func(w *World) {
		w.Quirk(simulator.NoSSE, simulator.Always)
		w.Expect(w.get(eventsPath)).NotTo(HaveKey("ServerSentEventUri"))
		w.refusal(http.StatusNotFound, http.MethodGet, eventsPath+"/SSE", nil)
	},
	simulator.StreamsFull: func(w *World) {
		w.Quirk(simulator.StreamsFull, 1)
		w.refusal(http.StatusServiceUnavailable, http.MethodGet, eventsPath+"/SSE", nil)
		w.listenTo()
	},
	simulator.StreamCut: func(w *World) {
		s := w.listenTo()
		w.Quirk(simulator.StreamCut, 1)
		w.Expect(w.Simulator.Emit(w.ID, alert)).To(Succeed())
		w.Eventually(s.over, w.Patience, w.Look).Should(BeTrue())
		w.Expect(s.heard()).To(ConsistOf(alert.Message))
	},
	simulator.EventTypesRefused: func(w *World) {
		w.Quirk(simulator.EventTypesRefused, simulator.Always)
		w.Expect(w.get(eventsPath)).To(And(Not(HaveKey("EventTypesForSubscription")), HaveKey("RegistryPrefixes")))
		w.Expect(w.refusal(http.StatusBadRequest, http.MethodPost, subscriptionsPath, destination("EventTypes", []string{"Alert"}))).To(ContainSubstring("EventTypes"))
		w.accepted(http.MethodPost, subscriptionsPath, destination("RegistryPrefixes", []string{"Alert"}))
	},
	simulator.EventsDisabled: func(w *World) {
		w.Quirk(simulator.EventsDisabled, simulator.Always)
		w.Expect(w.get(eventsPath)).To(HaveKeyWithValue("ServiceEnabled", false))
		bodies := w.heardOf(alert, func() { w.Quirk(simulator.EventsDisabled, 0) })
		w.Expect(bodies).To(HaveLen(1), "only the one after it was enabled")
	},
	simulator.AlertsOnly: func(w *World) {
		w.Quirk(simulator.AlertsOnly, simulator.Always)
		w.Expect(w.get(eventsPath)).To(HaveKeyWithValue("EventTypesForSubscription", ConsistOf("Alert")))
		bodies := w.heardOf(simulator.Event{Type: "StatusChange"}, func() { w.Expect(w.Simulator.Emit(w.ID, alert)).To(Succeed()) })
		w.Expect(bodies[0]).To(ContainSubstring(alert.Message))
	},
	simulator.NoTestEvent: func(w *World) {
		w.Quirk(simulator.NoTestEvent, simulator.Always)
		w.Expect(w.get(eventsPath)).NotTo(HaveKey("Actions"))
		w.refusal(http.StatusNotFound, http.MethodPost, eventsPath+"/Actions/EventService.SubmitTestEvent", map[string]any{})
	},
	simulator.SubscriptionsFull: func(w *World) {
		w.Quirk(simulator.SubscriptionsFull, 1)
		w.Expect(w.refusal(http.StatusServiceUnavailable, http.MethodPost, subscriptionsPath, destination("Context", "x"))).To(ContainSubstring("EventSubscriptionLimitExceeded"))
		w.accepted(http.MethodPost, subscriptionsPath, destination("Context", "x"))
	},
	simulator.DuplicateRefused: func(w *World) {
		w.Quirk(simulator.DuplicateRefused, simulator.Always)
		w.accepted(http.MethodPost, subscriptionsPath, destination("Context", "x"))
		w.Expect(w.refusal(http.StatusBadRequest, http.MethodPost, subscriptionsPath, destination("Context", "y"))).To(ContainSubstring("ResourceAlreadyExists"))
	},
	simulator.DuplicateNamed: func(w *World) {
		w.Quirk(simulator.DuplicateNamed, simulator.Always)
		w.accepted(http.MethodPost, subscriptionsPath, destination("Context", "x"))
		w.Expect(w.refusal(http.StatusBadRequest, http.MethodPost, subscriptionsPath, destination("Context", "y"))).To(
			And(ContainSubstring("PropertyValueModified"), ContainSubstring("https://127.0.0.1:1/x")))
	},
	simulator.SubscriptionsLost: func(w *World) {
		w.Quirk(simulator.SubscriptionsLost, simulator.Always)
		w.accepted(http.MethodPost, subscriptionsPath, destination("Context", "x"))
		w.Expect(w.Simulator.Subscriptions()).To(HaveLen(1))
		w.resetManager()
		w.Expect(w.members(subscriptionsPath)).To(BeEmpty())
	},
	simulator.SubscriptionsRenamed: func(w *World) {
		w.Quirk(simulator.SubscriptionsRenamed, simulator.Always)
		before := w.accepted(http.MethodPost, subscriptionsPath, destination("Context", "x")).header.Get("Location")
		w.resetManager()
		w.Expect(w.status(http.MethodGet, before, nil)).To(Equal(http.StatusNotFound))
		w.Expect(w.members(subscriptionsPath)).To(HaveLen(1))
	},
	simulator.SubscriptionEnds: func(w *World) {
		w.Quirk(simulator.SubscriptionEnds, simulator.Always)
		address := w.accepted(http.MethodPost, subscriptionsPath, destination("Context", "x")).header.Get("Location")
		w.Expect(w.get(address)).To(HaveKeyWithValue("DeliveryRetryPolicy", "TerminateAfterRetries"))
		w.Expect(w.Simulator.Emit(w.ID, alert)).To(Succeed())
		w.Eventually(func() []string { return w.members(subscriptionsPath) }, w.Patience, w.Look).Should(BeEmpty())
	},
	simulator.SubscriptionBounds: func(w *World) {
		w.Quirk(simulator.SubscriptionBounds, simulator.Always)
		w.refusal(http.StatusBadRequest, http.MethodPost, subscriptionsPath, destination("Context", strings.Repeat("x", 257)))
		w.refusal(http.StatusBadRequest, http.MethodPost, subscriptionsPath, destination("Destination", "https://127.0.0.1:1/"+strings.Repeat("x", 2000)))
		w.accepted(http.MethodPost, subscriptionsPath, destination("Context", strings.Repeat("x", 256)))
	},
	simulator.SubscriptionNoAddress: func(w *World) {
		w.Quirk(simulator.SubscriptionNoAddress, simulator.Always)
		w.Expect(w.accepted(http.MethodPost, subscriptionsPath, destination("Context", "x")).header.Get("Location")).To(BeEmpty())
		w.Expect(w.members(subscriptionsPath)).To(HaveLen(1))
	},
	simulator.RetryPolicyRefused: func(w *World) {
		w.Quirk(simulator.RetryPolicyRefused, simulator.Always)
		w.Expect(w.refusal(http.StatusBadRequest, http.MethodPost, subscriptionsPath, destination("DeliveryRetryPolicy", "RetryForever"))).To(ContainSubstring("PropertyNotWritableOrUnknown"))
		w.accepted(http.MethodPost, subscriptionsPath, destination("Context", "x"))
	},
	simulator.HeadersEmptyList: func(w *World) {
		w.Quirk(simulator.HeadersEmptyList, simulator.Always)
		address := w.accepted(http.MethodPost, subscriptionsPath, destination("HttpHeaders", []map[string]string{{"X-Token": "hush"}})).header.Get("Location")
		w.Expect(w.get(address)).To(HaveKeyWithValue("HttpHeaders", BeEmpty()))
	},
	simulator.EventAlertsKey: func(w *World) {
		w.Quirk(simulator.EventAlertsKey, simulator.Always)
		w.Expect(w.heardOf(alert, nil)[0]).To(And(ContainSubstring(`"Alerts":[`), Not(ContainSubstring(`"Events"`))))
	},
	simulator.EventOriginText: func(w *World) {
		w.Quirk(simulator.EventOriginText, simulator.Always)
		w.Expect(w.heardOf(alert, nil)[0]).To(ContainSubstring(`"OriginOfCondition":"/redfish`))
	},
	simulator.EventIDNumber: func(w *World) {
		w.Quirk(simulator.EventIDNumber, simulator.Always)
		w.Expect(w.heardOf(alert, nil)[0]).To(MatchRegexp(`"EventId":\d`))
	},
	simulator.EventBare: func(w *World) {
		w.Quirk(simulator.EventBare, simulator.Always)
		w.Expect(w.heardOf(alert, nil)[0]).To(And(ContainSubstring(alert.Message), Not(ContainSubstring("MemberId")), Not(ContainSubstring("EventType"))))
	},
}

// destination is the body of a subscription with one more property.
func destination(name string, value any) map[string]any {
	body := map[string]any{"Destination": "https://127.0.0.1:1/x", "Protocol": "Redfish"}
	body[name] = value
	return body
}

// resetManager restarts the BMC, which is there again at once.
func (w *World) resetManager() {
	w.T.Helper()
	w.accepted(http.MethodPost, w.Manager().ODataID+"/Actions/Manager.Reset", map[string]any{"ResetType": "ForceRestart"})
}

// heardOf subscribes, lets an event happen, then what follows if anything, and
// then an alert, and returns what was delivered until then.
func (w *World) heardOf(event simulator.Event, then func()) []string {
	w.T.Helper()
	var mu sync.Mutex
	var bodies []string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		if err == nil {
			bodies = append(bodies, string(body))
		}
	}))
	w.T.Cleanup(server.Close)
	w.accepted(http.MethodPost, subscriptionsPath, map[string]any{"Destination": server.URL, "Protocol": "Redfish"})
	w.Expect(w.Simulator.Emit(w.ID, event)).To(Succeed())
	if then != nil {
		then()
	}
	w.Expect(w.Simulator.Emit(w.ID, simulator.Event{Type: "Alert", Severity: "OK", Message: "the end"})).To(Succeed())
	heard := func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string{}, bodies...)
	}
	w.Eventually(heard, w.Patience, w.Look).Should(ContainElement(ContainSubstring("the end")))
	return heard()
}

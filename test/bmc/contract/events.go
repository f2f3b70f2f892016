package contract

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"

	. "github.com/onsi/gomega" //nolint:staticcheck // these are tests: matchers read as sentences
	"github.com/stmcginnis/gofish/schemas"

	"github.com/ironflow/ironflow/test/bmc/simulator"
)

// delivered is what a BMC posts.
type delivered struct {
	Context string
	Events  []struct {
		Message           string
		OriginOfCondition struct {
			ID string `json:"@odata.id"`
		}
	}
}

// listener takes events.
type listener struct {
	*httptest.Server

	mu     sync.Mutex
	events []delivered
	tokens []string
	refuse int // so many deliveries
}

// listen starts a destination that refuses a number of deliveries first.
func (w *World) listen(refuse int) *listener {
	l := &listener{refuse: refuse}
	l.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		var event delivered
		err := json.NewDecoder(r.Body).Decode(&event)
		l.mu.Lock()
		defer l.mu.Unlock()
		if err != nil || l.refuse > 0 {
			l.refuse--
			rw.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		l.events = append(l.events, event)
		l.tokens = append(l.tokens, r.Header.Get("X-Token"))
		rw.WriteHeader(http.StatusNoContent)
	}))
	w.T.Cleanup(l.Close)
	return l
}

// messages are the texts that came from the case's system.
func (l *listener) messages(system string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []string
	for _, event := range l.events {
		for _, record := range event.Events {
			if origin := record.OriginOfCondition.ID; origin == "" || origin == "/redfish/v1/Systems/"+system {
				list = append(list, record.Message)
			}
		}
	}
	return list
}

// subscribe makes a subscription that ends with the test.
func (w *World) subscribe(destination string, types ...schemas.EventType) string {
	w.T.Helper()
	service, err := w.API.GetService().EventService()
	w.Expect(err).NotTo(HaveOccurred())
	id, err := service.CreateEventSubscription(destination, types, map[string]string{"X-Token": "hush"}, schemas.RedfishEventDestinationProtocol, w.ID, nil) //nolint:staticcheck // Ironic subscribes by event types
	w.Expect(err).NotTo(HaveOccurred())
	w.T.Cleanup(func() { _ = service.DeleteEventSubscription(id) }) // gone already in some cases
	return id
}

func subscription(w *World) {
	id := w.subscribe("https://127.0.0.1:1/events", schemas.AlertEventType)
	service, err := w.API.GetService().EventService()
	w.Expect(err).NotTo(HaveOccurred())
	sub, err := service.GetEventSubscription(id)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(sub.Destination).To(Equal("https://127.0.0.1:1/events"))
	w.Expect(sub.Context).To(Equal(w.ID))
	w.Expect(w.Do(http.MethodGet, id, nil).body).NotTo(ContainSubstring("hush"), "headers are secret")
	w.Expect(w.members("/redfish/v1/EventService/Subscriptions")).To(ContainElement(sub.ODataID))
	w.Expect(service.DeleteEventSubscription(id)).To(Succeed())
	w.Expect(w.Do(http.MethodGet, id, nil).status).To(Equal(http.StatusNotFound))
	w.Expect(w.Do(http.MethodDelete, id, nil).status).To(Equal(http.StatusNotFound))
}

func refusedSubscription(w *World) {
	const subscriptions = "/redfish/v1/EventService/Subscriptions"
	for name, body := range map[string]map[string]any{
		"no destination": {"Protocol": "Redfish"}, "not HTTP": {"Destination": "ftp://x/y", "Protocol": "Redfish"},
		"no protocol": {"Destination": "http://x/y"}, "unknown type": {"Destination": "http://x/y", "Protocol": "Redfish", "EventTypes": []string{"Party"}},
	} {
		w.Expect(w.Do(http.MethodPost, subscriptions, body).status).To(Equal(http.StatusBadRequest), name)
	}
}

func delivery(w *World) {
	all, alerts := w.listen(0), w.listen(0)
	w.subscribe(all.URL, schemas.AlertEventType, schemas.StatusChangeEventType)
	w.subscribe(alerts.URL, schemas.AlertEventType)
	w.Boots()
	w.Expect(w.Simulator.Emit(w.ID, simulator.Event{Type: "Alert", MessageID: "Alert.1.0.FanFailed", Severity: "Warning", Message: "Fan 1 stands still."})).To(Succeed())
	w.Eventually(func() []string { return all.messages(w.ID) }, w.Patience, w.Look).Should(ContainElements(ContainSubstring("power state"), Equal("Fan 1 stands still.")))
	w.Eventually(func() []string { return alerts.messages(w.ID) }, w.Patience, w.Look).Should(ContainElement("Fan 1 stands still."))
	w.Expect(alerts.messages(w.ID)).NotTo(ContainElement(ContainSubstring("power state")), "not subscribed to")
	w.Expect(alerts.tokens).To(HaveEach("hush"), "the headers are sent")
	w.Expect(alerts.events[0].Context).To(Equal(w.ID))

	service, err := w.API.GetService().EventService()
	w.Expect(err).NotTo(HaveOccurred())
	_, err = service.SubmitTestEvent(&schemas.EventServiceSubmitTestEventParameters{EventType: schemas.AlertEventType, Message: "hello from " + w.ID})
	w.Expect(err).NotTo(HaveOccurred())
	w.Eventually(func() []string { return alerts.messages(w.ID) }, w.Patience, w.Look).Should(ContainElement("hello from " + w.ID))
	answer := w.Do(http.MethodPost, "/redfish/v1/EventService/Actions/EventService.SubmitTestEvent", map[string]any{"EventType": "Party"})
	w.Expect(answer.status).To(Equal(http.StatusBadRequest))
}

func redelivery(w *World) {
	l := w.listen(2)
	w.subscribe(l.URL, schemas.AlertEventType)
	w.Expect(w.Simulator.Emit(w.ID, simulator.Event{Type: "Alert", Severity: "OK", Message: "again"})).To(Succeed())
	w.Eventually(func() []string { return l.messages(w.ID) }, w.Patience, w.Look).Should(ContainElement("again"))
}

func logEntries(w *World) {
	w.Boots()
	logs, err := w.System().LogServices()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(logs).To(HaveLen(1))
	entries, err := logs[0].Entries()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(entries).To(ContainElement(HaveField("Message", ContainSubstring("power state"))))
	w.Expect(w.Do(http.MethodGet, entries[0].ODataID+"0", nil).status).To(Equal(http.StatusNotFound))
	_, err = logs[0].ClearLog("")
	w.Expect(err).NotTo(HaveOccurred())
	entries, err = logs[0].Entries()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(entries).To(BeEmpty())
}

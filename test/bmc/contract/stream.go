package contract

import (
	"bufio"
	"encoding/json"
	"net/http"
	"strings"
	"sync"

	. "github.com/onsi/gomega" //nolint:staticcheck // these are tests: matchers read as sentences

	"github.com/ironflow/ironflow/test/bmc/simulator"
)

const (
	eventsPath        = "/redfish/v1/EventService"
	subscriptionsPath = eventsPath + "/Subscriptions"
)

// stream reads a BMC's event stream as it comes.
type stream struct {
	mu       sync.Mutex
	messages []string
	ended    bool
}

// listenTo opens the event stream; it ends with the test.
func (w *World) listenTo() *stream {
	w.T.Helper()
	address, _ := w.get(eventsPath)["ServerSentEventUri"].(string)
	w.Expect(address).NotTo(BeEmpty())
	request, err := http.NewRequestWithContext(w.T.Context(), http.MethodGet, w.URL+address, http.NoBody)
	w.Expect(err).NotTo(HaveOccurred())
	request.SetBasicAuth(w.User, w.Password)
	answer, err := w.HTTP.Do(request)
	w.Expect(err).NotTo(HaveOccurred())
	w.T.Cleanup(func() { _ = answer.Body.Close() }) // it is cut
	w.Expect(answer.Header.Get("Content-Type")).To(Equal("text/event-stream"))
	s := &stream{}
	lines := bufio.NewScanner(answer.Body)
	w.Expect(lines.Scan()).To(BeTrue(), "it begins at once")
	go s.read(lines, w.systemPath())
	return s
}

// read keeps what comes from a system, or from the service itself.
func (s *stream) read(lines *bufio.Scanner, system string) {
	for lines.Scan() {
		data, is := strings.CutPrefix(lines.Text(), "data: ")
		if !is {
			continue
		}
		var event delivered
		if err := json.Unmarshal([]byte(data), &event); err != nil {
			continue
		}
		s.mu.Lock()
		for _, record := range event.Events {
			if origin := record.OriginOfCondition.ID; origin == "" || origin == system {
				s.messages = append(s.messages, record.Message)
			}
		}
		s.mu.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
}

func (s *stream) heard() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.messages...)
}

func (s *stream) over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

func eventStream(w *World) {
	s := w.listenTo()
	w.Expect(w.Simulator.Emit(w.ID, simulator.Event{Type: "Alert", Severity: "Warning", Message: "Fan 1 stands still."})).To(Succeed())
	w.Eventually(s.heard, w.Patience, w.Look).Should(ContainElement("Fan 1 stands still."))
	w.accepted(http.MethodPost, eventsPath+"/Actions/EventService.SubmitTestEvent", map[string]any{"Message": "hello to " + w.ID})
	w.Eventually(s.heard, w.Patience, w.Look).Should(ContainElement("hello to " + w.ID))
	w.Expect(w.status(http.MethodGet, eventsPath+"/SSE?$filter=x", nil)).To(Equal(http.StatusBadRequest))
}

// subscriptionsByPrefix are those of newer BMCs.
func subscriptionsByPrefix(w *World) {
	all, tasks, chassis := w.listen(0), w.listen(0), w.listen(0)
	for l, body := range map[*listener]map[string]any{
		all: {"RegistryPrefixes": []string{"ResourceEvent", "Alert"}}, tasks: {"RegistryPrefixes": []string{"TaskEvent"}}, chassis: {"ResourceTypes": []string{"Chassis"}},
	} {
		body["Destination"], body["Protocol"], body["Context"] = l.URL, "Redfish", w.ID
		address := w.accepted(http.MethodPost, subscriptionsPath, body).header.Get("Location")
		defer w.Do(http.MethodDelete, address, nil)
	}
	w.Boots()
	w.Eventually(func() []string { return all.messages(w.ID) }, w.Patience, w.Look).Should(ContainElement(ContainSubstring("power state")))
	w.Expect(tasks.messages(w.ID)).To(BeEmpty())
	w.Expect(chassis.messages(w.ID)).To(BeEmpty())
	for name, body := range map[string]map[string]any{
		"an empty prefix": {"RegistryPrefixes": []string{""}}, "an unknown resource": {"ResourceTypes": []string{"Shoes"}}, "an unknown policy": {"DeliveryRetryPolicy": "Never"},
	} {
		body["Destination"], body["Protocol"] = "https://127.0.0.1:1/x", "Redfish"
		w.Expect(w.status(http.MethodPost, subscriptionsPath, body)).To(Equal(http.StatusBadRequest), name)
	}
}

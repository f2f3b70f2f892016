package simulator

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"strconv"
	"time"
)

// Event is what a BMC tells its subscribers and writes into the system's log.
type Event struct {
	// Type is one of eventTypes: StatusChange, ResourceUpdated, ResourceAdded,
	// ResourceRemoved or Alert.
	Type string
	// MessageID is a key of a message registry, such as Alert.1.0.FanFailed.
	MessageID string
	// Severity is OK, Warning or Critical.
	Severity string
	Message  string
}

// eventTypes can be subscribed to.
var eventTypes = []string{"StatusChange", "ResourceUpdated", "ResourceAdded", "ResourceRemoved", "Alert"}

// queued is how many events wait for a slow destination before the next are lost.
const queued = 64

// Emit is an event of a system from outside, such as a failed fan. It goes to the
// system's log and to the subscribers.
func (s *Server) Emit(id string, event Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	sys, err := s.system(id)
	if err != nil {
		return err
	}
	s.note(sys, event)
	return nil
}

// note writes an event into the log of its system and sends it; the lock is held.
func (s *Server) note(sys *system, event Event) {
	s.opts.Log.Info("event", "system", sys.Name, "message", event.Message)
	entry := sys.log.add(s.next(), event)
	if sys.strikes(EventLost) {
		return
	}
	s.send(sys, event, object{
		"EventId": strconv.Itoa(entry.number), "EventTimestamp": entry.at.UTC().Format(time.RFC3339), "EventType": event.Type,
		"MessageId": event.MessageID, "Message": event.Message, "MessageArgs": []string{}, "Severity": event.Severity, "MessageSeverity": event.Severity,
		"MemberId": "0", "OriginOfCondition": link("Systems", sys.ID),
	})
}

// send queues an event of a system for each subscriber that wants it; the lock is
// held.
func (s *Server) send(sys *system, event Event, record object) {
	if sys.has(EventsDisabled) || (sys.has(AlertsOnly) && event.Type != "Alert") {
		return
	}
	for _, subs := range []map[string]*subscription{s.subs.byID, s.subs.streams} {
		for _, sub := range subs {
			if !sub.wants(event) {
				continue
			}
			record["Context"] = sub.context
			body := encode(sys.shapeEvent(object{
				"@odata.type": "#Event.v1_10_0.Event", "Id": strconv.Itoa(s.next()), "Name": "Event", "Context": sub.context,
			}, record))
			select {
			case sub.queue <- body:
			default:
				s.opts.Log.Warn("event dropped: the destination does not keep up", "subscription", sub.id)
			}
		}
	}
}

// deliver posts the events of a subscription, one after the other, until its
// queue is closed or the server ends.
func (s *Server) deliver(sub *subscription) {
	for {
		select {
		case <-s.life.Done():
			return
		case body, open := <-sub.queue:
			if !open {
				return
			}
			if !s.tries(sub, body) {
				return
			}
		}
	}
}

// tries posts an event until it is taken or the retries are used up, and says
// whether the subscription goes on.
func (s *Server) tries(sub *subscription, body []byte) bool {
	for try := 0; ; try++ {
		err := s.postEvent(sub, body)
		if err == nil {
			return true
		}
		s.opts.Log.Warn("event not delivered", "subscription", sub.id, "try", try+1, "error", err)
		if try == s.opts.EventRetries {
			return s.goesOn(sub)
		}
		timer := time.NewTimer(s.opts.EventRetryInterval)
		select {
		case <-timer.C:
		case <-s.life.Done():
			timer.Stop()
			return false
		}
	}
}

// goesOn does with a subscription what its policy says of used up retries.
func (s *Server) goesOn(sub *subscription) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sub.policy == terminate {
		s.unsubscribe(sub)
	}
	return sub.policy != terminate
}

// eventPatience bounds one delivery.
const eventPatience = 30 * time.Second

// postEvent makes one delivery.
func (s *Server) postEvent(sub *subscription, body []byte) error {
	ctx, cancel := context.WithTimeout(s.life, eventPatience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, sub.destination, bytes.NewReader(body))
	if err != nil {
		return err
	}
	maps.Copy(request.Header, sub.headers)
	request.Header.Set("Content-Type", "application/json")
	answer, err := s.opts.Events.RoundTrip(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, io.LimitReader(answer.Body, maxBody)); err != nil {
		return err
	}
	if answer.StatusCode >= http.StatusMultipleChoices {
		return &fetchError{answer.Status}
	}
	return nil
}

package simulator

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

var eventRoutes = map[string]handler{
	"GET /redfish/v1/EventService":                                       getEventService,
	"POST /redfish/v1/EventService/Actions/EventService.SubmitTestEvent": submitTestEvent,
	"GET /redfish/v1/EventService/Subscriptions":                         listSubscriptions,
	"POST /redfish/v1/EventService/Subscriptions":                        createSubscription,
	"GET /redfish/v1/EventService/Subscriptions/{subscription}":          getSubscription,
	"DELETE /redfish/v1/EventService/Subscriptions/{subscription}":       deleteSubscription,
	"GET /redfish/v1/EventService/SSE":                                   getStream,
}

// subscriptions are the destinations of events.
type subscriptions struct {
	byID    map[string]*subscription
	streams map[string]*subscription // without a destination
}

// subscription is one destination.
type subscription struct {
	id, destination, context, protocol string
	types, prefixes, resources         []string // all when empty
	policy                             string   // what follows when the retries are used up; nothing when empty
	of                                 *system  // the only one when it was made, or nil
	headers                            http.Header
	queue                              chan []byte
}

// eventsMissing is the quirk of a BMC without events; the lock is held.
func (c *call) eventsMissing() error {
	if c.of.has(NoEventService) {
		return notFound(c.r.URL.Path)
	}
	return nil
}

func getEventService(c *call) (reply, error) {
	if err := c.eventsMissing(); err != nil {
		return reply{}, err
	}
	return ok(resource("EventService.v1_10_2.EventService", "EventService", "Event Service", path("EventService"), object{
		"ServiceEnabled": true, "Status": status("OK"), "DeliveryRetryAttempts": c.s.opts.EventRetries,
		"DeliveryRetryIntervalSeconds": int(c.s.opts.EventRetryInterval.Seconds()), "EventTypesForSubscription": eventTypes,
		"RegistryPrefixes": registryPrefixes, "ResourceTypes": resourceTypes, "ServerSentEventUri": ssePath,
		"SSEFilterPropertiesSupported": object{"EventType": false, "MessageId": false, "RegistryPrefix": false, "ResourceType": false},
		"EventFormatTypes":             []string{"Event"}, "Subscriptions": link("EventService", "Subscriptions"),
		"Actions": object{"#EventService.SubmitTestEvent": object{
			"target":                            path("EventService", "Actions", "EventService.SubmitTestEvent"),
			"EventType@Redfish.AllowableValues": eventTypes,
		}},
	}))
}

func listSubscriptions(c *call) (reply, error) {
	if err := c.eventsMissing(); err != nil {
		return reply{}, err
	}
	ids := make([]string, 0, len(c.s.subs.byID))
	for id := range c.s.subs.byID {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ok(collection("EventDestination", "Subscriptions", path("EventService", "Subscriptions"), links(ids, "EventService", "Subscriptions")))
}

func createSubscription(c *call) (reply, error) {
	sub := &subscription{queue: make(chan []byte, queued), headers: http.Header{}, of: c.of}
	sub.destination, _ = c.body["Destination"].(string)
	sub.context, _ = c.body["Context"].(string)
	sub.protocol, _ = c.body["Protocol"].(string)
	u, err := url.Parse(sub.destination)
	switch {
	case err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"):
		return reply{}, faultAt("Destination", wrongValue, "The value '%s' for the property Destination is not an HTTP address.", sub.destination)
	case sub.protocol != "Redfish":
		return reply{}, faultAt("Protocol", missingProperty, "The property Protocol is required and must be Redfish.")
	}
	for name, choice := range map[string]struct {
		into    *[]string
		allowed []string
	}{
		"EventTypes": {&sub.types, eventTypes}, "RegistryPrefixes": {&sub.prefixes, registryPrefixes}, "ResourceTypes": {&sub.resources, resourceTypes},
	} {
		if *choice.into, err = c.choices(name, choice.allowed); err != nil {
			return reply{}, err
		}
	}
	sub.policy, _ = c.body["DeliveryRetryPolicy"].(string)
	if sub.policy != "" && !slices.Contains(retryPolicies, sub.policy) {
		return reply{}, faultAt("DeliveryRetryPolicy", wrongValue, "The value '%s' for the property DeliveryRetryPolicy is not in the list of acceptable values.", sub.policy)
	}
	sub.setHeaders(c.body["HttpHeaders"])
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if err := c.eventsMissing(); err != nil {
		return reply{}, err
	}
	if c.s.opts.MaxSubscriptions > 0 && len(c.s.subs.byID) >= c.s.opts.MaxSubscriptions {
		return reply{}, tooManySubscriptions()
	}
	if sub.policy == "" && c.of.has(SubscriptionEnds) {
		sub.policy = terminate
	}
	sub.id = strconv.Itoa(c.s.next())
	c.s.subs.byID[sub.id] = sub
	if !c.s.timers.Stopped() {
		c.s.later.Go(func() { c.s.deliver(sub) })
	}
	made := reply{status: http.StatusCreated, location: path("EventService", "Subscriptions", sub.id), body: sub.object()}
	if c.of.has(SubscriptionNoAddress) {
		made.location = ""
	}
	return made, nil
}

// What subscriptions can be for besides types, and what follows used up retries.
var (
	registryPrefixes = []string{"Base", "ResourceEvent", "TaskEvent", "Alert"}
	resourceTypes    = []string{"Systems", "Chassis", "Managers", "TaskService"}
	retryPolicies    = []string{terminate, "SuspendRetries", "RetryForever"}
)

const terminate = "TerminateAfterRetries"

// choices reads a list of the request that may have some values only.
func (c *call) choices(name string, allowed []string) ([]string, error) {
	list, _ := c.body[name].([]any)
	var chosen []string
	for _, entry := range list {
		text, _ := entry.(string)
		if !slices.Contains(allowed, text) {
			return nil, faultAt(name, wrongValue, "The value '%v' for the property %s is not in the list of acceptable values.", entry, name)
		}
		chosen = append(chosen, text)
	}
	return chosen, nil
}

// Subscription is a destination of events as a test sees it.
type Subscription struct{ ID, Destination, Context string }

// Subscriptions are those that there are, by Id.
func (s *Server) Subscriptions() []Subscription {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Subscription, 0, len(s.subs.byID))
	for _, sub := range s.subs.byID {
		list = append(list, Subscription{ID: sub.id, Destination: sub.destination, Context: sub.context})
	}
	slices.SortFunc(list, func(a, b Subscription) int { return strings.Compare(a.ID, b.ID) })
	return list
}

// unsubscribe removes a subscription; the lock is held.
func (s *Server) unsubscribe(sub *subscription) {
	if s.subs.byID[sub.id] == sub {
		delete(s.subs.byID, sub.id)
		close(sub.queue)
	}
}

// setHeaders takes the headers over: a list of objects as DSP0268 has it, or one
// object as some clients send.
func (sub *subscription) setHeaders(given any) {
	list, isList := given.([]any)
	if !isList {
		list = []any{given}
	}
	for _, entry := range list {
		pairs, _ := entry.(object)
		for name, value := range pairs {
			if text, ok := value.(string); ok {
				sub.headers.Set(name, text)
			}
		}
	}
}

// object is the subscription as a resource. The headers are null: they are secret.
func (sub *subscription) object() object {
	body := resource("EventDestination.v1_14_1.EventDestination", sub.id, "Subscription "+sub.id, path("EventService", "Subscriptions", sub.id), object{
		"Destination": sub.destination, "Context": sub.context, "Protocol": sub.protocol, "EventTypes": append([]string{}, sub.types...),
		"RegistryPrefixes": append([]string{}, sub.prefixes...), "ResourceTypes": append([]string{}, sub.resources...), "EventFormatType": "Event",
		"SubscriptionType": "RedfishEvent", "HttpHeaders": nil, "Status": status("OK"),
	})
	if sub.policy != "" {
		body["DeliveryRetryPolicy"] = sub.policy
	}
	return body
}

func getSubscription(c *call) (reply, error) {
	sub := c.s.subs.byID[c.r.PathValue("subscription")]
	if sub == nil {
		return reply{}, notFound(c.r.URL.Path)
	}
	return ok(sub.object())
}

func deleteSubscription(c *call) (reply, error) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	sub := c.s.subs.byID[c.r.PathValue("subscription")]
	if sub == nil {
		return reply{}, notFound(c.r.URL.Path)
	}
	c.s.unsubscribe(sub)
	return done()
}

func submitTestEvent(c *call) (reply, error) {
	event := Event{Type: "Alert", MessageID: "ResourceEvent.1.3.TestMessage", Severity: "OK", Message: "Test event."}
	for name, into := range map[string]*string{"EventType": &event.Type, "MessageId": &event.MessageID, "Severity": &event.Severity, "Message": &event.Message} {
		if value, given := c.body[name].(string); given {
			*into = value
		}
	}
	if !slices.Contains(eventTypes, event.Type) {
		return reply{}, faultAt("EventType", wrongParameter, "The value '%s' for the parameter EventType is not in the list of acceptable values.", event.Type)
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.send(c.of, event, object{
		"EventId": strconv.Itoa(c.s.next()), "EventTimestamp": time.Now().UTC().Format(time.RFC3339), "EventType": event.Type,
		"MessageId": event.MessageID, "Message": event.Message, "MessageArgs": []string{}, "Severity": event.Severity, "MemberId": "0",
	})
	return done()
}

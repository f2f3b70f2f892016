package simulator

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

var eventRoutes = map[string]handler{
	"GET /redfish/v1/EventService":                                       getEventService,
	"POST /redfish/v1/EventService/Actions/EventService.SubmitTestEvent": submitTestEvent,
	"GET /redfish/v1/EventService/Subscriptions":                         listSubscriptions,
	"POST /redfish/v1/EventService/Subscriptions":                        createSubscription,
	"GET /redfish/v1/EventService/Subscriptions/{subscription}":          getSubscription,
	"DELETE /redfish/v1/EventService/Subscriptions/{subscription}":       deleteSubscription,
}

// subscriptions are the destinations of events.
type subscriptions struct {
	byID map[string]*subscription
}

// subscription is one destination.
type subscription struct {
	id, destination, context, protocol string
	types                              []string // all when empty
	headers                            http.Header
	queue                              chan []byte
}

// eventsMissing is the quirk of a BMC without events; the lock is held.
func (c *call) eventsMissing() error {
	if c.s.only().has(NoEventService) {
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
		"Subscriptions": link("EventService", "Subscriptions"),
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
	sub := &subscription{queue: make(chan []byte, queued), headers: http.Header{}}
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
	types, _ := c.body["EventTypes"].([]any)
	for _, entry := range types {
		name, _ := entry.(string)
		if !slices.Contains(eventTypes, name) {
			return reply{}, faultAt("EventTypes", wrongValue, "The value '%v' for the property EventTypes is not in the list of acceptable values.", entry)
		}
		sub.types = append(sub.types, name)
	}
	sub.setHeaders(c.body["HttpHeaders"])
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if err := c.eventsMissing(); err != nil {
		return reply{}, err
	}
	sub.id = strconv.Itoa(c.s.next())
	c.s.subs.byID[sub.id] = sub
	if !c.s.timers.Stopped() {
		c.s.later.Go(func() { c.s.deliver(sub) })
	}
	return reply{status: http.StatusCreated, location: path("EventService", "Subscriptions", sub.id), body: sub.object()}, nil
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
	return resource("EventDestination.v1_14_1.EventDestination", sub.id, "Subscription "+sub.id, path("EventService", "Subscriptions", sub.id), object{
		"Destination": sub.destination, "Context": sub.context, "Protocol": sub.protocol, "EventTypes": append([]string{}, sub.types...),
		"SubscriptionType": "RedfishEvent", "HttpHeaders": nil, "Status": status("OK"),
	})
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
	delete(c.s.subs.byID, sub.id)
	close(sub.queue)
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
	c.s.send(event, object{
		"EventId": strconv.Itoa(c.s.next()), "EventTimestamp": time.Now().UTC().Format(time.RFC3339), "EventType": event.Type,
		"MessageId": event.MessageID, "Message": event.Message, "MessageArgs": []string{}, "Severity": event.Severity, "MemberId": "0",
	})
	return done()
}

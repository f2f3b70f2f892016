package simulator

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The quirks of events and subscriptions.
const (
	NoSSE                 Quirk = "no-sse"
	StreamsFull           Quirk = "streams-full"
	StreamCut             Quirk = "stream-cut"
	EventTypesRefused     Quirk = "event-types-refused"
	EventsDisabled        Quirk = "events-disabled"
	AlertsOnly            Quirk = "alerts-only"
	NoTestEvent           Quirk = "no-test-event"
	SubscriptionsFull     Quirk = "subscriptions-full"
	DuplicateRefused      Quirk = "duplicate-subscription-refused"
	DuplicateNamed        Quirk = "duplicate-subscription-named"
	SubscriptionsLost     Quirk = "subscriptions-lost"
	SubscriptionsRenamed  Quirk = "subscriptions-renamed"
	SubscriptionEnds      Quirk = "subscription-ends-after-retries"
	SubscriptionBounds    Quirk = "subscription-bounds"
	SubscriptionNoAddress Quirk = "subscription-without-location"
	RetryPolicyRefused    Quirk = "retry-policy-refused"
	HeadersEmptyList      Quirk = "http-headers-empty-list"
	EventAlertsKey        Quirk = "event-alerts-key"
	EventOriginText       Quirk = "event-origin-text"
	EventIDNumber         Quirk = "event-id-number"
	EventBare             Quirk = "event-bare"
)

const subscriptionPost = "POST /redfish/v1/EventService/Subscriptions"

var eventOddities = []oddity{
	{Info{NoSSE, "The event service has no ServerSentEventUri.", true}, trait{
		at: []string{"GET /redfish/v1/EventService"}, reshape: func(_ *call, body object) { delete(body, "ServerSentEventUri") },
	}},
	{Info{StreamsFull, "A new event stream is refused with 503.", false}, trait{}},
	{Info{StreamCut, "An event stream ends after an event.", false}, trait{}},
	{Info{EventTypesRefused, "Subscriptions are by RegistryPrefixes and ResourceTypes; EventTypes in one are refused.", true}, trait{
		at:   []string{"GET /redfish/v1/EventService", subscriptionPost},
		when: func(c *call) bool { return c.r.Method == http.MethodGet || c.body["EventTypes"] != nil },
		refuse: func(c *call) error {
			if c.r.Method == http.MethodGet {
				return nil
			}
			return faultAt("EventTypes", unknownProperty, "The property EventTypes is not in the list of valid properties.")
		},
		reshape: func(c *call, body object) {
			if c.r.Method == http.MethodGet {
				delete(body, "EventTypesForSubscription")
			}
		},
	}},
	{Info{EventsDisabled, "The event service is not enabled: subscriptions are taken, and nothing is delivered.", true}, trait{
		at: []string{"GET /redfish/v1/EventService"}, reshape: func(_ *call, body object) { body["ServiceEnabled"] = false },
	}},
	{Info{AlertsOnly, "Alerts are the only events.", true}, trait{
		at:      []string{"GET /redfish/v1/EventService"},
		reshape: func(_ *call, body object) { body["EventTypesForSubscription"] = []string{"Alert"} },
	}},
	{Info{NoTestEvent, "There is no SubmitTestEvent.", true}, trait{
		at:      []string{"GET /redfish/v1/EventService", "POST */EventService.SubmitTestEvent"},
		refuse:  getsOrMissing,
		reshape: func(_ *call, body object) { delete(body, "Actions") },
	}},
	{Info{SubscriptionsFull, "A new subscription is refused: others have taken all.", false}, trait{
		at: []string{subscriptionPost}, refuse: func(*call) error { return tooManySubscriptions() },
	}},
	{Info{DuplicateRefused, "A second subscription of a destination is refused with 400.", true}, trait{
		at: []string{subscriptionPost}, when: isDuplicate, refuse: func(*call) error {
			return fault(http.StatusBadRequest, alreadyExists, "The requested resource of type EventDestination with the property Destination already exists.")
		},
	}},
	{Info{DuplicateNamed, "A second subscription of a destination is refused with 400 and a message about PropertyValueModified that names it.", true}, trait{
		at: []string{subscriptionPost}, when: isDuplicate, refuse: func(c *call) error {
			destination, _ := c.body["Destination"].(string)
			return &refusal{
				status: http.StatusBadRequest, key: "PropertyValueModified", args: []string{"Destination", destination},
				text: "The property Destination was assigned the value '" + destination + "' due to modification by the service.",
			}
		},
	}},
	{Info{SubscriptionsLost, "A reset of the manager loses the subscriptions.", true}, trait{}},
	{Info{SubscriptionsRenamed, "A reset of the manager gives the subscriptions other Ids.", true}, trait{}},
	{Info{SubscriptionEnds, "A subscription is removed when the retries of a delivery are used up.", true}, trait{}},
	{Info{SubscriptionBounds, "A Context of more than 256 or a Destination of more than 2000 characters is refused.", true}, trait{
		at:   []string{subscriptionPost},
		when: func(c *call) bool { return c.length("Context") > 256 || c.length("Destination") > 2000 },
		refuse: func(*call) error {
			return faultAt("Context", "StringValueTooLong", "The value of a property is longer than it can be.")
		},
	}},
	{Info{SubscriptionNoAddress, "The answer to a new subscription has no Location.", true}, trait{}},
	{Info{RetryPolicyRefused, "DeliveryRetryPolicy in a subscription is refused.", true}, trait{
		at: []string{subscriptionPost}, when: func(c *call) bool { return c.body["DeliveryRetryPolicy"] != nil },
		refuse: func(*call) error {
			return oemAt("DeliveryRetryPolicy", "iLO.2.23.PropertyNotWritableOrUnknown", "The property DeliveryRetryPolicy is not writable or not known.")
		},
	}},
	{Info{HeadersEmptyList, "HttpHeaders of a subscription read back as an empty list; without it they are null.", true}, trait{
		at:      []string{"GET /redfish/v1/EventService/Subscriptions/{subscription}"},
		reshape: func(_ *call, body object) { body["HttpHeaders"] = []any{} },
	}},
	{Info{EventAlertsKey, "Deliveries have Alerts instead of Events.", true}, trait{}},
	{Info{EventOriginText, "OriginOfCondition of an event is a text.", true}, trait{}},
	{Info{EventIDNumber, "EventId of an event is a number.", true}, trait{}},
	{Info{EventBare, "Events lack MemberId, EventType and EventId.", true}, trait{}},
}

// length is that of a text in the body.
func (c *call) length(name string) int {
	text, _ := c.body[name].(string)
	return len(text)
}

// getsOrMissing refuses what is not a read as not found.
func getsOrMissing(c *call) error {
	if c.r.Method == http.MethodGet {
		return nil
	}
	return notFound(c.r.URL.Path)
}

func isDuplicate(c *call) bool {
	for _, sub := range c.s.subs.byID {
		if sub.destination == c.body["Destination"] {
			return true
		}
	}
	return false
}

func tooManySubscriptions() error {
	return fault(http.StatusServiceUnavailable, subscriptionsFull,
		"The event subscription failed due to the number of simultaneous subscriptions exceeding the limit of the implementation.")
}

// shapeEvent is a delivery as the quirks want it; the lock is held.
func (sys *system) shapeEvent(payload, record object) object {
	record = maps.Clone(record)
	if origin, ok := record["OriginOfCondition"].(object); ok && sys.has(EventOriginText) {
		record["OriginOfCondition"] = origin["@odata.id"]
	}
	if id, ok := record["EventId"].(string); ok && sys.has(EventIDNumber) {
		if n, err := strconv.Atoi(id); err == nil {
			record["EventId"] = n
		}
	}
	if sys.has(EventBare) {
		for _, name := range []string{"MemberId", "EventType", "EventId"} {
			delete(record, name)
		}
	}
	if sys.has(OddTimes) {
		record["EventTimestamp"] = time.Now().In(time.FixedZone("", -6*3600)).Format("2006-01-02T15:04:05-0700")
	}
	if sys.has(SeverityNormal) {
		delete(record, "MessageSeverity")
		record["Severity"] = normal(record["Severity"])
	}
	payload = maps.Clone(payload)
	key := "Events"
	if sys.has(EventAlertsKey) {
		key = "Alerts"
	}
	payload[key] = []object{record}
	return payload
}

// normal is the severity of vendors that call OK Normal.
func normal(severity any) any {
	if severity == "OK" {
		return "Normal"
	}
	return severity
}

// wants says whether an event is what a subscription is for.
func (sub *subscription) wants(event Event) bool {
	origin := "Systems"
	if strings.HasPrefix(event.MessageID, "TaskEvent.") {
		origin = "TaskService"
	}
	switch {
	case len(sub.types) > 0 && !slices.Contains(sub.types, event.Type):
		return false
	case len(sub.prefixes) > 0 && !slices.ContainsFunc(sub.prefixes, func(p string) bool { return strings.HasPrefix(event.MessageID, p+".") }):
		return false
	case len(sub.resources) > 0 && !slices.Contains(sub.resources, origin):
		return false
	}
	return true
}

// resetSubscriptions is what a reset of the manager does to subscriptions; the
// lock is held.
func (s *Server) resetSubscriptions(sys *system) {
	if s.only() != sys {
		return
	}
	s.endStreams()
	for id, sub := range s.subs.byID {
		switch {
		case sys.has(SubscriptionsLost):
			s.unsubscribe(sub)
		case sys.has(SubscriptionsRenamed):
			delete(s.subs.byID, id)
			sub.id = strconv.Itoa(s.next())
			s.subs.byID[sub.id] = sub
		}
	}
}

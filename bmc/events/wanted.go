package events

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/lenient"
	"github.com/ironflow/ironflow/bmc/quirks"
)

// Wanted is the subscription that a BMC is to have.
type Wanted struct {
	// Key is the host's, Destination its address, of [Key.Destination].
	Key         Key
	Destination string
	// Former are keys of earlier generations: subscriptions with them are removed.
	Former []Key
	// Known is the path of the subscription as of the last time, empty for unknown.
	// While it is as wanted, looking at it is all that is asked.
	Known string
	// Orphan says of the last part of an address below ours that no host owns it: then
	// its subscription is removed. Nil leaves all those alone. It must know all hosts.
	Orphan func(part string) bool
}

// subscription is one that is there.
type subscription struct {
	path        string
	Destination lenient.String `json:"Destination"`
	Context     lenient.String `json:"Context"`
	Status      struct {
		State lenient.String `json:"State"`
	} `json:"Status"`
}

// relation is what a subscription is to us.
type relation int

const (
	// foreign: somebody else's. It is never touched.
	foreign relation = iota
	// stale: ours, and not as wanted any more.
	stale
	// right: as wanted.
	right
)

// relate decides whose a subscription is. Nobody else can know the last part of a
// destination of ours; hence neither users' subscriptions nor those of the kind
// BMCEventSubscription, which go elsewhere, can be taken for ours.
func (w *Wanted) relate(s *subscription) relation {
	part, below := partOf(string(s.Destination))
	if !below {
		return foreign
	}
	if part == w.Key.Part {
		// Once retries are used up, some BMCs keep a subscription and send nothing more.
		off := strings.EqualFold(string(s.Status.State), "Disabled") || strings.EqualFold(string(s.Status.State), "StandbyOffline")
		if plain(string(s.Destination)) != plain(w.Destination) || string(s.Context) != w.Key.Context || off {
			return stale
		}
		return right
	}
	for _, key := range w.Former {
		if part == key.Part {
			return stale
		}
	}
	if w.Orphan != nil && w.sameReceiver(string(s.Destination)) && strings.HasPrefix(string(s.Context), contextPrefix) && w.Orphan(part) {
		return stale
	}
	return foreign
}

// plain is a destination in one spelling for all that are the same: bmcweb writes its port out,
// others its letters small.
func plain(destination string) string {
	u, err := url.Parse(destination)
	if err != nil {
		return destination
	}
	return u.Scheme + "://" + receiverOf(u) + strings.TrimSuffix(u.EscapedPath(), "/") + "?" + u.RawQuery
}

// receiverOf is the host and port of a destination, in one spelling.
func receiverOf(u *url.URL) string {
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if ip, err := netip.ParseAddr(host); err == nil {
		host = ip.String()
	}
	if port == "" && u.Scheme == "https" {
		port = "443"
	}
	return net.JoinHostPort(host, port)
}

// partOf is the last part of a destination of our form.
func partOf(destination string) (string, bool) {
	i := strings.LastIndex(destination, Prefix)
	if i < 0 {
		return "", false
	}
	part := strings.TrimSuffix(destination[i+len(Prefix):], "/")
	return part, part != "" && !strings.Contains(part, "/")
}

// sameReceiver says whether a destination is on the host and port of ours.
func (w *Wanted) sameReceiver(destination string) bool {
	own, err := url.Parse(w.Destination)
	if err != nil {
		return false
	}
	other, err := url.Parse(destination)
	return err == nil && receiverOf(own) == receiverOf(other)
}

// body is what is sent to subscribe, and what may be added to it when the BMC asks.
// What the BMC's quirks say is left out.
func (w *Wanted) body(s *service, report *v1alpha1.BMCReport) (body, spare map[string]any) {
	body = map[string]any{
		"Destination": w.Destination, "Protocol": "Redfish", "Context": w.Key.Context,
		// Without it many delete a subscription after a few failures.
		"DeliveryRetryPolicy": "RetryForever",
	}
	prefixes := texts(s.Prefixes, "")
	if types := texts(s.Types, "MetricReport"); len(types) > 0 {
		body["EventTypes"] = types
	} else if len(prefixes) > 0 {
		body["RegistryPrefixes"] = prefixes
	}
	if report != nil {
		for _, member := range quirks.Values(report.Quirks, quirks.LeaveOut) {
			if name, is := strings.CutPrefix(strings.TrimSpace(member), "EventDestination."); is && !needed[name] {
				delete(body, name)
			}
		}
	}
	spare = map[string]any{"EventFormatType": "Event", "SubscriptionType": "RedfishEvent", "HttpHeaders": []any{}}
	if types := texts(s.ResourceTypes, ""); len(types) > 0 {
		spare["ResourceTypes"] = types
	}
	if len(prefixes) > 0 {
		spare["RegistryPrefixes"] = prefixes
	}
	return body, spare
}

// texts are the values of a list but empty ones, which BMCs list and then refuse,
// and the one that is not wanted.
func texts(list []lenient.String, without string) []string {
	var kept []string
	for _, text := range list {
		if text != "" && string(text) != without {
			kept = append(kept, string(text))
		}
	}
	return kept
}

// needed are the members that no subscription and no test can do without.
var needed = map[string]bool{"Destination": true, "Protocol": true, "Context": true}

// adapt changes a body by what a BMC has said against it: a member that it misses
// is added, one that it does not want is left out. False when nothing is left to try.
func adapt(body, spare map[string]any, err error) bool {
	e, is := errors.AsType[*client.Error](err)
	if !is || e.Status < 400 || e.Status >= 500 {
		return false
	}
	messages := e.Messages
	if len(messages) == 0 {
		messages = []client.Message{{ID: e.MessageID, Text: e.Message, Args: e.Args}}
	}
	changed := false
	for _, m := range messages {
		missing := strings.Contains(m.ID, "Missing")
		for name, value := range spare {
			if _, there := body[name]; missing && !there && mentions(m, name) {
				body[name] = value
				delete(spare, name)
				changed = true
			}
		}
		for name := range body {
			if !missing && !needed[name] && mentions(m, name) {
				delete(body, name)
				changed = true
			}
		}
	}
	return changed
}

func mentions(m client.Message, name string) bool {
	if strings.Contains(m.Text, name) {
		return true
	}
	for _, list := range [][]string{m.Args, m.Properties} {
		for _, text := range list {
			if strings.Contains(text, name) {
				return true
			}
		}
	}
	return false
}

// said reports whether one of a refusal's messages has one of these keys.
func said(err error, keys ...string) bool {
	e, is := errors.AsType[*client.Error](err)
	if !is {
		return false
	}
	ids := []string{e.MessageID}
	for _, m := range e.Messages {
		ids = append(ids, m.ID)
	}
	for _, id := range ids {
		for _, key := range keys {
			if strings.EqualFold(id[strings.LastIndexByte(id, '.')+1:], key) {
				return true
			}
		}
	}
	return false
}

package events

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ironflow/ironflow/bmc/client"
)

type object = map[string]any

// vendor is a BMC with the habits of one in the matter of subscriptions.
type vendor struct {
	// service is added to the EventService.
	service object
	// refuse answers a POST: the message's key, its argument; empty to accept.
	refuse func(body object) (key, argument string)
	// missing is the status of a path that is not there; 0 for 404.
	missing int
	// nameless leaves Location out.
	nameless bool
	// spelled is how it writes a destination; nil: as it was given.
	spelled func(destination string) string

	mu     sync.Mutex
	subs   []object
	serial int
	calls  []string
	bodies []object
	sent   []object
}

const subscriptionsPath = "/redfish/v1/EventService/Subscriptions"

// add puts a subscription there, as somebody else or an earlier we has made it.
func (v *vendor) add(sub object) string {
	v.serial++
	path := fmt.Sprintf("%s/%d", subscriptionsPath, v.serial)
	sub["@odata.id"] = path
	v.subs = append(v.subs, sub)
	return path
}

func (v *vendor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.calls = append(v.calls, r.Method+" "+r.URL.Path)
	answer := func(status int, body any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(body)
	}
	refusal := func(status int, key, argument string) {
		message := object{"MessageId": "Base.1.8." + key, "Message": "Not so: " + argument + ".", "MessageArgs": []string{argument}}
		answer(status, object{"error": object{"code": "x", "message": "x", "@Message.ExtendedInfo": []object{message}}})
	}
	switch path := strings.TrimSuffix(r.URL.Path, "/"); {
	case path == "/redfish/v1" && v.service == nil:
		answer(200, object{"RedfishVersion": "1.15.0"})
	case path == "/redfish/v1":
		answer(200, object{"RedfishVersion": "1.15.0", "EventService": object{"@odata.id": "/redfish/v1/EventService"}})
	case path == "/redfish/v1/EventService":
		body := object{"Subscriptions": object{"@odata.id": subscriptionsPath}}
		maps.Copy(body, v.service)
		answer(200, body)
	case path == subscriptionsPath && r.Method == http.MethodGet:
		links := []object{}
		for _, sub := range v.subs {
			links = append(links, object{"@odata.id": sub["@odata.id"]})
		}
		answer(200, object{"Members": links})
	case r.Method == http.MethodPost:
		var body object
		_ = json.NewDecoder(r.Body).Decode(&body)
		v.bodies = append(v.bodies, body)
		if v.refuse != nil {
			if key, argument := v.refuse(body); key != "" {
				refusal(400, key, argument)
				return
			}
		}
		if path != subscriptionsPath {
			v.sent = append(v.sent, body)
			w.WriteHeader(http.StatusNoContent)
			return
		}
		if text, is := body["Destination"].(string); is && v.spelled != nil {
			body["Destination"] = v.spelled(text)
		}
		made := v.add(body)
		if v.nameless {
			answer(201, object{"@odata.id": subscriptionsPath})
			return
		}
		w.Header().Set("Location", made)
		answer(201, object{})
	default:
		i := slices.IndexFunc(v.subs, func(sub object) bool { return sub["@odata.id"] == path })
		switch {
		case i < 0:
			refusal(cmp.Or(v.missing, 404), "ResourceMissingAtURI", path)
		case r.Method == http.MethodDelete:
			v.subs = slices.Delete(v.subs, i, i+1)
			w.WriteHeader(http.StatusNoContent)
		default:
			answer(200, v.subs[i])
		}
	}
}

// asked is how often a path was posted to.
func (v *vendor) asked(call string) int {
	n := 0
	for _, made := range v.calls {
		if strings.HasPrefix(made, call) {
			n++
		}
	}
	return n
}

// connect makes a client for a server.
func connect(t *testing.T, h http.Handler) *client.Client {
	t.Helper()
	server := httptest.NewTLSServer(h)
	t.Cleanup(server.Close)
	c, err := client.New(client.Target{URL: server.URL, Username: "admin", Password: "password", Basic: true, TLS: client.Trust{Insecure: true}},
		client.Options{Rate: 10_000, Burst: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(t.Context()) })
	return c
}

package simulator

import (
	"cmp"
	"encoding/json"
	"errors"
	"hash/fnv"
	"maps"
	"net/http"
	"strconv"
	"strings"
)

// etag is the entity tag of a body.
func etag(body []byte) string {
	h := fnv.New64a()
	_, _ = h.Write(body) // never fails
	return `"` + strconv.FormatUint(h.Sum64(), 16) + `"`
}

// tag is the entity tag of a resource. A clock that goes on is no change.
func tag(body object) string {
	if _, ticks := body["DateTime"]; ticks {
		body = maps.Clone(body)
		delete(body, "DateTime")
	}
	return etag(encode(body))
}

// encode writes a resource as JSON with sorted keys.
func encode(body object) []byte {
	raw, err := json.Marshal(body)
	if err != nil { // only values that JSON has are put into resources
		raw = []byte(`{}`)
	}
	return raw
}

// answer writes a success.
func (c *call) answer(w http.ResponseWriter, r reply) {
	h := w.Header()
	h.Set("OData-Version", "4.0")
	if r.stream != nil {
		r.stream(w, c.r)
		return
	}
	h.Set("Cache-Control", "no-cache")
	if r.location != "" {
		h.Set("Location", c.location(r.location))
	}
	if r.token != "" {
		h.Set("X-Auth-Token", r.token)
	}
	switch {
	case r.xml != "":
		h.Set("Content-Type", "application/xml")
		w.WriteHeader(r.status)
		_, _ = w.Write([]byte(r.xml)) // a client that went away is its own affair
	case r.body == nil:
		w.WriteHeader(r.status)
	default:
		h.Set("Content-Type", "application/json")
		if schema := describedBy(r.body); schema != "" && c.r.Method != http.MethodPost {
			h.Set("Link", "<"+schema+">; rel=describedby")
		}
		c.s.mu.Lock()
		raw := encode(r.body)
		if write := c.writer(); write != nil {
			c.s.mu.Unlock()
			write(w, c.r, raw)
			return
		}
		raw = c.dress(h, tag(r.body), raw)
		c.s.mu.Unlock()
		if held := c.r.Header.Get("If-None-Match"); held != "" && r.status == http.StatusOK && held == h.Get("ETag") {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.WriteHeader(r.status)
		_, _ = w.Write(raw) // as above
	}
}

// describedBy is the address of a resource's schema, as its type says.
func describedBy(body object) string {
	kind, _ := body["@odata.type"].(string)
	end := strings.LastIndex(kind, ".")
	if end < 0 {
		return ""
	}
	name := strings.TrimPrefix(kind[:end], "#")
	return "http://redfish.dmtf.org/schemas/v1/" + name + ".json"
}

// location is an address as the header Location has it.
func (c *call) location(address string) string {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if !c.of.has(AbsoluteLocations) || c.r.Host == "" {
		return address
	}
	scheme := "http"
	if c.r.TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + c.r.Host + address
}

// message is one entry of ExtendedInfo.
func (r *refusal) message() object {
	m := object{
		"@odata.type": "#Message.v1_1_2.Message", "MessageId": r.messageID(), "Message": r.text,
		"Severity": "Critical", "MessageSeverity": "Critical", "Resolution": "See the message.",
	}
	if r.property != "" {
		m["MessageArgs"], m["RelatedProperties"] = []string{r.property}, []string{"#/" + r.property}
	}
	if r.args != nil {
		m["MessageArgs"] = r.args
	}
	return m
}

func (r *refusal) messageID() string { return cmp.Or(r.id, "Base.1.18."+r.key) }

// refuse writes an error the way Redfish wraps it, or with one object where a list
// belongs.
func refuse(w http.ResponseWriter, err error, single bool) {
	r := asRefusal(err)
	body := r.body()
	if wrapped, ok := body["error"].(object); ok && single {
		wrapped["@Message.ExtendedInfo"] = r.message()
	}
	h := w.Header()
	h.Set("OData-Version", "4.0")
	h.Set("Content-Type", "application/json")
	switch r.status {
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", `Basic realm="Redfish"`)
	case http.StatusServiceUnavailable:
		h.Set("Retry-After", "1")
	}
	w.WriteHeader(r.status)
	_, _ = w.Write(encode(body)) //nolint:gosec // JSON to a client that may have gone away, not to a browser
}

// body is an error as a resource.
func (r *refusal) body() object {
	return object{"error": object{"code": r.messageID(), "message": r.text, "@Message.ExtendedInfo": []object{r.message()}}}
}

// asRefusal is an error as an answer; what is none is an internal error.
func asRefusal(err error) *refusal {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r
	}
	return &refusal{status: http.StatusInternalServerError, key: generalError, text: err.Error()}
}

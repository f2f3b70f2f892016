package simulator

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"net/http"
	"strconv"
	"strings"
)

// object is a Redfish resource.
type object = map[string]any

// root is the service root's path; links are made below it.
const root = "/redfish/v1"

// link is a reference to a resource.
func link(parts ...string) object { return object{"@odata.id": path(parts...)} }

// path is the address of a resource below the service root.
func path(parts ...string) string {
	var p strings.Builder
	p.WriteString(root)
	for _, part := range parts {
		p.WriteString("/" + part)
	}
	return p.String()
}

// links are references to the members of a collection.
func links(ids []string, parts ...string) []object {
	list := make([]object, 0, len(ids))
	for _, id := range ids {
		list = append(list, object{"@odata.id": path(parts...) + "/" + id})
	}
	return list
}

// resource is a resource with its identity.
func resource(kind, id, name, address string, more object) object {
	r := object{"@odata.type": "#" + kind, "@odata.id": address, "Id": id, "Name": name}
	maps.Copy(r, more)
	return r
}

// collection is a collection resource.
func collection(kind, name, address string, members []object) object {
	return object{
		"@odata.type": "#" + kind + "Collection." + kind + "Collection", "@odata.id": address, "Name": name,
		"Members": members, "Members@odata.count": len(members),
	}
}

// status is Redfish's Status object.
func status(health string) object {
	return object{"State": "Enabled", "Health": health, "HealthRollup": health}
}

// reply is an answer that is a success.
type reply struct {
	status   int
	body     object // nil for none
	location string
	token    string // X-Auth-Token
	xml      string // instead of body
}

// The keys of the messages that are used, from the Base registry.
const (
	generalError       = "GeneralError"
	missingResource    = "ResourceMissingAtURI"
	noAccess           = "NoValidSession"
	malformedJSON      = "MalformedJSON"
	unknownProperty    = "PropertyUnknown"
	readOnlyProperty   = "PropertyNotWritable"
	wrongValue         = "PropertyValueNotInList"
	wrongType          = "PropertyValueTypeError"
	missingParameter   = "ActionParameterMissing"
	missingProperty    = "PropertyMissing"
	wrongParameter     = "ActionParameterValueNotInList"
	unsupportedAction  = "ActionNotSupported"
	notAllowed         = "OperationNotAllowed"
	inUse              = "ResourceInUse"
	preconditionFailed = "PreconditionFailed"
	preconditionNeeded = "PreconditionRequired"
	unavailableNow     = "ServiceTemporarilyUnavailable"
)

// refusal is an answer that is not a success.
type refusal struct {
	status   int
	key      string
	text     string
	property string // the JSON pointer or name of what is wrong, or empty
}

func (r *refusal) Error() string { return r.text }

func fault(status int, key, format string, args ...any) error {
	return &refusal{status: status, key: key, text: fmt.Sprintf(format, args...)}
}

// faultAt is a fault that names a property or parameter.
func faultAt(property, key, format string, args ...any) error {
	return &refusal{status: http.StatusBadRequest, key: key, text: fmt.Sprintf(format, args...), property: property}
}

func notFound(what string) error {
	return fault(http.StatusNotFound, missingResource, "The resource at the URI %s was not found.", what)
}

// etag is the entity tag of a body.
func etag(body []byte) string {
	h := fnv.New64a()
	_, _ = h.Write(body) // never fails
	return `"` + strconv.FormatUint(h.Sum64(), 16) + `"`
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
func answer(w http.ResponseWriter, r reply) {
	h := w.Header()
	h.Set("OData-Version", "4.0")
	h.Set("Cache-Control", "no-cache")
	if r.location != "" {
		h.Set("Location", r.location)
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
		raw := encode(r.body)
		h.Set("Content-Type", "application/json")
		h.Set("ETag", etag(raw))
		w.WriteHeader(r.status)
		_, _ = w.Write(raw) // as above
	}
}

// refuse writes an error the way Redfish wraps it.
func refuse(w http.ResponseWriter, err error) {
	var r *refusal
	if !errors.As(err, &r) {
		r = &refusal{status: http.StatusInternalServerError, key: generalError, text: err.Error()}
	}
	message := object{
		"@odata.type": "#Message.v1_1_2.Message", "MessageId": "Base.1.18." + r.key, "Message": r.text,
		"Severity": "Critical", "MessageSeverity": "Critical", "Resolution": "See the message.",
	}
	if r.property != "" {
		message["MessageArgs"], message["RelatedProperties"] = []string{r.property}, []string{"#/" + r.property}
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
	_, _ = w.Write(encode(object{"error": object{ // as above
		"code": "Base.1.18." + r.key, "message": r.text, "@Message.ExtendedInfo": []object{message},
	}}))
}

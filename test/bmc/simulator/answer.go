package simulator

import (
	"fmt"
	"maps"
	"net/http"
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
	// stream takes the answer over once the lock is no longer held.
	stream func(w http.ResponseWriter, r *http.Request)
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
	insufficient       = "InsufficientPrivilege"
	changeRequired     = "PasswordChangeRequired"
	sessionsFull       = "SessionLimitExceeded"
	wrongFormat        = "PropertyValueFormatError"
	alreadyExists      = "ResourceAlreadyExists"
	subscriptionsFull  = "EventSubscriptionLimitExceeded"
)

// refusal is an answer that is not a success.
type refusal struct {
	status   int
	key      string
	text     string
	property string   // the JSON pointer or name of what is wrong, or empty
	args     []string // instead of the property
	id       string   // a MessageId of the vendor instead of the key, or empty
}

func (r *refusal) Error() string { return r.text }

func fault(status int, key, format string, args ...any) error {
	return &refusal{status: status, key: key, text: fmt.Sprintf(format, args...)}
}

// faultAt is a fault that names a property or parameter.
func faultAt(property, key, format string, args ...any) error {
	return &refusal{status: http.StatusBadRequest, key: key, text: fmt.Sprintf(format, args...), property: property}
}

// oem is a fault with a message of the vendor's own registry.
func oem(status int, id, text string) error {
	return &refusal{status: status, id: id, text: text}
}

// oemAt is such a fault with a property.
func oemAt(property, id, text string) error {
	return &refusal{status: http.StatusBadRequest, id: id, text: text, property: property}
}

func notFound(what string) error {
	return fault(http.StatusNotFound, missingResource, "The resource at the URI %s was not found.", what)
}

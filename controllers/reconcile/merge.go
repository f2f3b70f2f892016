package reconcile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// statusJSON is the JSON of an object's status.
func statusJSON(obj client.Object) (json.RawMessage, error) {
	status := reflect.Indirect(reflect.ValueOf(obj)).FieldByName("Status")
	if !status.IsValid() {
		return nil, fmt.Errorf("%T has no status", obj)
	}
	return json.Marshal(status.Addr().Interface())
}

// difference is the JSON merge patch (RFC 7386) that turns one document into
// another of the same encoder; an empty object for none. Members that are the
// same byte by byte are not looked into, which is what makes it cheap: most of a
// status stays as it is.
func difference(before, after json.RawMessage) (json.RawMessage, error) {
	old, isObject := members(before)
	present, stays := members(after)
	if !isObject || !stays {
		return after, nil
	}
	patch := map[string]json.RawMessage{}
	for name := range old {
		if _, kept := present[name]; !kept {
			patch[name] = json.RawMessage("null")
		}
	}
	for name, value := range present {
		if bytes.Equal(old[name], value) {
			continue
		}
		change, err := difference(old[name], value)
		if err != nil {
			return nil, err
		}
		patch[name] = change
	}
	return json.Marshal(patch)
}

// members are those of a JSON object.
func members(document json.RawMessage) (map[string]json.RawMessage, bool) {
	if len(document) == 0 || document[0] != '{' {
		return nil, false
	}
	var all map[string]json.RawMessage
	return all, json.Unmarshal(document, &all) == nil
}

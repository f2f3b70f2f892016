package reconcile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// statusOf is an object's status; an error for an object without one.
func statusOf(obj client.Object) (reflect.Value, error) {
	status := reflect.Indirect(reflect.ValueOf(obj)).FieldByName("Status")
	if !status.IsValid() {
		return status, fmt.Errorf("%T has no status", obj)
	}
	return status, nil
}

// statusJSON is the JSON of an object's whole status.
func statusJSON(obj client.Object) (json.RawMessage, error) {
	status, err := statusOf(obj)
	if err != nil {
		return nil, err
	}
	return json.Marshal(status.Addr().Interface())
}

// statusDifference is the JSON merge patch from one status to another; nil for none.
func statusDifference(before, after client.Object) (json.RawMessage, error) {
	from, err := statusOf(before)
	if err != nil {
		return nil, err
	}
	to, err := statusOf(after)
	if err != nil {
		return nil, err
	}
	var patch bytes.Buffer
	differ, err := field{}.merge(&patch, from, to)
	if err != nil || !differ {
		return nil, err
	}
	return patch.Bytes(), nil
}

// difference is the JSON merge patch (RFC 7386) that turns one document into
// another of the same encoder; an empty object for none. Members that are the
// same byte by byte are not looked into.
func difference(before, after json.RawMessage) (json.RawMessage, error) {
	old, isObject := members(before)
	if !isObject {
		return after, nil
	}
	present, stays := members(after)
	if !stays {
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

package simulator

import (
	"net/http"
	"strings"
)

// operation is one operation of a JSON Patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

var unescape = strings.NewReplacer("~1", "/", "~0", "~")

func (o operation) parts() []string {
	parts := strings.Split(strings.TrimPrefix(o.Path, "/"), "/")
	for i := range parts {
		parts[i] = unescape.Replace(parts[i])
	}
	return parts
}

// member is the node's field that the operation touches.
func (o operation) member() string { return o.parts()[0] }

// apply carries the operation out on a JSON object.
func (o operation) apply(document map[string]any) error {
	parts := o.parts()
	parent := document
	for _, part := range parts[:len(parts)-1] {
		next, ok := parent[part].(map[string]any)
		if !ok {
			return fault(http.StatusBadRequest, "Couldn't apply patch '%s'. Reason: can't replace a non-existent object", o.Path)
		}
		parent = next
	}
	last := parts[len(parts)-1]
	current, there := parent[last]
	there = there && current != nil
	switch {
	case o.Op == "add", o.Op == "replace" && there:
		parent[last] = o.Value
	case o.Op == "remove" && there:
		if len(parts) == 1 {
			parent[last] = nil
		} else {
			delete(parent, last)
		}
	case o.Op == "remove", o.Op == "replace":
		return fault(http.StatusBadRequest, "Couldn't apply patch '%s'. Reason: can't %s a non-existent object '%s'", o.Path, o.Op, last)
	default:
		return fault(http.StatusBadRequest, "Unknown patch operation '%s'", o.Op)
	}
	return nil
}

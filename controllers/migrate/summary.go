package migrate

import (
	"encoding/json"
	"strings"
)

// summary says what a body asks Ironic for: the target of an action, or the paths
// of a JSON Patch. Values are left out, since some are secret.
func summary(body []byte) string {
	var patch []struct {
		Op   string `json:"op"`
		Path string `json:"path"`
	}
	if json.Unmarshal(body, &patch) == nil {
		var paths []string
		for _, p := range patch {
			paths = append(paths, p.Op+" "+p.Path)
		}
		if len(paths) > 0 {
			return " (" + strings.Join(paths, ", ") + ")"
		}
		return ""
	}
	var action struct {
		Target string `json:"target"`
	}
	if json.Unmarshal(body, &action) == nil && action.Target != "" {
		return " (" + action.Target + ")"
	}
	return ""
}

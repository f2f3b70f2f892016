package files

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"go.yaml.in/yaml/v2"
)

// hidden stands for what is in a Secret.
const hidden = "[redacted]"

// redacted is a manifest for people who look into the logs of a cluster: of its Secrets it has
// the names alone. One without Secrets is as it was; one that cannot be read is left out.
func redacted(content string) string {
	var out bytes.Buffer
	secrets := false
	for decoder := yaml.NewDecoder(strings.NewReader(content)); ; {
		var document any
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return hidden + "\n"
		}
		secrets = hide(document) || secrets
		raw, err := yaml.Marshal(document)
		if err != nil {
			return hidden + "\n"
		}
		out.WriteString("---\n")
		out.Write(raw)
	}
	if !secrets {
		return content
	}
	return out.String()
}

// hide takes the values out of a Secret, or of those in a list, and tells whether there was one.
func hide(document any) (found bool) {
	object, ok := document.(map[any]any)
	if !ok {
		return false
	}
	if object["kind"] == "Secret" {
		for _, member := range []string{"data", "stringData"} {
			switch values := object[member].(type) {
			case nil:
			case map[any]any:
				for name := range values {
					values[name] = hidden
				}
			default:
				object[member] = hidden
			}
		}
		return true
	}
	items, _ := object["items"].([]any)
	for _, item := range items {
		found = hide(item) || found
	}
	return found
}

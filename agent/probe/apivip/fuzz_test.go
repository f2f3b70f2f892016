package apivip

import (
	"encoding/json"
	"strings"
	"testing"
)

// FuzzReduce: whatever an API answers, the hub gets an error or valid JSON without units and foreign files.
func FuzzReduce(f *testing.F) {
	f.Add([]byte(`{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/etc/secret","contents":{"source":"data:,top-secret"}}]}}`))
	f.Add([]byte(`{"ignition":{"version":"3.99.0"},"systemd":{"units":[{"name":"a.service"}]},"storage":{"files":null,"luks":[{}]}}`))
	f.Add([]byte(`{"ignition":{"version":"3.99.0"},"storage":{"files":[1]}}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		text, err := reduce(raw)
		if err != nil {
			if len(err.Error()) > 2048 || strings.ContainsAny(err.Error(), "\x00\x1b") {
				t.Errorf("the reason is no short plain text: %q", err)
			}
			return
		}
		var out struct {
			Systemd any `json:"systemd"`
			Storage struct {
				Files []struct {
					Path string `json:"path"`
				} `json:"files"`
			} `json:"storage"`
		}
		if err := json.Unmarshal([]byte(text), &out); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if out.Systemd != nil {
			t.Errorf("units were given on: %q", text)
		}
		for _, file := range out.Storage.Files {
			if !keptFiles[file.Path] {
				t.Errorf("%s was given on", file.Path)
			}
		}
	})
}

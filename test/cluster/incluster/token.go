package incluster

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/hub/inside"
)

// Token is the one that a hub has put into a cluster for the program inside: it is in the
// manifests of bootstrap.ign, which the bootstrap host fetches before it reboots. It is there
// once.
func Token(bootstrap []byte) (string, error) {
	text, err := Manifests(bootstrap)
	if err != nil {
		return "", err
	}
	var found []string
	for document := range strings.SplitSeq(strings.TrimPrefix(text, "---\n"), "\n---\n") {
		var secret struct {
			Kind       string
			StringData map[string]string
		}
		if err := yaml.Unmarshal([]byte(document), &secret); err != nil {
			return "", fmt.Errorf("%s: %w", inside.Manifest, err)
		}
		if secret.Kind == "Secret" {
			found = append(found, secret.StringData["token"])
		}
	}
	if len(found) != 1 || found[0] == "" {
		return "", fmt.Errorf("the host's Ignition has %d tokens of the program inside, want one", len(found))
	}
	return found[0], nil
}

// Manifests are those of the program inside that a host's Ignition has; it has them once.
func Manifests(ignition []byte) (string, error) {
	var config struct {
		Storage struct {
			Files []struct {
				Path     string
				Contents struct{ Source string }
			}
		}
	}
	if err := json.Unmarshal(ignition, &config); err != nil {
		return "", fmt.Errorf("the host's Ignition: %w", err)
	}
	var found []string
	for _, f := range config.Storage.Files {
		if !strings.HasSuffix(path.Base(f.Path), inside.Manifest) { // there may be a number before it
			continue
		}
		_, encoded, _ := strings.Cut(f.Contents.Source, ";base64,")
		raw, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			return "", fmt.Errorf("%s: %w", f.Path, err)
		}
		found = append(found, string(raw))
	}
	if len(found) != 1 {
		return "", fmt.Errorf("the host's Ignition has %d files with the manifests of the program inside, want one", len(found))
	}
	return found[0], nil
}

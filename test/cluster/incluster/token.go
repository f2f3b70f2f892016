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
	var config struct {
		Storage struct {
			Files []struct {
				Path     string
				Contents struct{ Source string }
			}
		}
	}
	if err := json.Unmarshal(bootstrap, &config); err != nil {
		return "", fmt.Errorf("bootstrap.ign: %w", err)
	}
	var found []string
	for _, f := range config.Storage.Files {
		if path.Base(f.Path) != inside.Manifest {
			continue
		}
		_, encoded, _ := strings.Cut(f.Contents.Source, ";base64,")
		raw, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			return "", fmt.Errorf("%s: %w", f.Path, err)
		}
		for document := range strings.SplitSeq(strings.TrimPrefix(string(raw), "---\n"), "\n---\n") {
			var secret struct {
				Kind       string
				StringData map[string]string
			}
			if err := yaml.Unmarshal([]byte(document), &secret); err != nil {
				return "", fmt.Errorf("%s: %w", f.Path, err)
			}
			if secret.Kind == "Secret" {
				found = append(found, secret.StringData["token"])
			}
		}
	}
	if len(found) != 1 || found[0] == "" {
		return "", fmt.Errorf("bootstrap.ign has %d tokens of the program inside, want one", len(found))
	}
	return found[0], nil
}

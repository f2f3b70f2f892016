package incluster

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/cluster/settings"
	"github.com/ironflow/ironflow/hub/inside"
)

// Environment is that of the program inside as its workload among the manifests says, with the
// token of their Secret. What the kubelet mounts is left out: the files of token and authority.
func Environment(manifests string) (map[string]string, error) {
	env := map[string]string{}
	for document := range strings.SplitSeq(strings.TrimPrefix(manifests, "---\n"), "\n---\n") {
		var o struct {
			Kind       string
			StringData struct{ Token string }
			Spec       struct {
				Template struct {
					Spec struct {
						Containers []struct {
							Env []struct{ Name, Value string }
						}
					}
				}
			}
		}
		if err := yaml.Unmarshal([]byte(document), &o); err != nil {
			return nil, fmt.Errorf("%s: %w", inside.Manifest, err)
		}
		if o.Kind == "Secret" {
			env[settings.TokenEnv] = o.StringData.Token
		}
		for _, c := range o.Spec.Template.Spec.Containers {
			for _, e := range c.Env {
				env[e.Name] = e.Value
			}
		}
	}
	delete(env, "IRONFLOW_CLUSTER_TOKEN_FILE")
	delete(env, "CA_CERT_PATH")
	if env[settings.TokenEnv] == "" || env["CLUSTER_ID"] == "" {
		return nil, fmt.Errorf("%s: it has no workload with a token", inside.Manifest)
	}
	return env, nil
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

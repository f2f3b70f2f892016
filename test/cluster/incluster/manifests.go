package incluster

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/cluster/manifests"
	"github.com/ironflow/ironflow/cluster/settings"
	"github.com/ironflow/ironflow/hub/inside"
)

// workload is the part of a Deployment or Job that says how its program is started.
type workload struct {
	Spec struct {
		Template struct {
			Spec struct {
				Containers []struct {
					Env []struct{ Name, Value string }
				}
			}
		}
	}
}

// into adds the variables of the program. What the kubelet mounts is left out: the files of
// token and authority.
func (w workload) into(env map[string]string) {
	for _, c := range w.Spec.Template.Spec.Containers {
		for _, e := range c.Env {
			if e.Name != "IRONFLOW_CLUSTER_TOKEN_FILE" && e.Name != "CA_CERT_PATH" {
				env[e.Name] = e.Value
			}
		}
	}
}

// Environment is that of the program inside as its workload among the manifests says, with the
// token of their Secret.
func Environment(text string) (map[string]string, error) {
	env := map[string]string{}
	for document := range strings.SplitSeq(strings.TrimPrefix(text, "---\n"), "\n---\n") {
		var o struct {
			Kind       string
			StringData struct{ Token string }
			workload
		}
		if err := yaml.Unmarshal([]byte(document), &o); err != nil {
			return nil, fmt.Errorf("%s: %w", inside.Manifest, err)
		}
		if o.Kind == "Secret" {
			env[settings.TokenEnv] = o.StringData.Token
		}
		o.into(env)
	}
	return env, complete(env)
}

// Environment is that of the program inside as its Deployment in the cluster says.
func (c *Cluster) Environment(ctx context.Context) (map[string]string, error) {
	const at = "/namespaces/" + manifests.Namespace
	var deployment workload
	if err := c.Admin.Get(ctx, "/apis/apps/v1"+at+"/deployments/"+manifests.Name, &deployment); err != nil {
		return nil, err
	}
	var secret struct{ Data struct{ Token []byte } }
	if err := c.Admin.Get(ctx, "/api/v1"+at+"/secrets/"+manifests.Name, &secret); err != nil {
		return nil, err
	}
	env := map[string]string{settings.TokenEnv: string(secret.Data.Token)}
	deployment.into(env)
	return env, complete(env)
}

func complete(env map[string]string) error {
	if env[settings.TokenEnv] == "" || env["CLUSTER_ID"] == "" {
		return errors.New("ironflow-cluster has no workload with a token")
	}
	return nil
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

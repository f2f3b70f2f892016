package manifests

import (
	"bytes"
	"fmt"
	"net"
	"strings"

	"sigs.k8s.io/yaml"
)

func lowerMAC(text string) string {
	mac, err := net.ParseMAC(text)
	if err != nil {
		return text
	}
	return mac.String()
}

// Render writes the set as the files that a host keeps: the manifests below manifests/, the
// extra ones below extra-manifests/, and a folder for each host below hostconfig/. Reading
// them gives the same set. Pull secret and fencing credentials are in them.
func (s *Set) Render() (map[string][]byte, error) {
	out := map[string][]byte{}
	put := func(name string, objects ...any) error {
		var text bytes.Buffer
		for i, o := range objects {
			raw, err := yaml.Marshal(o)
			if err != nil {
				return fmt.Errorf("write %s: %w", name, err)
			}
			if i > 0 {
				text.WriteString("---\n")
			}
			text.Write(raw)
		}
		out[name] = text.Bytes()
		return nil
	}
	secret := Secret{Head: Head{APIVersion: "v1", Kind: "Secret", Metadata: Meta{Name: pullSecretName}}, StringData: map[string]string{pullSecretKey: s.PullSecret}}
	var networks []any
	for i := range s.NMStateConfigs {
		networks = append(networks, s.NMStateConfigs[i])
	}
	for _, file := range []struct {
		there   bool
		name    string
		objects []any
	}{
		{s.ClusterDeployment != nil, "cluster-deployment.yaml", []any{s.ClusterDeployment}},
		{s.AgentClusterInstall != nil, "agent-cluster-install.yaml", []any{s.AgentClusterInstall}},
		{s.ClusterImageSet != nil, "cluster-image-set.yaml", []any{s.ClusterImageSet}},
		{s.InfraEnv != nil, "infraenv.yaml", []any{s.InfraEnv}},
		{s.PullSecret != "", "pull-secret.yaml", []any{secret}},
		{len(networks) > 0, "nmstateconfig.yaml", networks},
		{len(s.Operators) > 0, "operators.yaml", []any{s.Operators}},
	} {
		if file.there {
			if err := put("manifests/"+file.name, file.objects...); err != nil {
				return nil, err
			}
		}
	}
	for _, m := range s.Extra {
		out["extra-manifests/"+m.Name] = m.Content
	}
	for _, h := range s.Hosts {
		folder := "hostconfig/" + h.Name + "/"
		out[folder+macFile] = []byte(strings.Join(h.MACs, "\n") + "\n")
		if h.Role != "" {
			out[folder+roleFile] = []byte(h.Role + "\n")
		}
		if h.Hints != nil {
			if err := put(folder+hintsFile, h.Hints); err != nil {
				return nil, err
			}
		}
	}
	if len(s.Fencing) > 0 {
		return out, put("hostconfig/"+fencingFile, s.Fencing)
	}
	return out, nil
}

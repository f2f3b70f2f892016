package manifests

import (
	"encoding/json"
	"fmt"
	"net/netip"

	"github.com/ironflow/ironflow/api/names"
)

func parsePrefix(text string) (netip.Prefix, error) { return netip.ParsePrefix(text) }

// isPullSecret tells whether a text is the JSON of registries' credentials.
func isPullSecret(text string) bool {
	var form struct {
		Auths map[string]json.RawMessage `json:"auths"`
	}
	return json.Unmarshal([]byte(text), &form) == nil && form.Auths != nil
}

// environmentLabel ties networks of hosts to the infra-env.
const environmentLabel = "infraenvs.agent-install.openshift.io"

// convert makes the manifests of both files, also of such as are not good, as far as that goes.
func (c *configReader) convert() (*Set, error) {
	set := *c.set
	name := c.install.Metadata.Name
	head := func(version, kind, name string) Head {
		return Head{APIVersion: version, Kind: kind, Metadata: Meta{Name: name, Namespace: c.install.Metadata.Name}}
	}
	deployment := &ClusterDeployment{Head: head("hive.openshift.io/v1", "ClusterDeployment", name)}
	deployment.Spec.ClusterName, deployment.Spec.BaseDomain = name, c.install.BaseDomain
	deployment.Spec.PullSecretRef = &Ref{Name: pullSecretName}
	install := &AgentClusterInstall{Head: head("extensions.hive.openshift.io/v1beta1", "AgentClusterInstall", name)}
	c.convertInstall(install)
	overrides, err := c.overrides()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.files.InstallConfig, err)
	}
	if overrides != "" {
		install.Metadata.Annotations = map[string]string{names.InstallConfigOverrides: overrides}
	}
	env := &InfraEnv{Head: head("agent-install.openshift.io/v1beta1", "InfraEnv", name)}
	env.Spec.ClusterRef, env.Spec.PullSecretRef = &Ref{Name: name, Namespace: name}, &Ref{Name: pullSecretName}
	env.Spec.SSHAuthorizedKey, env.Spec.Proxy, env.Spec.AdditionalTrustBundle = c.install.SSHKey, c.install.Proxy, c.install.AdditionalTrustBundle
	env.Spec.AdditionalNTPSources = c.agent.AdditionalNTPSources
	if c.agent.MinimalISO {
		env.Spec.ImageType = "minimal-iso"
	}
	if c.install.ControlPlane != nil {
		env.Spec.CPUArchitecture = architectures[c.install.ControlPlane.Architecture]
	}
	set.describe(env, c.agent.Hosts)
	if c.files.ReleaseImage != "" {
		set.ClusterImageSet, install.Spec.ImageSetRef = imageSet(name, c.files.ReleaseImage), &Ref{Name: name}
	}
	set.ClusterDeployment, set.AgentClusterInstall, set.InfraEnv, set.PullSecret = deployment, install, env, c.install.PullSecret
	return &set, nil
}

// architectures are the hub's names of those that the files have by others.
var architectures = map[string]string{"amd64": "x86_64", "arm64": "aarch64", "ppc64le": "ppc64le", "s390x": "s390x"}

// imageSet names the release.
func imageSet(name, release string) *ClusterImageSet {
	out := &ClusterImageSet{Head: Head{APIVersion: "hive.openshift.io/v1", Kind: "ClusterImageSet", Metadata: Meta{Name: name}}}
	out.Spec.ReleaseImage = release
	return out
}

// describe adds the folders of the hosts, and their networks, which the infra-env selects.
func (s *Set) describe(env *InfraEnv, hosts []AgentHost) {
	name := env.Metadata.Name
	label := map[string]string{environmentLabel: name}
	for i := range hosts {
		h := &hosts[i]
		s.Hosts = append(s.Hosts, hostConfig(h, i))
		if h.NetworkConfig.IsZero() {
			continue
		}
		network := NMStateConfig{Head: Head{
			APIVersion: "agent-install.openshift.io/v1beta1", Kind: "NMStateConfig",
			Metadata: Meta{Name: fmt.Sprintf("%s-%d", name, i), Namespace: env.Metadata.Namespace, Labels: label},
		}}
		network.Spec.Interfaces, network.Spec.Config = h.Interfaces, h.NetworkConfig
		s.NMStateConfigs = append(s.NMStateConfigs, network)
		env.Spec.NMStateConfigLabelSelector.MatchLabels = label
	}
}

// hostConfig is the folder of a host: its name, or its number.
func hostConfig(h *AgentHost, number int) HostConfig {
	out := HostConfig{Name: h.Hostname, Role: h.Role, Hints: h.RootDeviceHints}
	if out.Name == "" {
		out.Name = fmt.Sprintf("host-%d", number)
	}
	for _, card := range h.Interfaces {
		out.MACs = append(out.MACs, lowerMAC(card.MACAddress))
	}
	return out
}

func (c *configReader) convertInstall(a *AgentClusterInstall) {
	in, out := &c.install, &a.Spec
	out.ClusterDeploymentRef = Ref{Name: in.Metadata.Name}
	out.Networking, out.SSHPublicKey, out.Proxy = in.Networking, in.SSHKey, in.Proxy
	out.ProvisionRequirements = c.wanted()
	pool := func(p *configPool) *MachinePool {
		if p == nil {
			return nil
		}
		return &MachinePool{Name: p.Name, Hyperthreading: p.Hyperthreading}
	}
	out.ControlPlane, out.Arbiter = pool(in.ControlPlane), pool(in.Arbiter)
	for i := range in.Compute {
		out.Compute = append(out.Compute, *pool(&in.Compute[i]))
	}
	switch p := in.Platform; {
	case p.None != nil:
		out.PlatformType = "None"
	case p.External != nil:
		out.PlatformType, out.External = "External", p.External
	case p.BareMetal != nil:
		out.PlatformType = "BareMetal"
		out.APIVIP, out.APIVIPs, out.IngressVIP, out.IngressVIPs = p.BareMetal.APIVIP, p.BareMetal.APIVIPs, p.BareMetal.IngressVIP, p.BareMetal.IngressVIPs
		if b := p.BareMetal.LoadBalancer; b != nil && b.Type == "UserManaged" {
			out.LoadBalancer = b
		}
	}
}

// overrides are the fields that no manifest has, as the JSON object that the hub merges into
// the install-config; empty for none.
func (c *configReader) overrides() (string, error) {
	in := &c.install
	out := map[string]any{}
	for name, text := range map[string]string{
		"cpuPartitioningMode": in.CPUPartitioning, "additionalTrustBundlePolicy": in.TrustBundlePolicy, "additionalTrustBundle": in.AdditionalTrustBundle, "featureSet": in.FeatureSet,
	} {
		if text != "" {
			out[name] = text
		}
	}
	for name, free := range map[string]Free{
		"capabilities": in.Capabilities, "imageDigestSources": in.DigestSources, "imageContentSources": in.ContentSources, "featureGates": in.FeatureGates,
	} {
		if !free.IsZero() {
			out[name] = free
		}
	}
	if in.FIPS != nil {
		out["fips"] = *in.FIPS
	}
	if len(out) == 0 {
		return "", nil
	}
	raw, err := json.Marshal(out)
	return string(raw), err
}

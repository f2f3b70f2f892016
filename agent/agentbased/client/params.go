package client

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ironflow/ironflow/agent/agentbased/manifests"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/api/usernetwork"
	"github.com/ironflow/ironflow/hub/wire"
)

// release is what is known of the one to install; empty for none.
type release struct{ image, version, architecture string }

// clusterParams are the cluster that the manifests describe.
func clusterParams(set *manifests.Set, r release) (wire.ClusterCreateParams, error) {
	in, deployment := &set.AgentClusterInstall.Spec, &set.ClusterDeployment.Spec
	p := wire.ClusterCreateParams{
		Name: deployment.ClusterName, BaseDNSDomain: deployment.BaseDomain, PullSecret: set.PullSecret, SSHPublicKey: in.SSHPublicKey,
		OpenshiftVersion: r.version, OcpReleaseImage: r.image, CPUArchitecture: r.architecture,
		UserManagedNetworking: in.Networking.UserManagedNetworking, Hyperthreading: given(hyperthreading(set.AgentClusterInstall)),
		NetworkType: given(in.Networking.NetworkType), NTPSources: given(strings.Join(in.NTPSources, ",")),
		Tags: given(set.AgentClusterInstall.Metadata.Labels[names.ClusterConsumerLabel]),
	}
	if in.MastersSchedulable {
		p.SchedulableMasters = &in.MastersSchedulable
	}
	q := in.ProvisionRequirements
	count := int64(q.ControlPlaneAgents)
	p.ControlPlaneCount = &count
	if q.ControlPlaneAgents == 1 && q.WorkerAgents == 0 {
		p.HighAvailabilityMode = given(wire.ClusterHighAvailabilityModeNone)
	}
	if set.InfraEnv != nil {
		p.AdditionalNTPSource = given(strings.Join(set.InfraEnv.Spec.AdditionalNTPSources, ","))
	}
	networks(set.AgentClusterInstall, &p)
	platform(set.AgentClusterInstall, &p)
	if e := in.DiskEncryption; e != nil {
		p.DiskEncryption = &wire.DiskEncryption{EnableOn: e.EnableOn, Mode: e.Mode, TangServers: e.TangServers}
	}
	if x := in.Proxy; x != nil {
		p.HTTPProxy, p.HTTPSProxy, p.NoProxy = given(x.HTTPProxy), given(x.HTTPSProxy), given(x.NoProxy)
	}
	for _, o := range set.Operators {
		p.OlmOperators = append(p.OlmOperators, wire.OperatorCreateParams{Name: o.Name, Properties: o.Properties})
	}
	return p, source(set.AgentClusterInstall, &p)
}

// given is a member that is left out when it is empty.
func given(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// Shares of a host in a cluster network that does not say it.
const (
	hostPrefix4 = 23
	hostPrefix6 = 64
)

func networks(a *manifests.AgentClusterInstall, p *wire.ClusterCreateParams) {
	n := &a.Spec.Networking
	for _, one := range n.ClusterNetwork {
		share := hostPrefix4
		if strings.Contains(one.CIDR, ":") {
			share = hostPrefix6
		}
		p.ClusterNetworks = append(p.ClusterNetworks, wire.ClusterNetwork{CIDR: wire.Subnet(one.CIDR), HostPrefix: int64(cmp.Or(one.HostPrefix, share))})
	}
	for _, one := range n.ServiceNetwork {
		p.ServiceNetworks = append(p.ServiceNetworks, wire.ServiceNetwork{CIDR: wire.Subnet(one)})
	}
	for _, one := range n.MachineNetwork {
		p.MachineNetworks = append(p.MachineNetworks, wire.MachineNetwork{CIDR: wire.Subnet(one.CIDR)})
	}
	api, ingress := a.VIPs()
	for _, one := range api {
		p.APIVIPs = append(p.APIVIPs, wire.APIVIP{IP: wire.IP(one)})
	}
	for _, one := range ingress {
		p.IngressVIPs = append(p.IngressVIPs, wire.IngressVIP{IP: wire.IP(one)})
	}
}

// platforms are the protocol's names of platforms.
var platforms = map[string]wire.PlatformType{
	"BareMetal": wire.PlatformTypeBaremetal, "None": wire.PlatformTypeNone, "VSphere": wire.PlatformTypeVsphere,
	"Nutanix": wire.PlatformTypeNutanix, "External": wire.PlatformTypeExternal,
}

func platform(a *manifests.AgentClusterInstall, p *wire.ClusterCreateParams) {
	in := &a.Spec
	if in.PlatformType != "" {
		p.Platform = &wire.Platform{Type: platforms[in.PlatformType]}
	}
	if e := in.External; e != nil && p.Platform != nil {
		p.Platform.External = &wire.PlatformExternal{PlatformName: &e.PlatformName, CloudControllerManager: &e.CloudControllerManager}
	}
	if in.Networking.UserManagedNetworking == nil && usernetwork.Platform(in.PlatformType) {
		p.UserManagedNetworking = new(true)
	}
	if b := in.LoadBalancer; b != nil && b.Type != "" {
		p.LoadBalancer = &wire.LoadBalancer{Type: map[string]string{"ClusterManaged": wire.LoadBalancerTypeClusterManaged, "UserManaged": wire.LoadBalancerTypeUserManaged}[b.Type]}
	}
}

// hyperthreading names the roles that have it.
func hyperthreading(a *manifests.AgentClusterInstall) string {
	off := map[string]bool{}
	note := func(role string, pool *manifests.MachinePool) {
		off[role] = off[role] || pool != nil && pool.Hyperthreading == "Disabled"
	}
	note("masters", a.Spec.ControlPlane)
	note("arbiters", a.Spec.Arbiter)
	for i := range a.Spec.Compute {
		note("workers", &a.Spec.Compute[i])
	}
	all := []string{"masters", "arbiters", "workers"}
	var on []string
	for _, role := range all {
		if !off[role] {
			on = append(on, role)
		}
	}
	switch len(on) {
	case 0:
		return wire.ClusterHyperthreadingNone
	case len(all):
		return wire.ClusterHyperthreadingAll
	}
	return strings.Join(on, ",")
}

// source is what makes the hosts' Ignition where it is no release: ours, other hubs ignore it.
func source(a *manifests.AgentClusterInstall, p *wire.ClusterCreateParams) error {
	said := a.Metadata.Annotations
	p.IgnitionSource = said[names.IgnitionSource]
	version, settings := said[names.KubernetesVersion], said[names.KubernetesSettings]
	if version == "" && settings == "" {
		return nil
	}
	p.Kubernetes = &wire.KubernetesSettings{}
	if settings != "" {
		decoder := json.NewDecoder(strings.NewReader(settings))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(p.Kubernetes); err != nil {
			return fmt.Errorf("annotation %s: want a JSON object with version, endpoint, programs, image_repository and vip_image: %w", names.KubernetesSettings, err)
		}
	}
	p.Kubernetes.Version = cmp.Or(version, p.Kubernetes.Version)
	return nil // a version beside it would be that of a release, which this is none of
}

// infraEnvParams are the infra-env that the manifests describe.
func infraEnvParams(set *manifests.Set, imageType, clusterID string, r release) (wire.InfraEnvCreateParams, error) {
	in := &set.InfraEnv.Spec
	p := wire.InfraEnvCreateParams{
		Name: set.InfraEnv.Metadata.Name, PullSecret: set.PullSecret, ImageType: wire.ImageType(cmp.Or(in.ImageType, imageType)),
		ClusterID: given(clusterID), OpenshiftVersion: cmp.Or(in.OSImageVersion, r.version), CPUArchitecture: cmp.Or(in.CPUArchitecture, r.architecture),
		SSHAuthorizedKey: given(in.SSHAuthorizedKey), AdditionalTrustBundle: in.AdditionalTrustBundle, IgnitionConfigOverride: in.IgnitionConfigOverride,
		AdditionalNTPSources: given(strings.Join(in.AdditionalNTPSources, ",")), NTPSources: given(strings.Join(in.NTPSources, ",")),
		NetworkDiscoveryDelaySeconds: in.NetworkDiscoveryDelay,
	}
	if p.CPUArchitecture == wire.ClusterCPUArchitectureMulti {
		p.CPUArchitecture = ""
	}
	if x := in.Proxy; x != nil {
		p.Proxy = &wire.Proxy{HTTPProxy: given(x.HTTPProxy), HTTPSProxy: given(x.HTTPSProxy), NoProxy: given(x.NoProxy)}
	}
	for _, a := range in.KernelArguments {
		p.KernelArguments = append(p.KernelArguments, wire.KernelArgument{Operation: a.Operation, Value: a.Value})
	}
	for _, n := range set.NMStateConfigs {
		text, err := n.Spec.Config.YAML()
		if err != nil {
			return p, fmt.Errorf("NMStateConfig %s: %w", n.Metadata.Name, err)
		}
		network := wire.HostStaticNetworkConfig{NetworkYaml: text}
		for _, card := range n.Spec.Interfaces {
			network.MACInterfaceMap = append(network.MACInterfaceMap, wire.MACInterfaceMapItem{MACAddress: card.MACAddress, LogicalNICName: card.Name})
		}
		p.StaticNetworkConfig = append(p.StaticNetworkConfig, network)
	}
	return p, nil
}

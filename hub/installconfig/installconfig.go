// Package installconfig writes the install-config.yaml of a cluster, from what is
// known of the cluster and its hosts. A user's overrides are merged last.
//
// It is pure: the same cluster gives the same text. The main function is [Render].
package installconfig

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

// object is a YAML object.
type object = map[string]any

// Cluster is what the text depends on.
type Cluster struct {
	API wire.Cluster
	// PullSecret and TrustBundle are written as they are; the bundle may be empty.
	PullSecret, TrustBundle string
	// Masters, Arbiters and Workers are how many there are to be.
	Masters, Arbiters, Workers int
}

// Render returns the install-config as YAML.
func Render(c Cluster) ([]byte, error) {
	config := base(c)
	if err := Override(config, c.API.InstallConfigOverrides); err != nil {
		return nil, err
	}
	return yaml.Marshal(config)
}

// members are those that an install-config has at its top. What stands below them differs
// between releases, which check it when the manifests are made.
var members = []string{
	"additionalTrustBundle", "additionalTrustBundlePolicy", "apiVersion", "arbiter", "baseDomain", "bootstrapInPlace", "capabilities", "compute",
	"controlPlane", "cpuPartitioningMode", "credentialsMode", "featureGates", "featureSet", "fips", "imageContentSources", "imageDigestSources", "kind",
	"metadata", "networking", "operatorPublishingStrategy", "osImageStream", "pki", "platform", "proxy", "publish", "pullSecret", "sshKey",
}

// Check refuses overrides that are no JSON object, and members that no install-config has.
func Check(overrides string) error {
	if overrides == "" {
		return nil
	}
	if err := Override(object{}, overrides); err != nil {
		return err
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal([]byte(overrides), &given); err != nil {
		return fmt.Errorf("install_config_overrides: want a JSON object: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(members, name) {
			return fmt.Errorf("install_config_overrides: an install-config has no member %.80q: want some of %s", name, strings.Join(members, ", "))
		}
	}
	return nil
}

// Override merges overrides, a JSON object in text, into a configuration: objects
// member by member, anything else replaces what was there; null removes it.
func Override(config object, overrides string) error {
	if overrides == "" {
		return nil
	}
	var given object
	if err := json.Unmarshal([]byte(overrides), &given); err != nil {
		return fmt.Errorf("install_config_overrides: want a JSON object: %w", err)
	}
	if given == nil {
		return errors.New("install_config_overrides: want a JSON object, not null")
	}
	merge(config, given)
	return nil
}

func merge(into, from object) {
	for key, value := range from {
		inner, isObject := value.(object)
		have, both := into[key].(object)
		switch {
		case value == nil:
			delete(into, key)
		case isObject && both:
			merge(have, inner)
		default:
			into[key] = value
		}
	}
}

func base(c Cluster) object {
	a := c.API
	config := object{
		"apiVersion": "v1", "baseDomain": a.BaseDNSDomain, "metadata": object{"name": a.Name},
		"networking": networking(a), "platform": platform(a), "pullSecret": c.PullSecret,
		"controlPlane": pool(a, "master", "masters", c.Masters),
		"compute":      []any{pool(a, "worker", "workers", c.Workers)},
	}
	if c.Arbiters > 0 {
		config["arbiter"] = pool(a, "arbiter", "arbiters", c.Arbiters)
	}
	for key, text := range map[string]string{"sshKey": strings.TrimSpace(a.SSHPublicKey), "additionalTrustBundle": c.TrustBundle} {
		if text != "" {
			config[key] = text
		}
	}
	if proxy := proxyOf(a); len(proxy) > 0 {
		config["proxy"] = proxy
	}
	if c.Masters == 1 && len(a.Hosts) <= 1 {
		if disk := installationDisk(a); disk != "" {
			config["bootstrapInPlace"] = object{"installationDisk": disk}
		}
	}
	return config
}

// pool is a pool of machines; whom is what hyperthreading is named by.
func pool(a wire.Cluster, name, whom string, replicas int) object {
	architecture := map[string]string{"": "amd64", "x86_64": "amd64", "aarch64": "arm64"}[a.CPUArchitecture]
	if architecture == "" {
		architecture = a.CPUArchitecture
	}
	hyperthreading := "Enabled"
	if a.Hyperthreading != "" && a.Hyperthreading != wire.ClusterHyperthreadingAll && !strings.Contains(a.Hyperthreading, whom) {
		hyperthreading = "Disabled"
	}
	out := object{"name": name, "replicas": replicas, "hyperthreading": hyperthreading}
	if architecture != "multi" {
		out["architecture"] = architecture
	}
	return out
}

func networking(a wire.Cluster) object {
	out := object{"networkType": wire.ClusterNetworkTypeOVNKubernetes}
	if a.NetworkType != nil && *a.NetworkType != "" {
		out["networkType"] = *a.NetworkType
	}
	var clusters, machines, services []any
	for _, n := range a.ClusterNetworks {
		clusters = append(clusters, object{"cidr": string(n.CIDR), "hostPrefix": n.HostPrefix})
	}
	for _, n := range a.MachineNetworks {
		machines = append(machines, object{"cidr": string(n.CIDR)})
	}
	for _, n := range a.ServiceNetworks {
		services = append(services, string(n.CIDR))
	}
	for key, list := range map[string][]any{"clusterNetwork": clusters, "machineNetwork": machines, "serviceNetwork": services} {
		if list != nil {
			out[key] = list
		}
	}
	return out
}

func platform(a wire.Cluster) object {
	kind := wire.PlatformTypeBaremetal
	switch {
	case a.Platform != nil:
		kind = a.Platform.Type
	case a.ControlPlaneCount == 1, a.UserManagedNetworking != nil && *a.UserManagedNetworking:
		kind = wire.PlatformTypeNone
	}
	content := object{}
	switch kind {
	case wire.PlatformTypeBaremetal, wire.PlatformTypeVsphere, wire.PlatformTypeNutanix:
		var api, ingress []any
		for _, v := range a.APIVIPs {
			api = append(api, string(v.IP))
		}
		for _, v := range a.IngressVIPs {
			ingress = append(ingress, string(v.IP))
		}
		if api != nil {
			content["apiVIPs"] = api
		}
		if ingress != nil {
			content["ingressVIPs"] = ingress
		}
		if a.LoadBalancer != nil && a.LoadBalancer.Type == wire.LoadBalancerTypeUserManaged {
			content["loadBalancer"] = object{"type": "UserManaged"}
		}
	case wire.PlatformTypeExternal:
		if e := a.Platform.External; e != nil {
			content["platformName"], content["cloudControllerManager"] = value(e.PlatformName), value(e.CloudControllerManager)
		}
	case wire.PlatformTypeNone:
	}
	if kind == wire.PlatformTypeBaremetal {
		content["provisioningNetwork"] = "Disabled"
		if machines := baremetalHosts(a); machines != nil {
			content["hosts"] = machines
		}
	}
	return object{string(kind): content}
}

// baremetalHosts names the machines. Without the address of a BMC each is managed
// by nobody, which is what an installation from a live image leaves behind.
func baremetalHosts(a wire.Cluster) []any {
	var out []any
	for _, h := range a.Hosts {
		var inventory wire.Inventory
		if h.Inventory == "" || json.Unmarshal([]byte(h.Inventory), &inventory) != nil {
			continue
		}
		name := h.RequestedHostname
		if name == "" {
			name = inventory.Hostname
		}
		machine := object{"name": name, "role": string(h.Role), "hardwareProfile": "unknown", "bootMode": "UEFI"}
		if mac := bootMAC(a.MachineNetworks, inventory.Interfaces); mac != "" {
			machine["bootMACAddress"] = mac
		}
		if inventory.Boot != nil && inventory.Boot.CurrentBootMode == "bios" {
			machine["bootMode"] = "legacy"
		}
		out = append(out, machine)
	}
	return out
}

// bootMAC is the address of the card in a machine network, which tells the machine from
// others: a BMC may show the host a card that has the same address in every machine.
// Where no card is in such a network, it is the first with an address of its own.
func bootMAC(networks []wire.MachineNetwork, cards []wire.Interface) string {
	for _, fits := range []func(c wire.Interface) bool{
		func(c wire.Interface) bool {
			return validations.InMachineNetworks(networks, slices.Concat(c.Ipv4Addresses, c.Ipv6Addresses))
		},
		func(c wire.Interface) bool { return len(c.Ipv4Addresses)+len(c.Ipv6Addresses) > 0 },
		func(wire.Interface) bool { return true },
	} {
		i := slices.IndexFunc(cards, func(c wire.Interface) bool { return c.MACAddress != "" && fits(c) })
		if i >= 0 {
			return cards[i].MACAddress
		}
	}
	return ""
}

func proxyOf(a wire.Cluster) object {
	out := object{}
	for key, text := range map[string]string{"httpProxy": a.HTTPProxy, "httpsProxy": a.HTTPSProxy, "noProxy": a.NoProxy} {
		if text != "" {
			out[key] = text
		}
	}
	return out
}

func installationDisk(a wire.Cluster) string {
	if len(a.Hosts) == 0 {
		return ""
	}
	return cmp.Or(a.Hosts[0].InstallationDiskID, a.Hosts[0].InstallationDiskPath)
}

func value(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

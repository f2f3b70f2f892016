// Package input_test writes what users of the REST API write, right and wrong, to a real hub:
// the rules of hub/input one by one, and what bug reports of the field tell of.
package input_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

const (
	secret = `{"auths":{"registry.example":{"auth":"YTpi"}}}`
	key    = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f me"
)

type object = map[string]any

func cluster(change object) object {
	out := object{"name": "edge", "base_dns_domain": "example", "openshift_version": "4.20.1", "pull_secret": secret}
	maps.Copy(out, change)
	return out
}

func env(change object) object {
	out := object{"name": "env", "pull_secret": secret, "openshift_version": "4.20.1"}
	maps.Copy(out, change)
	return out
}

// TestReportedSettings: what users reported to be refused or taken by mistake when they made clusters and infra-envs.
func TestReportedSettings(t *testing.T) {
	hub := testhub.Start(t, testhub.Options{})
	user := hub.User()
	static := func(yaml string, cards ...object) []object {
		return []object{{"network_yaml": yaml, "mac_interface_map": cards}}
	}
	card := object{"mac_address": "52:54:00:00:00:01", "logical_nic_name": "nic1"}
	for _, tc := range []struct {
		name, path string
		body       object
		want       int
	}{
		// base domains: assisted-service#2112, #5371, #5482, #5914
		{"domain: two dashes", "/clusters", cluster(object{"base_dns_domain": "cat--rahul.com"}), 201},
		{"domain: begins with a digit", "/clusters", cluster(object{"base_dns_domain": "1c.example"}), 201},
		{"domain: one label", "/clusters", cluster(object{"base_dns_domain": "do--main"}), 201},
		{"domain: ends with a dot", "/clusters", cluster(object{"base_dns_domain": "example.com."}), 400},
		{"domain: label ends with a dash", "/clusters", cluster(object{"base_dns_domain": "aaa-.com"}), 400},
		{"domain: label begins with a dash", "/clusters", cluster(object{"base_dns_domain": "-aaa.com"}), 400},
		{"domain: empty label", "/clusters", cluster(object{"base_dns_domain": "example..com"}), 400},
		{"domain: a space", "/clusters", cluster(object{"base_dns_domain": "a g"}), 400},
		{"domain: wildcard", "/clusters", cluster(object{"base_dns_domain": "*.example.com"}), 400},
		{"domain: a last name of one letter", "/clusters", cluster(object{"base_dns_domain": "example.c"}), 400},
		{"domain: a last name of one letter, further down", "/clusters", cluster(object{"base_dns_domain": "abc.com.c"}), 400},
		{"domain: an address", "/clusters", cluster(object{"base_dns_domain": "10.0.0.1"}), 400},
		{"domain: label of 64", "/clusters", cluster(object{"base_dns_domain": strings.Repeat("a", 64) + ".com"}), 400},
		// proxies: #1409, #6619, validations of peers
		{"no_proxy: everything", "/clusters", cluster(object{"http_proxy": "http://p.example:3128", "no_proxy": "*"}), 201},
		{"no_proxy: networks and names", "/clusters", cluster(object{"http_proxy": "http://p.example:3128", "no_proxy": ".example.com,10.0.0.0/8,192.0.2.1,fd00::/64,localhost"}), 201},
		{"no_proxy: star among others", "/clusters", cluster(object{"http_proxy": "http://p.example:3128", "no_proxy": "*,example.com"}), 400},
		{"no_proxy: wildcard name", "/clusters", cluster(object{"http_proxy": "http://p.example:3128", "no_proxy": "*.example.com"}), 400},
		{"no_proxy: spaces", "/clusters", cluster(object{"http_proxy": "http://p.example:3128", "no_proxy": "a.example b.example"}), 400},
		{"proxy: password in percent", "/clusters", cluster(object{"http_proxy": "http://user:p%40ss%23@p.example:3128"}), 201},
		{"proxy: no scheme", "/clusters", cluster(object{"http_proxy": "p.example:3128"}), 400},
		{"proxy: http_proxy by https", "/clusters", cluster(object{"http_proxy": "https://p.example:3128"}), 400},
		{"env proxy: fine", "/infra-envs", env(object{"proxy": object{"http_proxy": "http://p.example:3128", "no_proxy": ".example.com"}}), 201},
		{"env proxy: no scheme", "/infra-envs", env(object{"proxy": object{"http_proxy": "p.example:3128"}}), 400},
		{"env proxy: star among others", "/infra-envs", env(object{"proxy": object{"http_proxy": "http://p.example:3128", "no_proxy": "*,example.com"}}), 400},
		// networks
		{"network: Calico without host_prefix (#5448)", "/clusters", cluster(object{"network_type": "Calico", "cluster_networks": []object{{"cidr": "10.128.0.0/14"}}}), 201},
		{"network: OVN without host_prefix", "/clusters", cluster(object{"network_type": "OVNKubernetes", "cluster_networks": []object{{"cidr": "10.128.0.0/14"}}}), 400},
		{"network: not normal IPv6 (OCPBUGS-59393)", "/clusters", cluster(object{"machine_networks": []object{{"cidr": "2001:0DB8:0000::/64"}}}), 201},
		{"network: host bits", "/clusters", cluster(object{"machine_networks": []object{{"cidr": "192.0.2.5/24"}}}), 400},
		{"network: empty (OCPBUGSM-35526)", "/clusters", cluster(object{"machine_networks": []object{{"cidr": ""}}}), 400},
		{"network: the same one twice", "/clusters", cluster(object{"machine_networks": []object{{"cidr": "192.0.2.0/24"}, {"cidr": "192.0.2.0/24"}}}), 400},
		{"network: a host prefix alone", "/clusters", cluster(object{"cluster_network_host_prefix": 24}), 201},
		{"network: a host prefix alone that leaves nothing", "/clusters", cluster(object{"cluster_network_host_prefix": 14}), 400},
		{"addresses: leased and given", "/clusters", cluster(object{"vip_dhcp_allocation": true, "api_vips": []object{{"ip": "192.0.2.1"}}, "ingress_vips": []object{{"ip": "192.0.2.2"}}}), 400},
		{"addresses: leased, in the user's network", "/clusters", cluster(object{"vip_dhcp_allocation": true, "user_managed_networking": true}), 400},
		{"addresses: leased, on no platform", "/clusters", cluster(object{"vip_dhcp_allocation": true, "platform": object{"type": "none"}}), 400},
		{"addresses: of a single node", "/clusters", cluster(object{"control_plane_count": 1, "api_vips": []object{{"ip": "192.0.2.1"}}, "ingress_vips": []object{{"ip": "192.0.2.2"}}}), 400},
		{"size: none", "/clusters", cluster(object{"control_plane_count": 0}), 400},
		{"size: three on their own", "/clusters", cluster(object{"control_plane_count": 3, "high_availability_mode": "None"}), 400},
		{"size: one, highly available", "/clusters", cluster(object{"control_plane_count": 1, "high_availability_mode": "Full"}), 400},
		{"size: one on its own", "/clusters", cluster(object{"control_plane_count": 1, "high_availability_mode": "None"}), 201},
		{"platform: none of the kinds", "/clusters", cluster(object{"platform": object{"type": "moon"}}), 400},
		{"platform: of no kind", "/clusters", cluster(object{"platform": object{}}), 400},
		{"encryption: of nobody's disks", "/clusters", cluster(object{"disk_encryption": object{"enable_on": "some"}}), 400},
		{"name: 55", "/clusters", cluster(object{"name": strings.Repeat("a", 55)}), 400},
		{"name: begins with a digit (#3789)", "/clusters", cluster(object{"name": "1edge"}), 201},
		// static networks: #1742, #6305
		{"static: no nmstate", "/infra-envs", env(object{"static_network_config": static("interfaces: {a: b}", card)}), 400},
		{
			"static: a card without an address", "/infra-envs",
			env(object{"static_network_config": static("interfaces: [{name: nic2, type: ethernet, state: up, ipv4: {enabled: true, dhcp: true}}]", card)}), 400,
		},
		{"static: empty", "/infra-envs", env(object{"static_network_config": static("", card)}), 400},
		// kernel arguments
		{"kargs: fine", "/infra-envs", env(object{"kernel_arguments": []object{{"operation": "append", "value": `a="b c"`}, {"operation": "append", "value": "p1"}}}), 201},
		{"kargs: unknown operation", "/infra-envs", env(object{"kernel_arguments": []object{{"operation": "prepend", "value": "a"}}}), 400},
		{"kargs: a space", "/infra-envs", env(object{"kernel_arguments": []object{{"operation": "append", "value": "a b"}}}), 400},
		{"kargs: an open quote", "/infra-envs", env(object{"kernel_arguments": []object{{"operation": "append", "value": `a="b`}}}), 400},
		{"kargs: empty", "/infra-envs", env(object{"kernel_arguments": []object{{"operation": "append", "value": ""}}}), 400},
		// Ignition of infra-envs
		{"ignition: 3.1.0", "/infra-envs", env(object{"ignition_config_override": `{"ignition":{"version":"3.1.0"}}`}), 201},
		{"ignition: 3.5.0", "/infra-envs", env(object{"ignition_config_override": `{"ignition":{"version":"3.5.0"}}`}), 201},
		{"ignition: 2.2.0", "/infra-envs", env(object{"ignition_config_override": `{"ignition":{"version":"2.2.0"}}`}), 400},
		{"ignition: text", "/infra-envs", env(object{"ignition_config_override": `bla`}), 400},
		{"arch: arm64", "/infra-envs", env(object{"cpu_architecture": "arm64"}), 201},
		{"key: does not decode", "/clusters", cluster(object{"ssh_public_key": "ssh-rsa AAAA me"}), 400},
		{"version: nonsense", "/clusters", cluster(object{"openshift_version": "latest"}), 400},
		{"unknown member", "/clusters", cluster(object{"ssh_key": key}), 400},
		{"arch: nonsense", "/infra-envs", env(object{"cpu_architecture": "riscy"}), 400},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code, raw := user.Do(t, http.MethodPost, tc.path, tc.body, nil)
			NewWithT(t).Expect(code).To(Equal(tc.want), "%.200s", raw)
		})
	}
}

// TestReportedChanges: VIPs that come one after the other (MGMT-22553), that go again
// (OCPBUGS-13621), and a user's own network with VIPs (MGMT-15306).
func TestReportedChanges(t *testing.T) {
	hub := testhub.Start(t, testhub.Options{})
	user := hub.User()
	var c wire.Cluster
	code, raw := user.Do(t, http.MethodPost, "/clusters", cluster(nil), &c)
	NewWithT(t).Expect(code).To(Equal(201), raw)
	for _, tc := range []struct {
		name string
		body object
		want int
	}{
		{"the API address alone", object{"api_vips": []object{{"ip": "192.0.2.100"}}}, 201},
		{"then the other", object{"ingress_vips": []object{{"ip": "192.0.2.101"}}}, 201},
		{"none", object{"api_vips": []object{}, "ingress_vips": []object{}}, 201},
		{"three API addresses", object{"api_vips": []object{{"ip": "192.0.2.100"}, {"ip": "2001:db8::100"}, {"ip": "192.0.2.102"}}}, 400},
		{"one for both", object{"api_vips": []object{{"ip": "192.0.2.100"}}, "ingress_vips": []object{{"ip": "192.0.2.100"}}}, 400},
		{"outside of the machine network", object{"machine_networks": []object{{"cidr": "198.51.100.0/24"}}, "api_vips": []object{{"ip": "192.0.2.100"}}}, 400},
		{"the domain", object{"base_dns_domain": "aaa-.com"}, 400},
		{"addresses in the user's network", object{"user_managed_networking": true, "api_vips": []object{{"ip": "192.0.2.100"}}, "ingress_vips": []object{{"ip": "192.0.2.101"}}}, 400},
		{"a platform that has no network", object{"platform": object{"type": "none"}, "user_managed_networking": false}, 400},
		{"no name", object{"name": ""}, 400},
		{"no pull secret", object{"pull_secret": ""}, 400},
		{"no domain, for now", object{"base_dns_domain": ""}, 201},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code, raw := user.Do(t, http.MethodPatch, "/clusters/"+c.ID, tc.body, &c)
			NewWithT(t).Expect(code).To(Equal(tc.want), "%.300s", raw)
		})
	}
}

// TestReportedSettingsOfHosts: what users set of hosts.
func TestReportedSettingsOfHosts(t *testing.T) {
	hub := testhub.Start(t, testhub.Options{})
	user := hub.User()
	g := NewWithT(t)
	var c wire.Cluster
	code, raw := user.Do(t, http.MethodPost, "/clusters", cluster(object{"ssh_public_key": key}), &c)
	g.Expect(code).To(Equal(201), raw)
	var e wire.InfraEnv
	code, raw = user.Do(t, http.MethodPost, "/infra-envs", env(object{"cluster_id": c.ID}), &e)
	g.Expect(code).To(Equal(201), raw)
	token, err := hub.AgentToken(t.Context(), e.ID)
	g.Expect(err).NotTo(HaveOccurred())
	agent := hub.Agent(token)
	var keys []store.HostKey
	for n := range 3 {
		k := store.HostKey{InfraEnvID: e.ID, HostID: fmt.Sprintf("00000000-0000-4000-8000-00000000000%d", n+1)}
		agent.Register(t, k)
		inventory := testhub.Inventory(n + 1)
		text, _ := json.Marshal(inventory)
		agent.Reply(t, k, wire.StepReply{StepType: wire.StepTypeInventory, StepID: "inventory-1", Output: string(text)})
		keys = append(keys, k)
	}
	path := "/infra-envs/" + e.ID + "/hosts/" + keys[0].HostID
	for _, tc := range []struct {
		name, method, path string
		body               any
		want               int
	}{
		{"name: trailing dash", http.MethodPatch, path, object{"host_name": "master-"}, 400},
		{"name: capitals", http.MethodPatch, path, object{"host_name": "Master"}, 400},
		{"name: 63", http.MethodPatch, path, object{"host_name": strings.Repeat("a", 63)}, 201},
		{"name: 64", http.MethodPatch, path, object{"host_name": strings.Repeat("a", 64)}, 400},
		{"label: without a value", http.MethodPatch, path, object{"node_labels": []object{{"key": "rack"}}}, 400},
		{"disk: kept or not", http.MethodPatch, path, object{"disks_skip_formatting": []object{{"disk_id": "/dev/sda"}}}, 400},
		{"disk: two to install to", http.MethodPatch, path, object{"disks_selected_config": []object{{"id": "a", "role": "install"}, {"id": "b", "role": "install"}}}, 400},
		{"disk: of no role", http.MethodPatch, path, object{"disks_selected_config": []object{{"id": "a", "role": "keep"}}}, 400},
		{"role: bootstrap", http.MethodPatch, path, object{"host_role": "bootstrap"}, 400},
		{"args: IPv6", http.MethodPatch, path + "/installer-args", object{"args": []string{"--append-karg", "ip=[fd2e::1]::[fd2e::ff]:64:h:ens3:none", "--append-karg", "nameserver=[fd2e::2]"}}, 201},
		{"args: globs", http.MethodPatch, path + "/installer-args", object{"args": []string{"--save-partlabel", "data*", "--save-partindex", "5-7"}}, 201},
		{"args: znet", http.MethodPatch, path + "/installer-args", object{"args": []string{"--append-karg", "rd.znet=qeth,0.0.bdd0,0.0.bdd1,0.0.bdd2,layer2=1"}}, 201},
		{"args: ampersand", http.MethodPatch, path + "/installer-args", object{"args": []string{"--append-karg", "a&&b"}}, 400},
		{"args: other flag", http.MethodPatch, path + "/installer-args", object{"args": []string{"--offline"}}, 400},
		{"ignition: 3.1", http.MethodPatch, path + "/ignition", object{"config": `{"ignition":{"version":"3.1.0"}}`}, 201},
		{"ignition: 3.4 drops the bit of 04755", http.MethodPatch, path + "/ignition", object{"config": `{"ignition":{"version":"3.4.0"},"storage":{"files":[{"path":"/a","mode":2541}]}}`}, 400},
		{"ignition: 3.6 keeps it", http.MethodPatch, path + "/ignition", object{"config": `{"ignition":{"version":"3.6.0"},"storage":{"files":[{"path":"/a","mode":2541}]}}`}, 201},
		{"ignition: removed", http.MethodPatch, path + "/ignition", object{"config": ""}, 201},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code, raw := user.Do(t, tc.method, tc.path, tc.body, nil)
			NewWithT(t).Expect(code).To(Equal(tc.want), "%.300s", raw)
		})
	}
}

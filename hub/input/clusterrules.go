package input

import (
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/hub/wire"
)

// Kubernetes objects that clusters are written in.
const (
	install    = "AgentClusterInstall "
	deployment = "ClusterDeployment "
)

// clusterRules are those of clusters: forms first, then how settings go together.
var clusterRules = []Rule[Cluster]{
	{
		Fields: []Field{{"name", deployment + "spec.clusterName"}},
		Want:   "at most 54 lower-case letters, digits and dashes (RFC 1123), none of them a dash at either end", Write: "`edge-1`",
		Good: `{"name":"1-edge"}`, Bad: `{"name":"edge_1"}`, check: clusterName,
	},
	{
		Fields: []Field{{"base_dns_domain", deployment + "spec.baseDomain"}},
		Want: "names of lower-case letters, digits and dashes with dots between them; the last has two characters or more and is no number; " +
			"no dot at the end, no wildcard, no address; at most 253 characters with the cluster's name and the longest name below it",
		Write: "`lab.example.com`", Good: `{"base_dns_domain":"cat--lab.example.co"}`, Bad: `{"base_dns_domain":"abc.com.c"}`, check: baseDomain,
	},
	{
		Fields: []Field{{"tags", install + "metadata.labels{" + names.ClusterConsumerLabel + "}"}},
		Want:   "words of letters, digits and underscores with single blanks between them; a comma between tags, without blanks; at most 1024 characters in all",
		Write:  "`lab,row 7`", Good: `{"tags":"lab,row 7,edge_1"}`, Bad: `{"tags":"lab, row-7"}`, check: tags,
	},
	{
		Fields: []Field{{"openshift_version", ""}},
		Want:   "a release's number; with a list of releases, one of the list", Write: "`4.20` or `4.20.1`",
		Good: `{"openshift_version":"4.20.0-rc.1"}`, Bad: `{"openshift_version":"latest"}`, check: func(c *Cluster) error { return versionOf(c.OpenshiftVersion) },
	},
	{
		Fields: []Field{{"ocp_release_image", "ClusterImageSet spec.releaseImage"}},
		Want:   "a full image reference, with its registry", Write: "`quay.example/ocp/release:4.20.1-x86_64`",
		Good: `{"ocp_release_image":"quay.example/ocp/release:4.20.1-x86_64"}`, Bad: `{"ocp_release_image":"release:4.20.1"}`, check: releaseImage,
	},
	{
		Fields: []Field{{"cpu_architecture", ""}}, Want: "one of the protocol's", Write: "`x86_64`, `aarch64`, `arm64`, `ppc64le`, `s390x` or `multi`",
		Good: `{"cpu_architecture":"arm64"}`, Bad: `{"cpu_architecture":"riscy"}`,
		check: func(c *Cluster) error { return oneOf("cpu_architecture", c.CPUArchitecture, architectures) },
	},
	{
		Fields: []Field{{"control_plane_count", install + "spec.provisionRequirements.controlPlaneAgents"}}, Want: "how many hosts make the control plane, 1 to 5; with `high_availability_mode`, 1 for None and more for Full", Write: "`3`",
		Good: `{"control_plane_count":3}`, Bad: `{"control_plane_count":6}`, check: controlPlane,
	},
	{
		Fields: []Field{{"pull_secret", deployment + "spec.pullSecretRef"}}, Want: "JSON with `auths`, whose `auth` is base64 of user and password",
		Write: "`{\"auths\":{\"registry.example\":{\"auth\":\"dXNlcjpub3RoaW5n\"}}}`", Good: `{"pull_secret":"{\"auths\":{\"r.example\":{\"auth\":\"YTpi\"}}}"}`,
		Bad: `{"pull_secret":"{\"auths\":{\"r.example\":{\"auth\":\"secret!\"}}}"}`, check: func(c *Cluster) error {
			if c.PullSecret == "" {
				return nil
			}
			return pullSecret(c.PullSecret)
		},
	},
	{
		Fields: []Field{{"ssh_public_key", install + "spec.sshPublicKey"}}, Want: "public keys that decode, one a line", Write: "the line of `~/.ssh/id_ed25519.pub`",
		Good: `{"ssh_public_key":"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f me\n"}`,
		Bad:  `{"ssh_public_key":"ssh-ed25519 AAAA me"}`, check: func(c *Cluster) error { return sshKeys("ssh_public_key", c.SSHPublicKey) },
	},
	{ //nolint:gosec // an example of a URL with a password
		Fields: []Field{{"http_proxy", install + "spec.proxy.httpProxy"}, {"https_proxy", install + "spec.proxy.httpsProxy"}, {"no_proxy", install + "spec.proxy.noProxy"}},
		Want: "URLs with a scheme: http for `http_proxy`, http or https for `https_proxy`; `no_proxy` is `*` alone, or domains, addresses and networks with a comma " +
			"between them, without blanks, wildcards and ports", Write: "`http://proxy.example:3128`; `.example.com,192.0.2.0/24`",
		Good: `{"http_proxy":"http://user:p%40ss@p.example:3128","no_proxy":".example.com,10.0.0.0/8,fd00::/64,localhost"}`,
		Bad:  `{"http_proxy":"http://p.example:3128","no_proxy":"*.example.com"}`, check: func(c *Cluster) error {
			return proxies("", wire.Proxy{HTTPProxy: &c.HTTPProxy, HTTPSProxy: &c.HTTPSProxy, NoProxy: &c.NoProxy})
		},
	},
	{
		Fields: []Field{{"additional_ntp_source", ""}, {"ntp_sources", install + "spec.ntpSources"}}, Want: "names or addresses with a comma between them, without blanks",
		Write: "`clock.example,192.0.2.1`", Good: `{"additional_ntp_source":"clock.example,192.0.2.1,2001:db8::1"}`, Bad: `{"additional_ntp_source":"clock.example, 192.0.2.1"}`,
		check: func(c *Cluster) error {
			if err := timeServers("additional_ntp_source", c.AdditionalNTPSource); err != nil {
				return err
			}
			return timeServers("ntp_sources", c.NTPSources)
		},
	},
	{
		Fields: []Field{{"hyperthreading", ""}}, Want: "the roles that have it", Write: "`all`, `none`, or a list such as `masters,workers`",
		Good: `{"hyperthreading":"masters,workers"}`, Bad: `{"hyperthreading":"some"}`, check: func(c *Cluster) error { return oneOf("hyperthreading", c.Hyperthreading, hyperthreadings) },
	},
	{
		Fields: []Field{{"network_type", install + "spec.networking.networkType"}}, Want: "one of the protocol's", Write: "`OVNKubernetes`",
		Good: `{"network_type":"OVNKubernetes"}`, Bad: `{"network_type":"Weave"}`, check: func(c *Cluster) error { return oneOf("network_type", wire.Value(c.NetworkType), networkTypes) },
	},
	{
		Fields: []Field{
			{"machine_networks", install + "spec.networking.machineNetwork"},
			{"cluster_networks", install + "spec.networking.clusterNetwork"},
			{"service_networks", install + "spec.networking.serviceNetwork"},
		},
		Want: "networks, each by its own address and prefix length", Write: "`192.0.2.0/24`", Good: `{"machine_networks":[{"cidr":"2001:0DB8:0000::/64"}]}`,
		Bad: `{"machine_networks":[{"cidr":"192.0.2.5/24"}]}`, check: networks,
	},
	{
		Fields: []Field{{"machine_networks", ""}}, Want: "room for the hosts of the control plane and the virtual addresses, two addresses or more in each; with a release and several hosts 16 in each, or 4 " +
			"where `load_balancer` or the network is the user's", Write: "a prefix length of 28 at most for IPv4, 124 for IPv6",
		Good: `{"openshift_version":"4.20","machine_networks":[{"cidr":"192.0.2.16/28"}]}`, Bad: `{"openshift_version":"4.20","machine_networks":[{"cidr":"192.0.2.1/32"}]}`, check: roomForHosts,
	},
	{
		Fields: []Field{{"cluster_networks", ""}, {"service_networks", ""}}, Want: "with a release, 128 addresses or more in each", Write: "a prefix length of 25 at most for IPv4, 121 for IPv6",
		Good: `{"openshift_version":"4.20","service_networks":[{"cidr":"172.30.0.0/25"}]}`, Bad: `{"openshift_version":"4.20","service_networks":[{"cidr":"172.30.0.0/26"}]}`, check: largeEnough,
	},
	{
		Fields: []Field{{"machine_networks", ""}, {"cluster_networks", ""}, {"service_networks", ""}}, Want: "networks without common addresses", Write: "another network",
		Good: `{"machine_networks":[{"cidr":"192.0.2.0/24"}]}`, Bad: `{"machine_networks":[{"cidr":"10.128.4.0/24"}],"cluster_networks":[{"cidr":"10.128.0.0/14","host_prefix":23}]}`, check: apart,
	},
	{
		Fields: []Field{{"cluster_networks.host_prefix", ""}}, Want: "longer than the network's own; with a release, at most 25 of IPv4 and 64 of IPv6; may be left out for Calico, Cilium, CiscoACI and None",
		Write: "`23` for IPv4, `64` for IPv6", Good: `{"network_type":"Calico","cluster_networks":[{"cidr":"10.128.0.0/14"}]}`,
		Bad: `{"network_type":"OVNKubernetes","cluster_networks":[{"cidr":"10.128.0.0/14"}]}`, check: hostPrefixes,
	},
	{
		Fields: []Field{{"platform", install + "spec.platformType"}, {"user_managed_networking", install + "spec.networking.userManagedNetworking"}},
		Want:   "what fits: true for platforms none and external and for a single node, false for several hosts of platform baremetal", Write: "one of them, and the other follows",
		Good: `{"platform":{"type":"none"},"user_managed_networking":true}`, Bad: `{"platform":{"type":"none"},"user_managed_networking":false}`, check: whoseNetwork,
	},
	{
		Fields: []Field{{"api_vips", install + "spec.apiVIPs"}, {"ingress_vips", install + "spec.ingressVIPs"}}, Want: "addresses of single hosts, without zone or prefix length",
		Write: "`192.0.2.10`", Good: `{"api_vips":[{"ip":"192.0.2.10"}]}`, Bad: `{"api_vips":[{"ip":"0.0.0.0"}]}`, check: addresses,
	},
	{
		Fields: []Field{{"api_vips", ""}, {"ingress_vips", ""}, {"user_managed_networking", ""}}, Want: "with a release, no virtual addresses in a network that is the user's: nobody would keep them",
		Write: "one of them", Good: `{"openshift_version":"4.20","user_managed_networking":true}`,
		Bad: `{"openshift_version":"4.20","user_managed_networking":true,"api_vips":[{"ip":"192.0.2.10"}],"ingress_vips":[{"ip":"192.0.2.11"}]}`, check: nobodyKeeps,
	},
	{
		Fields: []Field{{"api_vips", ""}, {"ingress_vips", ""}},
		Want:   "one, or one of each family; as many API as ingress addresses, where both are there; none twice, in both neither unless `load_balancer` is user-managed",
		Write:  "another address", Good: `{"api_vips":[{"ip":"192.0.2.10"},{"ip":"2001:db8::10"}],"ingress_vips":[{"ip":"192.0.2.11"},{"ip":"2001:db8::11"}]}`,
		Bad: `{"api_vips":[{"ip":"192.0.2.10"},{"ip":"192.0.2.12"}],"ingress_vips":[{"ip":"192.0.2.11"}]}`, check: pairs,
	},
	{
		Fields: []Field{{"api_vips", ""}, {"ingress_vips", ""}}, Want: "in a machine network, where a user gives those; not its own and not its broadcast address; anywhere where `load_balancer` is user-managed",
		Write: "an address of the network that nobody has", Good: `{"machine_networks":[{"cidr":"192.0.2.0/24"}],"api_vips":[{"ip":"192.0.2.10"}]}`,
		Bad: `{"machine_networks":[{"cidr":"192.0.2.0/24"}],"api_vips":[{"ip":"198.51.100.10"}]}`, check: inside,
	},
	{
		Fields: []Field{{"api_vips", ""}, {"machine_networks", ""}}, Want: "the same family first in each list of both; IPv4 first before release " + ipv6First, Write: "the other order",
		Good: `{"machine_networks":[{"cidr":"192.0.2.0/24"},{"cidr":"2001:db8::/64"}]}`,
		Bad:  `{"openshift_version":"4.11.1","machine_networks":[{"cidr":"2001:db8::/64"},{"cidr":"192.0.2.0/24"}]}`, check: order,
	},
	{
		Fields: []Field{{"ignition_endpoint.url", install + "spec.ignitionEndpoint.url"}, {"ignition_endpoint.ca_certificate", install + "spec.ignitionEndpoint.caCertificateReference"}},
		Want:   "an http or https URL; certificates in PEM, in base64", Write: "`https://api.example:22623/config`",
		Good: `{"ignition_endpoint":{"url":"https://api.example:22623/config"}}`, Bad: `{"ignition_endpoint":{"url":"api.example"}}`, check: endpoint,
	},
	{
		Fields: []Field{{"api_vip_dns_name", ""}}, Want: "a name or an address", Write: "`api.edge.example`", Good: `{"api_vip_dns_name":"api.edge.example"}`,
		Bad: `{"api_vip_dns_name":"api/edge"}`, check: apiName,
	},
	{
		Fields: []Field{{"disk_encryption", install + "spec.diskEncryption"}}, Want: "roles, and tpmv2, or tang with its servers", Write: "`{\"enable_on\":\"all\",\"mode\":\"tpmv2\"}`",
		Good: `{"disk_encryption":{"enable_on":"masters,workers","mode":"tpmv2"}}`, Bad: `{"disk_encryption":{"enable_on":"all","mode":"tang"}}`, check: encryption,
	},
	{
		Fields: []Field{{"install_config_overrides", install + "metadata.annotations{agent-install.openshift.io/install-config-overrides}"}},
		Want:   "a JSON object, with members that an install-config has", Write: "`{\"fips\":true}`", Good: `{"install_config_overrides":"{\"fips\":true}"}`,
		Bad: `{"install_config_overrides":"{\"fisp\":true}"}`, check: overrides,
	},
}

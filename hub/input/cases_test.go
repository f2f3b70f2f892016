package input

import (
	"encoding/json"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/wire"
)

// TestSettingsOfAClusterTogether has what one setting alone does not show.
func TestSettingsOfAClusterTogether(t *testing.T) {
	for name, tc := range map[string]struct{ body, want string }{
		"no room for services, in IPv6":  {`{"openshift_version":"4.20.1","service_networks":[{"cidr":"fd02::/122"}]}`, "want a prefix length of 121 at most"},
		"few services, of no release":    {`{"service_networks":[{"cidr":"172.30.0.0/26"}]}`, ""},
		"a network of one host":          {`{"machine_networks":[{"cidr":"192.0.2.1/32"}]}`, `machine_networks[0].cidr "192.0.2.1/32": has less than 2 addresses: want a prefix length of 31 at most`},
		"a network of one host, in IPv6": {`{"machine_networks":[{"cidr":"2001:db8::/64"},{"cidr":"2001:db8:1::1/128"}]}`, `machine_networks[1].cidr "2001:db8:1::1/128": has less than 2`},
		"a single node's network of one host": {
			`{"openshift_version":"4.20.1","high_availability_mode":"None","control_plane_count":1,"machine_networks":[{"cidr":"192.0.2.1/32"}]}`,
			"want a prefix length of 31 at most",
		},
		"a single node and its router":      {`{"openshift_version":"4.20.1","high_availability_mode":"None","control_plane_count":1,"machine_networks":[{"cidr":"192.0.2.0/31"}]}`, ""},
		"the smallest network of a release": {`{"openshift_version":"4.20.1","control_plane_count":5,"machine_networks":[{"cidr":"192.0.2.16/28"},{"cidr":"2001:db8::/124"}]}`, ""},
		"one smaller than that": {
			`{"openshift_version":"4.20.1","control_plane_count":3,"machine_networks":[{"cidr":"192.0.2.16/29"}]}`,
			"has less than 16 addresses: want a prefix length of 28 at most",
		},
		"one smaller than that, in IPv6": {`{"openshift_version":"4.20.1","control_plane_count":3,"machine_networks":[{"cidr":"2001:db8::/125"}]}`, "want a prefix length of 124 at most"},
		"small ones, of a balancer outside": {
			`{"openshift_version":"4.20.1","control_plane_count":3,"load_balancer":{"type":"user-managed"},"machine_networks":[{"cidr":"192.0.2.0/30"},{"cidr":"198.51.100.0/30"}]}`,
			"",
		},
		"smaller ones, of a balancer outside": {`{"openshift_version":"4.20.1","load_balancer":{"type":"user-managed"},"machine_networks":[{"cidr":"192.0.2.0/31"}]}`, "has less than 4 addresses"},
		"small ones, of the user's network":   {`{"openshift_version":"4.20.1","user_managed_networking":true,"machine_networks":[{"cidr":"192.0.2.0/30"}]}`, ""},
		"room for all, of no release":         {`{"control_plane_count":3,"machine_networks":[{"cidr":"192.0.2.8/29"}],"api_vips":[{"ip":"192.0.2.10"}],"ingress_vips":[{"ip":"192.0.2.11"}]}`, ""},
		"no room for one host": {
			`{"control_plane_count":3,"machine_networks":[{"cidr":"192.0.2.8/30"}]}`,
			"machine_networks: have 2 IPv4 addresses for hosts, and 3 of the control plane and 0 virtual ones need one each",
		},
		"no room for a virtual address": {
			`{"control_plane_count":5,"machine_networks":[{"cidr":"192.0.2.8/29"}],"api_vips":[{"ip":"192.0.2.10"}],"ingress_vips":[{"ip":"192.0.2.11"}]}`,
			"have 6 IPv4 addresses for hosts, and 5 of the control plane and 2 virtual ones",
		},
		"no room in the second family":        {`{"control_plane_count":5,"machine_networks":[{"cidr":"192.0.2.0/24"},{"cidr":"2001:db8::/126"}]}`, "have 3 IPv6 addresses"},
		"a small one that the hub has found":  {`{"id":"c","openshift_version":"4.20.1","control_plane_count":3,"machine_networks":[{"cidr":"192.0.2.0/29","cluster_id":"c"}]}`, ""},
		"a network of everything":             {`{"machine_networks":[{"cidr":"0.0.0.0/0"}]}`, `machine_networks[0].cidr "0.0.0.0/0": want a network, such as 192.0.2.0/24`},
		"a network of nowhere":                {`{"service_networks":[{"cidr":"::/64"}]}`, `service_networks[0].cidr "::/64": want a network`},
		"a platform and its own network":      {`{"platform":{"type":"baremetal"},"user_managed_networking":true}`, "user_managed_networking: true does not go with platform baremetal"},
		"a single node on bare metal":         {`{"high_availability_mode":"None","platform":{"type":"baremetal"},"user_managed_networking":true}`, ""},
		"a single node with a network":        {`{"high_availability_mode":"None","user_managed_networking":false}`, "does not go with a single node"},
		"nobody's network":                    {`{"platform":{"type":"external"},"user_managed_networking":false}`, "does not go with platform external"},
		"an address that nobody keeps":        {`{"openshift_version":"4.20.1","user_managed_networking":true,"ingress_vips":[{"ip":"192.0.2.10"}]}`, "ingress_vips: the cluster's network is the user's"},
		"an address that a program keeps":     {`{"user_managed_networking":true,"api_vips":[{"ip":"192.0.2.10"}]}`, ""},
		"one address, then the other":         {`{"api_vips":[{"ip":"192.0.2.10"}]}`, ""},
		"three addresses":                     {`{"api_vips":[{"ip":"192.0.2.10"},{"ip":"2001:db8::1"},{"ip":"192.0.2.12"}]}`, "more than 2"},
		"one twice":                           {`{"api_vips":[{"ip":"192.0.2.10"},{"ip":"192.0.2.10"}]}`, `api_vips[1].ip "192.0.2.10": is there twice`},
		"one twice, in another form":          {`{"api_vips":[{"ip":"2001:db8::1"},{"ip":"2001:0db8::0001"}]}`, "is there twice"},
		"two of a family":                     {`{"ingress_vips":[{"ip":"2001:db8::1"},{"ip":"2001:db8::2"}]}`, "the second of IPv6"},
		"one for both":                        {`{"api_vips":[{"ip":"192.0.2.10"}],"ingress_vips":[{"ip":"192.0.2.10"}]}`, "is one of api_vips, too"},
		"one for both, of a balancer outside": {`{"api_vips":[{"ip":"192.0.2.10"}],"ingress_vips":[{"ip":"192.0.2.10"}],"load_balancer":{"type":"user-managed"}}`, ""},
		"more of one than of the other":       {`{"api_vips":[{"ip":"192.0.2.10"},{"ip":"2001:db8::1"}],"ingress_vips":[{"ip":"192.0.2.11"}]}`, "as many of each"},
		"no address at all":                   {`{"api_vips":[{"ip":""}]}`, "want an IP address"},
		"an address with its prefix length":   {`{"api_vips":[{"ip":"192.0.2.10/24"}]}`, "want an IP address"},
		"an address of a link":                {`{"api_vips":[{"ip":"fe80::1"}]}`, "want an IP address"},
		"the network's own address":           {`{"machine_networks":[{"cidr":"192.0.2.0/24"}],"api_vips":[{"ip":"192.0.2.0"}]}`, "network or broadcast address"},
		"the broadcast address":               {`{"machine_networks":[{"cidr":"192.0.2.0/24"}],"api_vips":[{"ip":"192.0.2.255"}]}`, "network or broadcast address"},
		"elsewhere, of a balancer outside":    {`{"machine_networks":[{"cidr":"192.0.2.0/24"}],"api_vips":[{"ip":"198.51.100.1"}],"load_balancer":{"type":"user-managed"}}`, ""},
		"a network that the hub has found":    {`{"id":"c","machine_networks":[{"cidr":"192.0.2.0/24","cluster_id":"c"}],"api_vips":[{"ip":"198.51.100.1"}]}`, ""},
		"IPv6 first":                          {`{"openshift_version":"4.20.1","machine_networks":[{"cidr":"2001:db8::/64"},{"cidr":"192.0.2.0/24"}]}`, ""},
		"IPv6 first in one only": {`{"openshift_version":"4.20.1","machine_networks":[{"cidr":"2001:db8::/64"},{"cidr":"192.0.2.0/24"}],
			"service_networks":[{"cidr":"172.30.0.0/16"},{"cidr":"fd02::/112"}]}`, "service_networks: begins with IPv4, and machine_networks with IPv6"},
		"IPv6 first among addresses, long ago": {`{"openshift_version":"4.10.3","api_vips":[{"ip":"2001:db8::1"},{"ip":"192.0.2.10"}]}`, "wants IPv4 first"},
		"a share as long as the network":       {`{"cluster_networks":[{"cidr":"10.128.0.0/23","host_prefix":23}]}`, "has to be longer"},
		"a share of IPv6":                      {`{"openshift_version":"4.20","cluster_networks":[{"cidr":"fd01::/48","host_prefix":80}]}`, "has to be 64 for IPv6"},
		"a share of few, of no release":        {`{"cluster_networks":[{"cidr":"10.128.0.0/14","host_prefix":28}]}`, ""},
		"a long name and a long domain":        {`{"base_dns_domain":"` + strings.Repeat("abcdefghi.", 22) + `com"}`, "at most 253"},
		"a domain in capitals":                 {`{"base_dns_domain":"Example.com"}`, "lower-case"},
		"an address with zeros":                {`{"base_dns_domain":"10.0.0.10"}`, "no number"},
		"a port that is none":                  {`{"http_proxy":"http://p.example:70000"}`, "want a URL"},
		"a proxy with a password":              {`{"http_proxy":"ftp://user:hunter2@p.example"}`, "want a URL"},
		"an end without a name":                {`{"no_proxy":"example.com,"}`, `no_proxy ""`},
		"two keys, the second broken":          {`{"ssh_public_key":"# me\n\nssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f me\nssh-rsa hunter2"}`, "line 4"},
		"a secret without a colon":             {`{"pull_secret":"{\"auths\":{\"r.example\":{\"auth\":\"aHVudGVyMg==\"}}}"}`, "without a colon"},
		"a secret of numbers":                  {`{"pull_secret":"{\"auths\":{\"r.example\":1}}"}`, "is no object"},
		"an endpoint with a blank":             {`{"ignition_endpoint":{"url":"https://api.example/a b"}}`, "ignition_endpoint.url: want a URL"},
		"certificates that are none":           {`{"ignition_endpoint":{"ca_certificate":"aHVudGVyMg=="}}`, "want certificates in PEM"},
		"a tag without a name":                 {`{"tags":"a,,b"}`, `tags "": want`},
		"a tag of two lines":                   {`{"tags":"a\nlevel=error"}`, `tags "a\nlevel=error": want`},
		"a tag that steers a terminal":         {`{"tags":"a\u001b[2J"}`, "want words"},
		"the most tags":                        {`{"tags":"` + strings.Repeat("x", 1024) + `"}`, ""},
		"more tags than that":                  {`{"tags":"` + strings.Repeat("x", 1025) + `"}`, "tags: has 1025 characters: want at most 1024"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			c := &Cluster{}
			c.Name = "edge"
			g.Expect(json.Unmarshal([]byte(tc.body), c)).To(Succeed())
			err := CheckCluster(nil, c)
			if tc.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(And(ContainSubstring(tc.want), Not(ContainSubstring("hunter2")))))
		})
	}
}

// TestNamesOfInfraEnvs has the edges of what people call them.
func TestNamesOfInfraEnvs(t *testing.T) {
	for name, tc := range map[string]struct{ name, want string }{
		"words":                       {"Édge hosts, row 7 (東京)", ""},
		"a blank of another script":   {"エッジ\u30007号", ""},
		"a blank that is not broken":  {"edge\u00a07", ""},
		"letters that are not joined": {"می\u200cخواهم", ""},
		"two lines of another kind":   {"edge\u2028level=error", "want letters"},
		"the longest":                 {strings.Repeat("é", 253), ""},
		"longer than that":            {strings.Repeat("é", 254), "name: has 254 characters: want at most 253"},
		"a megabyte":                  {strings.Repeat("x", 1<<20), "name: has 1048576 characters"},
		"two lines":                   {"edge\nlevel=error msg=forged", `name "edge\nlevel=error msg=forged": want letters`},
		"it steers a terminal":        {"edge\x1b[2J", "want letters"},
		"it turns what follows over":  {"edge\u202e", "want letters"},
	} {
		t.Run(name, func(t *testing.T) {
			err := CheckInfraEnv(nil, &InfraEnv{Name: tc.name})
			if tc.want == "" {
				NewWithT(t).Expect(err).NotTo(HaveOccurred())
				return
			}
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(tc.want)))
		})
	}
}

// TestArgumentsOfAnInstaller has what the installer would refuse on the host.
func TestArgumentsOfAnInstaller(t *testing.T) {
	for args, want := range map[string]string{
		"":                                    "",
		"-n":                                  "",
		"--copy-network --append-karg rd.x=1": "",
		"--append-karg rd.x=1 --save-partindex 1": "",
		"rd.x=1":                        `args[0] "rd.x=1": is the value of no flag`,
		"--append-karg a b":             `args[2] "b": is the value of no flag`,
		"--copy-network a":              `args[1] "a": is the value of no flag`,
		"--append-karg":                 `args[0] "--append-karg": want its value after it`,
		"--append-karg --delete-karg a": `args[1] "--delete-karg": want the value of --append-karg before it`,
		"--append-karg=a":               "is not allowed",
		"--append-karg a|b":             "characters that are not allowed",
		"--image-url https://images.example/a.raw --x": `args[2] "--x": is not allowed`,
	} {
		t.Run(args, func(t *testing.T) {
			g := NewWithT(t)
			err := CheckArguments(strings.Fields(args))
			if want == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(ContainSubstring(want)))
		})
	}
}

// TestNetworksThatWereTakenOnceStay: a machine network of an earlier version, which is too small now, is no reason to refuse
// what else is changed, with it in either form that hub and people write.
func TestNetworksThatWereTakenOnceStay(t *testing.T) {
	was := &Cluster{}
	was.Name, was.OpenshiftVersion, was.ControlPlaneCount = "edge", "4.20", 3
	was.MachineNetworks = []wire.MachineNetwork{{CIDR: "192.0.2.0/29"}, {CIDR: "0.0.0.0/8"}}
	for name, change := range map[string]func(*Cluster){
		"tags": func(c *Cluster) { c.Tags = "lab" },
		"addresses": func(c *Cluster) {
			c.APIVIPs, c.IngressVIPs = []wire.APIVIP{{IP: "192.0.2.2"}}, []wire.IngressVIP{{IP: "192.0.2.3"}}
		},
		"hosts": func(c *Cluster) { c.ControlPlaneCount = 5 },
	} {
		t.Run(name, func(t *testing.T) {
			now := *was
			change(&now)
			NewWithT(t).Expect(CheckCluster(was, &now)).To(Succeed())
		})
	}
	now := *was
	now.MachineNetworks = []wire.MachineNetwork{{CIDR: "192.0.2.0/29"}}
	NewWithT(t).Expect(CheckCluster(was, &now)).To(MatchError(ContainSubstring("less than 16 addresses")))
}

package rest_test

import (
	"testing"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/hub/testhub"
)

// TestChangesOfAClusterAreMadeOrRefused: members that are taken and forgotten are lost without a word.
func TestChangesOfAClusterAreMadeOrRefused(t *testing.T) {
	c := newClient(t, testhub.Start(t, testhub.Options{}).User())
	t.Run("api_vip_dns_name", func(t *testing.T) {
		g := NewWithT(t)
		imported := c.read("POST", "/clusters/import", `{"name":"old","api_vip_dnsname":"api.old.example","openshift_cluster_id":"`+uuid.NewString()+`"}`, 201)
		path := "/clusters/" + imported["id"].(string)
		c.do("PATCH", path, `{"api_vip_dns_name":"api.new.example"}`, 201)
		g.Expect(c.read("GET", path, "", 200)["api_vip_dns_name"]).To(Equal("api.new.example"))
	})
	t.Run("control_plane_count", func(t *testing.T) {
		g := NewWithT(t)
		path := c.newCluster() // of a single node
		c.do("PATCH", path, `{"control_plane_count":3}`, 201)
		now := c.read("GET", path, "", 200)
		g.Expect(now["high_availability_mode"]).To(Equal("Full"))
		g.Expect(now["user_managed_networking"]).NotTo(Equal(true), "the hub had set it for a single node, nobody else did")
	})
}

// TestWhatFollowsFromAChange: members that depend on each other are never left at odds.
func TestWhatFollowsFromAChange(t *testing.T) {
	c := newClient(t, testhub.Start(t, testhub.Options{}).User())
	const addresses = `"machine_networks":[{"cidr":"192.0.2.0/24"}],"api_vips":[{"ip":"192.0.2.5"}],"ingress_vips":[{"ip":"192.0.2.6"}]`
	for name, tc := range map[string]struct{ create, change, want string }{
		"a host prefix alone":            {``, `"cluster_network_host_prefix":25`, `"cluster_networks":[{"cidr":"10.128.0.0/14","host_prefix":25}]`},
		"the network becomes the user's": {addresses, `"user_managed_networking":true`, `"platform":{"type":"none"},"api_vips":[],"ingress_vips":[],"machine_networks":[{"cidr":"192.0.2.0/24"}]`},
		"its platform was named":         {`"platform":{"type":"baremetal"}`, `"user_managed_networking":true`, `"platform":{"type":"none"},"user_managed_networking":true`},
		"and it is the cluster's again":  {`"platform":{"type":"none"}`, `"user_managed_networking":false`, `"platform":{"type":"baremetal"},"user_managed_networking":false`},
		"a platform without a network":   {addresses, `"platform":{"type":"external","external":{"platform_name":"x"}}`, `"user_managed_networking":true,"api_vips":[]`},
		"one host is left":               {addresses, `"control_plane_count":1`, `"user_managed_networking":true,"api_vips":[],"ingress_vips":[],"high_availability_mode":"None"`},
		"one host of bare metal is left": {`"platform":{"type":"baremetal"}`, `"control_plane_count":1`, `"user_managed_networking":true`},
		"it is not the only one":         {`"control_plane_count":1,"platform":{"type":"baremetal"}`, `"control_plane_count":3`, `"user_managed_networking":false`},
		"no kind of network":             {`"network_type":"Calico"`, `"network_type":""`, `"network_type":"OVNKubernetes"`},
		"no kind of balancer":            {`"load_balancer":{"type":"user-managed"}`, `"load_balancer":{}`, `"load_balancer":{"type":"cluster-managed"}`},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClient(t, c.caller)
			create := `{"name":"edge","openshift_version":"4.20.1","pull_secret":"{\"auths\":{}}"`
			if tc.create != "" {
				create += "," + tc.create
			}
			path := "/clusters/" + c.read("POST", "/clusters", create+"}", 201)["id"].(string)
			c.shows(c.do("PATCH", path, "{"+tc.change+"}", 201), "{"+tc.want+"}")
			c.shows(c.do("GET", path, "", 200), "{"+tc.want+"}")
		})
	}
	leased := "/clusters/" + c.read("POST", "/clusters", `{"name":"edge","openshift_version":"4.20.1","pull_secret":"{\"auths\":{}}","vip_dhcp_allocation":true}`, 201)["id"].(string)
	for _, change := range []string{`"control_plane_count":1`, `"user_managed_networking":true`, `"platform":{"type":"none"}`} {
		c.Expect(c.do("PATCH", leased, "{"+change+"}", 400)).To(ContainSubstring("switch it off"), change)
		c.do("PATCH", leased, "{"+change+`,"vip_dhcp_allocation":false}`, 201)
		c.do("PATCH", leased, `{"control_plane_count":3,"user_managed_networking":false,"platform":{"type":"baremetal"},"vip_dhcp_allocation":true}`, 201)
	}
}

// TestAnInstalledClusterKeepsWhatItWasMadeOf: it would not become another one. What hosts that join make use of can change.
func TestAnInstalledClusterKeepsWhatItWasMadeOf(t *testing.T) {
	hub := testhub.Start(t, testhub.Options{IgnitionDir: testhub.RoleFiles(t)})
	c := newClient(t, hub.User())
	path := "/clusters/" + installed(t, hub, singleNode(t).cluster).ID
	for member, value := range map[string]string{
		"name": `"other"`, "base_dns_domain": `"other.example"`, "control_plane_count": "3",
		"cluster_networks": `[{"cidr":"10.200.0.0/16","host_prefix":24}]`, "network_type": `"Calico"`, "hyperthreading": `"none"`, "platform": `{"type":"baremetal"}`,
	} {
		c.Expect(c.do("PATCH", path, `{"`+member+`":`+value+`}`, 409)).To(ContainSubstring(`"`+member+": cluster edge is installed"), member)
	}
	c.shows(
		c.do("PATCH", path, `{"name":"edge","base_dns_domain":"example","control_plane_count":1,"tags":"a","no_proxy":"a.example","api_vip_dns_name":"api.new.example",
			"machine_networks":[{"cidr":"198.51.100.0/24"}]}`, 201),
		`{"tags":"a","no_proxy":"a.example","api_vip_dns_name":"api.new.example","machine_networks":[{"cidr":"198.51.100.0/24"}]}`,
	)
	c.do("PATCH", path, `{"platform":{"type":"none"},"network_type":"OVNKubernetes","user_managed_networking":true,"hyperthreading":"all","load_balancer":{"type":"cluster-managed"},
		"disk_encryption":{"enable_on":"none"},"schedulable_masters":false}`, 201) // what a client has read
	imported := "/clusters/" + c.read("POST", "/clusters/import", `{"name":"old","api_vip_dnsname":"api.old.example","openshift_cluster_id":"`+uuid.NewString()+`"}`, 201)["id"].(string)
	c.do("PATCH", imported, `{"base_dns_domain":"old.example","user_managed_networking":true}`, 201)
}

// TestWhoseAddressesAreIsNotTheClientsToSay: a cluster's id beside a network would make it one that the hub has found, and goes again.
func TestWhoseAddressesAreIsNotTheClientsToSay(t *testing.T) {
	c := newClient(t, testhub.Start(t, testhub.Options{}).User())
	id := c.read("POST", "/clusters", `{"name":"edge","openshift_version":"4.20.1","pull_secret":"{\"auths\":{}}",
		"api_vips":[{"ip":"192.0.2.5"}],"ingress_vips":[{"ip":"192.0.2.6"}]}`, 201)["id"].(string)
	c.shows(c.do("GET", "/clusters/"+id, "", 200), `{"api_vips":[{"ip":"192.0.2.5","cluster_id":"`+id+`"}],"ingress_vips":[{"ip":"192.0.2.6","cluster_id":"`+id+`"}]}`)
	other := uuid.NewString()
	c.shows(c.do("PATCH", "/clusters/"+id, `{"api_vips":[{"ip":"192.0.2.7","cluster_id":"`+other+`"}]}`, 201), `{"api_vips":[{"ip":"192.0.2.7","cluster_id":"`+id+`"}]}`)
	c.do("PATCH", "/clusters/"+id, `{"machine_networks":[{"cidr":"198.51.100.0/24","cluster_id":"`+id+`"}]}`, 400) // the addresses are in none of the user's networks
	c.do("PATCH", "/clusters/"+id, `{"machine_networks":[{"cidr":"192.0.2.0/24","cluster_id":"`+id+`"}],"cluster_networks":[{"cidr":"10.200.0.0/16","host_prefix":24,"cluster_id":"`+other+`"}]}`, 201)
	c.Expect(c.do("GET", "/clusters/"+id, "", 200)).NotTo(ContainSubstring(other))
}

// TestSupportLevelsAreTrue: what the hub does is not unavailable, and what it refuses is.
func TestSupportLevelsAreTrue(t *testing.T) {
	g := NewWithT(t)
	c := newClient(t, testhub.Start(t, testhub.Options{}).User())
	levels := c.read("GET", "/support-levels/features?openshift_version=4.20", "", 200)["features"]
	c.do("POST", "/clusters", `{"name":"edge","base_dns_domain":"example","openshift_version":"4.20.1","pull_secret":"{\"auths\":{}}","vip_dhcp_allocation":true}`, 201)
	g.Expect(levels).To(HaveKeyWithValue("VIP_AUTO_ALLOC", Not(Equal("unavailable"))), "it is taken, and asked of hosts")
	g.Expect(levels).To(HaveKeyWithValue("TNF", "unavailable"), "fencing_credentials are refused")
}

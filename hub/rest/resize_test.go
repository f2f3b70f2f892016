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

// TestSupportLevelsAreTrue: what the hub does is not unavailable, and what it refuses is.
func TestSupportLevelsAreTrue(t *testing.T) {
	g := NewWithT(t)
	c := newClient(t, testhub.Start(t, testhub.Options{}).User())
	levels := c.read("GET", "/support-levels/features?openshift_version=4.20", "", 200)["features"]
	c.do("POST", "/clusters", `{"name":"edge","base_dns_domain":"example","openshift_version":"4.20.1","pull_secret":"{\"auths\":{}}","vip_dhcp_allocation":true}`, 201)
	g.Expect(levels).To(HaveKeyWithValue("VIP_AUTO_ALLOC", Not(Equal("unavailable"))), "it is taken, and asked of hosts")
	g.Expect(levels).To(HaveKeyWithValue("TNF", "unavailable"), "fencing_credentials are refused")
}

package rest_test

import (
	"testing"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// TestWhatAChangeDoesNotNameStays, also within a member: whoever encrypts other roles has said nothing of the servers, and whoever moves
// the endpoint nothing of its authority.
func TestWhatAChangeDoesNotNameStays(t *testing.T) {
	c := newClient(t, testhub.Start(t, testhub.Options{}).User())
	servers := `"tang_servers":"[{\"url\":\"http://tang.example\",\"thumbprint\":\"abc\"}]"`
	path := "/clusters/" + c.read("POST", "/clusters", `{"name":"edge","openshift_version":"4.20.1","pull_secret":"{\"auths\":{}}",
		"disk_encryption":{"enable_on":"all","mode":"tang",`+servers+`}}`, 201)["id"].(string)
	changed := func(body, member string) any { return c.read("PATCH", path, body, 201)[member] }
	c.Expect(changed(`{"disk_encryption":{"enable_on":"masters"}}`, "disk_encryption")).To(And(
		HaveKeyWithValue("enable_on", "masters"), HaveKeyWithValue("mode", "tang"), HaveKeyWithValue("tang_servers", ContainSubstring("abc"))))
	c.Expect(changed(`{"disk_encryption":{"mode":"tpmv2"}}`, "disk_encryption")).To(And(
		HaveKeyWithValue("enable_on", "masters"), HaveKeyWithValue("mode", "tpmv2"), Not(HaveKey("tang_servers"))))

	ca := encoded(certificateAuthority)
	c.Expect(changed(`{"ignition_endpoint":{"url":"https://one.example/config","ca_certificate":"`+ca+`"}}`, "ignition_endpoint")).To(HaveKeyWithValue("ca_certificate", ca))
	c.Expect(changed(`{"ignition_endpoint":{"url":"https://two.example/config"}}`, "ignition_endpoint")).To(And(
		HaveKeyWithValue("url", "https://two.example/config"), HaveKeyWithValue("ca_certificate", ca)))
	before := c.read("GET", path, "", 200)
	after := c.read(
		"PATCH",
		path,
		`{"name":null,"ssh_public_key":null,"machine_networks":null,"api_vips":null,"disk_encryption":null,"ignition_endpoint":null,"platform":null,"tags":null,"network_type":null}`,
		201,
	)
	delete(before, "updated_at")
	delete(after, "updated_at")
	c.Expect(after).To(Equal(before), "null is what existing clients send of all that they do not name")
	c.Expect(changed(`{"ignition_endpoint":{"url":"","ca_certificate":""}}`, "ignition_endpoint")).To(BeNil(), "it can be emptied")
}

// TestAChosenDiskCanBeTakenBack: the disk that nobody wants any more is not the one that is overwritten.
func TestAChosenDiskCanBeTakenBack(t *testing.T) {
	hub := testhub.Start(t, testhub.Options{})
	env, token := hub.InfraEnv(t, "pool")
	host := store.HostKey{InfraEnvID: env, HostID: uuid.NewString()}
	inventory := testhub.Inventory(1)
	second := inventory.Disks[0]
	second.ID, second.Path, second.Name = "/dev/disk/by-id/second", "/dev/sdb", "sdb"
	inventory.Disks = append(inventory.Disks, second)
	agent := hub.Agent(token)
	agent.Register(t, host)
	NewWithT(t).Expect(hub.ApproveHost(t.Context(), host, false)).To(Succeed())
	for _, step := range agent.Poll(t, host).Instructions {
		agent.Answer(t, host, step, inventory)
	}
	c := newClient(t, hub.User())
	path := "/infra-envs/" + env + "/hosts/" + host.HostID
	disk := func(list string) any {
		return c.read("PATCH", path, `{"disks_selected_config":`+list+`}`, 201)["installation_disk_path"]
	}
	install := `[{"id":"/dev/disk/by-id/second","role":"install"}]`
	first := inventory.Disks[0].ID
	for _, back := range []string{`[{"id":"/dev/disk/by-id/second","role":"none"}]`, `[]`, `[{"id":"` + first + `","role":"none"},{"id":"/dev/sdb","role":"none"}]`} {
		c.Expect(disk(install)).To(Equal("/dev/sdb"))
		c.Expect(disk(back)).To(Equal("/dev/sda"), back)
	}
	c.Expect(disk(install)).To(Equal("/dev/sdb"))
	for _, stays := range []string{`null`, `[{"id":"` + first + `","role":"none"}]`} {
		c.Expect(disk(stays)).To(Equal("/dev/sdb"), stays)
	}
}

// TestWhatAChangeOfAnInfraEnvDoesNotNameStays, and what is given empty is taken away.
func TestWhatAChangeOfAnInfraEnvDoesNotNameStays(t *testing.T) {
	c := newClient(t, testhub.Start(t, testhub.Options{}).User())
	path := "/infra-envs/" + c.read("POST", "/infra-envs", `{"name":"edge","pull_secret":"{\"auths\":{}}","additional_ntp_sources":"ntp.example","network_discovery_delay_seconds":5,
		"proxy":{"http_proxy":"http://p.example:1","https_proxy":"http://p.example:2","no_proxy":"a.example"},"kernel_arguments":[{"operation":"append","value":"a"}],
		"static_network_config":[{"network_yaml":"interfaces: []","mac_interface_map":[{"mac_address":"52:54:00:00:00:01","logical_nic_name":"eth0"}]}]}`, 201)["id"].(string)
	changed := func(body, want string) { c.shows(c.do("PATCH", path, body, 201), want) }
	changed(`{"proxy":{"no_proxy":"b.example"}}`, `{"proxy":{"http_proxy":"http://p.example:1","https_proxy":"http://p.example:2","no_proxy":"b.example"}}`)
	changed(`{"proxy":{"http_proxy":""}}`, `{"proxy":{"http_proxy":"","https_proxy":"http://p.example:2","no_proxy":"b.example"}}`)
	before := c.read("GET", path, "", 200)
	after := c.read("PATCH", path, `{"proxy":null,"kernel_arguments":null,"static_network_config":null,"ssh_authorized_key":null,"additional_ntp_sources":null,
		"network_discovery_delay_seconds":null,"image_type":null,"pull_secret":null,"openshift_version":null,"additional_trust_bundle":null}`, 201)
	delete(before, "updated_at")
	delete(after, "updated_at")
	c.Expect(after).To(Equal(before), "null is what existing clients send of all that they do not name")
	changed(`{"kernel_arguments":[],"static_network_config":[],"network_discovery_delay_seconds":0}`, `{"kernel_arguments":"[]","static_network_config":"[]","network_discovery_delay_seconds":0}`)
	c.Expect(c.do("GET", path+"/downloads/files?file_name=static-network-config", "", 200)).To(BeEmpty())
	c.Expect(c.read("PATCH", path, `{"additional_ntp_sources":""}`, 201)).NotTo(HaveKey("additional_ntp_sources"))
}

// TestAnIgnitionOverrideCanBeEmptied: an empty one is no override, and none that is given leaves the one that is there.
func TestAnIgnitionOverrideCanBeEmptied(t *testing.T) {
	c := newClient(t, testhub.Start(t, testhub.Options{}).User())
	path := "/infra-envs/" + c.read("POST", "/infra-envs", `{"name":"edge","pull_secret":"{\"auths\":{}}","ignition_config_override":"{\"ignition\":{\"version\":\"3.2.0\"}}"}`, 201)["id"].(string)
	has := HaveKeyWithValue("ignition_config_override", ContainSubstring("3.2.0"))
	c.Expect(c.read("PATCH", path, `{"additional_ntp_sources":"ntp.example"}`, 201)).To(has)
	c.Expect(c.read("PATCH", path, `{"ignition_config_override":null}`, 201)).To(has)
	c.Expect(c.read("PATCH", path, `{"ignition_config_override":""}`, 201)).NotTo(HaveKey("ignition_config_override"))
	c.Expect(c.read("PATCH", path, `{"ignition_config_override":"{\"ignition\":{\"version\":\"3.2.0\"}}"}`, 201)).To(has)
	c.do("PATCH", path, `{"ignition_config_override":"{"}`, 400)
}

package protocol_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/protocol"
)

func TestBodies(t *testing.T) {
	bodies, err := protocol.NewBodies()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	for name, tc := range map[string]struct{ operation, body, want string }{
		"all is well":                     {"v2RegisterCluster", `{"name":"edge","tags":null,"cluster_networks":[{"cidr":"10.128.0.0/14","host_prefix":23}]}`, ""},
		"no JSON":                         {"v2RegisterCluster", `{`, "the body is not the JSON"},
		"more than JSON":                  {"v2RegisterCluster", `{} {}`, "something follows"},
		"a list":                          {"v2RegisterCluster", `[]`, "the body is not the JSON that is wanted: want an object"},
		"an unknown member":               {"v2RegisterCluster", `{"name":"edge","ssh_key":"k"}`, "ssh_key is unknown: cluster-create-params has no such member"},
		"a member in capitals":            {"v2RegisterCluster", `{"Name":"edge"}`, "Name is unknown"},
		"an unknown member, inside":       {"v2RegisterCluster", `{"cluster_networks":[{"cidr":"10.0.0.0/8","prefix":23}]}`, "cluster_networks[0].prefix is unknown"},
		"a number for a text":             {"v2RegisterCluster", `{"name":1}`, "name is not the JSON that is wanted: want a text in quotes"},
		"a text for a number":             {"v2RegisterCluster", `{"control_plane_count":"3"}`, "control_plane_count is not the JSON that is wanted: want a number"},
		"half a host":                     {"v2RegisterCluster", `{"control_plane_count":2.5}`, "want a whole number"},
		"a text for a flag":               {"v2RegisterCluster", `{"user_managed_networking":"yes"}`, "want true or false"},
		"one for a list":                  {"v2RegisterCluster", `{"api_vips":"192.0.2.10"}`, "api_vips is not the JSON that is wanted: want a list"},
		"none of the values":              {"UpdateInfraEnv", `{"kernel_arguments":[{"operation":"prepend","value":"a"}]}`, `kernel_arguments[0].operation "prepend": want one of append; replace; delete`},
		"beyond a limit":                  {"v2RegisterCluster", `{"cluster_networks":[{"host_prefix":129}]}`, "cluster_networks[0].host_prefix 129: want at most 128"},
		"no id":                           {"BindHost", `{"cluster_id":"edge"}`, `cluster_id "edge" is not a UUID`},
		"an object without what it needs": {"v2RegisterCluster", `{"platform":{}}`, "platform.type is required: platform has to have it"},
		"an object with nothing for it":   {"v2RegisterCluster", `{"platform":{"type":""}}`, "platform.type is required: want one of baremetal; nutanix; vsphere; none; external"},
		"an item without what it needs":   {"v2UpdateHost", `{"disks_skip_formatting":[{"disk_id":"a"}]}`, "disks_skip_formatting[0].skip_formatting is required"},
		"a label of nothing":              {"v2UpdateHost", `{"node_labels":[{"key":"a","value":""}]}`, ""},
		"a text is all":                   {"v2UpdateClusterInstallConfig", `"{}"`, ""},
		"an object for a text":            {"v2UpdateClusterInstallConfig", `{}`, "the body is not the JSON that is wanted: want a text in quotes"},
		"an agent says more":              {"v2RegisterHost", `{"host_id":"x","more":1}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := bodies.Check(tc.operation, []byte(tc.body))
			if tc.want == "" {
				NewWithT(t).Expect(err).NotTo(HaveOccurred())
				return
			}
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(tc.want)))
		})
	}
}

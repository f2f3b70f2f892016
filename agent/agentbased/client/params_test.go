package client_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// parameters are members of the request that registers a cluster, written by hand from the
// contract's section 5, and what the manifests of testdata/whole have in other words for each.
var parameters = map[string]struct {
	// replace has pairs of texts of the AgentClusterInstall.
	replace   []string
	operators string
	want      string
}{
	"platform None": {
		[]string{
			"platformType: BareMetal",
			"platformType: None",
			"userManagedNetworking: false",
			"",
			"apiVIP: 192.0.2.5",
			"",
			`apiVIPs: [192.0.2.5, "2001:db8::5"]`,
			"",
			`ingressVIPs: [192.0.2.6, "2001:db8::6"]`,
			"",
		},
		"",
		`{"platform": {"type": "none"}, "user_managed_networking": true, "api_vips": null, "ingress_vips": null}`,
	},
	"platform VSphere": {[]string{"platformType: BareMetal", "platformType: VSphere"}, "", `{"platform": {"type": "vsphere"}, "user_managed_networking": false}`},
	"platform Nutanix": {[]string{"platformType: BareMetal", "platformType: Nutanix"}, "", `{"platform": {"type": "nutanix"}, "user_managed_networking": false}`},
	"platform External": {
		[]string{
			"platformType: BareMetal", "platformType: External\n  external: {platformName: oci, cloudControllerManager: External}",
			"userManagedNetworking: false", "", "apiVIP: 192.0.2.5", "", `apiVIPs: [192.0.2.5, "2001:db8::5"]`, "", `ingressVIPs: [192.0.2.6, "2001:db8::6"]`, "",
		},
		"",
		`{"platform": {"type": "external", "external": {"platform_name": "oci", "cloud_controller_manager": "External"}}, "user_managed_networking": true}`,
	},
	"virtual addresses in the singular": {
		[]string{`apiVIPs: [192.0.2.5, "2001:db8::5"]`, "", `ingressVIPs: [192.0.2.6, "2001:db8::6"]`, "ingressVIP: 192.0.2.6"},
		"",
		`{"api_vips": [{"ip": "192.0.2.5"}], "ingress_vips": [{"ip": "192.0.2.6"}]}`,
	},
	"a load balancer of the site": {[]string{"{type: ClusterManaged}", "{type: UserManaged}"}, "", `{"load_balancer": {"type": "user-managed"}}`},
	"an arbiter": {
		[]string{"controlPlaneAgents: 3", "controlPlaneAgents: 2\n    arbiterAgents: 1", "hyperthreading: Enabled}", "hyperthreading: Enabled}\n  arbiter: {name: arbiter, hyperthreading: Disabled}"},
		"",
		`{"control_plane_count": 2, "high_availability_mode": null, "hyperthreading": "masters"}`,
	},
	"no hyperthreading": {
		[]string{"hyperthreading: Enabled}", "hyperthreading: Disabled}\n  arbiter: {name: arbiter, hyperthreading: Disabled}"},
		"",
		`{"hyperthreading": "none"}`,
	},
	"disks that a Tang server opens": {
		[]string{"{enableOn: masters, mode: tpmv2}", `{enableOn: all, mode: tang, tangServers: '[{"url": "http://tang.example", "thumbprint": "x"}]'}`},
		"",
		`{"disk_encryption": {"enable_on": "all", "mode": "tang", "tang_servers": "[{\"url\": \"http://tang.example\", \"thumbprint\": \"x\"}]"}}`,
	},
	"operators": {
		nil, "- name: lvm\n- name: odf\n  properties: '{\"a\": 1}'\n",
		`{"olm_operators": [{"name": "lvm"}, {"name": "odf", "properties": "{\"a\": 1}"}]}`,
	},
}

// TestParametersOfManifests holds each against the request on the wire.
func TestParametersOfManifests(t *testing.T) {
	for name, tc := range parameters {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			root := host(t)
			file := filepath.Join(root, "manifests", "agent-cluster-install.yaml")
			text := read(t, root, "manifests/agent-cluster-install.yaml")
			for i := 0; i < len(tc.replace); i += 2 {
				g.Expect(text).To(ContainSubstring(tc.replace[i]))
				text = strings.Replace(text, tc.replace[i], tc.replace[i+1], 1)
			}
			g.Expect(os.WriteFile(file, []byte(text), 0o600)).To(Succeed())
			if tc.operators != "" {
				g.Expect(os.WriteFile(filepath.Join(root, "manifests", "operators.yaml"), []byte(tc.operators), 0o600)).To(Succeed())
			}
			hub := newHub(t, fresh())
			g.Expect(newClient(t, hub.URL, root, nil).Run(t.Context(), "registerCluster")).To(Succeed())
			var got, want map[string]json.RawMessage
			g.Expect(json.Unmarshal([]byte(hub.body(t, "POST /clusters")), &got)).To(Succeed())
			g.Expect(json.Unmarshal([]byte(tc.want), &want)).To(Succeed())
			for member, value := range want {
				if sent := got[member]; sent != nil {
					g.Expect(sent).To(MatchJSON(value), member)
				} else {
					g.Expect(value).To(BeEquivalentTo("null"), member)
				}
			}
		})
	}
}

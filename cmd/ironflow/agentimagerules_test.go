package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/client"
	"github.com/ironflow/ironflow/agent/agentbased/image"
	"github.com/ironflow/ironflow/hub/input"
	"github.com/ironflow/ironflow/hub/wire"
	testmedia "github.com/ironflow/ironflow/test/media"
)

// dryRun says what is wrong with an input, of which some texts are changed before.
func dryRun(t *testing.T, input string, changes []inputChange, flags ...string) string {
	t.Helper()
	g := NewWithT(t)
	dir := t.TempDir()
	g.Expect(os.CopyFS(dir, os.DirFS("../../agent/agentbased/image/testdata/"+input))).To(Succeed())
	for _, c := range changes {
		raw, err := os.ReadFile(filepath.Join(dir, c.file))
		if c.old == "" {
			raw, err = nil, nil
		}
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(raw)).To(ContainSubstring(c.old), c.file)
		g.Expect(os.MkdirAll(filepath.Dir(filepath.Join(dir, c.file)), 0o755)).To(Succeed())
		g.Expect(os.WriteFile(filepath.Join(dir, c.file), []byte(strings.Replace(string(raw), c.old, c.now, 1)), 0o600)).To(Succeed())
	}
	parts := t.TempDir()
	iso := filepath.Join(parts, "live.iso")
	g.Expect(testmedia.WriteFile(iso, testmedia.Options{RootfsBytes: 1 << 20})).To(Succeed())
	g.Expect(os.Mkdir(filepath.Join(parts, "x86_64"), 0o755)).To(Succeed())
	for _, name := range []string{"ironflow", "ironflow-agent", "ironflow-agent-based", "ironflow-step"} {
		g.Expect(os.WriteFile(filepath.Join(parts, "x86_64", name), []byte(name), 0o755)).To(Succeed())
	}
	cmd := newAgentImageCommand()
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetOut(&bytes.Buffer{})
	cmd.SetErr(&bytes.Buffer{})
	cmd.SetArgs(append([]string{"create", "--dry-run", "--dir", dir, "--base-image", iso, "--host-programs", parts}, flags...))
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		return err.Error()
	}
	return ""
}

// inputChange is a text of a file, or a whole one that is new.
type inputChange struct{ file, old, now string }

// TestWhatTheHubWouldRefuseIsNoImage: the image is refused for all that its hub would refuse on
// the hosts, where nobody can change it any more. The rules are those of the REST API.
func TestWhatTheHubWouldRefuseIsNoImage(t *testing.T) {
	const (
		install, deployment, env = "cluster-manifests/agent-cluster-install.yaml", "cluster-manifests/cluster-deployment.yaml", "cluster-manifests/infraenv.yaml"
		config, hosts            = "install-config.yaml", "agent-config.yaml"
	)
	ztp, files := []string{"--boot-artifacts-url", "http://192.0.2.1:8080/boot"}, []string{"--release-image", "quay.example/release/ocp:4.19.3-x86_64"}
	for name, tc := range map[string]struct {
		input   string
		changes []inputChange
		want    []string
	}{
		"manifests as they are": {input: "ztp"},
		"files as they are":     {input: "configs"},
		"manifests, everything at once": {"ztp", []inputChange{
			{install, "noProxy: .lab.example", "noProxy: '*.lab.example'"},
			{install, "sshPublicKey: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPin", "sshPublicKey: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPi*"},
			{install, `- {cidr: "fd01::/48"}`, `- {cidr: "fd01::/48", hostPrefix: 80}`},
			{install, "172.30.0.0/16", "10.129.0.0/16"},
			{install, "[192.0.2.6, \"2001:db8::6\"]", "[192.0.2.255]"},
			{install, `'{"fips": true}'`, `'{"fisp": true}'`},
			{deployment, "baseDomain: lab.example", "baseDomain: lab.e"},
			{env, "ntp1.example, ntp2.example", "ntp1.example, -ntp2.example"},
		}, []string{
			install + `, document 1, line 39: spec.proxy.noProxy "*.lab.example": want `,
			install + ", document 1, line 31: spec.sshPublicKey cannot be used: line 1 is no public key",
			install + ", document 1, line 20: spec.networking.clusterNetwork[1].hostPrefix cannot be used: 80 of cluster network",
			install + ", document 1, line 25: spec.networking.serviceNetwork",
			install + `, document 1, line 14: spec.ingressVIPs`,
			install + ", document 1, line 7: metadata.annotations",
			deployment + `, document 1, line 8: spec.baseDomain "lab.e": want a last name of at least two characters`,
			env + ", document 1, line 10: spec.additionalNTPSources",
		}},
		"files, everything at once": {"configs", []inputChange{
			{config, "noProxy: .lab.example", "noProxy: '*.lab.example'"},
			{config, "172.30.0.0/16", "10.129.0.0/16"},
			{config, "baseDomain: lab.example", "baseDomain: lab.e"},
			{config, `"dTpw"`, `"dTpwx"`},
			{config, "hostPrefix: 23", "hostPrefix: 30"},
			{hosts, "hostname: master-0", "hostname: master-0." + strings.Repeat("a", 60)},
		}, []string{
			config + `, document 1, line 24: proxy.noProxy "*.lab.example": want `,
			config + ", document 1, line 16: networking.serviceNetwork",
			config + `, document 1, line 4: baseDomain "lab.e": want`,
			config + `, document 1, line 25: pullSecret cannot be used: auths["registry.example"] has an auth that is not base64`,
			config + ", document 1, line 15: networking.clusterNetwork[0].hostPrefix cannot be used: 30 of",
			hosts + `, document 1, line 9: hosts[0].hostname "master-0.aaa`,
		}},
		"an operator that nobody has": {
			"ztp",
			[]inputChange{{"cluster-manifests/operators.yaml", "", "[{name: lvmo}]\n"}},
			[]string{`cluster-manifests/operators.yaml: cannot be installed: olm_operators: there is no operator "lvmo"`},
		},
		"settings of the hub": {"ztp", []inputChange{{"hub.env", "=/etc/ironflow/ignition", "=/etc/ironflow/ignition\nIRONFLOW_HUB_STAGE_TIMOUTS=Rebooting=20s\nIRONFLOW_HUB_KEEP_EVENTS=soon"}}, []string{
			"hub.env: sets IRONFLOW_HUB_STAGE_TIMOUTS, which is no setting of the hub: did you mean IRONFLOW_HUB_STAGE_TIMEOUTS?",
			`hub.env: cannot be used: $IRONFLOW_HUB_KEEP_EVENTS is "soon", which is no duration`,
		}},
		"settings that no hub can have": {
			"ztp",
			[]inputChange{{"hub.env", "=/etc/ironflow/ignition", "=/etc/ironflow/ignition\nHW_VALIDATOR_REQUIREMENTS=x\nIRONFLOW_HUB_STAGE_TIMEOUTS=Rebooting"}},
			[]string{"hub.env: cannot be used: --hub-host-requirements: ", "hub.env: cannot be used: --hub-stage-timeouts"},
		},
		"settings as files of environments have them": {"ztp", []inputChange{{"hub.env", "=/etc/ironflow/ignition", "=/etc/ironflow/ignition\nhttps_proxy=http://proxy.example:3128\n" +
			`HW_VALIDATOR_REQUIREMENTS=[{"version":"default","master":{"cpu_cores":2,"ram_mib":4096,"disk_size_gb":10},"worker":{"cpu_cores":1,"ram_mib":2048,"disk_size_gb":10}}]`}}, nil},
		"a version of the live system": {"ztp", []inputChange{{env, "spec:\n", "spec:\n  osImageVersion: '4.19'\n"}}, []string{
			env + ", document 1, line 7: spec.osImageVersion is not acted upon: the live system is that of --base-image",
		}},
		"hosts that join as they are": {input: "nodes"},
		"hosts that join": {
			"nodes",
			[]inputChange{
				{"nodes-config.yaml", "cpuArchitecture: amd64\n", "cpuArchitecture: amd64\nproxy: {httpProxy: 'http://user:hunter2@p.example', noProxy: '*.lab.example'}\n"},
				{"nodes-config.yaml", "hostname: extra-1", "hostname: " + strings.Repeat("extra", 20)},
			},
			[]string{
				`nodes-config.yaml, document 1, line 2: proxy.noProxy "*.lab.example"`,
				"nodes-config.yaml, document 1, line 21: hosts[1].hostname",
			},
		},
		"fencing": {
			"ztp",
			[]inputChange{{"hostconfig/fencing-credentials.yaml", "", "[{hostname: master-0, address: 192.0.2.9, username: a, password: hunter2}]\n"}},
			[]string{"hostconfig/fencing-credentials.yaml: is not acted upon: the hub makes no clusters with fencing; take it away"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			flags := ztp
			switch tc.input {
			case "configs":
				flags = files
			case "nodes":
				flags = []string{"--workflow", "addnodes"}
			}
			said := dryRun(t, tc.input, tc.changes, flags...)
			if tc.want == nil {
				g.Expect(said).To(BeEmpty())
			}
			for _, want := range tc.want {
				g.Expect(said).To(ContainSubstring(want))
			}
			g.Expect(said).NotTo(ContainSubstring("hunter2"))
		})
	}
}

// TestTheRulesOfImagesAreThoseOfTheAPI: the cases of each rule of the REST API, whose settings
// manifests can have, pass and fail for an image.
func TestTheRulesOfImagesAreThoseOfTheAPI(t *testing.T) {
	told := 0
	for _, row := range input.Table() {
		if row.Of == "host" && row.Fields[0].Member != "host_name" || row.Fields[0].Member == "api_vip_dns_name" {
			continue // nothing of that is in manifests
		}
		told++
		t.Run(row.Of+" "+row.Fields[0].Member, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(judged(t, row, row.Good)).To(BeEmpty(), row.Good)
			g.Expect(judged(t, row, row.Bad)).NotTo(BeEmpty(), row.Bad)
		})
	}
	NewWithT(t).Expect(told).To(BeNumerically(">", 25))
}

// judged is what is refused of a part of a body of the REST API.
func judged(t *testing.T, row input.Row, part string) []image.Refused {
	t.Helper()
	g := NewWithT(t)
	asked := client.Asked{}
	var hosts []wire.HostUpdateParams
	switch row.Of {
	case "cluster":
		asked.Cluster = &wire.ClusterCreateParams{Name: "edge", PullSecret: `{"auths":{}}`}
		var overrides struct {
			Text string `json:"install_config_overrides"`
		}
		g.Expect(json.Unmarshal([]byte(part), asked.Cluster)).To(Succeed())
		g.Expect(json.Unmarshal([]byte(part), &overrides)).To(Succeed())
		asked.Overrides = overrides.Text
	case "infra-env":
		asked.InfraEnv = &wire.InfraEnvCreateParams{Name: "edge", PullSecret: `{"auths":{}}`}
		g.Expect(json.Unmarshal([]byte(part), asked.InfraEnv)).To(Succeed())
	default:
		hosts = make([]wire.HostUpdateParams, 1)
		g.Expect(json.Unmarshal([]byte(part), &hosts[0])).To(Succeed())
	}
	return hubRules(asked, hosts)
}

package ignition_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/imagecustomization/ignition"
	"github.com/ironflow/ironflow/test/ignitioncheck"
	"github.com/ironflow/ironflow/test/liveimage"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func ca(t testing.TB) string {
	t.Helper()
	raw, err := os.ReadFile("testdata/ca.pem")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// full uses every field.
func full(t testing.TB) ignition.HostConfig {
	return ignition.HostConfig{
		IPA: &ignition.IPA{
			APIURLs:         []string{"https://ironic.example.com", "https://[fd00::1]:6385/"},
			InspectionURLs:  []string{"https://inspector.example.com"},
			CA:              ca(t),
			VLANInterfaces:  "all",
			Image:           "registry.example.com/ipa@sha256:0123456789abcdef",
			DefaultHostname: "worker-0",
			IPOptions:       "ip=dhcp6",
			CopyNetwork:     true,
		},
		Agent: &ignition.Agent{
			URL:        "https://hub.example.com:8090",
			InfraEnvID: "11111111-2222-3333-4444-555555555555",
			Version:    "registry.example.com/ironflow/agent:v1",
			Token:      "secret-token",
			CA:         ca(t),
			Deadlines:  hostfile.StepDeadlines{StartSeconds: 600, TotalSeconds: 7200},
			Gate:       true,
		},
		SSHKeys:    []string{"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f admin"},
		PullSecret: `{"auths":{}}`,
		NTPServers: []string{"ntp.example.com", "fd00::123"},
		Registries: "unqualified-search-registries = []\n",
		CABundle:   ca(t),
		Proxy:      ignition.Proxy{HTTP: "http://user:p%40ss@proxy:3128", HTTPS: "http://proxy:3128", No: "10.0.0.0/8,.example.com"},
		Keyfiles:   map[string][]byte{"eth0": []byte("[connection]\nid=eth0\n")},
		Override:   json.RawMessage(`{"ignition":{"version":"3.1.0"},"storage":{"files":[{"path":"/etc/user","contents":{"source":"data:,hello"}}]}}`),
	}
}

// demo is what the first flight uses.
func demo(t testing.TB) ignition.HostConfig {
	return ignition.HostConfig{
		IPA: &ignition.IPA{APIURLs: []string{"https://127.0.0.1:6385"}, CA: ca(t), VLANInterfaces: "all", Image: "ipa:demo"},
		Agent: &ignition.Agent{
			URL: "https://127.0.0.1:8090", InfraEnvID: "11111111-2222-3333-4444-555555555555",
			Version: "ironflow-agent:v1", Token: "t", CA: ca(t), Gate: true,
		},
	}
}

// render makes a config readable: one section per file and unit.
func render(t testing.TB, raw []byte) []byte {
	t.Helper()
	d, err := liveimage.Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for _, f := range d.Files {
		fmt.Fprintf(&out, "=== file %s %04o\n%s", f.Path, f.Mode, f.Data)
		for _, a := range f.Append {
			fmt.Fprintf(&out, "--- append\n%s", a)
		}
	}
	for _, u := range d.Units {
		fmt.Fprintf(&out, "=== unit %s enabled=%t\n%s", u.Name, u.Enabled, u.Contents)
	}
	return out.Bytes()
}

func TestGolden(t *testing.T) {
	program := demo(t)
	program.IPA.Image, program.IPA.Command = "", []string{"/usr/bin/ironic-python-agent", "--config-file=/etc/ironic-python-agent.conf"}
	program.Agent.Gate = false
	cases := map[string]ignition.HostConfig{
		"full":     full(t),
		"demo":     demo(t),
		"program":  program,
		"ipa-only": {IPA: demo(t).IPA},
		"foreign-agent": {
			IPA: demo(t).IPA, PullSecret: `{"auths":{}}`,
			Agent: &ignition.Agent{URL: "https://hub", InfraEnvID: demo(t).Agent.InfraEnvID, Version: "v1", Token: "t", Image: "registry.example.com/agent:v1", ImageInsecure: true},
		},
		"agent-only": {Agent: &ignition.Agent{URL: "https://hub", InfraEnvID: demo(t).Agent.InfraEnvID, Version: "v1", Token: "t"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			raw, err := ignition.Build(c)
			g.Expect(err).NotTo(HaveOccurred())
			ignitioncheck.Valid(t, raw)
			got, path := render(t, raw), filepath.Join("testdata", name+".golden")
			if *update {
				g.Expect(os.WriteFile(path, got, 0o600)).To(Succeed())
			}
			want, err := os.ReadFile(path)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(got)).To(Equal(string(want)))
			for range 5 {
				g.Expect(ignition.Build(c)).To(Equal(raw), "the same input gives the same bytes")
			}
		})
	}
}

func unit(t testing.TB, c ignition.HostConfig, name string) liveimage.Unit {
	t.Helper()
	raw, err := ignition.Build(c)
	if err != nil {
		t.Fatal(err)
	}
	d, err := liveimage.Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range d.Units {
		if u.Name == name {
			return u
		}
	}
	t.Fatalf("no unit %s", name)
	return liveimage.Unit{}
}

func TestNmstateIsAppliedByTheLiveSystem(t *testing.T) {
	g := NewWithT(t)
	c := demo(t)
	c.Nmstate = []ignition.Nmstate{{Document: "interfaces: []\n"}, {Cards: []string{"52:54:00:00:00:01", "52:54:00:00:00:02"}, Document: "{}"}}
	c.Hostname = "node-1.example.com"
	raw, err := ignition.Build(c)
	g.Expect(err).NotTo(HaveOccurred())
	got := string(render(t, raw))
	g.Expect(got).To(And(
		ContainSubstring("=== file /etc/ironflow/nmstate/host0.yml 0600\ninterfaces: []\n"),
		Not(ContainSubstring("/etc/ironflow/nmstate/host0.cards")),
		ContainSubstring("=== file /etc/ironflow/nmstate/host1.cards 0600\n52:54:00:00:00:01\n52:54:00:00:00:02\n"),
		ContainSubstring("=== file /etc/hostname 0644\nnode-1.example.com\n"),
		ContainSubstring("=== unit ironflow-nmstate.service enabled=true\n"),
	))
}

func TestAgentStartsOnlyThroughTheGate(t *testing.T) {
	g := NewWithT(t)
	u := unit(t, demo(t), "agent.service")
	g.Expect(u.Enabled).To(BeFalse())
	g.Expect(u.Contents).To(ContainSubstring("ConditionPathExists=/run/ironflow/agent.gate\n"))
	g.Expect(u.Contents).To(ContainSubstring("RestartPreventExitStatus=90 91\n"))
	g.Expect(unit(t, demo(t), "ironic-agent.service").Enabled).To(BeTrue())
	// Foreign plugins take a closed gate for success, so for them there is none.
	c := demo(t)
	c.Agent.Gate = false
	g.Expect(unit(t, c, "agent.service").Contents).NotTo(ContainSubstring("ConditionPathExists"))
	c.IPA = nil
	g.Expect(unit(t, c, "agent.service").Enabled).To(BeTrue())
}

func TestSecretsLieInPrivateFilesOnly(t *testing.T) {
	g := NewWithT(t)
	c := full(t)
	raw, err := ignition.Build(c)
	g.Expect(err).NotTo(HaveOccurred())
	d, err := liveimage.Decode(raw)
	g.Expect(err).NotTo(HaveOccurred())
	for _, f := range d.Files {
		if bytes.Contains(f.Data, []byte("secret-token")) || bytes.Contains(f.Data, []byte("p%40ss")) {
			g.Expect(f.Mode).To(Equal(0o600), f.Path)
		}
	}
	for _, u := range d.Units {
		g.Expect(u.Contents).NotTo(Or(ContainSubstring("secret-token"), ContainSubstring("p%40ss")))
	}
	g.Expect(fmt.Sprintf("%v %+v %#v", c.PullSecret, *c.Agent, *c.Agent)).NotTo(ContainSubstring("secret-token"))
}

func override(text string) json.RawMessage { return json.RawMessage(text) }

func TestTheUserWins(t *testing.T) {
	g := NewWithT(t)
	c := demo(t)
	c.Override = override(`{"ignition":{"version":"3.4.0"},
		"storage":{"files":[{"path":"/etc/ironic-python-agent.conf","mode":384,"contents":{"source":"data:,mine"}},
			{"path":"/etc/chrony.conf","append":[{"source":"data:,user"}]}]},
		"systemd":{"units":[{"name":"ironic-agent.service","dropins":[{"name":"10.conf","contents":"[Service]\n"}]}]}}`)
	raw, err := ignition.Build(c)
	g.Expect(err).NotTo(HaveOccurred())
	var version struct{ Ignition struct{ Version string } }
	g.Expect(json.Unmarshal(raw, &version)).To(Succeed())
	g.Expect(version.Ignition.Version).To(Equal("3.2.0"))
	d, err := liveimage.Decode(raw)
	g.Expect(err).NotTo(HaveOccurred())
	seen := 0
	for _, f := range d.Files {
		if f.Path == hostfile.IPAConfig {
			seen++
			g.Expect(string(f.Data)).To(Equal("mine"))
			g.Expect(f.Mode).To(Equal(0o600))
		}
	}
	g.Expect(seen).To(Equal(1))
	g.Expect(string(raw)).To(ContainSubstring("10.conf"))
	g.Expect(unit(t, c, "ironic-agent.service").Enabled).To(BeTrue())
}

func TestRefusals(t *testing.T) {
	cases := []struct {
		name string
		edit func(*ignition.HostConfig)
		want string
	}{
		{"no Ironic", func(c *ignition.HostConfig) { c.IPA.APIURLs = nil }, "ipa.apiURLs: at least one"},
		{"bad Ironic URL", func(c *ignition.HostConfig) { c.IPA.APIURLs = []string{"https://a", "ironic:6385"} }, "ipa.apiURLs[1]"},
		{"no image", func(c *ignition.HostConfig) { c.IPA.Image = "" }, "ipa.image"},
		{"image and command", func(c *ignition.HostConfig) { c.IPA.Command = []string{"a"} }, "ipa.command"},
		{"image with a space", func(c *ignition.HostConfig) { c.IPA.Image = "a b" }, "ipa.image"},
		{"bad host name", func(c *ignition.HostConfig) { c.IPA.DefaultHostname = "a b" }, "ipa.defaultHostname"},
		{"bad CA", func(c *ignition.HostConfig) { c.IPA.CA = "xxx" }, "ipa.ca: holds no PEM"},
		{"two lines", func(c *ignition.HostConfig) { c.IPA.IPOptions = "a\nb" }, "ipa.ipOptions"},
		{"bad hub URL", func(c *ignition.HostConfig) { c.Agent.URL = "hub" }, "agent.url"},
		{"bad infra-env", func(c *ignition.HostConfig) { c.Agent.InfraEnvID = "x" }, "agent.infraEnvID"},
		{"bad version", func(c *ignition.HostConfig) { c.Agent.Version = "" }, "agent.version"},
		{"token of two lines", func(c *ignition.HostConfig) { c.Agent.Token = "a\nB=c" }, "agent.token"},
		{"gate without IPA", func(c *ignition.HostConfig) { c.IPA = nil }, "agent.gate"},
		{"negative deadline", func(c *ignition.HostConfig) { c.Agent.Deadlines.IdleSeconds = -1 }, "agent.deadlines"},
		{"bad SSH key", func(c *ignition.HostConfig) { c.SSHKeys = []string{"ssh-rsa"} }, "sshKeys[0]"},
		{"bad pull secret", func(c *ignition.HostConfig) { c.PullSecret = "{" }, "pullSecret"},
		{"bad NTP server", func(c *ignition.HostConfig) { c.NTPServers = []string{"a", "b iburst"} }, "ntpServers[1]"},
		{"bad proxy", func(c *ignition.HostConfig) { c.Proxy.HTTP = "proxy" }, "proxy.http: not a URL"},
		{"keyfile path", func(c *ignition.HostConfig) { c.Keyfiles = map[string][]byte{"../x": nil} }, `keyfiles["../x"]`},
		{"override is no JSON", func(c *ignition.HostConfig) { c.Override = override("{") }, "ignition override: not valid JSON"},
		{"override without version", func(c *ignition.HostConfig) { c.Override = override("{}") }, "ignition.version"},
		{"override of spec 2", func(c *ignition.HostConfig) { c.Override = override(`{"ignition":{"version":"2.3.0"}}`) }, "ignition.version"},
		{"override replaces all", func(c *ignition.HostConfig) {
			c.Override = override(`{"ignition":{"version":"3.2.0","config":{"replace":{"source":"https://x/y"}}}}`)
		}, "ignition.config.replace"},
		{"override with a bad mode", func(c *ignition.HostConfig) {
			c.Override = override(`{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/a"},{"path":"/b","mode":99999}]}}`)
		}, "$.storage.files.1.mode"},
		{"override with a relative path", func(c *ignition.HostConfig) {
			c.Override = override(`{"ignition":{"version":"3.0.0"},"storage":{"files":[{"path":"b"}]}}`)
		}, "$.storage.files.0.path"},
		{"override newer than the live system", func(c *ignition.HostConfig) {
			c.Override = override(`{"ignition":{"version":"3.3.0"},"kernelArguments":{"shouldExist":["a"]}}`)
		}, "$.kernelArguments"},
		{"override with bits that Ignition drops", func(c *ignition.HostConfig) {
			c.Override = override(`{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/a","mode":2541}]}}`)
		}, "$.storage.files.0.mode: setuid/setgid/sticky bits are not supported"},
		{"file that is a directory", func(c *ignition.HostConfig) {
			c.Override = override(`{"ignition":{"version":"3.2.0"},"storage":{"links":[{"path":"/etc/ironflow","target":"/tmp"}]}}`)
		}, "$.storage.files"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			c := demo(t)
			tc.edit(&c)
			_, err := ignition.Build(c)
			g.Expect(err).To(MatchError(ignition.ErrInvalid))
			g.Expect(err.Error()).To(ContainSubstring(tc.want))
		})
	}
}

func TestAllProblemsAreNamedAtOnce(t *testing.T) {
	c := demo(t)
	c.IPA.Image, c.Agent.URL, c.SSHKeys = "", "", []string{"x"}
	_, err := ignition.Build(c)
	for _, field := range []string{"ipa.image", "agent.url", "sshKeys[0]"} {
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring(field)))
	}
}

func TestDecodeNamesTheFileThatItCannotRead(t *testing.T) {
	_, err := liveimage.Decode([]byte(`{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/a","contents":{"source":"https://x"}}]}}`))
	NewWithT(t).Expect(err).To(MatchError(And(ContainSubstring("/a"), ContainSubstring("data URLs"))))
}

func TestSizeStaysSmall(t *testing.T) {
	raw, err := ignition.Build(demo(t))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	NewWithT(t).Expect(len(raw)).To(BeNumerically("<", 16<<10))
	NewWithT(t).Expect(strings.Count(string(raw), "base64")).To(BeZero())
}

package images

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/spf13/pflag"

	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/api/config/topics"
	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/controllers/parts"
	"github.com/ironflow/ironflow/hub/pki"
	"github.com/ironflow/ironflow/imagecustomization/ignition"
	"github.com/ironflow/ironflow/test/liveimage"
)

// rendered is the Ignition of an image without an InfraEnv, for an environment.
func rendered(t *testing.T, arch string, environment map[string]string) (string, error) {
	t.Helper()
	g := NewWithT(t)
	for name, value := range environment {
		t.Setenv(name, value)
	}
	p := &Part{Program: new(parts.Program)}
	flags := pflag.NewFlagSet("images", pflag.ContinueOnError)
	settings.Bind(flags, p.Flags())
	g.Expect(flags.Parse([]string{"--ironic-base-url=https://ironic.example", "--base-image=x", "--ironic-agent-image=registry.example/ipa"})).To(Succeed())
	g.Expect(p.Check()).To(Succeed())
	config, err := p.baseConfig()
	if err != nil {
		return "", err
	}
	ipa, err := p.ipaConfig(arch)
	g.Expect(err).NotTo(HaveOccurred())
	config.IPA = &ipa
	raw, err := ignition.Build(config)
	if err != nil {
		return "", err
	}
	decoded, err := liveimage.Decode(raw)
	g.Expect(err).NotTo(HaveOccurred())
	var text strings.Builder
	for _, f := range decoded.Files {
		fmt.Fprintf(&text, "%s\n%s\n%s\n", f.Path, f.Data, f.Append)
	}
	for _, u := range decoded.Units {
		fmt.Fprintf(&text, "%s\n%s\n", u.Name, u.Contents)
	}
	return text.String(), nil
}

// Each setting of the image-customization controller has its effect here, under
// the same name.
func TestSettingsReachEveryLiveImage(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		NewWithT(t).Expect(os.WriteFile(path, []byte(text), 0o600)).To(Succeed())
		return path
	}
	certificates, err := pki.Ensure(filepath.Join(dir, "tls"), []string{"hub.example"}, time.Now())
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	authPath := "/etc/authfile.json"
	for name, c := range map[string]struct {
		env  map[string]string
		arch string
		want []string
	}{
		"pull secret":        {map[string]string{"IRONIC_AGENT_PULL_SECRET": base64.StdEncoding.EncodeToString([]byte(`{"auths":{}}`))}, "", []string{authPath}},
		"pull secret's file": {map[string]string{"IRONFLOW_IRONIC_AGENT_PULL_SECRET_FILE": file("pull", `{"auths":{}}`)}, "", []string{authPath}},
		"registries":         {map[string]string{"REGISTRIES_CONF_PATH": file("registries.conf", "[[registry]]\nlocation = \"mirror.example\"\n")}, "", []string{"/etc/containers/registries.conf"}},
		"CA bundle":          {map[string]string{"CA_BUNDLE": certificates.CA}, "", []string{"/etc/pki/ca-trust/source/anchors/ca.crt"}},
		"IP options":         {map[string]string{"IP_OPTIONS": "ip=dhcp6"}, "", []string{"ip=dhcp6"}},
		"proxy": {
			map[string]string{"HTTP_PROXY": "http://proxy.example:1", "HTTPS_PROXY": "http://proxy.example:2", "NO_PROXY": "site.example"},
			"",
			[]string{"proxy.example:1", "proxy.example:2", "site.example"},
		},
		"time servers":         {map[string]string{"ADDITIONAL_NTP_SERVERS": "ntp1.example, ntp2.example"}, "", []string{"server ntp1.example iburst", "server ntp2.example iburst"}},
		"inspector":            {map[string]string{"IRONIC_INSPECTOR_BASE_URL": "https://inspector.example"}, "", []string{"inspection_callback_url = https://inspector.example:5050/v1/continue"}},
		"image of IPA":         {map[string]string{"IRONIC_AGENT_IMAGE_ARM": "registry.example/arm"}, "x86_64", []string{"registry.example/ipa"}},
		"image of IPA for ARM": {map[string]string{"IRONIC_AGENT_IMAGE_ARM": "registry.example/arm"}, "aarch64", []string{"registry.example/arm"}},
		"insecure registry":    {map[string]string{"IRONFLOW_IRONIC_AGENT_IMAGE_INSECURE": "true"}, "", []string{"--tls-verify=false"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			before, err := rendered(t, "", nil)
			g.Expect(err).NotTo(HaveOccurred())
			text, err := rendered(t, c.arch, c.env)
			g.Expect(err).NotTo(HaveOccurred())
			for _, want := range c.want {
				g.Expect(text).To(ContainSubstring(want))
				if want != "registry.example/ipa" {
					g.Expect(before).NotTo(ContainSubstring(want))
				}
			}
		})
	}
}

func TestSettingsOfLiveImagesThatCannotWork(t *testing.T) {
	for name, c := range map[string]struct{ env, value, want string }{
		"a pull secret in plain text": {"IRONIC_AGENT_PULL_SECRET", `{"auths":{}}`, "IRONIC_AGENT_PULL_SECRET is not base64"},
		"a file that is not there":    {"REGISTRIES_CONF_PATH", "/nowhere", "registries.conf"},
		"a bundle that is not there":  {"CA_BUNDLE", "/nowhere", "CA bundle"},
		"no time server":              {"ADDITIONAL_NTP_SERVERS", "a b", "ntpServers[0]"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := rendered(t, "", map[string]string{c.env: c.value})
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(c.want)))
		})
	}
}

func TestTheHelpShowsNoSecret(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("IRONIC_AGENT_PULL_SECRET", "c2VjcmV0")
	var s v1alpha1.IronflowConfiguration
	flags := pflag.NewFlagSet("run", pflag.ContinueOnError)
	settings.Bind(flags, topics.All(&s))
	g.Expect(flags.Parse(nil)).To(Succeed())
	g.Expect(s.LiveSystem.PullSecret).To(Equal("c2VjcmV0"))
	var help bytes.Buffer
	flags.SetOutput(&help)
	flags.PrintDefaults()
	g.Expect(help.String()).To(ContainSubstring("ironic-agent-pull-secret"))
	g.Expect(help.String()).NotTo(ContainSubstring("c2VjcmV0"))
}

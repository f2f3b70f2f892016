package image

import (
	"fmt"
	"strings"
	"testing"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/imagecustomization/ignition"
	"github.com/ironflow/ironflow/test/liveimage"
)

// ignitionOf is the Ignition of the first image that was built.
func (w *world) ignitionOf() string {
	w.t.Helper()
	i, _, err := w.pass()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(is(i, metal3v1.ConditionImageReady).Status).To(Equal(metav1.ConditionTrue))
	decoded, err := liveimage.Decode(w.store.specs[0].Ignition)
	w.Expect(err).NotTo(HaveOccurred())
	var text strings.Builder
	for _, f := range decoded.Files {
		fmt.Fprintf(&text, "%s\n%s\n%s\n", f.Path, f.Data, f.Append)
	}
	for _, u := range decoded.Units {
		fmt.Fprintf(&text, "%s\n%s\n", u.Name, u.Contents)
	}
	return text.String()
}

func TestAnInfraEnvsSettingsAreOnTop(t *testing.T) {
	all := ignition.HostConfig{
		NTPServers: []string{"site-clock.example"}, PullSecret: `{"auths":{"site.example":{}}}`, Registries: "# the site's mirrors\n",
		Proxy: ignition.Proxy{HTTP: "http://site-proxy.example:1"},
	}
	w := newWorld(t, asked())
	w.base = all
	plain := w.ignitionOf()
	for _, want := range []string{"site-clock.example", "/etc/authfile.json", "registries.conf", "site-proxy.example"} {
		w.Expect(plain).To(ContainSubstring(want))
	}
	w = newWorld(t, asked(ofEdge), secret("pull", corev1.DockerConfigJsonKey, `{"auths":{"edge.example":{}}}`), edge(func(e *agentv1.InfraEnv) {
		e.Spec.NTPSources = []string{"edge-clock.example"}
		e.Spec.Proxy = &agentv1.Proxy{HTTPProxy: "http://edge-proxy.example:1"}
		e.Annotations = map[string]string{names.IronicAgentImage: "registry.example/edge-ipa"}
	}))
	w.base = all
	labelled := w.ignitionOf()
	for _, want := range []string{"edge-clock.example", "site-clock.example", "edge-proxy.example", "registries.conf", "registry.example/edge-ipa"} {
		w.Expect(labelled).To(ContainSubstring(want))
	}
	w.Expect(labelled).NotTo(Or(ContainSubstring("site-proxy.example"), ContainSubstring("/usr/local/bin/ironic-python-agent")))
}

func TestVLANInterfacesOfIPA(t *testing.T) {
	for name, c := range map[string]struct {
		setting string
		network bool
		want    string
	}{
		"as a rule":                    {"", false, "enable_vlan_interfaces = all"},
		"as a rule, with network data": {"", true, "enable_vlan_interfaces =\n"},
		"always":                       {VLANAlways, true, "enable_vlan_interfaces = all"},
		"never":                        {VLANNever, false, "enable_vlan_interfaces =\n"},
	} {
		t.Run(name, func(t *testing.T) {
			i := asked()
			if c.network {
				withNetwork(i)
			}
			w := newWorld(t, i, secret("net", "eth0.nmconnection", "[connection]\nid=eth0\ntype=ethernet\n"))
			w.r.options.VLANInterfaces = c.setting
			w.Expect(w.ignitionOf()).To(ContainSubstring(c.want))
		})
	}
}

// TestIronicIsCalledWhereMachinesReachIt: by names, and by addresses of the families that the InfraEnv says.
func TestIronicIsCalledWhereMachinesReachIt(t *testing.T) {
	all := []string{"https://192.0.2.1", "https://[2001:db8::1]", "https://ironic.example"}
	for families, want := range map[string]string{
		"v4":     "api_url = https://192.0.2.1:6385,https://ironic.example:6385\n",
		"v6":     "api_url = https://[2001:db8::1]:6385,https://ironic.example:6385\n",
		"v4, v6": "api_url = https://192.0.2.1:6385,https://[2001:db8::1]:6385,https://ironic.example:6385\n",
		"":       "api_url = https://192.0.2.1:6385,https://[2001:db8::1]:6385,https://ironic.example:6385\n",
		"v7":     "api_url = https://192.0.2.1:6385,https://[2001:db8::1]:6385,https://ironic.example:6385\n",
	} {
		t.Run(families, func(t *testing.T) {
			w := newWorld(t, asked(ofEdge), secret("pull", corev1.DockerConfigJsonKey, `{"auths":{}}`), edge(func(e *agentv1.InfraEnv) {
				e.Annotations = map[string]string{names.IPFamily: families}
			}))
			w.r.options.IPA = func(string) (ignition.IPA, error) {
				return ignition.IPA{APIURLs: all, InspectionURLs: all[:1], Command: []string{"/usr/local/bin/ironic-python-agent"}}, nil
			}
			text := w.ignitionOf()
			w.Expect(text).To(ContainSubstring(want))
			w.Expect(strings.Contains(text, "inspection_callback_url")).To(Equal(families != "v6"), "an inspector that is not reached is none")
			w.Expect(all).To(HaveLen(3), "others have their own")
		})
	}
}

// TestAnIronicThatNoMachineReaches is said, not built into an image.
func TestAnIronicThatNoMachineReaches(t *testing.T) {
	w := newWorld(t, asked(ofEdge), secret("pull", corev1.DockerConfigJsonKey, `{"auths":{}}`), edge(func(e *agentv1.InfraEnv) {
		e.Annotations = map[string]string{names.IPFamily: "v6"}
	}))
	w.r.options.IPA = func(string) (ignition.IPA, error) {
		return ignition.IPA{APIURLs: []string{"https://192.0.2.1"}, Command: []string{"/usr/local/bin/ironic-python-agent"}}, nil
	}
	i, _, err := w.pass()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(is(i, metal3v1.ConditionImageError)).To(And(HaveField("Status", metav1.ConditionTrue), HaveField("Message",
		ContainSubstring("annotation infraenv.agent-install.openshift.io/ip-family of InfraEnv edge says v6, and Ironic has no such address for machines: https://192.0.2.1"))))
}

package migrate_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/controllers/migrate"
	"github.com/ironflow/ironflow/imagecustomization/network"
	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/handover"
)

// beyond is a document that only nmstatectl can do.
const beyond = "interfaces: [{name: m0, type: mac-vlan}]"

// The ways that the networks of a fleet would take: translated, nmstatectl, refused.
func TestWaysOfTheNetworksOfAFleet(t *testing.T) {
	for name, tc := range map[string]struct {
		document string
		live     network.Live
		images   bool
		want     []string
		warning  bool
	}{
		"translated": {"interfaces: [{name: eth0}]", network.Live{}, true, []string{"note : 2 descriptions of networks are translated to keyfiles"}, false},
		"nmstatectl": {
			beyond,
			network.Live{Nmstatectl: true, Why: "a new base image"},
			true,
			[]string{
				`note fleet/provisioned: the network of its Secret "net" is left to nmstatectl in the live system \(a new base image\): .*interfaces\[0\].type`,
				"note fleet/node-0: the network of its NMStateConfig is left to nmstatectl",
			},
			false,
		},
		"nobody": {
			beyond,
			network.Live{Why: "an old base image"},
			true,
			[]string{`warning fleet/provisioned: the network of its Secret "net" is refused, so that no live image is made: .*interfaces\[0\].type.*an old base image`, "warning fleet/node-0"},
			true,
		},
		"a mistake":               {"interfaces: [{name: eth0, mtu: big}]", network.Live{Nmstatectl: true}, true, []string{`warning fleet/provisioned: .*interfaces\[0\].mtu`, "warning fleet/node-0"}, true},
		"without images of hosts": {"interfaces: [{name: eth0, mtu: big}]", network.Live{}, false, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, "provisioned")
			edit(s, bmh("provisioned"), func(h *metal3.BareMetalHost) { h.Spec.PreprovisioningNetworkDataName = "net" })
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: handover.Namespace, Name: "net", Labels: map[string]string{"environment.metal3.io": "baremetal"}}}
			secret.Data = map[string][]byte{"nmstate": []byte(tc.document)}
			s.Expect(s.kube.Create(t.Context(), secret)).To(Succeed())
			config := &agentv1.NMStateConfig{ObjectMeta: metav1.ObjectMeta{Namespace: handover.Namespace, Name: "node-0"}}
			config.Spec.Interfaces = []agentv1.NMStateInterface{{Name: "nic1", MacAddress: "52:54:00:00:00:01"}}
			config.Spec.NetConfig.Raw = []byte(jsonOf(s, tc.document))
			s.Expect(s.kube.Create(t.Context(), config)).To(Succeed())
			report, err := migrate.Check(t.Context(), migrate.Options{
				Client: s.kube, Ironic: ironic.Config{URL: "http://ironic.test", Transport: s.sim.Transport()}, Live: func(context.Context, string, string) network.Live { return tc.live },
				Settings: policy.Settings{Settings: nodespec.Settings{BuildImages: tc.images}},
			})
			s.Expect(err).NotTo(HaveOccurred())
			var want []any
			for _, text := range tc.want {
				want = append(want, MatchRegexp("^"+text))
			}
			s.Expect(about(report, "networks")).To(ConsistOf(want...))
			if tc.warning {
				s.Expect(report.Verdict).To(Equal("warning"))
			}
		})
	}
}

// Each host is judged by the base image that its own live image is made of: of its
// architecture, and of the version that its InfraEnv asks for.
func TestTheBaseImageOfTheHostDecides(t *testing.T) {
	for name, tc := range map[string]struct {
		arch, version string
		want          string
	}{
		"a new one of the architecture": {"x86_64", "", "note fleet/provisioned: .*left to nmstatectl"},
		"an old one of the architecture": {
			"aarch64", "", `warning fleet/provisioned: .*is refused.*the base image of aarch64 "" is too old`,
		},
		"an old one that is asked for": {"x86_64", "4.14", `warning fleet/provisioned: .*is refused.*the base image of x86_64 "4.14" is too old`},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, "provisioned")
			edit(s, bmh("provisioned"), func(h *metal3.BareMetalHost) {
				h.Spec.PreprovisioningNetworkDataName, h.Spec.Architecture = "net", tc.arch
				h.Labels = map[string]string{names.InfraEnvLabel: "env"}
			})
			env := &agentv1.InfraEnv{ObjectMeta: metav1.ObjectMeta{Namespace: handover.Namespace, Name: "env"}}
			env.Spec.CpuArchitecture, env.Spec.OSImageVersion = tc.arch, tc.version
			env.Spec.NMStateConfigLabelSelector = metav1.LabelSelector{MatchLabels: map[string]string{"env": "env"}}
			s.Expect(s.kube.Create(t.Context(), env)).To(Succeed())
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: handover.Namespace, Name: "net", Labels: map[string]string{"environment.metal3.io": "baremetal"}}}
			secret.Data = map[string][]byte{"nmstate": []byte(beyond)}
			s.Expect(s.kube.Create(t.Context(), secret)).To(Succeed())
			config := &agentv1.NMStateConfig{ObjectMeta: metav1.ObjectMeta{Namespace: handover.Namespace, Name: "node-0", Labels: map[string]string{"env": "env"}}}
			config.Spec.Interfaces = []agentv1.NMStateInterface{{Name: "nic1", MacAddress: "52:54:00:00:00:01"}}
			config.Spec.NetConfig.Raw = []byte(jsonOf(s, beyond))
			s.Expect(s.kube.Create(t.Context(), config)).To(Succeed())
			report, err := migrate.Check(t.Context(), migrate.Options{
				Client: s.kube, Ironic: ironic.Config{URL: "http://ironic.test", Transport: s.sim.Transport()}, Settings: policy.Settings{Settings: nodespec.Settings{BuildImages: true}},
				Live: func(_ context.Context, arch, version string) network.Live {
					return network.Live{Nmstatectl: arch == "x86_64" && version == "", Why: fmt.Sprintf("the base image of %s %q is too old", arch, version)}
				},
			})
			s.Expect(err).NotTo(HaveOccurred())
			s.Expect(about(report, "networks")).To(ConsistOf(MatchRegexp("^"+tc.want), MatchRegexp("^"+strings.Replace(tc.want, "provisioned", "node-0", 1))))
		})
	}
}

// Two NMStateConfigs of one card: an InfraEnv that selects both leaves one of them out.
func TestOneCardOfTwoNetworksIsSaid(t *testing.T) {
	s := newSite(t, "provisioned")
	for _, c := range []struct{ namespace, name, mac string }{
		{handover.Namespace, "node-0", "52:54:00:00:00:0a"}, {handover.Namespace, "node-1", "52:54:00:00:00:0A"}, {handover.Namespace, "node-2", "52:54:00:00:00:0b"},
	} {
		config := &agentv1.NMStateConfig{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: c.name}}
		config.Spec.Interfaces = []agentv1.NMStateInterface{{Name: "nic1", MacAddress: c.mac}}
		config.Spec.NetConfig.Raw = []byte(`{"interfaces":[{"name":"nic1"}]}`)
		s.Expect(s.kube.Create(t.Context(), config)).To(Succeed())
	}
	report, err := migrate.Check(t.Context(), migrate.Options{
		Client: s.kube, Ironic: ironic.Config{URL: "http://ironic.test", Transport: s.sim.Transport()}, Settings: policy.Settings{Settings: nodespec.Settings{BuildImages: true}},
	})
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(about(report, "networks")).To(ConsistOf(
		ContainSubstring("warning fleet/node-1: its card 52:54:00:00:00:0a is that of NMStateConfig node-0, too: an InfraEnv that selects both leaves this one out"),
		ContainSubstring("3 descriptions of networks are translated"),
	))
}

func jsonOf(s *site, document string) string {
	s.t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(document))
	s.Expect(err).NotTo(HaveOccurred())
	return string(raw)
}

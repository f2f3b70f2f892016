package rest_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/pki"
	"github.com/ironflow/ironflow/hub/wire"
)

// TestSettingsOfAPlainKubernetesReachItsHosts: what a user writes is in the Ignition of the host.
func TestSettingsOfAPlainKubernetesReachItsHosts(t *testing.T) {
	hub := withKubernetes(t)
	sum := "sha256:" + strings.Repeat("a", 64)
	_, pair, err := pki.NewAuthority("mirrors", time.Now(), time.Hour)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	mirrors := []wire.KubernetesMirror{{Registry: "registry.k8s.io", URLs: []string{"https://mirror.example:5000", "https://second.example"}, Ca: string(pair.Cert)}}
	set := map[string]bool{}
	for name, tc := range map[string]struct {
		settings wire.KubernetesSettings
		path     string
		want     []string
	}{
		"version":          {wire.KubernetesSettings{}, ofKubernetes + "kubeadm.yaml", []string{"kubernetesVersion: v1.37.1"}},
		"endpoint":         {wire.KubernetesSettings{Endpoint: "api.example:7443"}, ofKubernetes + "kubeadm.yaml", []string{"controlPlaneEndpoint: api.example:7443"}},
		"image repository": {wire.KubernetesSettings{ImageRepository: "registry.example/k8s"}, ofKubernetes + "kubeadm.yaml", []string{"imageRepository: registry.example/k8s"}},
		"socket":           {wire.KubernetesSettings{CriSocket: "unix:///run/crio/crio.sock"}, ofKubernetes + "kubeadm.yaml", []string{"criSocket: unix:///run/crio/crio.sock"}},
		"ignored check":    {wire.KubernetesSettings{IgnorePreflight: []string{"SystemVerification"}}, ofKubernetes + "kubeadm.yaml", []string{"- SystemVerification\n"}},
		"mirrors": {wire.KubernetesSettings{Mirrors: mirrors}, "/etc/containerd/certs.d/registry.k8s.io/hosts.toml", []string{
			`[host."https://mirror.example:5000"]`, `[host."https://second.example"]`, `ca = "/etc/containerd/certs.d/registry.k8s.io/ca.crt"`,
		}},
		"authority of a mirror": {wire.KubernetesSettings{Mirrors: mirrors}, "/etc/containerd/certs.d/registry.k8s.io/ca.crt", []string{string(pair.Cert)}},
		"program": {
			wire.KubernetesSettings{Programs: []wire.KubernetesProgram{{
				URL: "https://site.example/k8s-1.37.raw", Checksum: sum, Kind: "sysext", Name: "kubernetes",
			}}},
			ofKubernetes + "programs.list",
			[]string{"sysext kubernetes sha256sum " + sum[7:] + " https://site.example/k8s-1.37.raw"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := plainKubernetes(t, tc.settings)
			for f, v := range reflect.ValueOf(*s.cluster.Kubernetes).Fields() {
				set[f.Name] = set[f.Name] || !v.IsZero()
			}
			p := s.play(t, hub)
			p.start(t, hub)
			for _, want := range tc.want {
				g.Expect(p.written(t, hub, 0)[tc.path]).To(ContainSubstring(want))
			}
		})
	}
	t.Run("address that is carried", func(t *testing.T) {
		g := NewWithT(t)
		s := plainKubernetes(t, wire.KubernetesSettings{VIPImage: "registry.example/kube-vip:v1.0.0"})
		set["VIPImage"] = true
		p := s.play(t, hub)
		g.Expect(p.order(t).Reason).To(ContainSubstring("vip_image without an API address"), "it has come to the source; what it makes of it is in its own tests")
	})
	for f := range reflect.TypeFor[wire.KubernetesSettings]().Fields() {
		NewWithT(t).Expect(set).To(HaveKeyWithValue(f.Name, true), "no row shows its effect")
	}
}

// TestSettingsOfAPlainKubernetesThatCannotBe are said by name before a disk is touched.
func TestSettingsOfAPlainKubernetesThatCannotBe(t *testing.T) {
	hub := withKubernetes(t)
	for name, tc := range map[string]struct {
		settings wire.KubernetesSettings
		want     string
	}{
		"socket": {wire.KubernetesSettings{CriSocket: "/run/crio.sock"}, "the container runtime's socket"},
		"mirror": {wire.KubernetesSettings{Mirrors: []wire.KubernetesMirror{{Registry: "registry.k8s.io"}}}, "mirror 1: no URL"},
		"program": {
			wire.KubernetesSettings{Programs: []wire.KubernetesProgram{{URL: "https://x/y.raw", Checksum: "sha256:" + strings.Repeat("a", 64), Kind: "sysext", Name: "a b"}}},
			"it has no usable name",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := plainKubernetes(t, tc.settings).play(t, hub)
			NewWithT(t).Expect(p.order(t).Reason).To(ContainSubstring(tc.want))
		})
	}
}

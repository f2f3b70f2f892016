package main

import (
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
)

// TestSecretsWithoutALabelAreFollowed runs the whole program: Secrets that its
// cache leaves out wake hosts, environments and images all the same, and are marked
// once they are in use.
func TestSecretsWithoutALabelAreFollowed(t *testing.T) {
	w := newFleet(t)
	w.start()
	create := func(o client.Object) {
		t.Helper()
		w.Expect(w.kube.Create(t.Context(), o)).To(Succeed())
	}
	named := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "default", Name: name} }
	env := &agentv1.InfraEnv{ObjectMeta: named("env"), Spec: agentv1.InfraEnvSpec{PullSecretRef: &corev1.LocalObjectReference{Name: "pull"}}}
	h := &metal3.BareMetalHost{ObjectMeta: named("host"), Spec: metal3.BareMetalHostSpec{
		BootMACAddress: "52:54:00:99:00:01", BMC: metal3.BMCDetails{Address: "redfish-virtualmedia://192.0.2.99/redfish/v1/Systems/1", CredentialsName: "bmc"},
		PreprovisioningNetworkDataName: "net",
	}}
	create(env)
	create(h)
	environment := func() string {
		w.Expect(w.kube.Get(t.Context(), client.ObjectKeyFromObject(env), env)).To(Succeed())
		for _, c := range env.Status.Conditions {
			if c.Type == agentv1.ConditionImageCreated {
				return string(c.Status)
			}
		}
		return ""
	}
	w.Eventually(environment, patience, 200*time.Millisecond).Should(Equal("False"))
	w.Eventually(func() metal3.ErrorType {
		w.Expect(w.kube.Get(t.Context(), client.ObjectKeyFromObject(h), h)).To(Succeed())
		return h.Status.ErrorType
	}, patience, 200*time.Millisecond).Should(Equal(metal3.RegistrationError))

	pull := &corev1.Secret{ObjectMeta: named("pull"), Type: corev1.SecretTypeDockerConfigJson, Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte(`{"auths":{}}`)}}
	bmc := &corev1.Secret{ObjectMeta: named("bmc"), Data: map[string][]byte{"username": []byte("admin"), "password": []byte("password")}}
	net := &corev1.Secret{ObjectMeta: named("net"), Data: map[string][]byte{"networkData": []byte(
		`{"links":[{"id":"eth0","type":"phy","ethernet_mac_address":"52:54:00:99:00:01"}],"networks":[{"id":"n","link":"eth0","type":"ipv4_dhcp"}]}`,
	)}}
	for _, secret := range []*corev1.Secret{pull, bmc, net} {
		create(secret)
	}
	w.Eventually(environment, 20*time.Second, 200*time.Millisecond).Should(Equal("True"), "woken by its pull secret")
	w.Eventually(func() string {
		w.Expect(w.kube.Get(t.Context(), client.ObjectKeyFromObject(h), h)).To(Succeed())
		return h.Status.GoodCredentials.Version
	}, patience, 200*time.Millisecond).ShouldNot(BeEmpty(), "woken by its BMC Secret")
	for _, secret := range []*corev1.Secret{pull, bmc, net} {
		w.Eventually(func() map[string]string {
			w.Expect(w.kube.Get(t.Context(), client.ObjectKeyFromObject(secret), secret)).To(Succeed())
			return secret.Labels
		}, patience, 200*time.Millisecond).Should(HaveKeyWithValue(names.EnvironmentLabel, names.EnvironmentValue), secret.Name)
	}
	image := &metal3.PreprovisioningImage{}
	w.Eventually(func(g Gomega) {
		g.Expect(w.kube.Get(t.Context(), client.ObjectKeyFromObject(h), image)).To(Succeed())
		g.Expect(w.kube.Get(t.Context(), client.ObjectKeyFromObject(net), net)).To(Succeed()) // its marks come one by one
		g.Expect(image.Status.NetworkData.Version).To(Equal(net.ResourceVersion))
	}, patience, 200*time.Millisecond).Should(Succeed(), "the image has the network data as they are")
}

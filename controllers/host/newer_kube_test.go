package host_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/go-logr/logr"
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/config"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/ironic/simulator"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
)

// newerHosts is the definition of BareMetalHosts as a newer version of the API has it: with members that the
// Go types here lack. The mode of inspection "fast", which they lack too, is in the definition as it is shipped.
func newerHosts(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	g := NewWithT(t)
	all, err := config.CRDs()
	g.Expect(err).NotTo(HaveOccurred())
	at := slices.IndexFunc(all, func(c *apiextensionsv1.CustomResourceDefinition) bool { return c.Spec.Names.Kind == "BareMetalHost" })
	hosts := all[at]
	schema := hosts.Spec.Versions[0].Schema.OpenAPIV3Schema
	spec, status := schema.Properties["spec"], schema.Properties["status"]
	spec.Properties["networkInterfaces"] = apiextensionsv1.JSONSchemaProps{
		Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &apiextensionsv1.JSONSchemaProps{
			Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"name": {Type: "string"}},
		}},
	}
	status.Properties["provisioningFailCount"] = apiextensionsv1.JSONSchemaProps{Type: "integer"}
	status.Properties["lastAttemptedImage"] = apiextensionsv1.JSONSchemaProps{
		Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"url": {Type: "string"}},
	}
	return hosts
}

// unknownMembers reads a host as it is stored, and returns the members that the Go types lack.
func unknownMembers(t *testing.T, kube client.Client, name string) map[string]any {
	t.Helper()
	h := &unstructured.Unstructured{}
	h.SetGroupVersionKind(metal3.GroupVersion.WithKind("BareMetalHost"))
	NewWithT(t).Expect(kube.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: name}, h)).To(Succeed())
	found := map[string]any{}
	for _, path := range [][]string{{"spec", "networkInterfaces"}, {"status", "provisioningFailCount"}, {"status", "lastAttemptedImage"}, {"status", "mood"}} {
		if value, there, _ := unstructured.NestedFieldNoCopy(h.Object, path...); there {
			found[path[1]] = value
		}
	}
	return found
}

// TestMembersOfANewerAPISurvive runs the controller in a cluster whose definition of hosts is newer: what it does not
// know outlives a whole life of a host, and a move of a host from a newer client.
func TestMembersOfANewerAPISurvive(t *testing.T) {
	ctrl.SetLogger(logr.Discard())
	g := NewWithT(t)
	plane := labtest.ControlPlane(t, lab.ControlPlaneOptions{})
	_, err := envtest.InstallCRDs(plane.Config(), envtest.CRDInstallOptions{Paths: []string{"../../config/crd/metal3"}})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = envtest.InstallCRDs(plane.Config(), envtest.CRDInstallOptions{CRDs: []*apiextensionsv1.CustomResourceDefinition{newerHosts(t)}})
	g.Expect(err).NotTo(HaveOccurred())
	scheme := runtime.NewScheme()
	g.Expect(clientgoscheme.AddToScheme(scheme)).To(Succeed())
	g.Expect(metal3.AddToScheme(scheme)).To(Succeed())
	sim := simulator.New(simulator.Options{
		Delays:       simulator.Delays{Verify: 200 * time.Millisecond, Inspect: time.Second, Clean: time.Second, Deploy: time.Second, Power: 200 * time.Millisecond},
		RamdiskSteps: []simulator.Step{{Interface: "deploy", Step: names.StartAssistedInstall}, {Interface: "deploy", Step: names.ConfirmInstall, Priority: 79}},
	})
	t.Cleanup(sim.Close)
	gateway, err := ironic.New(t.Context(), ironic.Config{URL: "http://ironic.test", Transport: sim.Transport()})
	g.Expect(err).NotTo(HaveOccurred())
	startManager(t, plane, scheme, gateway, policy.Settings{}, t.Name())
	kube, err := client.New(plane.Config(), client.Options{Scheme: scheme})
	g.Expect(err).NotTo(HaveOccurred())
	read := func(name string) *metal3.BareMetalHost {
		h := &metal3.BareMetalHost{}
		g.Expect(client.IgnoreNotFound(kube.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: name}, h))).To(Succeed())
		return h
	}
	until := func(name string, state metal3.ProvisioningState) {
		t.Helper()
		g.Eventually(func() metal3.ProvisioningState { return read(name).Status.Provisioning.State }, kubePatience, 50*time.Millisecond).Should(Equal(state))
	}
	patch := func(name, text string, to client.SubResourceWriter) {
		t.Helper()
		raw := client.RawPatch("application/merge-patch+json", []byte(text))
		if h := read(name); to != nil {
			g.Expect(to.Patch(t.Context(), h, raw)).To(Succeed())
		} else {
			g.Expect(kube.Patch(t.Context(), h, raw)).To(Succeed())
		}
	}

	createHost(t, kube, 0, metav1.ObjectMeta{})
	patch("host-0", `{"spec":{"inspectionMode":"fast","networkInterfaces":[{"name":"eno1"}]}}`, nil)
	until("host-0", metal3.StateAvailable)
	node, _ := sim.Node("default" + names.NodeNameSeparator + "host-0")
	g.Expect(node.Fields["inspect_interface"]).To(Equal("redfish"), "the cluster's API has fast inspections")
	patch("host-0", `{"status":{"provisioningFailCount":2,"lastAttemptedImage":{"url":"http://images.test/a.raw"}}}`, kube.Status())
	all := map[string]any{
		"networkInterfaces": []any{map[string]any{"name": "eno1"}}, "provisioningFailCount": int64(2),
		"lastAttemptedImage": map[string]any{"url": "http://images.test/a.raw"},
	}
	patch("host-0", `{"spec":{"customDeploy":{"method":"start_assisted_install"}}}`, nil)
	until("host-0", metal3.StateProvisioned)
	patch("host-0", `{"metadata":{"annotations":{"reboot.metal3.io":""}}}`, nil)
	g.Eventually(func() map[string]string { return read("host-0").Annotations }, kubePatience, 50*time.Millisecond).ShouldNot(HaveKey("reboot.metal3.io"), "rebooted")
	patch("host-0", `{"spec":{"customDeploy":null}}`, nil)
	until("host-0", metal3.StateDeprovisioning)
	until("host-0", metal3.StateAvailable)
	g.Expect(unknownMembers(t, kube, "host-0")).To(Equal(all), "after a whole life")

	moved := map[string]any{
		"operationalStatus": "OK", "errorMessage": "", "errorCount": 0, "poweredOn": true, "provisioningFailCount": 3, "mood": "fine",
		"lastAttemptedImage": map[string]any{"url": "http://images.test/b.raw"},
		"provisioning":       map[string]any{"state": "available", "ID": node.UUID, "image": map[string]any{"url": ""}},
	}
	text, err := json.Marshal(moved)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(kube.Delete(t.Context(), read("host-0"))).To(Succeed()) // it moves elsewhere, and comes back
	g.Eventually(func() string { return read("host-0").Name }, kubePatience, 50*time.Millisecond).Should(BeEmpty())
	g.Expect(kube.Create(t.Context(), &metal3.BareMetalHost{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "host-0", Annotations: map[string]string{names.Status: string(text)}},
		Spec: metal3.BareMetalHostSpec{
			Online: true, BootMACAddress: "52:54:00:00:00:00",
			BMC: metal3.BMCDetails{Address: "redfish-virtualmedia://bmc.test/redfish/v1/Systems/host-0", CredentialsName: "host-0"},
		},
	})).To(Succeed())
	g.Eventually(func() map[string]string { return read("host-0").Annotations }, kubePatience, 50*time.Millisecond).Should(BeEmpty(), "restored")
	g.Expect(read("host-0").Status).To(And(HaveField("ErrorType", BeEmpty()), HaveField("Provisioning.State", metal3.StateAvailable)))
	g.Expect(unknownMembers(t, kube, "host-0")).To(Equal(map[string]any{
		"provisioningFailCount": int64(3), "lastAttemptedImage": map[string]any{"url": "http://images.test/b.raw"},
	}), "what this cluster's API has is kept")
	g.Eventually(func() []string {
		var events corev1.EventList
		g.Expect(kube.List(t.Context(), &events)).To(Succeed())
		var told []string
		for _, e := range events.Items {
			if e.Reason == "StatusMembersDropped" {
				told = append(told, e.Message)
			}
		}
		return told
	}, kubePatience, 50*time.Millisecond).Should(ConsistOf(And(ContainSubstring("mood"), Not(ContainSubstring("lastAttemptedImage")))), "what it has not is dropped with a word")
}

// Package samples_test applies every sample to a real API server, with the CustomResourceDefinitions and the admission rules of config/ in
// force: what a user copies from there has no field that does not exist, and nothing that is refused.
package samples_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/ironflow/ironflow/config"
	"github.com/ironflow/ironflow/imagecustomization/network"
	"github.com/ironflow/ironflow/imagecustomization/networkcheck"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
)

// inForce is how long an API server may take to put a rule in force.
const inForce = 30 * time.Second

// files are those of all samples, with the namespaces first. A folder has nothing but
// objects, since it is applied as one.
func files(t *testing.T) []string {
	t.Helper()
	g := NewWithT(t)
	found, err := filepath.Glob("*/*.yaml")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(len(found)).To(BeNumerically(">=", 13))
	return append([]string{"namespace.yaml"}, found...)
}

// read returns the objects of a file, in its order.
func read(t *testing.T, file string) (all []*unstructured.Unstructured) {
	t.Helper()
	g := NewWithT(t)
	raw, err := os.Open(file)
	g.Expect(err).NotTo(HaveOccurred())
	defer raw.Close()
	decoder := yaml.NewYAMLOrJSONDecoder(raw, 4096)
	for {
		o := &unstructured.Unstructured{}
		err := decoder.Decode(&o.Object)
		if errors.Is(err, io.EOF) {
			return all
		}
		g.Expect(err).NotTo(HaveOccurred(), file)
		g.Expect(o.Object).NotTo(BeEmpty(), file)
		all = append(all, o)
	}
}

// TestSamplesAreTaken by the API server as they are.
func TestSamplesAreTaken(t *testing.T) {
	g := NewWithT(t)
	access := labtest.ControlPlane(t, lab.ControlPlaneOptions{}).Config()
	crds, err := config.CRDs()
	g.Expect(err).NotTo(HaveOccurred())
	operators := &apiextensionsv1.CustomResourceDefinition{}
	g.Expect(yaml.Unmarshal([]byte(ironics), operators)).To(Succeed())
	crds = append(crds, operators)
	_, err = envtest.InstallCRDs(access, envtest.CRDInstallOptions{CRDs: crds})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(lab.InstallAdmission(t.Context(), access)).To(Succeed())
	loose, err := client.New(access, client.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	c := client.WithFieldValidation(loose, "Strict")
	g.Expect(c.Create(t.Context(), object("v1", "Namespace", "", "ironflow-system"))).To(Succeed())
	g.Expect(c.Create(t.Context(), object("v1", "Namespace", "", "probe"))).To(Succeed())
	g.Eventually(func() error { // rules are in force a while after they were made
		probe := object("metal3.io/v1alpha1", "DataImage", "probe", "a")
		probe.Object["spec"] = map[string]any{"url": "nowhere"}
		err := c.Create(t.Context(), probe, client.DryRunAll)
		if err == nil || !strings.Contains(err.Error(), "spec.url is not a URL") {
			return errors.New("no rules yet")
		}
		return nil
	}).WithTimeout(inForce).Should(Succeed())
	for _, file := range files(t) {
		t.Run(file, func(t *testing.T) {
			for _, o := range read(t, file) {
				NewWithT(t).Expect(c.Create(t.Context(), o)).To(Succeed(), "%s %s", o.GetKind(), o.GetName())
			}
		})
	}
}

func object(version, kind, namespace, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(schema.FromAPIVersionAndKind(version, kind))
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

// made are the kinds that the program itself makes.
var made = []string{"BMC", "HardwareData", "PreprovisioningImage", "FirmwareSchema", "Agent"}

// TestEveryKindHasASample that users write.
func TestEveryKindHasASample(t *testing.T) {
	g := NewWithT(t)
	kinds := map[string]bool{}
	for _, file := range files(t) {
		for _, o := range read(t, file) {
			kinds[o.GetKind()] = true
		}
	}
	crds, err := config.CRDs()
	g.Expect(err).NotTo(HaveOccurred())
	for _, crd := range crds {
		if kind := crd.Spec.Names.Kind; !slices.Contains(made, kind) {
			g.Expect(kinds).To(HaveKey(kind))
		}
	}
}

// TestHostsHaveTheirSecrets in the same file, so that one file is enough.
func TestHostsHaveTheirSecrets(t *testing.T) {
	g := NewWithT(t)
	hosts := 0
	for _, file := range files(t) {
		secrets := map[string]bool{}
		for _, o := range read(t, file) {
			switch o.GetKind() {
			case "Secret":
				secrets[o.GetName()] = true
			case "BareMetalHost":
				hosts++
				name, _, _ := unstructured.NestedString(o.Object, "spec", "bmc", "credentialsName")
				g.Expect(secrets).To(HaveKey(name), file)
				network, found, _ := unstructured.NestedString(o.Object, "spec", "preprovisioningNetworkDataName")
				g.Expect(!found || secrets[network]).To(BeTrue(), file)
			}
		}
	}
	g.Expect(hosts).To(Equal(9))
}

// TestEveryFolderIsListed by README.md, which says what each needs besides.
func TestEveryFolderIsListed(t *testing.T) {
	g := NewWithT(t)
	raw, err := os.ReadFile("README.md")
	g.Expect(err).NotTo(HaveOccurred())
	for _, file := range files(t)[1:] {
		g.Expect(string(raw)).To(ContainSubstring("\n| `" + filepath.Dir(file) + "` | "))
	}
}

// TestNetworksAreTranslated: none needs a program in the live system that a base image may lack.
func TestNetworksAreTranslated(t *testing.T) {
	g := NewWithT(t)
	for _, folder := range []string{"static-network", "infraenv-cluster"} {
		results, err := networkcheck.Folder(folder, network.Live{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(results).To(ConsistOf(HaveField("Way", network.WayTranslated)), folder)
	}
}

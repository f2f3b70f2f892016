package lab_test

import (
	"cmp"
	"os"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
)

// widgets is the smallest resource of its own kind.
func widgets() *apiextensionsv1.CustomResourceDefinition {
	keep := true
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets.test.example"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "test.example", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Singular: "widget", Kind: "Widget", ListKind: "WidgetList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", XPreserveUnknownFields: &keep,
				}},
			}},
		},
	}
}

// widget is an object of that kind.
func widget(name string, owners ...metav1.OwnerReference) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion("test.example/v1")
	object.SetKind("Widget")
	object.SetNamespace("default")
	object.SetName(name)
	object.SetOwnerReferences(owners)
	return object
}

func TestControlPlane(t *testing.T) {
	cp := labtest.ControlPlane(t, lab.ControlPlaneOptions{Controllers: true, Audit: true})
	admin, err := client.New(cp.Config(), client.Options{})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())

	t.Run("reports its version", func(t *testing.T) {
		g := NewWithT(t)
		version, err := discovery.NewDiscoveryClientForConfigOrDie(cp.Config()).ServerVersion()
		g.Expect(err).NotTo(HaveOccurred())
		want := "v" + strings.TrimPrefix(cmp.Or(os.Getenv(lab.EnvKubernetes), lab.KubernetesVersion), "v")
		g.Expect(version.GitVersion).To(Equal(want))
		g.Expect("v" + version.Major + "." + version.Minor).To(Equal(want[:strings.LastIndex(want, ".")]))
	})

	t.Run("the kubeconfig gives access", func(t *testing.T) {
		g := NewWithT(t)
		config, err := clientcmd.BuildConfigFromFlags("", cp.Kubeconfig)
		g.Expect(err).NotTo(HaveOccurred())
		reader, err := client.New(config, client.Options{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(reader.List(t.Context(), &corev1.NamespaceList{})).To(Succeed())
		file, err := os.Stat(cp.Kubeconfig)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(file.Mode().Perm()).To(BeEquivalentTo(0o600))
	})

	t.Run("a user has the rights that RBAC gives", func(t *testing.T) {
		g := NewWithT(t)
		config, err := cp.ConfigFor("alice", "staff")
		g.Expect(err).NotTo(HaveOccurred())
		alice, err := client.New(config, client.Options{})
		g.Expect(err).NotTo(HaveOccurred())
		err = alice.List(t.Context(), &corev1.SecretList{})
		g.Expect(apierrors.IsForbidden(err)).To(BeTrue(), "%v", err)
		g.Expect(err).To(MatchError(ContainSubstring(`"alice"`)))
		g.Eventually(func() (string, error) {
			log, err := os.ReadFile(cp.AuditLog)
			return string(log), err
		}, "10s").Should(And(ContainSubstring(`"username":"alice"`), ContainSubstring(`"code":403`)))
	})

	t.Run("dependents go with their owner, and namespaces go", func(t *testing.T) {
		g := NewWithT(t)
		_, err := envtest.InstallCRDs(cp.Config(), envtest.CRDInstallOptions{CRDs: []*apiextensionsv1.CustomResourceDefinition{widgets()}})
		g.Expect(err).NotTo(HaveOccurred())
		owner := widget("owner")
		g.Expect(admin.Create(t.Context(), owner)).To(Succeed())
		dependent := widget("dependent", metav1.OwnerReference{APIVersion: "test.example/v1", Kind: "Widget", Name: "owner", UID: owner.GetUID()})
		g.Expect(admin.Create(t.Context(), dependent)).To(Succeed())
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "short-lived"}}
		g.Expect(admin.Create(t.Context(), namespace)).To(Succeed())

		g.Expect(admin.Delete(t.Context(), owner)).To(Succeed())
		g.Expect(admin.Delete(t.Context(), namespace)).To(Succeed())

		for _, object := range []client.Object{dependent, namespace} {
			g.Eventually(func() bool {
				return apierrors.IsNotFound(admin.Get(t.Context(), client.ObjectKeyFromObject(object), object))
			}, "60s", "100ms").Should(BeTrue(), "%s still exists", object.GetName())
		}
	})
}

func TestInstallCRDs(t *testing.T) {
	g := NewWithT(t)
	cp := labtest.ControlPlane(t, lab.ControlPlaneOptions{})
	admin, err := client.New(cp.Config(), client.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	all := func(version, kind string) error {
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion(version)
		list.SetKind(kind + "List")
		return admin.List(t.Context(), list)
	}
	g.Expect(lab.InstallCRDs(t.Context(), cp.Config(), "metal3.io")).To(Succeed())
	g.Expect(all("metal3.io/v1alpha1", "BareMetalHost")).To(Succeed())
	g.Expect(all("agent-install.openshift.io/v1beta1", "InfraEnv")).NotTo(Succeed(), "it was not asked for")
	g.Expect(lab.InstallCRDs(t.Context(), cp.Config())).To(Succeed(), "some are there already")
	g.Expect(all("agent-install.openshift.io/v1beta1", "InfraEnv")).To(Succeed())
	g.Expect(all("hive.openshift.io/v1", "ClusterDeployment")).To(Succeed())
}

func TestAssetsServeEnvtest(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real parts; run without -short")
	}
	g := NewWithT(t)
	assets, err := lab.Assets(t.Context(), "", nil)
	g.Expect(err).NotTo(HaveOccurred())
	environment := envtest.Environment{BinaryAssetsDirectory: assets, CRDs: []*apiextensionsv1.CustomResourceDefinition{widgets()}}
	config, err := environment.Start()
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = environment.Stop() })
	writer, err := client.New(config, client.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(writer.Create(t.Context(), widget("one"))).To(Succeed())
}

func TestKubernetesVersionIsThatOfTheModule(t *testing.T) {
	g := NewWithT(t)
	mod, err := os.ReadFile("../controlplane/go.mod")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(strings.Fields(string(mod))).To(ContainElements("k8s.io/kubernetes", lab.KubernetesVersion))
}

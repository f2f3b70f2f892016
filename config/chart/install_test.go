package chart_test

import (
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
	"github.com/ironflow/ironflow/test/needs"
)

// monitors is the kind of the Prometheus operator, as much of it as an API server needs.
const monitors = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: servicemonitors.monitoring.coreos.com}
spec:
  group: monitoring.coreos.com
  names: {kind: ServiceMonitor, listKind: ServiceMonitorList, plural: servicemonitors, singular: servicemonitor}
  scope: Namespaced
  versions:
    - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`

// cluster is a real API server. Nothing runs pods there.
type cluster struct {
	*WithT
	t     *testing.T
	plane *lab.ControlPlane
	admin client.Client
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	needs.Helm(t)
	c := &cluster{WithT: NewWithT(t), t: t, plane: labtest.ControlPlane(t, lab.ControlPlaneOptions{})}
	c.admin = c.client(c.plane.Config())
	for _, name := range []string{"rack-a", "rack-b", "rack-c"} {
		c.Expect(c.admin.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})).To(Succeed())
	}
	return c
}

func (c *cluster) client(access *rest.Config) client.Client {
	c.t.Helper()
	scheme := runtime.NewScheme()
	c.Expect(clientgoscheme.AddToScheme(scheme)).To(Succeed())
	c.Expect(apiextensionsv1.AddToScheme(scheme)).To(Succeed())
	c.Expect(metal3.AddToScheme(scheme)).To(Succeed())
	made, err := client.New(access, client.Options{Scheme: scheme})
	c.Expect(err).NotTo(HaveOccurred())
	return made
}

// helm runs a command of helm on the cluster.
func (c *cluster) helm(args ...string) {
	c.t.Helper()
	_, err := helm(c.t, append(args, "--kubeconfig", c.plane.Kubeconfig, "--namespace", namespace)...)
	c.Expect(err).NotTo(HaveOccurred())
}

// upgrade makes the cluster what an overlay says, from whatever it was.
func (c *cluster) upgrade(overlay string) {
	c.t.Helper()
	c.helm(append([]string{"upgrade", "--install", "--create-namespace", release, "."}, values(overlay)...)...)
}

// create makes the objects of a stream of manifests.
func (c *cluster) create(manifests string) {
	c.t.Helper()
	all := decode(c.t, manifests)
	names := slices.Sorted(maps.Keys(all))
	slices.SortStableFunc(names, func(a, b string) int { return first(a) - first(b) })
	for _, name := range names {
		c.Expect(c.admin.Create(c.t.Context(), all[name])).To(Succeed(), name)
	}
}

// first orders namespaces before what is in them.
func first(name string) int {
	if strings.HasPrefix(name, "Namespace ") {
		return 0
	}
	return 1
}

// TestInstalled has helm install the chart, and change it from each way in to the next. Replicas are apart: they need another volume than
// one has, and a claim cannot be changed.
func TestInstalled(t *testing.T) {
	ways := slices.DeleteFunc(slices.Sorted(slices.Values(everyWay())), func(overlay string) bool { return overlay == "replicas" })
	for name, list := range map[string][]string{"from one way to the next": ways, "replicas": {"replicas"}} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.create(monitors)
			made := map[string]client.Object{}
			for _, overlay := range list {
				c.upgrade(overlay)
				for name, want := range rendered(t, values(overlay)...) {
					c.Expect(c.admin.Get(t.Context(), client.ObjectKeyFromObject(want), want)).To(Succeed(), "%s: %s", overlay, name)
					made[name] = want
				}
			}
			c.helm("uninstall", release)
			c.Expect(c.left(made)).To(HaveEach(HavePrefix("PersistentVolumeClaim ")), "nothing else is left, also of an earlier way")
			claim, crd := &corev1.PersistentVolumeClaim{}, &apiextensionsv1.CustomResourceDefinition{}
			c.Expect(c.admin.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "ironflow-data"}, claim)).To(Succeed(), "it holds keys that running machines know")
			c.Expect(c.admin.Get(t.Context(), client.ObjectKey{Name: "baremetalhosts.metal3.io"}, crd)).To(Succeed(), "and with it, all hosts")
		})
	}
}

// left are the names of those objects that the cluster still has, and that nobody is deleting.
func (c *cluster) left(made map[string]client.Object) (names []string) {
	c.t.Helper()
	for name, o := range made {
		err := c.admin.Get(c.t.Context(), client.ObjectKeyFromObject(o), o)
		c.Expect(client.IgnoreNotFound(err)).To(Succeed(), name)
		if err == nil && o.GetDeletionTimestamp() == nil {
			names = append(names, name)
		}
	}
	return names
}

// TestRolledBack: `helm rollback` makes everything what it was before the upgrade, but for definitions, which objects may use already.
func TestRolledBack(t *testing.T) {
	c := newCluster(t)
	c.upgrade("loadbalancer")
	image := func() string {
		deployment := &appsv1.Deployment{}
		c.Expect(c.admin.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: release}, deployment)).To(Succeed())
		return deployment.Spec.Template.Spec.Containers[0].Image
	}
	before := image()
	c.helm(append([]string{"upgrade", release, ".", "--set", "image.tag=v0.2.0,networkPolicy.enabled=false"}, values("loadbalancer")...)...)
	c.Expect(image()).To(HaveSuffix(":v0.2.0"))
	crd := &apiextensionsv1.CustomResourceDefinition{}
	c.Expect(c.admin.Get(t.Context(), client.ObjectKey{Name: "baremetalhosts.metal3.io"}, crd)).To(Succeed())
	crd.Annotations = map[string]string{"of": "the newer release"}
	c.Expect(c.admin.Update(t.Context(), crd)).To(Succeed())

	c.helm("rollback", release)
	c.Expect(image()).To(Equal(before))
	for name, want := range rendered(t, values("loadbalancer")...) {
		c.Expect(c.admin.Get(t.Context(), client.ObjectKeyFromObject(want), want)).To(Succeed(), name)
	}
	c.Expect(c.admin.Get(t.Context(), client.ObjectKeyFromObject(crd), crd)).To(Succeed())
	c.Expect(crd.Annotations).To(HaveKeyWithValue("of", "the newer release"))
}

// TestHelmTakesOverFromKubectl: what `kubectl apply -k config/default` made becomes the release's, with its volumes.
func TestHelmTakesOverFromKubectl(t *testing.T) {
	c := newCluster(t)
	c.create(text(t, "../manager/namespace.yaml"))
	c.kubectl("apply", "--server-side", "-k", "../default")
	claim := &corev1.PersistentVolumeClaim{}
	data := client.ObjectKey{Namespace: namespace, Name: "ironflow-data"}
	c.Expect(c.admin.Get(t.Context(), data, claim)).To(Succeed())
	before := claim.UID
	c.helm(append([]string{"upgrade", "--install", "--take-ownership", release, "."}, values("loadbalancer")...)...)
	c.Expect(c.admin.Get(t.Context(), data, claim)).To(Succeed())
	c.Expect(claim.UID).To(Equal(before))
	deployment := &appsv1.Deployment{}
	c.Expect(c.admin.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: release}, deployment)).To(Succeed())
	container := deployment.Spec.Template.Spec.Containers[0]
	c.Expect(container.Image).To(Equal("registry.example/ironflow:v0.1.0"))
	c.Expect(container.EnvFrom).To(ConsistOf(HaveField("ConfigMapRef.Name", "ironflow-config")), "no settings of before")
	c.upgrade("nodeport")
}

// TestNewerDefinitionsStay: a CustomResourceDefinition that is there is left alone, since objects may use what it has and ours lacks.
func TestNewerDefinitionsStay(t *testing.T) {
	c := newCluster(t)
	newer := decode(t, definitions(t))["CustomResourceDefinition baremetalhosts.metal3.io"]
	newer.SetAnnotations(map[string]string{"from": "somebody else"})
	c.Expect(c.admin.Create(t.Context(), newer)).To(Succeed())
	c.upgrade("loadbalancer")
	c.upgrade("nodeport")
	crd := &apiextensionsv1.CustomResourceDefinition{}
	c.Expect(c.admin.Get(t.Context(), client.ObjectKeyFromObject(newer), crd)).To(Succeed())
	c.Expect(crd.Annotations).To(HaveKeyWithValue("from", "somebody else"))
	c.Expect(c.admin.Get(t.Context(), client.ObjectKey{Name: "bmcs.ironflow.io"}, crd)).To(Succeed(), "what is missing is made")
}

func definitions(t *testing.T) string {
	t.Helper()
	out, err := helm(t, "show", "crds", ".")
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return out
}

// TestInstallYAML applies what `make install-yaml` writes. The definitions are in a file of their own.
func TestInstallYAML(t *testing.T) {
	c := newCluster(t)
	dir := t.TempDir()
	out, err := installYAML(t, dir, "--set", "image.repository=registry.example/ironflow,image.tag=v0.1.0")
	c.Expect(err).NotTo(HaveOccurred(), out)
	c.Expect(out).To(BeEmpty())
	install := text(t, filepath.Join(dir, "install.yaml"))
	c.Expect(install).NotTo(ContainSubstring("kind: CustomResourceDefinition\n"), "`kubectl apply` would replace newer ones")
	c.Expect(install).To(ContainSubstring(`image: "registry.example/ironflow:v0.1.0"`))
	c.create(text(t, filepath.Join(dir, "crds.yaml")))
	c.create(install)
	made := decode(t, install)
	delete(made, "Namespace "+namespace)
	c.Expect(slices.Sorted(maps.Keys(made))).To(Equal(slices.Sorted(maps.Keys(rendered(t, defaults...)))))
}

// installYAML writes install.yaml and crds.yaml into the folder, and returns what is complained about.
func installYAML(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	script := exec.CommandContext(t.Context(), "bash", append([]string{"../../test/scripts/install-yaml.sh", needs.Helm(t), dir}, args...)...)
	out, err := script.CombinedOutput()
	return string(out), err
}

// TestInstallYAMLOfValuesIsTheChart: with values of the site, `kubectl apply` installs what helm does, and what helm refuses is refused.
func TestInstallYAMLOfValuesIsTheChart(t *testing.T) {
	needs.Helm(t)
	for _, overlay := range everyWay() {
		t.Run(overlay, func(t *testing.T) {
			g := NewWithT(t)
			dir := t.TempDir()
			out, err := installYAML(t, dir, values(overlay)...)
			g.Expect(err).NotTo(HaveOccurred(), out)
			made := decode(t, text(t, filepath.Join(dir, "install.yaml")))
			g.Expect(made).To(HaveKey("Namespace " + namespace))
			delete(made, "Namespace "+namespace)
			want := rendered(t, values(overlay)...)
			g.Expect(slices.Sorted(maps.Keys(made))).To(Equal(slices.Sorted(maps.Keys(want))))
			for name := range want {
				g.Expect(made[name].Object).To(Equal(want[name].Object), name)
			}
		})
	}
	g := NewWithT(t)
	dir := t.TempDir()
	open, err := installYAML(t, dir, append(values("ingress"), "--set", "networkPolicy.ingressFrom=null")...)
	g.Expect(err).To(HaveOccurred())
	g.Expect(open).To(ContainSubstring("the hub without TLS would be open to every pod"))
	g.Expect(filepath.Join(dir, "install.yaml")).NotTo(BeAnExistingFile())
}

package chart_test

import (
	"bytes"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/test/needs"
)

// ready bounds the start of the program, on a busy machine.
const ready = 2 * time.Minute

// TestTheProgramRunsWithItsRights has the program as a process, with the arguments and the environment of the chart's Deployment and the
// rights of its service account: it gets ready, works on the hosts that are its own, and is forbidden nothing. There is no Ironic.
func TestTheProgramRunsWithItsRights(t *testing.T) {
	path := needs.Ironflow(t)
	for overlay, own := range map[string][]string{
		"loadbalancer": {"rack-a", "rack-b", "rack-c"},
		"namespaced":   {"rack-a", "rack-b"},
		"controllers":  {"rack-a", "rack-b", "rack-c"},
	} {
		t.Run(overlay, func(t *testing.T) {
			c := newCluster(t)
			c.upgrade(overlay)
			for _, ns := range []string{"rack-c", "rack-b", "rack-a"} {
				c.Expect(c.admin.Create(t.Context(), host(ns))).To(Succeed())
			}
			if overlay == "loadbalancer" {
				c.create(text(t, "../samples/namespace.yaml"))
				c.create(text(t, "../samples/infraenv-cluster/cluster.yaml"))
			}
			p := c.start(path, overlay)
			for _, ns := range own {
				c.Eventually(func() []string { return c.finalizers(ns) }).WithTimeout(ready).ShouldNot(BeEmpty(), "%s: %s", ns, p)
			}
			if overlay == "loadbalancer" {
				c.Eventually(c.owners).WithTimeout(ready).Should(ConsistOf(HaveField("Kind", "ClusterDeployment")), p.String)
			}
			if overlay == "namespaced" {
				c.Expect(c.finalizers("rack-c")).To(BeEmpty(), "a host of somebody else")
			}
			c.Expect(p.String()).NotTo(ContainSubstring("forbidden"))
			// It says so itself: the chart gives all rights that the program asks for at its start.
			c.Eventually(p.String).WithTimeout(ready).Should(MatchRegexp(`"msg":"in order"[^\n]*"check":"rights"`), p.String)
		})
	}
}

// TestNotReadyWithoutARight that the controllers need: the pod says so, in its log, too, although its caches never begin, and is ready once it has it.
func TestNotReadyWithoutARight(t *testing.T) {
	path := needs.Ironflow(t)
	c := newCluster(t)
	c.upgrade("controllers")
	role := &rbacv1.ClusterRole{}
	c.Expect(c.admin.Get(t.Context(), client.ObjectKey{Name: "ironflow-controllers"}, role)).To(Succeed())
	all := slices.Clone(role.Rules)
	role.Rules = slices.DeleteFunc(role.Rules, func(r rbacv1.PolicyRule) bool { return slices.Contains(r.Resources, "secrets") })
	c.Expect(len(role.Rules)).To(BeNumerically("<", len(all)))
	c.Expect(c.admin.Update(t.Context(), role)).To(Succeed())
	c.Eventually(func() bool { return c.may(program, "", "list secrets") }).WithTimeout(soon).Should(BeFalse())
	p, health := c.run(path, "controllers")
	c.Eventually(func() int { return c.probe(health, "/readyz/rights") }).WithTimeout(ready).Should(Equal(http.StatusInternalServerError), p.String)
	c.Eventually(p.String).WithTimeout(ready).Should(And(ContainSubstring(`"check":"rights"`), MatchRegexp(`rights are missing: [^\n"]*list secrets`)))
	c.Expect(c.probe(health, "/readyz")).To(Equal(http.StatusInternalServerError))
	c.Expect(c.probe(health, "/healthz")).To(Equal(http.StatusOK), "another start would change nothing")
	role.Rules = all
	c.Expect(c.admin.Update(t.Context(), role)).To(Succeed())
	c.Eventually(func() int { return c.probe(health, "/readyz") }).WithTimeout(ready).Should(Equal(http.StatusOK), p.String)
}

// host is one whose BMC nobody has told of yet.
func host(ns string) *metal3.BareMetalHost {
	return &metal3.BareMetalHost{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "a"},
		Spec: metal3.BareMetalHostSpec{BootMACAddress: "52:54:00:00:00:01", BMC: metal3.BMCDetails{
			Address: "redfish-virtualmedia://192.0.2.1/redfish/v1/Systems/1", CredentialsName: "missing",
		}},
	}
}

func (c *cluster) finalizers(ns string) []string {
	h := host(ns)
	c.Expect(c.admin.Get(c.t.Context(), client.ObjectKeyFromObject(h), h)).To(Succeed())
	return h.Finalizers
}

// owners are those of the sample's AgentClusterInstall.
func (c *cluster) owners() []metav1.OwnerReference {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion("extensions.hive.openshift.io/v1beta1")
	o.SetKind("AgentClusterInstall")
	c.Expect(c.admin.Get(c.t.Context(), client.ObjectKey{Namespace: "hosts", Name: "prod"}, o)).To(Succeed())
	return o.GetOwnerReferences()
}

// start runs the program until the test ends, and returns what it logs once it is ready.
func (c *cluster) start(path, overlay string) *log {
	c.t.Helper()
	p, health := c.run(path, overlay)
	c.Eventually(func() int { return c.probe(health, "/readyz") }).WithTimeout(ready).Should(Equal(http.StatusOK), p.String)
	return p
}

// probe is the status of a probe, 0 if there is no answer.
func (c *cluster) probe(health, path string) int {
	request, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, "http://"+health+path, http.NoBody)
	if err != nil {
		return 0
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	return answer.StatusCode
}

// run runs the program until the test ends, and returns what it logs, and where its probes are.
func (c *cluster) run(path, overlay string) (p *log, health string) {
	c.t.Helper()
	all := rendered(c.t, values(overlay)...)
	env := environment(c.t, all)
	health = c.free()
	maps.Copy(env, c.local(health))
	command := exec.CommandContext(c.t.Context(), path, podOf(c.t, all).Containers[0].Args...)
	command.Env = []string{"PATH=" + os.Getenv("PATH")}
	for name, value := range env {
		command.Env = append(command.Env, name+"="+value)
	}
	out, err := os.Create(filepath.Join(c.t.TempDir(), "log"))
	c.Expect(err).NotTo(HaveOccurred())
	command.Stdout, command.Stderr = out, out
	c.Expect(command.Start()).To(Succeed())
	c.t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait() // it was killed
		_ = out.Close()
	})
	return &log{out.Name()}, health
}

// local are the variables that differ on this machine from those of a pod: folders, listeners, and where the API server is. Nobody is
// where Ironic should be.
func (c *cluster) local(health string) map[string]string {
	dir := c.t.TempDir()
	access, err := c.plane.ConfigFor(program, "system:serviceaccounts", "system:serviceaccounts:"+namespace, "system:authenticated")
	c.Expect(err).NotTo(HaveOccurred())
	file := clientcmdapi.NewConfig()
	file.Clusters["lab"] = &clientcmdapi.Cluster{Server: c.plane.URL, CertificateAuthorityData: access.CAData}
	file.AuthInfos["pod"] = &clientcmdapi.AuthInfo{ClientCertificateData: access.CertData, ClientKeyData: access.KeyData}
	file.Contexts["lab"] = &clientcmdapi.Context{Cluster: "lab", AuthInfo: "pod"}
	file.CurrentContext = "lab"
	kubeconfig := filepath.Join(dir, "kubeconfig")
	c.Expect(clientcmd.WriteToFile(*file, kubeconfig)).To(Succeed())
	list := filepath.Join(dir, "images.yaml")
	c.Expect(os.WriteFile(list, []byte("images: []\n"), 0o600)).To(Succeed())
	return map[string]string{
		"KUBECONFIG": kubeconfig, "POD_NAMESPACE": namespace, "IRONFLOW_DATA_DIR": filepath.Join(dir, "data"), "IRONFLOW_BASE_IMAGE_LIST": list,
		"IRONIC_ENDPOINT": "https://127.0.0.1:1", "IRONFLOW_HEALTH_ADDR": health, "IRONFLOW_METRICS_ADDR": c.free(),
		"IRONFLOW_HUB_ADDR": c.free(), "IRONFLOW_IMAGES_ADDR": c.free(), "IRONFLOW_IMAGES_TLS_ADDR": c.free(),
	}
}

// free is an address that nobody listens on.
func (c *cluster) free() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	c.Expect(err).NotTo(HaveOccurred())
	defer l.Close()
	return l.Addr().String()
}

// log is a file that is written to.
type log struct{ path string }

// String is what it holds so far.
func (l *log) String() string {
	raw, err := os.ReadFile(l.path)
	if err != nil {
		return err.Error()
	}
	return string(bytes.TrimSpace(raw))
}

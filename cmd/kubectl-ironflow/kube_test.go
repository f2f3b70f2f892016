package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/config"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
)

// TestOnARealCluster: the program as a plugin of the real kubectl, on a real kube-apiserver with the CustomResourceDefinitions of config/.
func TestOnARealCluster(t *testing.T) {
	plane := labtest.ControlPlane(t, lab.ControlPlaneOptions{})
	g := NewWithT(t)
	crds, err := config.CRDs()
	g.Expect(err).NotTo(HaveOccurred())
	_, err = envtest.InstallCRDs(plane.Config(), envtest.CRDInstallOptions{CRDs: crds})
	g.Expect(err).NotTo(HaveOccurred())
	known, err := scheme()
	g.Expect(err).NotTo(HaveOccurred())
	kube, err := client.New(plane.Config(), client.Options{Scheme: known})
	g.Expect(err).NotTo(HaveOccurred())
	for _, name := range []string{"site", "elsewhere"} {
		g.Expect(kube.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})).To(Succeed())
	}
	for _, key := range [][2]string{{"site", "a"}, {"site", "b"}, {"elsewhere", "a"}} {
		h := &metal3v1.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: key[0], Name: key[1], Labels: map[string]string{"rack": key[1]}}}
		h.Spec.Online, h.Spec.BMC = true, metal3v1.BMCDetails{Address: "redfish://192.0.2.1", CredentialsName: "x"}
		g.Expect(kube.Create(t.Context(), h)).To(Succeed())
		isReady(h)
		h.Status.PoweredOn, h.Status.OperationalStatus = true, metal3v1.OperationalStatusOK
		for i := range h.Status.Conditions {
			h.Status.Conditions[i].LastTransitionTime = metav1.NewTime(noon)
		}
		g.Expect(kube.Status().Update(t.Context(), h)).To(Succeed())
		g.Expect(kube.Create(t.Context(), &eventsv1.Event{
			ObjectMeta: metav1.ObjectMeta{Namespace: key[0], Name: "e-" + key[1]}, EventTime: metav1.NewMicroTime(noon), Type: "Normal", Reason: "Registered", Action: "Reconcile",
			ReportingController: "ironflow", ReportingInstance: "x", Regarding: corev1.ObjectReference{Kind: "BareMetalHost", Namespace: key[0], Name: key[1], UID: h.UID}, Note: "host " + key[1],
		})).To(Succeed())
	}
	c := realCluster{WithT: g, t: t, dir: t.TempDir(), kubeconfig: plane.Kubeconfig, kubectl: filepath.Join(plane.AssetsDir, "kubectl")}
	plugin(t, c.dir)
	g.Expect(os.WriteFile(filepath.Join(c.dir, "kubectl_complete-ironflow"), []byte(pluginScript), 0o755)).To(Succeed())
	write(t, filepath.Join(c.dir, "b.yaml"), "apiVersion: metal3.io/v1alpha1\nkind: BareMetalHost\nmetadata: {name: b, namespace: site}\n")

	for _, call := range []struct{ args, want string }{
		{"ironflow get hosts -A -o custom-columns=NS:.metadata.namespace,NAME:.metadata.name --no-headers", "elsewhere  a\nsite       a\nsite       b\n"},
		{"ironflow get hosts -n site -l rack=b -o name", "baremetalhost.metal3.io/b\n"},
		{"ironflow get hosts -f " + c.dir + "/b.yaml -o jsonpath={.items[0].metadata.name}", "b"},
		{"ironflow why a -n site", "BareMetalHost/a: provisioned\n└─ waiting for: nothing: it is as it is wanted\n"},
		{"ironflow wait a b -n site", "host a: ready\nhost b: ready\n"},
		{"ironflow events b -n site", "TIME                  TYPE    REASON      OBJECT           MESSAGE\n2026-05-01T12:00:00Z  Normal  Registered  baremetalhost/b  host b\n"},
		{"__complete ironflow release -n site ", "a\nb\n:4\n"},
		{"ironflow hold -n site -l rack=a", "host a: on hold\n"},
	} {
		out, err := c.call(strings.Split(call.args, " ")...)
		g.Expect(err).NotTo(HaveOccurred(), "%s: %s", call.args, out)
		g.Expect(out).To(Equal(call.want), call.args)
	}
	out, err := c.call("ironflow", "describe", "b", "-n", "site")
	g.Expect(err).NotTo(HaveOccurred(), out)
	g.Expect(out).To(And(HavePrefix("BareMetalHost/b\n"), ContainSubstring("Registered: host b"), Not(ContainSubstring("could not"))))
	c.watches(kube)
	c.asViewer(kube)
	c.byRoles(kube)
}

// realCluster is a cluster with kubectl and the plugin.
type realCluster struct {
	*WithT
	t                        *testing.T
	dir, kubeconfig, kubectl string
}

func (c *realCluster) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.kubectl, args...)
	cmd.Env = append(os.Environ(), "PATH="+c.dir+":"+filepath.Dir(c.kubectl)+":"+os.Getenv("PATH"), "KUBECONFIG="+c.kubeconfig, "KUBECACHEDIR="+filepath.Join(c.dir, "cache"))
	return cmd
}

func (c *realCluster) call(args ...string) (string, error) {
	cmd := c.command(c.t.Context(), args...)
	var errors bytes.Buffer
	cmd.Stderr = &errors
	out, err := cmd.Output()
	if err != nil {
		return errors.String(), err
	}
	return string(out), nil
}

// watches follows a host with its own watch.
func (c *realCluster) watches(kube client.Client) {
	c.t.Helper()
	ctx, stop := context.WithCancel(c.t.Context())
	defer stop()
	var out shared
	cmd := c.command(ctx, "ironflow", "get", "hosts", "b", "-n", "site", "-w", "--no-headers")
	cmd.Stdout, cmd.Stderr = &out, &out
	c.Expect(cmd.Start()).To(Succeed())
	c.Eventually(out.String, "30s").Should(MatchRegexp(`^b +provisioned`))
	h := &metal3v1.BareMetalHost{}
	c.Expect(kube.Get(ctx, client.ObjectKey{Namespace: "site", Name: "b"}, h)).To(Succeed())
	h.Annotations = map[string]string{names.Hold: ""}
	c.Expect(kube.Update(ctx, h)).To(Succeed())
	c.Eventually(out.String, "30s").Should(MatchRegexp(`\nb +on hold`))
	stop()
	_ = cmd.Wait() // it was killed
}

// asViewer may read hosts of one namespace, and nothing else: the rest of a tree is said to be missing.
func (c *realCluster) asViewer(kube client.Client) {
	c.t.Helper()
	meta := metav1.ObjectMeta{Namespace: "site", Name: "viewer"}
	c.Expect(kube.Create(c.t.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{"metal3.io"}, Resources: []string{"baremetalhosts"}, Verbs: []string{"get", "list", "watch"},
	}}})).To(Succeed())
	c.Expect(kube.Create(c.t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "Role", Name: "viewer"},
		Subjects:   []rbacv1.Subject{{Kind: "User", Name: "eve"}},
	})).To(Succeed())
	c.Eventually(func() error {
		_, err := c.call("ironflow", "get", "hosts", "-n", "site", "--as", "eve")
		return err
	}, "30s").Should(Succeed())
	out, err := c.call("ironflow", "describe", "b", "-n", "site", "--as", "eve")
	c.Expect(err).NotTo(HaveOccurred(), out)
	c.Expect(out).To(And(ContainSubstring("phase: on hold"), ContainSubstring("forbidden")))
	for _, args := range []string{"ironflow retry b -n site --as eve", "ironflow get hosts -A --as eve", "ironflow reboot b -n site --yes --as eve"} {
		out, err := c.call(strings.Fields(args)...)
		c.Expect(err).To(HaveOccurred(), args)
		c.Expect(out).To(MatchRegexp("forbidden|on hold"), args)
	}
}

// byRoles: each role for people of config/rbac does what its comment says with this program, and a sample is applied by who makes hosts.
func (c *realCluster) byRoles(kube client.Client) {
	c.t.Helper()
	_, err := c.call("create", "-f", "../../config/rbac/user_roles.yaml")
	c.Expect(err).NotTo(HaveOccurred())
	c.Expect(kube.Create(c.t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "hosts"}})).To(Succeed())
	roles := []string{"viewer", "operator", "admin"}
	for _, role := range roles {
		for _, namespace := range []string{"site", "hosts"} {
			_, err := c.call("create", "rolebinding", role+"s", "-n", namespace, "--clusterrole=ironflow-"+role, "--user="+role)
			c.Expect(err).NotTo(HaveOccurred())
		}
		c.Eventually(func() error {
			_, err := c.call("ironflow", "get", "hosts", "-n", "site", "--as", role)
			return err
		}, "30s").Should(Succeed())
	}
	for _, verb := range []string{"get hosts", "get clusters", "get agents", "events b", "describe b", "why b", "bmc quirks"} {
		for _, role := range roles {
			out, err := c.call(append(strings.Fields("ironflow "+verb), "-n", "site", "--as", role)...)
			c.Expect(err).NotTo(HaveOccurred(), "%s as %s: %s", verb, role, out)
			for line := range strings.Lines(out) {
				if !strings.Contains(line, `secrets "x" is forbidden`) { // nobody reads those
					c.Expect(line).NotTo(MatchRegexp("(?i)forbidden|could not"), "%s as %s", verb, role)
				}
			}
		}
	}
	out, err := c.call("get", "events", "-n", "site", "--as", "viewer")
	c.Expect(err).NotTo(HaveOccurred(), out)
	for _, verb := range []string{"hold a", "release a", "retry a", "reboot a --yes"} {
		out, err := c.call(append(strings.Fields("ironflow "+verb), "-n", "site", "--as", "viewer")...)
		c.Expect(err).To(HaveOccurred(), verb)
		c.Expect(out).To(ContainSubstring("forbidden"), verb)
		for _, role := range roles[1:] {
			out, err := c.call(append(strings.Fields("ironflow "+verb), "-n", "site", "--as", role)...)
			c.Expect(err).NotTo(HaveOccurred(), "%s as %s: %s", verb, role, out)
		}
	}
	c.appliesASample()
}

// appliesASample as docs/install.md says: the role admin makes the host, and a role of the site's its Secrets.
func (c *realCluster) appliesASample() {
	c.t.Helper()
	sample := []string{"apply", "-f", "../../config/samples/virtual-media", "--as", "admin"}
	out, err := c.call(sample...)
	c.Expect(err).To(HaveOccurred())
	c.Expect(out).To(ContainSubstring("secrets"))
	page, err := os.ReadFile("../../docs/install.md")
	c.Expect(err).NotTo(HaveOccurred())
	_, role, found := strings.Cut(string(page), "kubectl create role ")
	c.Expect(found).To(BeTrue())
	role, _, _ = strings.Cut(role, "\n")
	_, err = c.call(append([]string{"create", "role"}, strings.Fields(strings.ReplaceAll(role, "-n team-a", "-n hosts"))...)...)
	c.Expect(err).NotTo(HaveOccurred())
	_, err = c.call("create", "rolebinding", "secrets-of-hosts", "-n", "hosts", "--role=secrets-of-hosts", "--user=admin")
	c.Expect(err).NotTo(HaveOccurred())
	c.Eventually(func() error {
		out, err = c.call(sample...)
		return err
	}, "30s").Should(Succeed(), func() string { return out })
}

package kubernetes_test

import (
	"crypto/x509"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/sources/kubernetes"
	"github.com/ironflow/ironflow/hub/sources/kubernetes/authorities"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/lab"
)

const (
	here          = "/etc/ironflow/kubernetes/"
	configuration = here + "kubeadm.yaml"
)

// kubeadm runs the real program, which has to succeed, and returns what it says.
func kubeadm(t *testing.T, args ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds and runs the real kubeadm; run without -short")
	}
	program, err := lab.Kubeadm(t.Context(), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("kubeadm %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// write puts a text into a file of its own.
func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeadm.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestKubeadmTakesTheConfigurations has the real kubeadm judge what each kind of host
// gets. A member that it does not know is a failure.
func TestKubeadmTakesTheConfigurations(t *testing.T) {
	running := func() *sources.Made { return mustMake(t, order(3, 1)) }
	for name, o := range map[string]*sources.Order{
		"VIP by keepalived": order(3, 1),
		"everything set":    changed(order(3, 1), full),
		"dual stack":        changed(order(3, 1), dual),
		"IPv6 alone":        changed(order(1, 1), onlyIPv6),
		"one host":          alone(),
		"an endpoint": changed(order(3, 1), func(o *sources.Order) {
			o.Cluster.APIVIPs, o.Kubernetes.Endpoint = nil, "api.edge.example.com:8443"
		}),
		"the version before":                       changed(order(3, 1), func(o *sources.Order) { o.Kubernetes.Version = "v1.36.4" }),
		"the oldest version":                       changed(order(3, 1), func(o *sources.Order) { o.Kubernetes.Version = "v1.35.0" }),
		"a worker on day 2":                        joining(wire.HostRoleWorker, running()),
		"a control plane on day 2":                 joining(wire.HostRoleMaster, running()),
		"a control plane on day 2, dual stack":     changed(joining(wire.HostRoleMaster, mustMake(t, changed(order(3, 1), dual))), dual),
		"a control plane on day 2, everything set": changed(joining(wire.HostRoleMaster, mustMake(t, changed(order(3, 1), full))), full),
		"a worker on day 2, dual stack":            changed(joining(wire.HostRoleWorker, mustMake(t, changed(order(3, 1), dual))), dual),
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			made := mustMake(t, o)
			seen := map[string]bool{}
			for _, h := range o.Hosts {
				text := files(t, made, h.ID)[configuration]
				kind := string(h.Role) + strings.SplitN(text, "kind: ", 2)[1][:4]
				if seen[kind] {
					continue
				}
				seen[kind] = true
				said := kubeadm(t, "config", "validate", "--config", write(t, text))
				g.Expect(strings.TrimSpace(said)).To(Equal("ok"), "host %s\n%s", h.Name, text)
			}
		})
	}
}

func changed(o *sources.Order, change func(*sources.Order)) *sources.Order {
	change(o)
	return o
}

// onlyIPv6 makes an order one of IPv6.
func onlyIPv6(o *sources.Order) {
	dual(o)
	c := &o.Cluster
	c.MachineNetworks, c.ClusterNetworks, c.ServiceNetworks, c.APIVIPs = c.MachineNetworks[1:], c.ClusterNetworks[1:], c.ServiceNetworks[1:], c.APIVIPs[1:]
	for i := range o.Hosts {
		o.Hosts[i].Addresses = o.Hosts[i].Addresses[1:]
	}
}

// TestKubeadmTakesTheAuthorities has the real kubeadm make the certificates and access
// files of two hosts of the control plane from our authorities, which it must leave as
// they are.
func TestKubeadmTakesTheAuthorities(t *testing.T) {
	g := NewWithT(t)
	made := mustMake(t, order(3, 0))
	for _, id := range []string{"id-master-0", "id-master-1"} {
		dir := t.TempDir()
		contents := files(t, made, id)
		for path, content := range contents {
			if name, ok := strings.CutPrefix(path, here+"pki/"); ok {
				file := filepath.Join(dir, "pki", name)
				g.Expect(os.MkdirAll(filepath.Dir(file), 0o700)).To(Succeed())
				g.Expect(os.WriteFile(file, []byte(content), 0o600)).To(Succeed())
			}
		}
		// A host that joins has no configuration that this phase of init reads: it takes that
		// of the first one, with the files of its own. The folder is another one here.
		config := strings.Replace(files(t, made, "id-master-0")[configuration], "clusterName: edge\n", "clusterName: edge\ncertificatesDir: "+filepath.Join(dir, "pki")+"\n", 1)
		file := write(t, config)
		said := kubeadm(t, "init", "phase", "certs", "all", "--config", file)
		g.Expect(regexp.MustCompile("Using (the )?existing").FindAllString(said, -1)).To(HaveLen(4), "ca, front-proxy-ca, etcd/ca and sa of host %s:\n%s", id, said)
		kubeadm(t, "init", "phase", "kubeconfig", "all", "--config", file, "--kubeconfig-dir", dir)
		for path, content := range contents {
			if name, ok := strings.CutPrefix(path, here+"pki/"); ok {
				now, err := os.ReadFile(filepath.Join(dir, "pki", name))
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(string(now)).To(Equal(content), "kubeadm has changed %s", name)
			}
		}
		serving := certificate(t, read(t, filepath.Join(dir, "pki", "apiserver.crt")))
		g.Expect(trusts(contents[here+"pki/ca.crt"], serving, x509.ExtKeyUsageServerAuth)).To(Succeed())
		g.Expect(serving.VerifyHostname("192.0.2.250")).To(Succeed())
		g.Expect(serving.VerifyHostname("api.edge.example.com")).To(Succeed())
		g.Expect(trusts(contents[here+"pki/etcd/ca.crt"], certificate(t, read(t, filepath.Join(dir, "pki", "etcd", "server.crt"))), x509.ExtKeyUsageServerAuth)).To(Succeed())
		g.Expect(filepath.Join(dir, "super-admin.conf")).To(BeAnExistingFile())
		g.Expect(filepath.Join(dir, "kubelet.conf")).To(BeAnExistingFile())
	}
}

// TestTheHubsKubeconfigIsThatOfAnAdministrator compares it with the one that the real
// kubeadm makes from the same authorities.
func TestTheHubsKubeconfigIsThatOfAnAdministrator(t *testing.T) {
	g := NewWithT(t)
	made := mustMake(t, order(1, 0))
	dir := t.TempDir()
	for name, content := range files(t, made, "id-master-0") {
		if base, ok := strings.CutPrefix(name, here+"pki/ca."); ok {
			g.Expect(os.WriteFile(filepath.Join(dir, "ca."+base), []byte(content), 0o600)).To(Succeed())
		}
	}
	kubeadm(t, "init", "phase", "kubeconfig", "admin", "--cert-dir", dir, "--kubeconfig-dir", dir, "--kubernetes-version", "v1.37.1",
		"--control-plane-endpoint", "192.0.2.250:6443", "--apiserver-advertise-address", "192.0.2.10")
	theirs, ours := access(t, []byte(read(t, filepath.Join(dir, "admin.conf")))), access(t, made.Credentials[kubernetes.Kubeconfig])
	g.Expect(ours.server).To(Equal(theirs.server))
	g.Expect(ours.ca).To(Equal(theirs.ca))
	g.Expect(ours.certificate.Subject.String()).To(Equal(theirs.certificate.Subject.String()))
	g.Expect(trusts(ours.ca, ours.certificate, x509.ExtKeyUsageClientAuth)).To(Succeed())
}

type entrance struct {
	server, ca  string
	certificate *x509.Certificate
}

// access reads a kubeconfig.
func access(t *testing.T, raw []byte) entrance {
	t.Helper()
	var k struct {
		Clusters []struct {
			Cluster struct {
				Server string `json:"server"`
				CA     []byte `json:"certificate-authority-data"`
			} `json:"cluster"`
		} `json:"clusters"`
		Users []struct {
			User struct {
				Certificate []byte `json:"client-certificate-data"`
			} `json:"user"`
		} `json:"users"`
	}
	if err := yaml.Unmarshal(raw, &k); err != nil {
		t.Fatal(err)
	}
	return entrance{k.Clusters[0].Cluster.Server, string(k.Clusters[0].Cluster.CA), certificate(t, string(k.Users[0].User.Certificate))}
}

// TestHashIsThatOfTheAuthority: a host that joins trusts whoever has it.
func TestHashIsThatOfTheAuthority(t *testing.T) {
	g := NewWithT(t)
	one, err := authorities.New(now)
	g.Expect(err).NotTo(HaveOccurred())
	other, err := authorities.New(now)
	g.Expect(err).NotTo(HaveOccurred())
	again, err := authorities.Parse(one.Files())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(one.Hash()).To(MatchRegexp(`^sha256:[0-9a-f]{64}$`))
	g.Expect(again.Hash()).To(Equal(one.Hash()))
	g.Expect(other.Hash()).NotTo(Equal(one.Hash()))
}

func read(t *testing.T, file string) string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func certificate(t *testing.T, text string) *x509.Certificate {
	t.Helper()
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		t.Fatal("no certificate")
	}
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// trusts verifies that an authority has signed a certificate for the usage. The order is
// of a day of its own, so the time of the check is that of the certificate.
func trusts(ca string, c *x509.Certificate, usage x509.ExtKeyUsage) error {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(ca))
	_, err := c.Verify(x509.VerifyOptions{Roots: pool, KeyUsages: []x509.ExtKeyUsage{usage}, CurrentTime: c.NotBefore.Add(1)})
	return err
}

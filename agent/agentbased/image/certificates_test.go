package image_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"golang.org/x/crypto/bcrypt"
	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/agent/agentbased/configimage"
	"github.com/ironflow/ironflow/agent/agentbased/image"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/test/liveimage"
)

// access is what a kubeconfig says.
type access struct {
	server      string
	authorities []byte
	client      tls.Certificate
}

func kubeconfig(t *testing.T, dir string) access {
	t.Helper()
	g := NewWithT(t)
	raw, err := os.ReadFile(filepath.Join(dir, image.Kubeconfig))
	g.Expect(err).NotTo(HaveOccurred())
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
				Key         []byte `json:"client-key-data"`
			} `json:"user"`
		} `json:"users"`
		Contexts []any `json:"contexts"`
	}
	g.Expect(yaml.Unmarshal(raw, &k)).To(Succeed())
	g.Expect(k.Contexts).To(HaveLen(1))
	pair, err := tls.X509KeyPair(k.Users[0].User.Certificate, k.Users[0].User.Key)
	g.Expect(err).NotTo(HaveOccurred())
	return access{k.Clusters[0].Cluster.Server, k.Clusters[0].Cluster.CA, pair}
}

// onTheHost is what the image puts into the folder of certificates, and the hub's settings.
func onTheHost(t *testing.T, p *image.Plan, id image.Identity) (certificates map[string][]byte, settings map[string]string) {
	t.Helper()
	g := NewWithT(t)
	config, err := p.Ignition(id)
	g.Expect(err).NotTo(HaveOccurred())
	d, err := liveimage.Decode(config)
	g.Expect(err).NotTo(HaveOccurred())
	certificates = map[string][]byte{}
	for _, f := range d.Files {
		if name, is := strings.CutPrefix(f.Path, places.ClusterCertificates+"/"); is {
			g.Expect(f.Mode).To(Equal(0o600))
			certificates[name] = f.Data
		}
		if f.Path == places.ServiceSettings+"/assisted-service.env" {
			settings, err = places.ParseEnv(string(f.Data))
			g.Expect(err).NotTo(HaveOccurred())
		}
	}
	return certificates, settings
}

// signedBy tells whether one of the authorities has signed an administrator's certificate.
func signedBy(t *testing.T, authority []byte, client tls.Certificate) {
	t.Helper()
	pool := x509.NewCertPool()
	NewWithT(t).Expect(pool.AppendCertsFromPEM(authority)).To(BeTrue())
	_, err := client.Leaf.Verify(x509.VerifyOptions{Roots: pool, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
}

// TestTheKubeconfigIsThereBeforeTheCluster of a release: by the authorities that its
// installer is handed, in names that it knows.
func TestTheKubeconfigIsThereBeforeTheCluster(t *testing.T) {
	g := NewWithT(t)
	dir, p := t.TempDir(), plan(t, configImage(t))
	build := func() []byte {
		id, err := image.LoadIdentity(p, image.Authorities{}, dir, time.Now())
		g.Expect(err).NotTo(HaveOccurred())
		_, err = image.Build(t.Context(), p, id, image.Base{}, dir)
		g.Expect(err).NotTo(HaveOccurred())
		raw, err := os.ReadFile(filepath.Join(dir, "agentconfig.noarch.iso"))
		g.Expect(err).NotTo(HaveOccurred())
		return raw
	}
	first := build()
	id, err := image.LoadIdentity(p, image.Authorities{}, dir, time.Now())
	g.Expect(err).NotTo(HaveOccurred())
	certificates, settings := onTheHost(t, p, id)
	g.Expect(settings).To(HaveKeyWithValue("EPHEMERAL_INSTALLER_CLUSTER_TLS_CERTS_OVERRIDE_DIR", "/opt/agent/tls"))
	g.Expect(certificates).To(HaveLen(9))
	password, err := os.ReadFile(filepath.Join(dir, image.Password))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(password)).To(MatchRegexp(`^([a-z2-9]{5}-){3}[a-z2-9]{5}$`))
	g.Expect(bcrypt.CompareHashAndPassword(certificates["kubeadmin-password.hash"], password)).To(Succeed(), "the installer makes the administrator's access by it")
	k := kubeconfig(t, dir)
	g.Expect(k.server).To(Equal("https://api.edge.lab.example:6443"))
	g.Expect(k.client.Leaf.Subject.String()).To(Equal("CN=system:admin,O=system:masters"))
	signedBy(t, certificates["admin-kubeconfig-signer.crt"], k.client)
	g.Expect(string(k.authorities)).To(Equal(string(bytes.Join([][]byte{
		certificates["kube-apiserver-lb-signer.crt"], certificates["kube-apiserver-localhost-signer.crt"], certificates["kube-apiserver-service-network-signer.crt"],
	}, nil))))
	for name, raw := range certificates {
		if strings.HasSuffix(name, ".key") {
			block, _ := pem.Decode(raw)
			_, err := x509.ParsePKCS1PrivateKey(block.Bytes)
			g.Expect(err).NotTo(HaveOccurred(), name)
		}
	}
	raw, err := configimage.ReadMedium(filepath.Join(dir, "agentconfig.noarch.iso"))
	g.Expect(err).NotTo(HaveOccurred())
	contents, err := configimage.Read(bytes.NewReader(raw))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(contents.Files).To(ContainElement(HaveField("Path", "/opt/agent/tls/kube-apiserver-lb-signer.key")), "an appliance gets them with its settings")
	g.Expect(contents.Files).To(ContainElement(And(HaveField("Path", places.PasswordHash), HaveField("Data", certificates["kubeadmin-password.hash"]))), "and the hash for its user core")
	for _, f := range contents.Files {
		g.Expect(bytes.Contains(f.Data, password)).To(BeFalse(), "%s: no host has the password", f.Path)
	}

	g.Expect(bytes.Equal(build(), first)).To(BeTrue(), "they are kept")
	g.Expect(os.ReadFile(filepath.Join(dir, image.Password))).To(Equal(password))
	info, err := os.Stat(filepath.Join(dir, "auth/tls/admin-kubeconfig-signer.key"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o600)))
	g.Expect(os.Remove(filepath.Join(dir, "auth/tls/admin-kubeconfig-signer.key"))).To(Succeed())
	_, err = image.LoadIdentity(p, image.Authorities{}, dir, time.Now())
	g.Expect(err).To(MatchError(And(ContainSubstring("admin-kubeconfig-signer.crt and admin-kubeconfig-signer.key: "), HaveSuffix("; take the folder away for new ones"))))
}

// TestWhereThePlainKubernetesWillBe: its authorities, which others make, are asked for a
// kubeconfig for that place.
func TestWhereThePlainKubernetesWillBe(t *testing.T) {
	for name, tc := range map[string]struct{ old, write, server string }{
		"one host": {"", "", "https://[2001:db8::10]:6443"},
		"a virtual address": {
			"  platformType: None\n  provisionRequirements: {controlPlaneAgents: 1}\n",
			"  platformType: BareMetal\n  apiVIPs: [\"2001:db8::5\"]\n  ingressVIPs: [\"2001:db8::6\"]\n  provisionRequirements: {controlPlaneAgents: 3}\n",
			"https://[2001:db8::5]:6443",
		},
		"an endpoint":        {"v1.37.1\n", "v1.37.1\n    ironflow.io/kubernetes: '{\"endpoint\": \"api.lab.example\"}'\n", "https://api.lab.example:6443"},
		"nobody knows where": {"{controlPlaneAgents: 1}", "{controlPlaneAgents: 3}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := options("kubernetes")
			o.Dir, o.RendezvousIP = t.TempDir(), "2001:db8::10"
			g.Expect(os.CopyFS(o.Dir, os.DirFS("testdata/kubernetes"))).To(Succeed())
			file := filepath.Join(o.Dir, "cluster-manifests/agent-cluster-install.yaml")
			raw, err := os.ReadFile(file)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(raw)).To(ContainSubstring(tc.old))
			g.Expect(os.WriteFile(file, bytes.Replace(raw, []byte(tc.old), []byte(tc.write), 1), 0o600)).To(Succeed())
			p, dir := plan(t, o), t.TempDir()
			id, err := image.LoadIdentity(p, image.Authorities{
				New: func(time.Time) (map[string][]byte, error) {
					return map[string][]byte{"ca.crt": []byte("c"), "etcd/ca.key": []byte("k")}, nil
				},
				Kubeconfig: func(files map[string][]byte, name, server string, _ time.Time) ([]byte, error) {
					return []byte(name + " " + server + " " + string(files["ca.crt"])), nil
				},
			}, dir, time.Now())
			g.Expect(err).NotTo(HaveOccurred())
			_, err = image.Build(t.Context(), p, id, base(t), dir)
			g.Expect(err).NotTo(HaveOccurred())
			certificates, settings := onTheHost(t, p, id)
			if tc.server == "" {
				g.Expect(certificates).To(BeEmpty(), "the hub makes its own")
				g.Expect(settings).NotTo(HaveKey("EPHEMERAL_INSTALLER_CLUSTER_TLS_CERTS_OVERRIDE_DIR"))
				g.Expect(filepath.Join(dir, image.Kubeconfig)).NotTo(BeAnExistingFile())
				return
			}
			g.Expect(settings).To(HaveKey("EPHEMERAL_INSTALLER_CLUSTER_TLS_CERTS_OVERRIDE_DIR"))
			g.Expect(certificates).To(Equal(map[string][]byte{"ca.crt": []byte("c"), "etcd/ca.key": []byte("k")}))
			g.Expect(os.ReadFile(filepath.Join(dir, image.Kubeconfig))).To(BeEquivalentTo("edge " + tc.server + " c"))
			g.Expect(os.ReadFile(filepath.Join(dir, "auth/tls/etcd/ca.key"))).To(BeEquivalentTo("k"))
		})
	}
}

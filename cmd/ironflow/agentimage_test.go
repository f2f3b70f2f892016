package main

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/ironflow/ironflow/hub/sources/kubernetes/authorities"
	"github.com/ironflow/ironflow/test/liveimage"
	testmedia "github.com/ironflow/ironflow/test/media"
)

// TestTheKubeconfigOfAPlainKubernetes is issued, when the image is made, by the authorities
// that the image has for kubeadm.
func TestTheKubeconfigOfAPlainKubernetes(t *testing.T) {
	g := NewWithT(t)
	dir, parts := t.TempDir(), t.TempDir()
	g.Expect(os.CopyFS(dir, os.DirFS("../../agent/agentbased/image/testdata/kubernetes"))).To(Succeed())
	iso := filepath.Join(parts, "live.iso")
	g.Expect(testmedia.WriteFile(iso, testmedia.Options{RootfsBytes: 1 << 20})).To(Succeed())
	g.Expect(os.Mkdir(filepath.Join(parts, "x86_64"), 0o755)).To(Succeed())
	for _, name := range []string{"ironflow", "ironflow-agent", "ironflow-agent-based", "ironflow-step"} {
		g.Expect(os.WriteFile(filepath.Join(parts, "x86_64", name), []byte(name), 0o755)).To(Succeed())
	}
	for range 2 { // the second time with what is kept
		cmd := newAgentImageCommand()
		cmd.SetOut(&bytes.Buffer{})
		cmd.SetArgs([]string{"create", "--dir", dir, "--base-image", iso, "--host-programs", parts, "--rendezvous-ip", "2001:db8::10"})
		g.Expect(cmd.ExecuteContext(t.Context())).To(Succeed())
	}
	f, err := os.Open(filepath.Join(dir, "agent.x86_64.iso"))
	g.Expect(err).NotTo(HaveOccurred())
	defer f.Close()
	info, err := f.Stat()
	g.Expect(err).NotTo(HaveOccurred())
	raw, err := liveimage.Ignition(f, info.Size())
	g.Expect(err).NotTo(HaveOccurred())
	config, err := liveimage.Decode(raw)
	g.Expect(err).NotTo(HaveOccurred())
	certificates, hub := map[string][]byte{}, ""
	for _, file := range config.Files {
		if name, is := strings.CutPrefix(file.Path, "/opt/agent/tls/"); is {
			certificates[name] = file.Data
		}
		if strings.HasSuffix(file.Path, "/assisted-service.env") {
			hub = string(file.Data)
		}
	}
	g.Expect(hub).To(ContainSubstring("EPHEMERAL_INSTALLER_CLUSTER_TLS_CERTS_OVERRIDE_DIR=\"/opt/agent/tls\"\n"))
	set, err := authorities.Parse(certificates)
	g.Expect(err).NotTo(HaveOccurred())
	access, err := clientcmd.BuildConfigFromFlags("", filepath.Join(dir, "auth/kubeconfig"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(access.Host).To(Equal("https://[2001:db8::10]:6443"))
	g.Expect(access.CAData).To(Equal(set.Certificate()))
	block, _ := pem.Decode(access.CertData)
	leaf, err := x509.ParseCertificate(block.Bytes)
	g.Expect(err).NotTo(HaveOccurred())
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(set.Certificate())
	_, err = leaf.Verify(x509.VerifyOptions{Roots: pool, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	g.Expect(err).NotTo(HaveOccurred())
}

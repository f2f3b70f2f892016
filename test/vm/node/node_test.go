package node

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestVersionsAreThoseOfTheModules(t *testing.T) {
	for file, want := range map[string]string{
		"go.mod": "k8s.io/kubernetes " + Version + "\n", "coredns/go.mod": "github.com/coredns/coredns " + DNSVersion + "\n",
	} {
		raw, err := os.ReadFile(filepath.Join("../../k8snode", file))
		g := NewWithT(t)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(raw)).To(ContainSubstring(want))
	}
}

// TestTheArchive reads the archive as a host does that fetches it.
func TestTheArchive(t *testing.T) {
	g := NewWithT(t)
	programs := Programs(t.TempDir())
	for _, name := range []string{"k8snode", "containerd", "containerd-shim-runc-v2", "ctr", "bridge", "host-local", "loopback", "portmap", "runc"} {
		g.Expect(os.WriteFile(programs.file(name), []byte(name), 0o600)).To(Succeed())
	}
	file := filepath.Join(t.TempDir(), archiveName)
	sum, err := programs.writeArchive(file, "registry.example:5000/pause:1", programs.file("runc"))
	g.Expect(err).NotTo(HaveOccurred())
	raw, err := os.ReadFile(file)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(sum).To(Equal(fmt.Sprintf("sha256:%x", sha256.Sum256(raw))))
	found := unpacked(t, file)
	g.Expect(found).To(And(
		HaveKeyWithValue("opt/bin/kubelet", "-> k8snode"), HaveKeyWithValue("opt/bin/kubeadm", "-> k8snode"), HaveKeyWithValue("opt/bin/kubectl", "-> k8snode"),
		HaveKeyWithValue("opt/bin/k8snode", "k8snode"), HaveKeyWithValue("opt/bin/runc", "runc"), HaveKeyWithValue("opt/cni/bin/bridge", "bridge"),
		HaveKeyWithValue("etc/containerd/config.toml", ContainSubstring(`sandbox = "registry.example:5000/pause:1"`)),
		HaveKeyWithValue("etc/systemd/system/containerd.service", ContainSubstring("ExecStart=/opt/bin/containerd\n")),
	))

	g.Expect(os.Remove(programs.file("ctr"))).To(Succeed())
	_, err = programs.writeArchive(file, "pause", programs.file("runc"))
	g.Expect(err).To(MatchError(ContainSubstring("opt/bin/ctr")), "an archive without a program is none")
}

// unpacked are the contents of files and the targets of links by path.
func unpacked(t *testing.T, file string) map[string]string {
	t.Helper()
	g := NewWithT(t)
	in, err := os.Open(file)
	g.Expect(err).NotTo(HaveOccurred())
	defer in.Close()
	zip, err := gzip.NewReader(in)
	g.Expect(err).NotTo(HaveOccurred())
	all := map[string]string{}
	for files := tar.NewReader(zip); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		g.Expect(err).NotTo(HaveOccurred())
		text, err := io.ReadAll(files)
		g.Expect(err).NotTo(HaveOccurred())
		all[strings.TrimSuffix(h.Name, "/")] = string(text)
		if h.Linkname != "" {
			all[h.Name] = "-> " + h.Linkname
		}
	}
}

// TestABuildIsOfItsSources: what is built is looked for by all sources of a node's programs.
func TestABuildIsOfItsSources(t *testing.T) {
	g := NewWithT(t)
	source := t.TempDir()
	write := func(file, text string) {
		path := filepath.Join(source, "test/k8snode", file)
		g.Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(Succeed())
		g.Expect(os.WriteFile(path, []byte(text), 0o600)).To(Succeed())
	}
	key := func() string {
		e, err := entry(source)
		g.Expect(err).NotTo(HaveOccurred())
		return e.Key
	}
	write("go.mod", "one")
	write("main_test.go", "one")
	first := key()
	write("main_test.go", "two")
	g.Expect(key()).To(Equal(first), "tests are no part of it")
	write("coredns/go.mod", "one")
	g.Expect(key()).NotTo(Equal(first))
	_, found := Find(source)
	g.Expect(found).To(BeFalse())
}

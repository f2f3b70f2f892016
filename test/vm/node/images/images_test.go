package images_test

import (
	"archive/tar"
	"errors"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/vm/node/images"
)

func TestAnImageIsPulledAsItWasMade(t *testing.T) {
	g := NewWithT(t)
	prefix, shared := serve(t), layer(t)
	g.Expect(images.Push(t.Context(), prefix, []images.Image{
		{Name: "pause", Tag: "3.10", Entrypoint: "/usr/local/bin/pause", Path: "/usr/local/bin", Layers: []v1.Layer{shared}},
		{Name: "etcd", Tag: "3.7.0-0", Entrypoint: "/usr/local/bin/etcd", User: "1:1", Layers: []v1.Layer{shared}},
	})).To(Succeed())

	pause, etcd := pull(t, prefix+"/pause:3.10"), pull(t, prefix+"/etcd:3.7.0-0")
	config, err := pause.ConfigFile()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(config.Config.Entrypoint).To(Equal([]string{"/usr/local/bin/pause"}))
	g.Expect(config.Config.Env).To(ContainElement("PATH=/usr/local/bin"))
	g.Expect(config.OS + "/" + config.Architecture).To(Equal("linux/amd64"))
	g.Expect(content(t, pause)).To(And(
		HaveKeyWithValue("usr/local/bin/pause", "-> k8snode"), HaveKeyWithValue("usr/local/bin/k8snode", "the program"),
		HaveKeyWithValue("usr/local/bin/", ""), HaveKeyWithValue("tmp/", ""), HaveKeyWithValue("etc/motd", "text"),
	))
	g.Expect(digest(t, pause)).To(Equal(digest(t, etcd)), "a node unpacks one layer for all of them")
	config, err = etcd.ConfigFile()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(config.Config.User).To(Equal("1:1"))
}

func TestTheSameFilesAreTheSameLayer(t *testing.T) {
	g := NewWithT(t)
	one, err := layer(t).Digest()
	g.Expect(err).NotTo(HaveOccurred())
	other, err := layer(t).Digest()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(one).To(Equal(other))
}

func TestAProgramThatIsNotBuilt(t *testing.T) {
	_, err := images.Layer([]images.File{{Path: "bin/none", From: filepath.Join(t.TempDir(), "none")}})
	NewWithT(t).Expect(err).To(MatchError(And(ContainSubstring("bin/none"), ContainSubstring("no such file"))))
}

// serve is a registry in memory.
func serve(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://") + "/k8s"
}

func layer(t *testing.T) v1.Layer {
	t.Helper()
	file := filepath.Join(t.TempDir(), "k8snode")
	NewWithT(t).Expect(os.WriteFile(file, []byte("the program"), 0o600)).To(Succeed())
	l, err := images.Layer([]images.File{
		{Path: "usr/local/bin/k8snode", From: file},
		{Path: "usr/local/bin/pause", Link: "k8snode"},
		{Path: "etc/motd", Text: "text", Mode: 0o644},
		{Path: "tmp/", Mode: 0o1777},
	})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return l
}

func pull(t *testing.T, reference string) v1.Image {
	t.Helper()
	parsed, err := name.ParseReference(reference, name.Insecure)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	image, err := remote.Image(parsed, remote.WithContext(t.Context()))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return image
}

func digest(t *testing.T, image v1.Image) v1.Hash {
	t.Helper()
	layers, err := image.Layers()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	NewWithT(t).Expect(layers).To(HaveLen(1))
	hash, err := layers[0].Digest()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return hash
}

// content is what the image's layer holds: the text of a file, the target of a link.
func content(t *testing.T, image v1.Image) map[string]string {
	t.Helper()
	g := NewWithT(t)
	layers, err := image.Layers()
	g.Expect(err).NotTo(HaveOccurred())
	r, err := layers[0].Uncompressed()
	g.Expect(err).NotTo(HaveOccurred())
	defer r.Close()
	all := map[string]string{}
	for files := tar.NewReader(r); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		g.Expect(err).NotTo(HaveOccurred())
		text, err := io.ReadAll(files)
		g.Expect(err).NotTo(HaveOccurred())
		all[h.Name] = string(text)
		if h.Linkname != "" {
			all[h.Name] = "-> " + h.Linkname
		}
	}
}

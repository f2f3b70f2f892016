package registry_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	reference "github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	. "github.com/onsi/gomega"
	"golang.org/x/crypto/bcrypt"

	"github.com/ironflow/ironflow/hub/pki"
	"github.com/ironflow/ironflow/hub/releases/registry"
	"github.com/ironflow/ironflow/test/needs"
)

const (
	aboutRelease = `{"kind":"cincinnati-metadata-v0","version":"4.20.1"}`
	imageList    = `{"kind":"ImageStream","spec":{"tags":[{"name":"cli","from":{"name":"quay.example/cli@sha256:c"}},{"name":"etcd","from":{"name":"quay.example/etcd@sha256:e"}}]}}`
	password     = "correct-horse-battery"
)

// image is one with these files, and a layer above them that has others.
func image(g *WithT, files map[string]string) v1.Image {
	out, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{Architecture: "amd64", OS: "linux"})
	g.Expect(err).NotTo(HaveOccurred())
	for _, one := range []map[string]string{files, {"etc/motd": "above"}} {
		var raw bytes.Buffer
		zip := gzip.NewWriter(&raw)
		archive := tar.NewWriter(zip)
		for path, text := range one {
			g.Expect(archive.WriteHeader(&tar.Header{Name: path, Size: int64(len(text)), Mode: 0o644, Typeflag: tar.TypeReg})).To(Succeed())
			_, err := archive.Write([]byte(text))
			g.Expect(err).NotTo(HaveOccurred())
		}
		g.Expect(archive.Close()).To(Succeed())
		g.Expect(zip.Close()).To(Succeed())
		out, err = mutate.AppendLayers(out, static.NewLayer(raw.Bytes(), types.DockerLayer))
		g.Expect(err).NotTo(HaveOccurred())
	}
	return out
}

func release(g *WithT) v1.Image {
	return image(g, map[string]string{"release-manifests/release-metadata": aboutRelease, "release-manifests/image-references": imageList})
}

// push puts an image somewhere and returns its reference by digest.
func push(g *WithT, at string, i v1.Image, ca []byte, login authn.Authenticator) string {
	pool := x509.NewCertPool()
	g.Expect(pool.AppendCertsFromPEM(ca)).To(BeTrue())
	tag, err := name.NewTag(at + ":4.20.1")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(remote.Write(tag, i, remote.WithAuth(login), remote.WithTransport(&http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}))).To(Succeed())
	digest, err := i.Digest()
	g.Expect(err).NotTo(HaveOccurred())
	return at + "@" + digest.String()
}

// served is a registry of the library; blobs counts the layers that were fetched.
func served(t *testing.T) (host string, ca []byte, blobs *atomic.Int64) {
	t.Helper()
	blobs = &atomic.Int64{}
	inner := reference.New()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/blobs/") {
			blobs.Add(1)
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	ca = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return strings.TrimPrefix(server.URL, "https://"), ca, blobs
}

func TestAReleaseIsReadOnce(t *testing.T) {
	g := NewWithT(t)
	host, ca, blobs := served(t)
	ref := push(g, host+"/ocp/release", release(g), ca, authn.Anonymous)
	reader := &registry.Reader{CA: ca}
	got, err := reader.Release(t.Context(), host+"/ocp/release:4.20.1", "")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got.Version).To(Equal("4.20.1"))
	g.Expect(got.Architectures).To(Equal([]string{"x86_64"}))
	g.Expect(got.Needed(ref)).To(Equal([]string{ref, "quay.example/cli@sha256:c"}))
	g.Expect(ref).To(HaveSuffix(got.Digest))
	before := blobs.Load()
	again, err := reader.Release(t.Context(), ref, "")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again).To(Equal(got))
	g.Expect(blobs.Load()).To(Equal(before), "kept by digest")
}

func TestWhatIsNoRelease(t *testing.T) {
	g := NewWithT(t)
	host, ca, _ := served(t)
	ref := push(g, host+"/other", image(g, map[string]string{"etc/os-release": "x"}), ca, authn.Anonymous)
	for _, tc := range []struct{ ref, secret, want string }{
		{ref, "", "it is no release image"},
		{host + "/none:4.20.1", "", "the registry answered 404 Not Found"},
		{"release:4.20.1", "", "want a full reference"},
		{ref, "[", "pull secret: want a JSON document"},
	} {
		_, err := (&registry.Reader{CA: ca}).Release(t.Context(), tc.ref, tc.secret)
		g.Expect(err).To(MatchError(ContainSubstring(tc.want)), tc.ref)
	}
	_, err := (&registry.Reader{}).Release(t.Context(), ref, "")
	g.Expect(err).To(MatchError(ContainSubstring("certificate")), "an authority that nobody trusts")
}

// debian starts Debian's docker-registry with one login, and returns its address and authority.
func debian(t *testing.T) (host string, ca []byte) {
	t.Helper()
	g := NewWithT(t)
	program := needs.Program(t, "docker-registry", "docker-registry")
	dir := t.TempDir()
	certificate, err := pki.Ensure(filepath.Join(dir, "tls"), []string{"127.0.0.1"}, time.Now())
	g.Expect(err).NotTo(HaveOccurred())
	ca, err = os.ReadFile(certificate.CA)
	g.Expect(err).NotTo(HaveOccurred())
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.WriteFile(filepath.Join(dir, "logins"), fmt.Appendf(nil, "robot:%s\n", hash), 0o600)).To(Succeed())
	free, err := net.Listen("tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	host = free.Addr().String()
	g.Expect(free.Close()).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(dir, "config.yml"), fmt.Appendf(nil,
		"version: 0.1\nstorage: {filesystem: {rootdirectory: %q}}\nhttp: {addr: %q, tls: {certificate: %q, key: %q}}\nauth: {htpasswd: {realm: test, path: %q}}\n",
		filepath.Join(dir, "data"), host, certificate.Cert, certificate.Key, filepath.Join(dir, "logins")), 0o600)).To(Succeed())
	var log bytes.Buffer
	process := exec.CommandContext(context.Background(), program, "serve", filepath.Join(dir, "config.yml"))
	process.Stdout, process.Stderr, process.SysProcAttr = &log, &log, &syscall.SysProcAttr{Setpgid: true}
	g.Expect(process.Start()).To(Succeed())
	t.Cleanup(func() {
		_ = process.Process.Kill()
		_ = process.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	g.Eventually(func() error {
		c, err := net.Dial("tcp", host)
		if err == nil {
			err = c.Close()
		}
		return err
	}, time.Minute).Should(Succeed())
	return host, ca
}

func TestAMirrorThatIsDebiansRegistry(t *testing.T) {
	g := NewWithT(t)
	host, ca := debian(t)
	ref := push(g, host+"/mirror/release", release(g), ca, &authn.Basic{Username: "robot", Password: password})
	_, digest, _ := strings.Cut(ref, "@")
	wanted := "quay.example.invalid/ocp/release@" + digest
	secret := func(p string) string {
		return fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, host, base64.StdEncoding.EncodeToString([]byte("robot:"+p)))
	}
	for kind, text := range map[string]string{
		"ICSP": "kind: ImageContentSourcePolicy\nspec: {repositoryDigestMirrors: [{source: quay.example.invalid/ocp/release, mirrors: [\"" + host + "/none\", \"" + host + "/mirror/release\"]}]}\n",
		"IDMS": "kind: ImageDigestMirrorSet\nspec: {imageDigestMirrors: [{source: quay.example.invalid/ocp, mirrors: [\"" + host + "/none\", \"" + host + "/mirror\"], mirrorSourcePolicy: NeverContactSource}]}\n",
		"registries.conf": "unqualified-search-registries = []\n[[registry]]\nprefix = \"quay.example.invalid/ocp\"\nlocation = \"quay.example.invalid/ocp\"\nmirror-by-digest-only = true\n" +
			"[[registry.mirror]]\nlocation = \"" + host + "/mirror\"\n",
	} {
		t.Run(kind, func(t *testing.T) {
			g := NewWithT(t)
			mirrors, err := registry.ParseMirrors([]byte(text))
			g.Expect(err).NotTo(HaveOccurred())
			reader := &registry.Reader{Mirrors: mirrors, CA: ca, Timeout: 20 * time.Second}
			got, err := reader.Release(t.Context(), wanted, secret(password))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got.Version).To(Equal("4.20.1"))

			_, err = reader.Release(t.Context(), wanted, secret("wrong-password"))
			g.Expect(err).To(MatchError(And(ContainSubstring(host+"/mirror"), ContainSubstring("401 Unauthorized"), ContainSubstring("with the login of the pull secret"))))
			g.Expect(err.Error()).NotTo(ContainSubstring("wrong-password"))
			_, err = reader.Release(t.Context(), wanted, "")
			g.Expect(err).To(MatchError(ContainSubstring("the pull secret has no entry for it")))
			g.Expect(strings.Contains(err.Error(), "; quay.example.invalid/ocp/release@")).To(Equal(kind != "IDMS"), "the source is asked last, or never")
		})
	}
}

func TestMirrorsThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		"kind: Pod\n": `kind "Pod"`,
		"[[registry]]\nlocation=\"a\"\nsigstore=\"x\"\n": "registry.sigstore is not supported",
		"[[registry]]\n": "neither prefix nor location",
		"[[registry":     "registries.conf",
		"kind: ImageDigestMirrorSet\nspec: {imageDigestMirrors: [{source: a, mirrorSourcePolicy: Sometimes}]}\n": `"Sometimes"`,
	} {
		_, err := registry.ParseMirrors([]byte(text))
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring(want)))
	}
}

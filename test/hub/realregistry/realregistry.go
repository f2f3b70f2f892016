// Package realregistry runs Debian's docker-registry for tests that read release images, with TLS and one login.
//
// It also makes images that look like a release. What is pushed there is small: two files and a layer above them.
package realregistry

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/onsi/gomega"
	"golang.org/x/crypto/bcrypt"

	"github.com/ironflow/ironflow/hub/pki"
	"github.com/ironflow/ironflow/test/needs"
)

// User and Password are its login.
const (
	User     = "robot"
	Password = "correct-horse-battery"
)

// The files of [Release].
const (
	aboutRelease = `{"kind":"cincinnati-metadata-v0","version":"4.20.1"}`
	imageList    = `{"kind":"ImageStream","spec":{"tags":[{"name":"cli","from":{"name":"quay.example/cli@sha256:c"}},{"name":"etcd","from":{"name":"quay.example/etcd@sha256:e"}},` +
		`{"name":"machine-config-operator","from":{"name":"quay.example/mco@sha256:` + someDigest + `"}},{"name":"must-gather","from":{"name":"quay.example/gather@sha256:` + someDigest + `"}}]}}`
	someDigest = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
)

// MachineConfig and MustGather are images of [Release].
const (
	MachineConfig = "quay.example/mco@sha256:" + someDigest
	MustGather    = "quay.example/gather@sha256:" + someDigest
)

// Registry is one that runs.
type Registry struct {
	// Host is its address, CA the authority of its certificate in PEM.
	Host string
	CA   []byte
}

// Start runs one until the test ends.
func Start(t *testing.T) *Registry {
	t.Helper()
	g := gomega.NewWithT(t)
	program := needs.Program(t, "docker-registry", "docker-registry")
	dir := t.TempDir()
	certificate, err := pki.Ensure(filepath.Join(dir, "tls"), []string{"127.0.0.1"}, time.Now())
	g.Expect(err).NotTo(gomega.HaveOccurred())
	r := &Registry{}
	r.CA, err = os.ReadFile(certificate.CA)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	hash, err := bcrypt.GenerateFromPassword([]byte(Password), bcrypt.MinCost)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(os.WriteFile(filepath.Join(dir, "logins"), fmt.Appendf(nil, "%s:%s\n", User, hash), 0o600)).To(gomega.Succeed())
	free, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	r.Host = free.Addr().String()
	g.Expect(free.Close()).To(gomega.Succeed())
	g.Expect(os.WriteFile(filepath.Join(dir, "config.yml"), fmt.Appendf(nil,
		"version: 0.1\nstorage: {filesystem: {rootdirectory: %q}}\nhttp: {addr: %q, tls: {certificate: %q, key: %q}}\nauth: {htpasswd: {realm: test, path: %q}}\n",
		filepath.Join(dir, "data"), r.Host, certificate.Cert, certificate.Key, filepath.Join(dir, "logins")), 0o600)).To(gomega.Succeed())
	var log bytes.Buffer
	process := exec.CommandContext(t.Context(), program, "serve", filepath.Join(dir, "config.yml"))
	process.Stdout, process.Stderr, process.SysProcAttr = &log, &log, &syscall.SysProcAttr{Setpgid: true}
	g.Expect(process.Start()).To(gomega.Succeed())
	t.Cleanup(func() {
		_ = process.Wait() // the end of the test's context has killed it
		if t.Failed() {
			t.Log(log.String())
		}
	})
	g.Eventually(func() error {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", r.Host)
		if err == nil {
			err = c.Close()
		}
		return err
	}, time.Minute).Should(gomega.Succeed())
	return r
}

// Push puts the image into a repository of it and returns the image's reference by digest.
func (r *Registry) Push(t *testing.T, repository string, image v1.Image) string {
	t.Helper()
	return Push(t, r.Host+"/"+repository, image, r.CA, &authn.Basic{Username: User, Password: Password})
}

// PullSecret is one for it with the password.
func (r *Registry) PullSecret(password string) string {
	return fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, r.Host, base64.StdEncoding.EncodeToString([]byte(User+":"+password)))
}

// Mirrors are settings by which the images of a source, which no DNS knows, are had from it.
func (r *Registry) Mirrors(source, repository string) []byte {
	return fmt.Appendf(nil, "kind: ImageDigestMirrorSet\nspec: {imageDigestMirrors: [{source: %s, mirrors: [\"%s/%s\"], mirrorSourcePolicy: NeverContactSource}]}\n", source, r.Host, repository)
}

// Push puts an image into any registry and returns its reference by digest.
func Push(t *testing.T, at string, image v1.Image, ca []byte, login authn.Authenticator) string {
	t.Helper()
	g := gomega.NewWithT(t)
	pool := x509.NewCertPool()
	g.Expect(pool.AppendCertsFromPEM(ca)).To(gomega.BeTrue())
	tag, err := name.NewTag(at + ":4.20.1")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(remote.Write(tag, image, remote.WithAuth(login), remote.WithTransport(&http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}))).To(gomega.Succeed())
	digest, err := image.Digest()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return at + "@" + digest.String()
}

// Release is an image that looks like release 4.20.1 for x86_64.
func Release(t *testing.T) v1.Image {
	t.Helper()
	return Image(t, map[string]string{"release-manifests/release-metadata": aboutRelease, "release-manifests/image-references": imageList})
}

// Image is one with these files, and a layer above them that has others.
func Image(t *testing.T, files map[string]string) v1.Image {
	t.Helper()
	g := gomega.NewWithT(t)
	out, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{Architecture: "amd64", OS: "linux"})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for _, one := range []map[string]string{files, {"etc/motd": "above"}} {
		var raw bytes.Buffer
		zip := gzip.NewWriter(&raw)
		archive := tar.NewWriter(zip)
		for path, text := range one {
			g.Expect(archive.WriteHeader(&tar.Header{Name: path, Size: int64(len(text)), Mode: 0o644, Typeflag: tar.TypeReg})).To(gomega.Succeed())
			_, err := archive.Write([]byte(text))
			g.Expect(err).NotTo(gomega.HaveOccurred())
		}
		g.Expect(archive.Close()).To(gomega.Succeed())
		g.Expect(zip.Close()).To(gomega.Succeed())
		out, err = mutate.AppendLayers(out, static.NewLayer(raw.Bytes(), types.DockerLayer))
		g.Expect(err).NotTo(gomega.HaveOccurred())
	}
	return out
}

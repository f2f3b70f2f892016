package images_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/test/needs"
)

// registry serves one image under any tag to whoever has the password, by the
// OCI distribution specification, as far as a pull needs it.
type registry struct {
	blobs    map[string][]byte
	manifest []byte
	// size is that of the image's one layer, unpacked.
	size  int
	pulls atomic.Int32
}

const password = "robot:registry-password"

func newRegistry(t *testing.T) *registry {
	t.Helper()
	const size = 1 << 20
	content := make([]byte, size)
	_, _ = rand.Read(content)
	var layer bytes.Buffer
	archive := tar.NewWriter(&layer)
	if err := archive.WriteHeader(&tar.Header{Name: "data", Mode: 0o644, Size: size}); err != nil {
		t.Fatal(err)
	}
	_, _ = archive.Write(content)
	_ = archive.Close() // to memory
	var packed bytes.Buffer
	pack := gzip.NewWriter(&packed)
	_, _ = pack.Write(layer.Bytes())
	_ = pack.Close()
	r := &registry{blobs: map[string][]byte{}, size: size}
	blob := func(kind string, raw []byte) string {
		digest := digestOf(raw)
		r.blobs[digest] = raw
		return fmt.Sprintf(`{"mediaType":%q,"digest":%q,"size":%d}`, kind, digest, len(raw))
	}
	config := fmt.Sprintf(`{"architecture":"amd64","os":"linux","config":{},"rootfs":{"type":"layers","diff_ids":[%q]},"history":[{"created_by":"test"}]}`, digestOf(layer.Bytes()))
	r.manifest = fmt.Appendf(nil, `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":%s,"layers":[%s]}`,
		blob("application/vnd.oci.image.config.v1+json", []byte(config)), blob("application/vnd.oci.image.layer.v1.tar+gzip", packed.Bytes()))
	return r
}

func digestOf(raw []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(raw)) }

func (r *registry) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if request.Header.Get("Authorization") != "Basic "+base64.StdEncoding.EncodeToString([]byte(password)) {
		w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	folder, name := filepath.Split(request.URL.Path)
	switch raw := r.blobs[name]; {
	case request.URL.Path == "/v2/":
	case strings.HasSuffix(folder, "/manifests/") && (name == "v1" || name == "v2" || name == digestOf(r.manifest)):
		r.pulls.Add(1)
		w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
		w.Header().Set("Docker-Content-Digest", digestOf(r.manifest))
		_, _ = w.Write(r.manifest)
	case strings.HasSuffix(folder, "/blobs/") && raw != nil:
		_, _ = w.Write(raw)
	default:
		http.NotFound(w, request)
	}
}

// TestARealPodman pulls with Debian's podman from a registry that wants a password.
func TestARealPodman(t *testing.T) {
	needs.Program(t, "podman", "podman")
	if os.Getuid() != 0 {
		if os.Getenv("CI") == "true" {
			t.Fatal("podman's storage needs root here")
		}
		t.Skip("podman's storage needs root here")
	}
	g := NewWithT(t)
	images := newRegistry(t)
	server := httptest.NewServer(images)
	defer server.Close()
	address := strings.TrimPrefix(server.URL, "http://")
	configure(t, address, password)

	request := fmt.Sprintf(`{"images":["%[1]s/a/release:v1","%[1]s/a/missing:v9","%[1]s/a/release:v2"],"timeout":300}`, address)
	result := run(t.Context(), command.Host{}, request)
	g.Expect(result.Exit).To(BeEquivalentTo(2), result.Error)
	g.Expect(result.Error).To(And(HavePrefix("image "+address+"/a/missing:v9: podman: exit status 125: "), Not(ContainSubstring("\n"))))
	var out struct {
		Images []map[string]any `json:"images"`
	}
	g.Expect(json.Unmarshal([]byte(result.Output), &out)).To(Succeed(), result.Output)
	g.Expect(out.Images).To(HaveLen(3))
	g.Expect(out.Images[1]).To(Equal(map[string]any{"name": address + "/a/missing:v9", "result": "failure"}))
	for _, i := range []int{0, 2} {
		got := out.Images[i]
		g.Expect(got).To(HaveKeyWithValue("result", "success"))
		g.Expect(got["size_bytes"]).To(BeNumerically("~", images.size, 64<<10))
		g.Expect(got["time"]).To(BeNumerically(">", 0))
		rate := got["size_bytes"].(float64) / got["time"].(float64) / 1e6
		g.Expect(got["download_rate"]).To(BeNumerically("~", rate, rate/50))
	}

	pulled := images.pulls.Load()
	again := run(t.Context(), command.Host{}, fmt.Sprintf(`{"images":["%[1]s/a/release:v1"]}`, address))
	g.Expect(again.Exit).To(BeZero(), again.Error)
	g.Expect(again.Output).To(MatchJSON(fmt.Sprintf(`{"images":[{"name":"%s/a/release:v1","result":"success"}]}`, address)), "it was there before")
	g.Expect(images.pulls.Load()).To(Equal(pulled), "nothing is asked of the registry")

	configure(t, address, "robot:wrong")
	refused := run(t.Context(), command.Host{}, fmt.Sprintf(`{"images":["%s/a/release:v1"]}`, address))
	g.Expect(refused.Exit).To(BeEquivalentTo(2), "without the host's credentials there is no image")
	g.Expect(refused.Error).NotTo(ContainSubstring("wrong"))
}

// configure gives podman a storage of its own, the registry without TLS, and credentials in its own file.
func configure(t *testing.T, address, credentials string) {
	t.Helper()
	// Layers hold files that only root may remove; the folder is root's.
	folder := t.TempDir()
	files := map[string]string{
		"storage.conf":    fmt.Sprintf("[storage]\ndriver = \"vfs\"\nrunroot = %q\ngraphroot = %q\n", folder+"/run", folder+"/graph"),
		"registries.conf": fmt.Sprintf("[[registry]]\nlocation = %q\ninsecure = true\n", address),
		"auth.json":       fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, address, base64.StdEncoding.EncodeToString([]byte(credentials))),
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("CONTAINERS_STORAGE_CONF", filepath.Join(folder, "storage.conf"))
	t.Setenv("CONTAINERS_REGISTRIES_CONF", filepath.Join(folder, "registries.conf"))
	t.Setenv("REGISTRY_AUTH_FILE", filepath.Join(folder, "auth.json"))
	t.Setenv("NO_PROXY", "127.0.0.1")
}

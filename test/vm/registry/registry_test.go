//go:build machine

package registry_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/needs"
	"github.com/ironflow/ironflow/test/vm/registry"
)

// TestTheImageCanBePulled asks for the image as podman does: its layers are packed
// with zstd, and it starts what the Containerfile says.
func TestTheImageCanBePulled(t *testing.T) {
	g := NewWithT(t)
	needs.Program(t, "buildah", "buildah")
	r, err := registry.Start(t.Context(), registry.Options{Address: "127.0.0.1", Source: "../../..", Dir: t.TempDir()})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(r.Close)
	host, path, _ := strings.Cut(strings.TrimSuffix(r.IPA(), ":latest"), "/")
	var manifest struct {
		Config struct{ Digest string }
		Layers []struct{ MediaType string }
	}
	get(t, "http://"+host+"/v2/"+path+"/manifests/latest", &manifest)
	g.Expect(manifest.Layers).NotTo(BeEmpty())
	for _, layer := range manifest.Layers {
		g.Expect(layer.MediaType).To(HaveSuffix(".tar+zstd"))
	}
	var image struct{ Config struct{ Cmd []string } }
	get(t, "http://"+host+"/v2/"+path+"/blobs/"+manifest.Config.Digest, &image)
	g.Expect(image.Config.Cmd).To(Equal([]string{"ironflow-ipa", "--config-dir", "/etc/ironic-python-agent"}))
}

// get reads a JSON document of the registry.
func get(t *testing.T, url string, into any) {
	t.Helper()
	g := NewWithT(t)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	g.Expect(err).NotTo(HaveOccurred())
	request.Header.Set("Accept", "application/vnd.oci.image.manifest.v1+json, */*")
	response, err := http.DefaultClient.Do(request)
	g.Expect(err).NotTo(HaveOccurred())
	defer response.Body.Close()
	g.Expect(response.StatusCode).To(Equal(http.StatusOK))
	g.Expect(json.NewDecoder(response.Body).Decode(into)).To(Succeed())
}

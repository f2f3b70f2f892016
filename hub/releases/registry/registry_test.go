package registry_test

import (
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	reference "github.com/google/go-containerregistry/pkg/registry"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/releases/registry"
	"github.com/ironflow/ironflow/test/hub/realregistry"
)

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
	ref := realregistry.Push(t, host+"/ocp/release", realregistry.Release(t), ca, authn.Anonymous)
	reader := &registry.Reader{CA: ca}
	got, err := reader.Release(t.Context(), host+"/ocp/release:4.20.1", "")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got.Version).To(Equal("4.20.1"))
	g.Expect(got.Architectures).To(Equal([]string{"x86_64"}))
	g.Expect(got.Needed(ref)).To(Equal([]string{ref, "quay.example/cli@sha256:c", realregistry.MachineConfig, realregistry.MustGather}))
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
	ref := realregistry.Push(t, host+"/other", realregistry.Image(t, map[string]string{"etc/os-release": "x"}), ca, authn.Anonymous)
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

// TestWhetherAnImageIsThere: a registry's word is one thing, that nobody could be asked another.
func TestWhetherAnImageIsThere(t *testing.T) {
	g := NewWithT(t)
	host, ca, blobs := served(t)
	ref := realregistry.Push(t, host+"/ipa", realregistry.Image(t, map[string]string{"etc/os-release": "x"}), ca, authn.Anonymous)
	before := blobs.Load()
	g.Expect((&registry.Reader{CA: ca}).Exists(t.Context(), "agent image", ref, "")).To(Succeed())
	g.Expect((&registry.Reader{Insecure: true}).Exists(t.Context(), "agent image", ref, "")).To(Succeed())
	g.Expect(blobs.Load()).To(Equal(before), "no layer is read")
	for name, tc := range map[string]struct {
		reader *registry.Reader
		ref    string
		told   bool
		want   string
	}{
		"a tag that is not there": {&registry.Reader{CA: ca}, host + "/none:v1", true, "agent image " + host + "/none:v1 could not be read; " + host + "/none:v1: the registry answered 404 Not Found"},
		"an unknown authority":    {&registry.Reader{}, ref, false, "certificate"},
		"nobody there":            {&registry.Reader{}, "127.0.0.1:1/ipa:v1", false, "127.0.0.1:1"},
	} {
		err := tc.reader.Exists(t.Context(), "agent image", tc.ref, "")
		g.Expect(err).To(MatchError(ContainSubstring(tc.want)), name)
		refused, is := errors.AsType[*registry.Refused](err)
		g.Expect(is && refused.ByRegistries()).To(Equal(tc.told), name)
	}
}

func TestAMirrorThatIsDebiansRegistry(t *testing.T) {
	debian := realregistry.Start(t)
	host, ca := debian.Host, debian.CA
	ref := debian.Push(t, "mirror/release", realregistry.Release(t))
	_, digest, _ := strings.Cut(ref, "@")
	wanted := "quay.example.invalid/ocp/release@" + digest
	for kind, text := range map[string]string{
		"ICSP": "kind: ImageContentSourcePolicy\nspec: {repositoryDigestMirrors: [{source: quay.example.invalid/ocp/release, mirrors: [\"" + host + "/none\", \"" + host + "/mirror/release\"]}]}\n",
		"IDMS": "kind: ImageDigestMirrorSet\n" +
			"spec: {imageDigestMirrors: [{source: quay.example.invalid/ocp, mirrors: [\"" + host + "/none\", \"" + host + "/mirror\"], mirrorSourcePolicy: NeverContactSource}]}\n",
		"registries.conf": "unqualified-search-registries = []\n[[registry]]\nprefix = \"quay.example.invalid/ocp\"\nlocation = \"quay.example.invalid/ocp\"\nmirror-by-digest-only = true\n" +
			"[[registry.mirror]]\nlocation = \"" + host + "/mirror\"\n",
	} {
		t.Run(kind, func(t *testing.T) {
			g := NewWithT(t)
			mirrors, err := registry.ParseMirrors([]byte(text))
			g.Expect(err).NotTo(HaveOccurred())
			reader := &registry.Reader{Mirrors: mirrors, CA: ca, Timeout: 20 * time.Second}
			got, err := reader.Release(t.Context(), wanted, debian.PullSecret(realregistry.Password))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got.Version).To(Equal("4.20.1"))

			_, err = reader.Release(t.Context(), wanted, debian.PullSecret("wrong-password"))
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

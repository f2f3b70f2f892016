package images_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/imagecustomization/media"
	testmedia "github.com/ironflow/ironflow/test/media"
)

// Two replicas share the state directory: what the leader changes, the other serves.
func TestAReplicaCatchesUp(t *testing.T) {
	g, dir := NewWithT(t), t.TempDir()
	iso := filepath.Join(dir, "live.iso")
	g.Expect(testmedia.WriteFile(iso, testmedia.Options{RootfsBytes: 1 << 20})).To(Succeed())
	replica := func() *images.Store {
		registry, err := media.Open(t.Context(), iso, media.Options{})
		g.Expect(err).NotTo(HaveOccurred())
		s, err := images.NewStore(t.Context(), images.Options{
			Media: registry, BaseURL: "http://192.0.2.1:8080", SigningKey: bytes.Repeat([]byte("k"), 32), StateDir: filepath.Join(dir, "state"),
		})
		g.Expect(err).NotTo(HaveOccurred())
		return s
	}
	leader := replica()
	put := func(name, text string) string {
		b, err := leader.Put(t.Context(), images.Spec{Key: "metal/" + name, Arch: "x86_64", Ignition: []byte(text)})
		g.Expect(err).NotTo(HaveOccurred())
		return strings.TrimPrefix(b.URL, "http://192.0.2.1:8080")
	}
	early := put("host-0", "{}")
	other := replica()
	g.Expect(other.Lookup(early)).NotTo(BeNil())

	late, changed := put("host-1", "{}"), put("host-0", `{"a":1}`)
	g.Expect(other.Lookup(late)).To(BeNil())
	g.Expect(other.CatchUp(t.Context())).To(Succeed())
	g.Expect(other.Lookup(late)).NotTo(BeNil())
	g.Expect(other.Lookup(changed)).NotTo(BeNil())
	g.Expect(other.Lookup(early)).NotTo(BeNil(), "somebody may be reading it")

	g.Expect(leader.Remove("metal/host-0")).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(dir, "state", "broken.json"), []byte("{"), 0o600)).To(Succeed())
	g.Expect(other.CatchUp(t.Context())).To(Succeed())
	g.Expect(other.Lookup(changed)).To(BeNil())
	g.Expect(other.Lookup(early)).To(BeNil(), "revoked is revoked, in every replica")
	g.Expect(other.Keys()).To(Equal([]string{"metal/host-1"}))
	g.Expect(os.RemoveAll(filepath.Join(dir, "state"))).To(Succeed())
	g.Expect(other.CatchUp(t.Context())).NotTo(Succeed())
	g.Expect(other.Lookup(late)).NotTo(BeNil(), "a folder that is away for a while revokes nothing")
}

package images_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

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

// TestAReplicaFollowsItsMedia: the leader makes all images anew when there is another medium,
// and the files of the specs say nothing of it.
func TestAReplicaFollowsItsMedia(t *testing.T) {
	g, dir := NewWithT(t), t.TempDir()
	folders := map[string]string{"leader": filepath.Join(dir, "a"), "other": filepath.Join(dir, "b")}
	write := func(of string, rootfs int, at int64) {
		g.Expect(os.MkdirAll(folders[of], 0o700)).To(Succeed())
		name := filepath.Join(folders[of], strconv.Itoa(rootfs)+".iso")
		g.Expect(testmedia.WriteFile(name, testmedia.Options{RootfsBytes: rootfs})).To(Succeed())
		g.Expect(os.Chtimes(name, time.Unix(at, 0), time.Unix(at, 0))).To(Succeed())
	}
	g.Expect(os.MkdirAll(folders["other"], 0o700)).To(Succeed())
	write("leader", 1<<20, 1000)
	registries := map[string]*media.Registry{}
	replica := func(of string) *images.Store {
		var err error
		registries[of], err = media.Open(t.Context(), folders[of], media.Options{})
		g.Expect(err).NotTo(HaveOccurred())
		s, err := images.NewStore(t.Context(), images.Options{
			Media: registries[of], BaseURL: "http://192.0.2.1:8080", SigningKey: bytes.Repeat([]byte("k"), 32), StateDir: filepath.Join(dir, "state"),
		})
		g.Expect(err).NotTo(HaveOccurred())
		return s
	}
	leader := replica("leader")
	put := func() string {
		g.Expect(registries["leader"].Rescan(t.Context())).To(Succeed())
		b, err := leader.Put(t.Context(), images.Spec{Key: "metal/host-0", Arch: "x86_64", Ignition: []byte("{}")})
		g.Expect(err).NotTo(HaveOccurred())
		return strings.TrimPrefix(b.URL, "http://192.0.2.1:8080")
	}
	first := put()
	other := replica("other")
	catchUp := func() {
		g.Expect(registries["other"].Rescan(t.Context())).To(Succeed())
		g.Expect(other.CatchUp(t.Context())).To(Succeed())
	}
	catchUp()
	g.Expect(other.Lookup(first)).To(BeNil(), "it has no medium yet")
	write("other", 1<<20, 1000)
	catchUp()
	g.Expect(other.Lookup(first)).NotTo(BeNil(), "the medium has come")

	for _, of := range []string{"leader", "other"} {
		write(of, 2<<20, 2000)
	}
	second := put()
	g.Expect(second).NotTo(Equal(first))
	catchUp()
	g.Expect(other.Lookup(second)).NotTo(BeNil(), "there is a newer medium")
	g.Expect(other.Lookup(first)).NotTo(BeNil(), "somebody may be reading it")
	before := other.Lookup(second)
	catchUp()
	g.Expect(other.Lookup(second)).To(BeIdenticalTo(before), "nothing has changed")
}

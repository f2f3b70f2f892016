package service_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/store"
)

// TestFilesOfObjectsUnderAnotherKey: a key that is replaced seals them anew; after one that is lost, the next look at
// their objects does.
func TestFilesOfObjectsUnderAnotherKey(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	place, s := in(t, "sqlite")
	spec := service.ClusterSpec{ID: sharedCluster, Name: "c", Masters: 1, Files: []sources.File{
		{Name: "master.ign", From: "Secret site/roles", Content: []byte(`{"ignition":{"version":"3.2.0"}}`)},
	}}
	ensure := func(h *service.Hub) {
		t.Helper()
		_, err := h.EnsureCluster(ctx, spec)
		g.Expect(err).NotTo(HaveOccurred())
	}
	stored := func() (text string) {
		g.Expect(s.View(ctx, func(r *store.Reader) (err error) {
			text, err = r.ClusterFile(sharedCluster, "given/files")
			return err
		})).To(Succeed())
		return text
	}
	ensure(sealing(t, s, "a"))
	g.Expect(everything(t, place)).NotTo(Or(ContainSubstring("master.ign"), ContainSubstring("site/roles")))
	g.Expect(sealing(t, s, "b", "a").Reseal(ctx)).To(Succeed())
	g.Expect(sealing(t, s, "b").Reseal(ctx)).To(Succeed())
	sealed := stored()
	ensure(sealing(t, s, "b"))
	g.Expect(stored()).To(Equal(sealed), "they are the same")

	lost := sealing(t, s, "c")
	g.Expect(lost.Reseal(ctx)).To(MatchError(ContainSubstring("sealed with a key that this hub does not have")))
	ensure(lost)
	g.Expect(lost.Reseal(ctx)).To(Succeed())
}

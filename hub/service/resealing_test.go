package service_test

import (
	"encoding/base64"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/wire"
)

// TestALostTextKeepsNoOtherFromTheNewKey: what nobody can open is said, and stays as it is. All else of the same cluster
// is sealed with the new key, so that it is not lost as well when the old key goes.
func TestALostTextKeepsNoOtherFromTheNewKey(t *testing.T) {
	put := func(hub *service.Hub, name string) error {
		_, err := hub.PutManifest(t.Context(), sharedCluster, wire.CreateManifestParams{FileName: name, Content: base64.StdEncoding.EncodeToString([]byte(secretManifest(name)))})
		return err
	}
	for name, tc := range map[string]struct {
		lose func(hub *service.Hub) error
		said string
	}{
		"a manifest": {func(hub *service.Hub) error { return put(hub, "lost.yaml") }, "lost.yaml"},
		"a file of its objects": {func(hub *service.Hub) error {
			files := []sources.File{{Name: "master.ign", From: "Secret site/roles", Content: []byte("{}")}}
			_, err := hub.EnsureCluster(t.Context(), service.ClusterSpec{ID: sharedCluster, Name: "c", Masters: 1, Files: files})
			return err
		}, "given/files"},
		"a member of its record": {func(hub *service.Hub) error {
			return hub.SetInstallConfig(t.Context(), sharedCluster, `{"fips":true}`)
		}, "install_config_overrides"},
	} {
		t.Run(name, func(t *testing.T) {
			g, ctx := NewWithT(t), t.Context()
			_, s := in(t, "sqlite")
			first := sealing(t, s, "a")
			_, err := first.EnsureCluster(ctx, service.ClusterSpec{ID: sharedCluster, Name: "c", Masters: 1})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(put(first, "early.yaml")).To(Succeed())
			g.Expect(put(first, "yonder.yaml")).To(Succeed())
			g.Expect(tc.lose(sealing(t, s, "x", "a"))).To(Succeed())

			g.Expect(sealing(t, s, "b", "a").Reseal(ctx)).To(MatchError(And(ContainSubstring(tc.said), ContainSubstring("sealed with a key that this hub does not have"))))
			alone := sealing(t, s, "b")
			for _, file := range []string{"early.yaml", "yonder.yaml"} {
				g.Expect(alone.Manifest(ctx, sharedCluster, wire.ManifestFolderManifests, file)).To(Equal(secretManifest(file)), file)
			}
		})
	}
}

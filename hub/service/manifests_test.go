package service_test

import (
	"encoding/base64"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// What is in a manifest of a Secret, and the names of two of them.
const (
	inManifest       = "opens-the-whole-site"
	byUser, byObject = "user.yaml", "object.yaml"
)

func secretManifest(name string) string {
	return "apiVersion: v1\nkind: Secret\nmetadata: {name: " + name + "}\nstringData: {token: " + inManifest + "}\n"
}

// TestManifestsLieSealed in either database, whoever has handed them in: Secrets are among
// them, and the token of the program inside the cluster.
func TestManifestsLieSealed(t *testing.T) {
	inEachPlace(t, func(t *testing.T, place store.Place, s store.Store) {
		g, ctx := NewWithT(t), t.Context()
		hub := sealing(t, s, "a")
		_, err := hub.EnsureCluster(ctx, service.ClusterSpec{ID: sharedCluster, Name: "c", Masters: 1, Manifests: []sources.Manifest{
			{Folder: wire.ManifestFolderOpenshift, Name: byObject, Content: []byte(secretManifest("object"))},
		}})
		g.Expect(err).NotTo(HaveOccurred())
		_, err = hub.PutManifest(ctx, sharedCluster, wire.CreateManifestParams{FileName: byUser, Content: base64.StdEncoding.EncodeToString([]byte(secretManifest("user")))})
		g.Expect(err).NotTo(HaveOccurred())
		_, err = hub.UpdateManifest(ctx, sharedCluster, wire.UpdateManifestParams{FileName: byUser, Folder: wire.ManifestFolderManifests, UpdatedFileName: new("moved.yaml")})
		g.Expect(err).NotTo(HaveOccurred())

		g.Expect(everything(t, place)).NotTo(ContainSubstring(inManifest))
		g.Expect(hub.Manifest(ctx, sharedCluster, wire.ManifestFolderManifests, "moved.yaml")).To(Equal(secretManifest("user")), "its user reads it as it was")
		g.Expect(hub.Manifest(ctx, sharedCluster, wire.ManifestFolderOpenshift, byObject)).To(Equal(secretManifest("object")))
		g.Expect(hub.Manifests(ctx, sharedCluster)).To(HaveLen(2))
	})
}

// TestPlainManifestsAreSealed: those of an earlier version.
func TestPlainManifestsAreSealed(t *testing.T) {
	plain{
		secrets: []string{inManifest},
		write: func(t *testing.T, s store.Store) {
			c := &store.Cluster{
				API:       wire.Cluster{ID: sharedCluster, Name: "c", Kind: wire.ClusterKindCluster, Status: wire.ClusterStatusInsufficient},
				Manifests: []wire.Manifest{{Folder: wire.ManifestFolderManifests, FileName: byUser, ManifestSource: wire.ManifestManifestSourceUser}},
			}
			NewWithT(t).Expect(s.Commit(t.Context(), &store.Unit{Clusters: []*store.Cluster{c}, Files: []store.ClusterFile{
				{ClusterID: sharedCluster, Name: "manifests/manifests/" + byUser, Content: secretManifest("user")},
			}})).To(Succeed())
		},
		read: func(t *testing.T, _ store.Store, hub *service.Hub, _ ...string) {
			NewWithT(t).Expect(hub.Manifest(t.Context(), sharedCluster, wire.ManifestFolderManifests, byUser)).To(Equal(secretManifest("user")))
		},
	}.isSealed(t)
}

// TestManifestsUnderAnotherKey: after a key that is lost, the next look at their objects
// seals them anew, and their users give them anew.
func TestManifestsUnderAnotherKey(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	_, s := in(t, "sqlite")
	spec := service.ClusterSpec{ID: sharedCluster, Name: "c", Masters: 1, Manifests: []sources.Manifest{
		{Folder: wire.ManifestFolderOpenshift, Name: byObject, Content: []byte(secretManifest("object"))},
	}}
	first := sealing(t, s, "a")
	_, err := first.EnsureCluster(ctx, spec)
	g.Expect(err).NotTo(HaveOccurred())
	content := base64.StdEncoding.EncodeToString([]byte(secretManifest("user")))
	_, err = first.PutManifest(ctx, sharedCluster, wire.CreateManifestParams{FileName: byUser, Content: content})
	g.Expect(err).NotTo(HaveOccurred())

	lost := sealing(t, s, "b")
	g.Expect(lost.Manifest(ctx, sharedCluster, wire.ManifestFolderManifests, byUser)).Error().
		To(MatchError(ContainSubstring("sealed with a key that this hub does not have")))
	_, err = lost.EnsureCluster(ctx, spec)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(lost.Manifest(ctx, sharedCluster, wire.ManifestFolderOpenshift, byObject)).To(Equal(secretManifest("object")))
	_, err = lost.UpdateManifest(ctx, sharedCluster, wire.UpdateManifestParams{FileName: byUser, Folder: wire.ManifestFolderManifests, UpdatedContent: new(content)})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(lost.Manifest(ctx, sharedCluster, wire.ManifestFolderManifests, byUser)).To(Equal(secretManifest("user")))
	g.Expect(lost.Reseal(ctx)).To(Succeed())
}

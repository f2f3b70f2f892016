package service_test

import (
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/vault"
	"github.com/ironflow/ironflow/hub/wire"
)

// TestWhatOpensAClusterIsHandedOutInItsStates, and in no other: the statuses are the protocol's.
func TestWhatOpensAClusterIsHandedOutInItsStates(t *testing.T) {
	all := []string{
		wire.ClusterStatusInsufficient, wire.ClusterStatusReady, wire.ClusterStatusError, wire.ClusterStatusPreparingForInstallation,
		wire.ClusterStatusPendingForInput, wire.ClusterStatusInstalling, wire.ClusterStatusFinalizing, wire.ClusterStatusInstalled,
		wire.ClusterStatusAddingHosts, wire.ClusterStatusCancelled, wire.ClusterStatusInstallingPendingUserAction, wire.ClusterStatusUnmonitored,
	}
	late := []string{
		wire.ClusterStatusFinalizing, wire.ClusterStatusInstalled, wire.ClusterStatusError, wire.ClusterStatusAddingHosts,
		wire.ClusterStatusCancelled, wire.ClusterStatusInstallingPendingUserAction,
	}
	early := append(slices.Clone(late), wire.ClusterStatusInstalling)
	for _, status := range all {
		t.Run(status, func(t *testing.T) {
			g := NewWithT(t)
			_, s := in(t, "sqlite")
			kept, err := vault.Vault{Keys: keysOf(t, "a")}.Rest(sharedCluster, vault.Keep{Source: sources.OpenShiftInstall, Made: sources.Made{
				Credentials: map[string][]byte{"kubeconfig-noingress": []byte("kind: Config"), "kubeadmin-password": []byte("a")},
				Files:       map[string][]byte{"bootstrap.ign": []byte(empty), "metadata.json": []byte("{}")},
			}})
			g.Expect(err).NotTo(HaveOccurred())
			c := &store.Cluster{API: wire.Cluster{ID: sharedCluster, Name: "c", Kind: wire.ClusterKindCluster, Status: status}}
			g.Expect(s.Commit(t.Context(), &store.Unit{Clusters: []*store.Cluster{c}, Files: []store.ClusterFile{kept}})).To(Succeed())
			hub := sealing(t, s, "a")
			for name, in := range map[string][]string{"kubeconfig": late, "kubeconfig-noingress": early, "kubeadmin-password": early} {
				_, err := hub.CredentialsFile(t.Context(), sharedCluster, name)
				handedOut(g, err, slices.Contains(in, status), name)
			}
			for _, name := range []string{"bootstrap.ign", "metadata.json"} {
				_, err := hub.ClusterFile(t.Context(), sharedCluster, name)
				handedOut(g, err, slices.Contains(early, status), name)
			}
			_, err = hub.Credentials(t.Context(), sharedCluster)
			handedOut(g, err, slices.Contains(late, status), "how to log in to the console")
		})
	}
}

func handedOut(g *WithT, err error, want bool, name string) {
	if want {
		g.Expect(err).NotTo(HaveOccurred(), name)
		return
	}
	g.Expect(service.Code(err)).To(Equal(409), name)
}

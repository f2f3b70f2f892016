package cluster

import (
	"bytes"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/hubid"
	"github.com/ironflow/ironflow/hub/backup"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// TestAMovedClusterIsNotInstalledAgain: neither the hub that it comes to nor its object there has its status, and its
// ClusterDeployment has another UID.
func TestAMovedClusterIsNotInstalledAgain(t *testing.T) {
	for was, now := range map[string]string{
		wire.ClusterStatusInstalled:   wire.ClusterStatusAddingHosts,
		wire.ClusterStatusAddingHosts: wire.ClusterStatusAddingHosts,
		wire.ClusterStatusError:       wire.ClusterStatusError,
		wire.ClusterStatusInstalling:  wire.ClusterStatusError,
	} {
		t.Run(was, func(t *testing.T) {
			cd, aci := deployment(), install()
			aci.Status.DebugInfo.State = was
			host := &agentv1.Agent{ObjectMeta: metav1.ObjectMeta{Namespace: "site", Name: uuid.NewString(), Annotations: map[string]string{names.AgentState: wire.HostStatusInstalled}}}
			host.Spec.ClusterDeploymentName = &agentv1.ClusterReference{Namespace: cd.Namespace, Name: cd.Name}
			w := newWorld(t, cd, aci, host)
			for range 3 {
				w.pass()
			}
			kept := w.pass()
			w.Expect(kept.Annotations).To(HaveKeyWithValue(names.ClusterState, kept.Status.DebugInfo.State))
			w.Expect(w.pass().ResourceVersion).To(Equal(kept.ResourceVersion), "nothing is written when nothing has changed")

			w.Expect(w.kube.Delete(t.Context(), cd)).To(Succeed())
			cd.ResourceVersion, cd.UID = "", types.UID(uuid.NewString())
			w.Expect(w.kube.Create(t.Context(), cd)).To(Succeed())
			kept.Finalizers = nil
			w.Expect(w.kube.Update(t.Context(), kept)).To(Succeed())
			w.Expect(w.kube.Delete(t.Context(), kept)).To(Succeed())
			moved := &hiveextv1.AgentClusterInstall{ObjectMeta: metav1.ObjectMeta{Namespace: kept.Namespace, Name: kept.Name, Annotations: kept.Annotations}, Spec: kept.Spec}
			w.Expect(w.kube.Create(t.Context(), moved)).To(Succeed())
			w.hub = testhub.Start(t, testhub.Options{})
			w.r = newReconciler(w.kube, w.hub)
			for range 3 {
				w.pass()
			}
			w.Expect(w.pass().Status.DebugInfo.State).To(Equal(now))
		})
	}
}

// TestAClusterThatWasNotBegunKeepsNothing, nor one that begins anew.
func TestAClusterThatWasNotBegunKeepsNothing(t *testing.T) {
	aci := install()
	aci.Annotations = map[string]string{"mine": "stays"}
	w := newWorld(t, deployment(), aci)
	for range 3 {
		w.pass()
	}
	w.Expect(w.pass().Annotations).NotTo(HaveKey(names.ClusterState))
	w.Expect(w.pass().Annotations).To(HaveKey("mine"))
}

// TestAClusterThatIsElsewhereNowLetsNoHostGo: hosts that leave their cluster are given back, and cleaned.
func TestAClusterThatIsElsewhereNowLetsNoHostGo(t *testing.T) {
	cd := deployment()
	w := newWorld(t, cd, install())
	aci := w.pass()
	metav1.SetMetaDataAnnotation(&aci.ObjectMeta, names.DeleteForMove, "")
	w.Expect(w.kube.Update(t.Context(), aci)).To(Succeed())
	w.Expect(w.kube.Delete(t.Context(), aci)).To(Succeed())
	w.Expect(w.pass()).To(BeNil())
	_, err := w.hub.Cluster(t.Context(), hubid.Cluster(cd), false)
	w.Expect(err).NotTo(HaveOccurred())
}

// begins has a host of the cluster's pool be ready and approved, and tells what becomes of the cluster.
func (w *world) begins(cd *hivev1.ClusterDeployment) string {
	w.t.Helper()
	agent, host := w.registered(cd, true)
	for _, step := range agent.Poll(w.t, host).Instructions {
		agent.Answer(w.t, host, step, testhub.Inventory(1))
	}
	c, err := w.hub.Cluster(w.t.Context(), hubid.Cluster(cd), false)
	w.Expect(err).NotTo(HaveOccurred())
	return c.Status
}

// TestAClusterWhoseObjectsHaveGoneIsNotBegun, whatever their going has left of it here: a host that comes late is not installed for it.
func TestAClusterWhoseObjectsHaveGoneIsNotBegun(t *testing.T) {
	for name, goes := range map[string]func(*world, *hivev1.ClusterDeployment, *hiveextv1.AgentClusterInstall){
		"they are elsewhere now": func(w *world, cd *hivev1.ClusterDeployment, aci *hiveextv1.AgentClusterInstall) {
			metav1.SetMetaDataAnnotation(&aci.ObjectMeta, names.DeleteForMove, "")
			w.Expect(w.kube.Update(w.t.Context(), aci)).To(Succeed())
			w.Expect(w.kube.Delete(w.t.Context(), aci)).To(Succeed())
			w.Expect(w.pass()).To(BeNil())
		},
		"its hosts are to stay": func(w *world, cd *hivev1.ClusterDeployment, aci *hiveextv1.AgentClusterInstall) {
			cd.Spec.PreserveOnDelete = true
			w.Expect(w.kube.Update(w.t.Context(), cd)).To(Succeed())
			w.Expect(w.kube.Delete(w.t.Context(), w.pass())).To(Succeed())
			w.Expect(w.pass()).To(BeNil())
		},
		"they went while nobody looked": func(w *world, cd *hivev1.ClusterDeployment, aci *hiveextv1.AgentClusterInstall) {
			aci.Finalizers = nil
			w.Expect(w.kube.Update(w.t.Context(), aci)).To(Succeed())
			w.Expect(w.kube.Delete(w.t.Context(), aci)).To(Succeed())
			w.Expect(w.kube.Delete(w.t.Context(), cd)).To(Succeed())
			feed{hub: w.hub, reconciler: w.r}.holdStray(w.t.Context())
		},
	} {
		t.Run(name, func(t *testing.T) {
			cd := deployment()
			w := newWorld(t, cd, install())
			goes(w, cd, w.pass())
			w.Expect(w.begins(cd)).To(Equal(wire.ClusterStatusReady))
		})
	}
	t.Run("they are there", func(t *testing.T) {
		cd := deployment()
		w := newWorld(t, cd, install())
		w.pass()
		feed{hub: w.hub, reconciler: w.r}.holdStray(t.Context())
		w.Expect(w.begins(cd)).To(Equal(wire.ClusterStatusPreparingForInstallation))
	})
}

// TestAClusterThatComesBeforeItsHostsWaitsForThem: objects come back in any order. One that has failed is not begun anew because
// none of its Agents is there yet, and is once they have come and gone.
func TestAClusterThatComesBeforeItsHostsWaitsForThem(t *testing.T) {
	for was, now := range map[string]string{
		wire.ClusterStatusError:      wire.ClusterStatusError,
		wire.ClusterStatusCancelled:  wire.ClusterStatusCancelled,
		wire.ClusterStatusInstalling: wire.ClusterStatusError,
	} {
		t.Run(was, func(t *testing.T) {
			cd, aci := deployment(), install()
			aci.Annotations = map[string]string{names.ClusterState: was}
			w := newWorld(t, cd, aci)
			for range 3 {
				w.Expect(w.pass().Status.DebugInfo.State).To(Equal(now))
			}
			env := service.InfraEnvSpec{ID: uuid.NewString(), Name: "edge"}
			_, err := w.hub.EnsureInfraEnv(t.Context(), env)
			w.Expect(err).NotTo(HaveOccurred())
			host := store.HostKey{InfraEnvID: env.ID, HostID: uuid.NewString()}
			made, err := w.hub.RecoverHost(t.Context(), host, service.LostHost{ClusterID: hubid.Cluster(cd), Known: wire.Host{Status: wire.HostStatusError}})
			w.Expect(made, err).To(BeTrue())
			w.Expect(w.pass().Status.DebugInfo.State).To(Equal(now))
			w.Expect(w.hub.DeleteHost(t.Context(), host)).To(Succeed())
			w.Expect(w.pass().Status.DebugInfo.State).To(Equal(wire.ClusterStatusInsufficient), "all of its hosts were given back")
		})
	}
}

// TestAnOlderBackupBeginsNoCluster: it was installed since the backup, or is not to be begun before its objects were heard.
func TestAnOlderBackupBeginsNoCluster(t *testing.T) {
	for seen, now := range map[string]string{
		wire.ClusterStatusInstalled:    wire.ClusterStatusAddingHosts,
		wire.ClusterStatusFinalizing:   wire.ClusterStatusError,
		wire.ClusterStatusError:        wire.ClusterStatusError,
		wire.ClusterStatusInsufficient: wire.ClusterStatusPreparingForInstallation,
	} {
		t.Run(seen, func(t *testing.T) {
			cd := deployment()
			w := newWorld(t, cd, install())
			w.pass()
			_, err := w.hub.HoldCluster(t.Context(), hubid.Cluster(cd))
			w.Expect(err).NotTo(HaveOccurred())
			w.Expect(w.begins(cd)).To(Equal(wire.ClusterStatusReady))
			var copied bytes.Buffer
			place := func(dir string) backup.Options {
				return backup.Options{DataDir: dir, Place: store.Place{SQLite: filepath.Join(dir, "hub.sqlite")}}
			}
			_, err = backup.Write(t.Context(), place(w.hub.Dir), time.Now(), &copied)
			w.Expect(err).NotTo(HaveOccurred())
			aci := w.pass() // which releases it, in the hub that is lost
			aci.Status.DebugInfo.State = seen
			w.Expect(w.kube.Status().Update(t.Context(), aci)).To(Succeed())

			dir := filepath.Join(t.TempDir(), "restored")
			_, err = backup.Restore(t.Context(), place(dir), bytes.NewReader(copied.Bytes()))
			w.Expect(err).NotTo(HaveOccurred())
			w.hub = testhub.Start(t, testhub.Options{Dir: dir})
			w.r = newReconciler(w.kube, w.hub)
			w.Expect(w.pass().Status.DebugInfo.State).To(Equal(now))
			w.Expect(w.pass().Status.DebugInfo.State).To(Equal(now))
		})
	}
}

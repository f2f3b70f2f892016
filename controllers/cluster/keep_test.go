package cluster

import (
	"testing"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/hubid"
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

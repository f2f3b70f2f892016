package cluster

import (
	"testing"
	"time"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/controllers/hubid"
	"github.com/ironflow/ironflow/hub/wire"
)

// second is an AgentClusterInstall of the same cluster that was made later.
func second(change ...func(*hiveextv1.AgentClusterInstall)) *hiveextv1.AgentClusterInstall {
	return install(append([]func(*hiveextv1.AgentClusterInstall){func(a *hiveextv1.AgentClusterInstall) {
		a.Name, a.UID, a.CreationTimestamp = "second", types.UID(uuid.NewString()), metav1.NewTime(time.Now())
		a.Spec.SSHPublicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f"
	}}, change...)...)
}

// passOf is a pass of the AgentClusterInstall of that name.
func (w *world) passOf(name string) *hiveextv1.AgentClusterInstall {
	w.t.Helper()
	of := types.NamespacedName{Namespace: key.Namespace, Name: name}
	_, err := w.r.Reconcile(w.t.Context(), ctrl.Request{NamespacedName: of})
	w.Expect(err).NotTo(HaveOccurred())
	aci := &hiveextv1.AgentClusterInstall{}
	if w.kube.Get(w.t.Context(), of, aci) != nil {
		return nil
	}
	return aci
}

// TestAClusterHasOneDescription: a second one changes nothing of it, says so, and does not take it along when it goes.
func TestAClusterHasOneDescription(t *testing.T) {
	names := func(name string) func(*hivev1.ClusterDeployment) {
		return func(cd *hivev1.ClusterDeployment) {
			cd.Spec.ClusterInstallRef = &hivev1.ClusterInstallReference{Group: "extensions.hive.openshift.io", Version: "v1beta1", Kind: "AgentClusterInstall", Name: name}
		}
	}
	for name, tc := range map[string]struct {
		cd          *hivev1.ClusterDeployment
		first, last string
	}{
		"the older one, where nobody says": {deployment(), "install", "second"},
		"the one that is named":            {deployment(names("second")), "second", "install"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, tc.cd, install(), second())
			w.Expect(condition(w.passOf(tc.first), "SpecSynced").Status).To(Equal(corev1.ConditionTrue))
			before, err := w.hub.Cluster(t.Context(), hubid.Cluster(tc.cd), false)
			w.Expect(err).NotTo(HaveOccurred())
			agent, host := w.installing(tc.cd)
			other := w.passOf(tc.last)
			w.Expect(condition(other, "SpecSynced")).To(And(HaveField("Status", corev1.ConditionFalse), HaveField("Reason", "InputError"),
				HaveField("Message", ContainSubstring("ClusterDeployment prod is described by AgentClusterInstall "+tc.first))))
			w.Expect(condition(other, "Completed").Status).To(Equal(corev1.ConditionUnknown), "the cluster is not its")
			after, err := w.hub.Cluster(t.Context(), hubid.Cluster(tc.cd), false)
			w.Expect(err).NotTo(HaveOccurred())
			w.Expect(after.SSHPublicKey).To(Equal(before.SSHPublicKey))

			w.Expect(w.kube.Delete(t.Context(), other)).To(Succeed())
			w.Expect(w.passOf(tc.last)).To(BeNil())
			agent.Progress(t, host, wire.HostStageWritingImageToDisk, "45%")
			w.Expect(w.passOf(tc.first).Status.DebugInfo.State).To(Equal(wire.ClusterStatusInstalling), "its installation goes on")
			w.Expect(w.kube.Delete(t.Context(), w.passOf(tc.first))).To(Succeed())
			w.Expect(w.passOf(tc.first)).To(BeNil())
			_, err = w.hub.Cluster(t.Context(), hubid.Cluster(tc.cd), false)
			w.Expect(err).To(HaveOccurred(), "the last one takes it along")
		})
	}
}

// TestTheOtherDescriptionTakesOver when the first one goes.
func TestTheOtherDescriptionTakesOver(t *testing.T) {
	cd := deployment()
	w := newWorld(t, cd, install(), second())
	w.pass()
	w.passOf("second")
	w.Expect(w.kube.Delete(t.Context(), w.pass())).To(Succeed())
	w.Expect(w.pass()).To(BeNil())
	w.Expect(condition(w.passOf("second"), "SpecSynced").Status).To(Equal(corev1.ConditionTrue))
	record, err := w.hub.Cluster(t.Context(), hubid.Cluster(cd), false)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(record.SSHPublicKey).To(HavePrefix("ssh-ed25519"))
}

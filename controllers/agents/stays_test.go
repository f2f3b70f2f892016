package agents

import (
	"testing"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/hubid"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// inItsCluster is a host that was approved and belongs to its cluster.
func inItsCluster(t *testing.T) *world {
	w := newWorld(t, service.InfraEnvSpec{})
	w.ensureCluster()
	w.register(testhub.Inventory(1))
	w.pass()
	w.change(func(a *agentv1.Agent) {
		a.Spec.Approved = true
		a.Spec.ClusterDeploymentName = &agentv1.ClusterReference{Namespace: "site", Name: "prod"}
	})
	w.pass()
	view, _ := w.view()
	w.Expect(view.ClusterID).To(Equal(hubid.Cluster(w.cd)))
	return w
}

// TestAnAgentThatIsMadeAnewTakesNothingBack: the Agent of a host is lost, as after a restore from a backup, or because somebody has
// taken its finalizer away. The one that is made for the record of the hub says nothing yet of cluster and approval: that is no
// wish to have the host out of its cluster, which would have its machine wiped.
func TestAnAgentThatIsMadeAnewTakesNothingBack(t *testing.T) {
	w := inItsCluster(t)
	w.change(func(a *agentv1.Agent) { a.Finalizers = nil })
	w.Expect(w.kube.Delete(t.Context(), w.agent())).To(Succeed())
	w.feed.host(t.Context(), w.host)
	<-w.woken
	for range 2 {
		w.pass()
	}
	view, _ := w.view()
	w.Expect(view.ClusterID).To(Equal(hubid.Cluster(w.cd)))
	w.Expect(view.Approved).To(BeTrue())
	w.Expect(w.agent().Finalizers).To(ContainElement(names.AgentFinalizer))
	w.Expect(w.agent().Spec).To(And(HaveField("Approved", true), HaveField("ClusterDeploymentName.Name", "prod")))

	w.change(func(a *agentv1.Agent) { a.Spec.ClusterDeploymentName = nil })
	w.pass()
	view, _ = w.view()
	w.Expect(view.ClusterID).To(BeEmpty(), "it is taken out when somebody says so")
}

// TestAClusterThatIsMadeAnewTakesNoHostOut: a ClusterDeployment that comes from a backup has another UID, by which the hub knows it.
// The hosts of the cluster that there was before are not told to leave it: nobody has asked for that.
func TestAClusterThatIsMadeAnewTakesNoHostOut(t *testing.T) {
	w := inItsCluster(t)
	before := hubid.Cluster(w.cd)
	w.Expect(w.kube.Delete(t.Context(), w.cd)).To(Succeed())
	w.cd = &hivev1.ClusterDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: "site", Name: "prod", UID: types.UID(uuid.NewString())}}
	w.Expect(w.kube.Create(t.Context(), w.cd)).To(Succeed())
	w.pass()
	view, _ := w.view()
	w.Expect(view.ClusterID).To(Equal(before))
	w.Expect(w.condition(agentv1.ConditionSpecSynced)).To(And(HaveField("Reason", agentv1.ReasonInputError), HaveField("Message", ContainSubstring("Next: "))))
}

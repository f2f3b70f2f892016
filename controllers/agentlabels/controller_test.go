package agentlabels

import (
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
)

// world is both controllers on a fake API server.
type world struct {
	*WithT
	t    *testing.T
	kube client.Client
	l    *labeller
	c    *counter
}

func newWorld(t *testing.T, objects ...client.Object) *world {
	g := NewWithT(t)
	scheme := runtime.NewScheme()
	g.Expect(agentv1.AddToScheme(scheme)).To(Succeed())
	kube := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&agentv1.AgentClassification{}).Build()
	return &world{WithT: g, t: t, kube: kube, l: &labeller{kube}, c: newCounter(kube)}
}

// pass has all Agents labelled and all classifications counted.
func (w *world) pass() {
	w.t.Helper()
	var agents agentv1.AgentList
	w.Expect(w.kube.List(w.t.Context(), &agents)).To(Succeed())
	for i := range agents.Items {
		_, err := w.l.Reconcile(w.t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&agents.Items[i])})
		w.Expect(err).NotTo(HaveOccurred())
	}
	var all agentv1.AgentClassificationList
	w.Expect(w.kube.List(w.t.Context(), &all)).To(Succeed())
	for i := range all.Items {
		_, err := w.c.Reconcile(w.t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&all.Items[i])})
		w.Expect(err).NotTo(HaveOccurred())
	}
}

// again reads an object again.
func again[T client.Object](w *world, obj T) T {
	w.t.Helper()
	w.Expect(w.kube.Get(w.t.Context(), client.ObjectKeyFromObject(obj), obj)).To(Succeed())
	return obj
}

// TestALabelComesAndGoes with the query, the machine and the classification.
func TestALabelComesAndGoes(t *testing.T) {
	large := classification("large", "size", "large", ".cpu.count >= 16")
	agent := machine(func(a *agentv1.Agent) { a.Labels = map[string]string{"rack": "7", names.InfraEnvLabel: "edge"} })
	w := newWorld(t, agent, &large)
	w.pass()
	w.Expect(again(w, agent).Labels).To(And(
		HaveKeyWithValue("agentclassification.agent-install.openshift.io/size", "large"), HaveKeyWithValue("rack", "7"),
		HaveKeyWithValue(names.InfraEnvLabel, "edge"),
	))
	w.Expect(agent.Annotations).To(HaveKeyWithValue("inventory.agent-install.openshift.io/version", "0.1"))
	w.Expect(again(w, &large).Status).To(And(HaveField("MatchedCount", 1), HaveField("ErrorCount", 0), HaveField("Conditions", ConsistOf(HaveField("Reason", agentv1.ReasonNoQueryErrors)))))
	version := agent.ResourceVersion
	w.pass()
	w.Expect(again(w, agent).ResourceVersion).To(Equal(version), "what is right is not written again")

	large.Spec.Query = ".cpu.cores >= 16 | not | not | tostring"
	w.Expect(w.kube.Update(t.Context(), &large)).To(Succeed())
	w.pass()
	w.Expect(again(w, agent).Labels).To(HaveKeyWithValue(names.ClassificationPrefix+"size", "QUERYERROR-large"))
	w.Expect(again(w, &large).Status).To(And(HaveField("MatchedCount", 0), HaveField("ErrorCount", 1),
		HaveField("Conditions", ConsistOf(And(HaveField("Reason", agentv1.ReasonHasQueryErrors), HaveField("Message", "for Agent host-1: spec.query gives string; want true or false"))))))

	w.Expect(w.kube.Delete(t.Context(), &large)).To(Succeed())
	w.pass()
	w.Expect(again(w, agent).Labels).NotTo(HaveKey(names.ClassificationPrefix + "size"))
	w.Expect(agent.Labels).To(HaveKeyWithValue("rack", "7"), "labels of others stay")
}

// TestAClassificationThatCannotWorkSaysSo.
func TestAClassificationThatCannotWorkSaysSo(t *testing.T) {
	for name, tc := range map[string]struct {
		c    agentv1.AgentClassification
		says string
	}{
		"no query": {classification("c", "size", "large", "(("), "spec.query is no query of jq: "},
		"no key":   {classification("c", "not a key", "large", "true"), `spec.labelKey "not a key" is none: `},
		"no value": {classification("c", "size", "", "true"), `spec.labelValue "" is none: `},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, &tc.c)
			w.pass()
			w.Expect(again(w, &tc.c).Status.Conditions).To(ConsistOf(And(HaveField("Reason", agentv1.ReasonHasQueryErrors), HaveField("Message", HavePrefix(tc.says)))))
		})
	}
}

// TestWhoIsWoken: a classification wakes the Agents of its namespace, an Agent's inventory
// its labels, and its progress nothing.
func TestWhoIsWoken(t *testing.T) {
	large := classification("large", "size", "large", "true")
	agent, elsewhere := machine(), machine(func(a *agentv1.Agent) { a.Namespace = "another" })
	w := newWorld(t, agent, elsewhere, &large)
	w.Expect(w.l.agentsOf(t.Context(), &large)).To(ConsistOf(HaveField("NamespacedName", client.ObjectKeyFromObject(agent))))

	moves := func(change func(*agentv1.Agent)) bool {
		after := agent.DeepCopy()
		change(after)
		return concerns.Update(event.UpdateEvent{ObjectOld: agent, ObjectNew: after})
	}
	w.Expect(moves(func(a *agentv1.Agent) { a.Status.Progress = &agentv1.HostProgressInfo{CurrentStage: "Installing"} })).To(BeFalse())
	w.Expect(moves(func(a *agentv1.Agent) { a.Status.Inventory.ReportTime = nil })).To(BeTrue())
	w.Expect(moves(func(a *agentv1.Agent) { a.Labels = map[string]string{names.ClassificationPrefix + "size": "by hand"} })).To(BeTrue())
	w.Expect(moves(func(a *agentv1.Agent) {
		a.Spec.ClusterDeploymentName = &agentv1.ClusterReference{Namespace: "c", Name: "prod"}
	})).To(BeTrue())
}

package agentlabels

import (
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/test/kubeapi"
)

// TestWhatChangesIsNoticed runs both controllers as the program does: what a machine, a query
// or a deletion changes is in the labels and the counts, without anybody else's word.
func TestWhatChangesIsNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		scheme := runtime.NewScheme()
		g.Expect(agentv1.AddToScheme(scheme)).To(Succeed())
		g.Expect(corev1.AddToScheme(scheme)).To(Succeed()) // the manager's cache knows Secrets
		api, err := kubeapi.New(scheme, &agentv1.Agent{}, &agentv1.AgentClassification{}, &corev1.Secret{})
		g.Expect(err).NotTo(HaveOccurred())
		kube, err := api.Client(scheme)
		g.Expect(err).NotTo(HaveOccurred())
		mgr, err := api.Manager(scheme, nil)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(Setup(mgr)).To(Succeed())
		stop, _ := kubeapi.Start(t, mgr)
		defer stop()

		agent := &agentv1.Agent{}
		agent.Namespace, agent.Name = "site", "host-1"
		g.Expect(kube.Create(t.Context(), agent)).To(Succeed())
		large := classification("large", "size", "large", ".cpu.count >= 16")
		g.Expect(kube.Create(t.Context(), &large)).To(Succeed())
		becomes := func(label string, matched, failed int) {
			t.Helper()
			<-time.After(time.Minute)
			g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(agent), agent)).To(Succeed())
			g.Expect(agent.Labels[names.ClassificationPrefix+"size"]).To(Equal(label))
			g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(&large), &large)).To(Succeed())
			g.Expect(large.Status).To(And(HaveField("MatchedCount", matched), HaveField("ErrorCount", failed)))
		}
		becomes("", 0, 0)
		agent.Status.Inventory = machine().Status.Inventory
		g.Expect(kube.Status().Update(t.Context(), agent)).To(Succeed())
		becomes("large", 1, 0)
		large.Spec.Query = ".cpu.count"
		g.Expect(kube.Update(t.Context(), &large)).To(Succeed())
		becomes("QUERYERROR-large", 0, 1)
		large.Spec.Query = "true"
		g.Expect(kube.Update(t.Context(), &large)).To(Succeed())
		becomes("large", 1, 0)
		g.Expect(kube.Delete(t.Context(), &large)).To(Succeed())
		<-time.After(time.Minute)
		g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(agent), agent)).To(Succeed())
		g.Expect(agent.Labels).NotTo(HaveKey(names.ClassificationPrefix + "size"))
	})
}

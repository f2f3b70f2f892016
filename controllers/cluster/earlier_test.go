package cluster

import (
	"testing"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/hubid"
	"github.com/ironflow/ironflow/hub/wire"
)

// TestAClusterOfAnEarlierVersionIsThereAgain: its record is made anew from its object, which has what a hub took once and
// takes no more. A cluster that was begun is not judged by the rules of today: nobody can mend its settings, and its hosts
// are known to nobody without it.
func TestAClusterOfAnEarlierVersionIsThereAgain(t *testing.T) {
	for name, tc := range map[string]struct{ was, now string }{
		"installed":                 {wire.ClusterStatusInstalled, wire.ClusterStatusAddingHosts},
		"under way":                 {wire.ClusterStatusInstalling, wire.ClusterStatusError},
		"called off":                {wire.ClusterStatusCancelled, wire.ClusterStatusCancelled},
		"not begun":                 {wire.ClusterStatusInsufficient, ""},
		"never a hub's":             {"", ""},
		"somebody else's, new here": {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			cd, aci := deployment(), install()
			cd.Spec.Installed = name == "somebody else's, new here"
			aci.Labels = map[string]string{names.ClusterConsumerLabel: "row-7"}
			aci.Status.DebugInfo.State = tc.was
			host := &agentv1.Agent{ObjectMeta: metav1.ObjectMeta{Namespace: "site", Name: uuid.NewString(), Annotations: map[string]string{names.AgentState: wire.HostStatusInstalled}}}
			host.Spec.ClusterDeploymentName = &agentv1.ClusterReference{Namespace: cd.Namespace, Name: cd.Name}
			w := newWorld(t, cd, aci, host)
			for range 3 {
				w.pass()
			}
			c, err := w.hub.Cluster(t.Context(), hubid.Cluster(cd), false)
			if tc.now == "" {
				w.Expect(err).To(HaveOccurred())
				w.Expect(condition(w.pass(), "SpecSynced")).To(And(HaveField("Status", corev1.ConditionFalse), HaveField("Message", ContainSubstring("row-7"))))
				return
			}
			w.Expect(err).NotTo(HaveOccurred())
			w.Expect(c.Status).To(Equal(tc.now))
			w.Expect(c.Tags).To(Equal("row-7"))
			w.Expect(condition(w.pass(), "SpecSynced").Status).To(Equal(corev1.ConditionTrue))
		})
	}
}

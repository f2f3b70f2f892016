package cluster

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/hub/wire"
)

// member is an Agent of the cluster.
func member(name string, approved, taken bool) *agentv1.Agent {
	a := &agentv1.Agent{ObjectMeta: metav1.ObjectMeta{Namespace: "site", Name: name}}
	a.Spec.ClusterDeploymentName, a.Spec.Approved = &agentv1.ClusterReference{Namespace: "site", Name: "prod"}, approved
	status := corev1.ConditionFalse
	if taken {
		status = corev1.ConditionTrue
	}
	a.Status.Conditions = []agentv1.Condition{{Type: agentv1.ConditionSpecSynced, Status: status}}
	return a
}

// TestAReadyClusterTellsWhatItsAgentsLack: the hub's checks are one thing, and whether people have
// approved the hosts, and their settings reach the hub, another.
func TestAReadyClusterTellsWhatItsAgentsLack(t *testing.T) {
	other := member("other", true, true)
	other.Spec.ClusterDeploymentName.Name = "else"
	for name, tc := range map[string]struct {
		agents       []*agentv1.Agent
		reason, says string
	}{
		"nobody has approved":     {[]*agentv1.Agent{member("a", false, true), member("b", true, true)}, "UnapprovedAgents", "1 of 2 Agents are approved"},
		"settings are not taken":  {[]*agentv1.Agent{member("a", true, false), member("b", false, true)}, "UnsyncedAgents", "1 of 2 Agents have settings that the hub has not taken"},
		"one is missing":          {[]*agentv1.Agent{member("a", true, true), other}, "InsufficientAgents", "1 of 2 Agents are there"},
		"all are there and ready": {[]*agentv1.Agent{member("a", true, true), member("b", true, true)}, "ClusterIsReady", "as it is"},
	} {
		t.Run(name, func(t *testing.T) {
			cd, aci := deployment(), install()
			aci.Spec.ProvisionRequirements.WorkerAgents = 1
			w := newWorld(t, cd, aci)
			for _, a := range tc.agents {
				w.Expect(w.kube.Create(t.Context(), a)).To(Succeed())
			}
			record := &wire.Cluster{Status: wire.ClusterStatusReady, StatusInfo: "as it is"}
			heads, err := w.r.heads(t.Context(), aci, cd, record)
			w.Expect(err).NotTo(HaveOccurred())
			project(&aci.Status, record, known{agents: heads}, metav1.Now())
			want := corev1.ConditionFalse
			if tc.reason == "ClusterIsReady" {
				want = corev1.ConditionTrue
			}
			w.Expect(condition(aci, "RequirementsMet")).To(And(HaveField("Status", want), HaveField("Reason", tc.reason), HaveField("Message", HavePrefix(tc.says))))
		})
	}
}

// TestWhatCountsAgentsAgain: approvals and settings that are taken wake the cluster, progress does not.
func TestWhatCountsAgentsAgain(t *testing.T) {
	g := NewWithT(t)
	update := func(before, after *agentv1.Agent) bool {
		return counting.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after})
	}
	g.Expect(update(member("a", false, true), member("a", true, true))).To(BeTrue())
	g.Expect(update(member("a", true, false), member("a", true, true))).To(BeTrue())
	moved := member("a", true, true)
	moved.Spec.ClusterDeploymentName = nil
	g.Expect(update(member("a", true, true), moved)).To(BeTrue())
	further := member("a", true, true)
	further.Status.Progress = &agentv1.HostProgressInfo{CurrentStage: "Rebooting"}
	g.Expect(update(member("a", true, true), further)).To(BeFalse())
}

// TestConditionsByStatus holds the conditions against the contract (status and reason of each, for each
// status of the hub's cluster).
func TestConditionsByStatus(t *testing.T) {
	kinds := []string{"RequirementsMet", "Validated", "Completed", "Failed", "Stopped"}
	for status, want := range map[string][]string{
		"insufficient":                   {"False ClusterNotReady", "False ValidationsFailing", "False InstallationNotStarted", "False InstallationNotFailed", "False InstallationNotStopped"},
		"pending-for-input":              {"False ClusterNotReady", "False ValidationsUserPending", "False InstallationNotStarted", "False InstallationNotFailed", "False InstallationNotStopped"},
		"ready":                          {"True ClusterIsReady", "True ValidationsPassing", "False InstallationNotStarted", "False InstallationNotFailed", "False InstallationNotStopped"},
		"preparing-for-installation":     {"True ClusterAlreadyInstalling", "True ValidationsPassing", "False InstallationInProgress", "False InstallationNotFailed", "False InstallationNotStopped"},
		"installing":                     {"True ClusterAlreadyInstalling", "True ValidationsPassing", "False InstallationInProgress", "False InstallationNotFailed", "False InstallationNotStopped"},
		"installing-pending-user-action": {"True ClusterAlreadyInstalling", "True ValidationsPassing", "False InstallationInProgress", "False InstallationNotFailed", "False InstallationNotStopped"},
		"finalizing":                     {"True ClusterAlreadyInstalling", "True ValidationsPassing", "False InstallationInProgress", "False InstallationNotFailed", "False InstallationNotStopped"},
		"installed":                      {"True ClusterInstallationStopped", "True ValidationsPassing", "True InstallationCompleted", "False InstallationNotFailed", "True InstallationCompleted"},
		"adding-hosts":                   {"True ClusterAlreadyInstalling", "True ValidationsPassing", "True InstallationCompleted", "False InstallationNotFailed", "True InstallationCompleted"},
		"error":                          {"True ClusterInstallationStopped", "True ValidationsPassing", "False InstallationFailed", "True InstallationFailed", "True InstallationFailed"},
		"a status that nobody knows":     {"Unknown UnknownStatus", "Unknown UnknownStatus", "Unknown UnknownStatus", "Unknown UnknownStatus", "Unknown UnknownStatus"},
	} {
		t.Run(status, func(t *testing.T) {
			g := NewWithT(t)
			aci := install()
			project(&aci.Status, &wire.Cluster{Status: status, ValidationsInfo: `{"network":[]}`}, known{runs: true}, metav1.Now())
			for i, kind := range kinds {
				c := condition(aci, kind)
				g.Expect(string(c.Status)+" "+c.Reason).To(Equal(want[i]), kind)
				g.Expect(c.LastProbeTime.IsZero()).To(BeFalse())
			}
		})
	}
	g := NewWithT(t)
	aci := install()
	project(&aci.Status, &wire.Cluster{Status: wire.ClusterStatusAddingHosts}, known{runs: true}, metav1.Now())
	g.Expect(condition(aci, "Validated")).To(And(HaveField("Status", corev1.ConditionUnknown), HaveField("Reason", "ValidationsUnknown")), "somebody else installed it")
}

// TestAClusterWithoutARecordSaysSo, and what was known of one before stays.
func TestAClusterWithoutARecordSaysSo(t *testing.T) {
	w := newWorld(t, install())
	aci := w.pass()
	none := And(HaveField("Status", corev1.ConditionUnknown), HaveField("Reason", "NotAvailable"))
	for _, kind := range unavailableKinds {
		w.Expect(condition(aci, kind)).To(none, kind)
	}
	w.Expect(condition(aci, "SpecSynced").Reason).To(Equal("InputError"))
	aci.Status.DebugInfo.State = wire.ClusterStatusInstalled
	before := aci.Status.DeepCopy()
	absent(&aci.Status, metav1.Now())
	w.Expect(&aci.Status).To(Equal(before))
}

// TestThePlatformOfTheRecord: it is shown in the words of the kind.
func TestThePlatformOfTheRecord(t *testing.T) {
	for kind, want := range map[wire.PlatformType]hiveextv1.PlatformType{wire.PlatformTypeBaremetal: "BareMetal", wire.PlatformTypeNone: "None"} {
		aci := install()
		project(&aci.Status, &wire.Cluster{ID: "1", Platform: &wire.Platform{Type: kind}}, known{}, metav1.Now())
		NewWithT(t).Expect(aci.Status.PlatformType).To(Equal(want))
	}
	aci := install()
	project(&aci.Status, &wire.Cluster{ID: "1"}, known{}, metav1.Now())
	NewWithT(t).Expect(aci.Status.PlatformType).To(BeEmpty())
}

package cluster

import (
	"encoding/json"
	"errors"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/cluster/view"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/hub/clustermachine"
	"github.com/ironflow/ironflow/hub/wire"
)

// kstatus is what tools make of conditions that do not know the kind (sigs.k8s.io/cli-utils/pkg/kstatus).
func kstatus(g Gomega, status *hiveextv1.AgentClusterInstallStatus) string {
	for _, c := range status.Conditions {
		switch {
		case c.Type == "Reconciling" && c.Status == corev1.ConditionTrue:
			return "InProgress"
		case c.Type == "Stalled" && c.Status == corev1.ConditionTrue:
			return "Failed"
		}
	}
	for _, c := range status.Conditions {
		if c.Type == "Ready" {
			return map[corev1.ConditionStatus]string{corev1.ConditionTrue: "Current"}[c.Status]
		}
	}
	g.Expect(status.Conditions).To(ContainElement(HaveField("Type", "Ready")), "without it, tools take the resource for done")
	return ""
}

// TestToolsThatDoNotKnowTheKind read of every status whether the cluster is there, on its way or has failed.
func TestToolsThatDoNotKnowTheKind(t *testing.T) {
	want := map[string]string{
		wire.ClusterStatusInsufficient: "InProgress", wire.ClusterStatusPendingForInput: "InProgress", wire.ClusterStatusReady: "InProgress",
		wire.ClusterStatusPreparingForInstallation: "InProgress", wire.ClusterStatusInstalling: "InProgress",
		wire.ClusterStatusInstallingPendingUserAction: "InProgress", wire.ClusterStatusFinalizing: "InProgress",
		wire.ClusterStatusInstalled: "Current", wire.ClusterStatusAddingHosts: "Current",
		wire.ClusterStatusError: "Failed", wire.ClusterStatusCancelled: "Failed", wire.ClusterStatusUnmonitored: "InProgress",
	}
	for _, state := range clustermachine.Machine.States {
		t.Run(state, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(want).To(HaveKey(state))
			for _, runs := range []bool{true, false} {
				status := &hiveextv1.AgentClusterInstallStatus{}
				project(status, &wire.Cluster{Status: state, StatusInfo: "as it is"}, known{runs: runs}, metav1.Now())
				g.Expect(kstatus(g, status)).To(Equal(want[state]))
				said := view.Standing(status.Conditions)
				g.Expect(said).NotTo(BeNil())
				wait, waits := view.ParseWait(said.Message)
				g.Expect(waits).To(Equal(want[state] == "InProgress"), said.Message)
				g.Expect(wait.Ends == "").To(Equal(!waits), "who ends it")
				if want[state] == "Failed" {
					g.Expect(said.Message).To(And(HavePrefix("as it is"), ContainSubstring("Next: ")))
				}
			}
		})
	}
}

// TestWhatAClusterWaitsFor is said with who can end it.
func TestWhatAClusterWaitsFor(t *testing.T) {
	for name, tc := range map[string]struct {
		record       wire.Cluster
		hold         bool
		reason, says string
	}{
		"on hold": {wire.Cluster{Status: wire.ClusterStatusReady}, true, "InstallationOnHold", "a person, by spec.holdInstallation"},
		"ready":   {wire.Cluster{Status: wire.ClusterStatusReady}, false, "InstallationNotStarted", "a person approves them by spec.approved"},
		"its preparation failed": {wire.Cluster{
			Status:                      wire.ClusterStatusReady,
			LastInstallationPreparation: wire.LastInstallationPreparation{Status: wire.LastInstallationPreparationStatusFailed, Reason: "worker.ign is missing"},
		}, false, hiveextv1.ReasonPreparationFailed, "worker.ign is missing; who ends it: the hub, which tries again"},
		"called off before it began": {wire.Cluster{
			Status:                      wire.ClusterStatusReady,
			LastInstallationPreparation: wire.LastInstallationPreparation{Status: wire.LastInstallationPreparationStatusNotStarted, Reason: "the installation was called off"},
		}, false, hiveextv1.ReasonInstallationNotStarted, "the installation was called off; who ends it: a person, over the hub's REST API"},
		"hosts are on their way": {wire.Cluster{
			Status: wire.ClusterStatusInstalling, Hosts: []wire.Host{{Status: wire.HostStatusInstalled}, {Status: wire.HostStatusInstallingInProgress}, {Status: wire.HostStatusInstalling}},
		}, false, "InstallationInProgress", "2 of 3 hosts to be installed"},
		"a host waits for a person": {wire.Cluster{
			Status: wire.ClusterStatusInstallingPendingUserAction,
			Hosts: []wire.Host{
				{Status: wire.HostStatusInstalled, RequestedHostname: "node-0"},
				{Status: wire.HostStatusInstallingPendingUserAction, RequestedHostname: "node-1", StatusInfo: "it booted the live\nimage again"},
			},
		}, false, "WaitingForUser", "a person: node-1 (it booted the live image again); who ends it: a person, at these machines"},
		"a stage that takes long": {wire.Cluster{
			Status:             wire.ClusterStatusFinalizing,
			Progress:           &wire.ClusterProgressInfo{FinalizingStage: wire.FinalizingStageWaitingForClusterOperators, FinalizingStageTimedOut: true},
			MonitoredOperators: []wire.MonitoredOperator{{Name: "etcd", Status: wire.OperatorStatusAvailable}, {Name: "console", Status: wire.OperatorStatusProgressing}},
		}, false, "Finalizing", "stage Waiting for cluster operators (it takes longer than usual); 1 of 2 operators are available"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			status := &hiveextv1.AgentClusterInstallStatus{}
			project(status, &tc.record, known{hold: tc.hold}, metav1.Now())
			g.Expect(view.Standing(status.Conditions)).To(And(HaveField("Reason", tc.reason), HaveField("Message", ContainSubstring(tc.says))))
		})
	}
}

// TestOperatorsAreSaid as long as they are followed, and what they say of themselves is cut and put on one line.
func TestOperatorsAreSaid(t *testing.T) {
	g := NewWithT(t)
	status := &hiveextv1.AgentClusterInstallStatus{}
	record := &wire.Cluster{Status: wire.ClusterStatusFinalizing, MonitoredOperators: []wire.MonitoredOperator{
		{Name: "etcd", Status: wire.OperatorStatusAvailable}, {Name: "console", Status: wire.OperatorStatusProgressing, StatusInfo: "its route\nis not admitted"}, {Name: "cvo"},
	}}
	project(status, record, known{}, metav1.Now())
	g.Expect(hiveextv1.FindCondition(status.Conditions, "OperatorsAvailable")).To(HaveValue(And(HaveField("Status", corev1.ConditionFalse), HaveField("Reason", "OperatorsNotAvailable"),
		HaveField("Message", "1 of 3 operators are available\nconsole: progressing: its route is not admitted\ncvo: not reported yet"))))
	record.MonitoredOperators[1].Status = wire.OperatorStatusFailed
	project(status, record, known{}, metav1.Now())
	g.Expect(hiveextv1.FindCondition(status.Conditions, "OperatorsAvailable").Reason).To(Equal("OperatorFailed"))
	record.MonitoredOperators = record.MonitoredOperators[:1]
	project(status, record, known{}, metav1.Now())
	g.Expect(hiveextv1.FindCondition(status.Conditions, "OperatorsAvailable").Status).To(Equal(corev1.ConditionTrue))
	record.MonitoredOperators = nil
	project(status, record, known{}, metav1.Now())
	g.Expect(hiveextv1.FindCondition(status.Conditions, "OperatorsAvailable")).To(BeNil(), "it was reset")
}

// TestTheStatusHasWhatTheHubFoundOut: checks, networks, addresses and hosts, and how the last preparation went.
func TestTheStatusHasWhatTheHubFoundOut(t *testing.T) {
	g := NewWithT(t)
	checks, err := json.Marshal(map[string][]hiveextv1.ValidationResult{"network": {{ID: "api-vips-defined", Status: "failure", Message: "API addresses are missing; set them"}}})
	g.Expect(err).NotTo(HaveOccurred())
	record := &wire.Cluster{
		Status: wire.ClusterStatusInsufficient, ValidationsInfo: string(checks), MachineNetworks: []wire.MachineNetwork{{CIDR: "192.0.2.0/24"}},
		APIVIPs: []wire.APIVIP{{IP: "192.0.2.5"}}, IngressVIPs: []wire.IngressVIP{{IP: "192.0.2.6"}}, ConnectivityMajorityGroups: "{}",
		Hosts: []wire.Host{
			{Role: wire.HostRoleMaster, Status: wire.HostStatusKnown},
			{Role: wire.HostRoleAutoAssign, SuggestedRole: wire.HostRoleMaster, Status: wire.HostStatusInsufficient},
			{Role: wire.HostRoleWorker, Status: wire.HostStatusInstalled},
			{Role: wire.HostRoleArbiter, Status: wire.HostStatusKnown},
		},
		LastInstallationPreparation: wire.LastInstallationPreparation{Status: wire.LastInstallationPreparationStatusFailed, Reason: "no disk"},
	}
	status := &hiveextv1.AgentClusterInstallStatus{}
	project(status, record, known{}, metav1.Now())
	g.Expect(status.ValidationsInfo["network"]).To(HaveExactElements(HaveField("Message", "API addresses are missing; set them")))
	g.Expect(status.MachineNetwork).To(HaveExactElements(HaveField("CIDR", "192.0.2.0/24")))
	g.Expect(status).To(HaveValue(And(HaveField("APIVIP", "192.0.2.5"), HaveField("IngressVIP", "192.0.2.6"), HaveField("ConnectivityMajorityGroups", "{}"),
		HaveField("ControlPlaneAgentsDiscovered", 2), HaveField("ControlPlaneAgentsReady", 1), HaveField("WorkerAgentsDiscovered", 1), HaveField("WorkerAgentsReady", 1))))
	failed := func() *hiveextv1.Condition {
		return hiveextv1.FindCondition(status.Conditions, hiveextv1.ConditionLastInstallationPreparationFailed)
	}
	g.Expect(failed()).To(HaveValue(And(HaveField("Status", corev1.ConditionTrue), HaveField("Message", "no disk"))))
	record.LastInstallationPreparation = wire.LastInstallationPreparation{Status: wire.LastInstallationPreparationStatusSuccess}
	record.Hosts, record.APIVIPs, record.ValidationsInfo = nil, nil, ""
	project(status, record, known{}, metav1.Now())
	g.Expect(failed()).To(HaveValue(And(HaveField("Status", corev1.ConditionFalse), HaveField("Reason", hiveextv1.ReasonPreparationNotFailed))))
	g.Expect(status).To(HaveValue(And(HaveField("APIVIP", ""), HaveField("ControlPlaneAgentsDiscovered", 0), HaveField("ValidationsInfo", BeEmpty()))), "what is gone is not shown any more")
}

// TestAPassThatFailsIsSeenByTools: what a person has to see to is a failure, the rest goes on by itself.
func TestAPassThatFailsIsSeenByTools(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		want string
	}{
		"refused":              {wrong("spec.apiVIPs: no address"), "Failed"},
		"something is missing": {reconcile.WaitFor(0, "ClusterDeployment prod to be created"), "InProgress"},
		"no hub":               {&reconcile.Unavailable{What: "the hub's store", Err: errors.New("no route to host")}, "InProgress"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			aci := install()
			project(&aci.Status, &wire.Cluster{Status: wire.ClusterStatusInstalled}, known{runs: true}, metav1.Now())
			summarise(aci, tc.err)
			g.Expect(kstatus(g, &aci.Status)).To(Equal(tc.want))
			g.Expect(view.Standing(aci.Status.Conditions).Message).To(Equal(tc.err.Error()))
		})
	}
}

// TestAClusterOfResourcesIsSeenByTools, from its first pass to its end and over a hold of either kind.
func TestAClusterOfResourcesIsSeenByTools(t *testing.T) {
	cd := deployment(func(cd *hivev1.ClusterDeployment) {
		cd.Annotations = map[string]string{names.HiveReconcilePause: "true"}
	})
	w := newWorld(t, cd, install())
	w.Expect(kstatus(w, &w.pass().Status)).To(Equal("InProgress"))
	w.Expect(w.pass().Status.ValidationsInfo).NotTo(BeEmpty())
	cd.Annotations = nil
	w.Expect(w.kube.Update(t.Context(), cd)).To(Succeed())
	w.pass()
	w.complete(cd)
	w.pass()
	w.pass() // what is kept of the status follows it
	aci := w.pass()
	w.Expect(kstatus(w, &aci.Status)).To(Equal("Current"))
	w.Expect(condition(aci, "Ready").Reason).To(Equal("HostsInstalled"))
	w.Expect(w.pass().ResourceVersion).To(Equal(aci.ResourceVersion), "a pass without news writes nothing")
}

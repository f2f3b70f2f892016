package agents

import (
	"encoding/json"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

func TestConditions(t *testing.T) {
	cluster := "c"
	for name, tc := range map[string]struct {
		host     wire.Host
		approved bool
		want     map[string]string
	}{
		"a new host without a cluster": {
			wire.Host{Status: wire.HostStatusDiscoveringUnbound},
			false,
			map[string]string{"Connected": "AgentIsConnected", "Bound": "Unbound", "Installed": "InstallationNotStarted", "RequirementsMet": "AgentNotReady"},
		},
		"a ready host waits for approval": {
			wire.Host{Status: wire.HostStatusKnown, ClusterID: &cluster, ValidationsInfo: "{}"},
			false,
			map[string]string{"RequirementsMet": "AgentIsNotApproved", "Validated": "ValidationsPassing", "Bound": "Bound"},
		},
		"an approved host is ready": {
			wire.Host{Status: wire.HostStatusKnown, ClusterID: &cluster}, true, map[string]string{"RequirementsMet": "AgentIsReady"},
		},
		"a host of the pool is ready for any cluster": {
			wire.Host{Status: wire.HostStatusKnownUnbound, ValidationsInfo: "{}"},
			true,
			map[string]string{"RequirementsMet": "AgentIsReady", "Validated": "ValidationsPassing", "Bound": "Unbound", "Installed": "InstallationNotStarted"},
		},
		"a host of the pool waits for approval, too": {
			wire.Host{Status: wire.HostStatusKnownUnbound, ValidationsInfo: "{}"}, false, map[string]string{"RequirementsMet": "AgentIsNotApproved"},
		},
		"an installing host": {
			wire.Host{Status: wire.HostStatusInstallingInProgress, ClusterID: &cluster},
			true,
			map[string]string{"Installed": "InstallationInProgress", "RequirementsMet": "AgentAlreadyInstalling"},
		},
		"a failed host": {
			wire.Host{Status: wire.HostStatusError, ClusterID: &cluster},
			true,
			map[string]string{"Installed": "InstallationFailed", "RequirementsMet": "AgentInstallationStopped"},
		},
		"a silent host": {
			wire.Host{Status: wire.HostStatusDisconnected, ClusterID: &cluster},
			true,
			map[string]string{"Connected": "AgentIsDisconnected", "Validated": "ValidationsUnknown"},
		},
		"a host that waits to be taken out of its cluster": {
			wire.Host{Status: wire.HostStatusUnbindingPendingUserAction},
			true,
			map[string]string{"Bound": "UnbindingPendingUserAction", "Installed": "Unbinding", "Validated": "Unbinding"},
		},
		"a host on its way into a cluster": {
			wire.Host{Status: wire.HostStatusBinding, ClusterID: &cluster},
			true,
			map[string]string{"Bound": "Binding", "RequirementsMet": "Binding", "Connected": "AgentIsConnected"},
		},
		"a status from a newer hub": {
			wire.Host{Status: "levitating"}, true, map[string]string{"Installed": "UnknownStatus", "Connected": "UnknownStatus"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got := map[string]string{}
			for _, c := range conditions(&tc.host, tc.approved, nil) {
				got[c.Type] = c.Reason
			}
			for kind, reason := range tc.want {
				g.Expect(got).To(HaveKeyWithValue(kind, reason))
			}
		})
	}
}

func TestEveryStatusHasItsGroup(t *testing.T) {
	g := NewWithT(t)
	for _, status := range hostmachine.Machine.States {
		if status != hostmachine.New {
			g.Expect(groups).To(HaveKey(status))
		}
	}
}

func TestProjectionOfAnUnchangedRecordChangesNothing(t *testing.T) {
	g := NewWithT(t)
	raw, err := json.Marshal(wire.Inventory{
		Hostname: "node-0", CPU: &wire.CPU{Count: 8, Architecture: "x86_64"}, Memory: &wire.Memory{PhysicalBytes: 1 << 34},
		Interfaces: []wire.Interface{{Name: "eth0", MACAddress: "52:54:00:00:00:01"}},
		Disks:      []wire.Disk{{ID: "/dev/disk/by-id/wwn-1", DriveType: wire.DriveTypeSsd, InstallationEligibility: wire.DiskInstallationEligibility{Eligible: true}}},
	})
	g.Expect(err).NotTo(HaveOccurred())
	host := &wire.Host{
		Status: wire.HostStatusInstallingInProgress, Inventory: string(raw), Role: wire.HostRoleMaster,
		Progress: &wire.HostProgressInfo{CurrentStage: wire.HostStageWritingImageToDisk, ProgressInfo: "45%", StageStartedAt: wire.At(time.Now())},
	}
	var status agentv1.AgentStatus
	project(&status, host, true, nil, metav1.Now())
	g.Expect(status.Inventory.Interfaces[0].MacAddress).To(Equal("52:54:00:00:00:01"))
	g.Expect(status.Inventory.Disks[0].InstallationEligibility.Eligible).To(BeTrue())
	g.Expect(status.Inventory.Disks[0].InstallationEligibility.NotEligibleReasons).NotTo(BeNil(), "the CRD requires it, and a merge patch drops null")
	g.Expect(status.Progress.CurrentStage).To(Equal("Writing image to disk"))
	before := status.DeepCopy()
	project(&status, host, true, nil, metav1.NewTime(time.Now().Add(time.Hour)))
	g.Expect(&status).To(Equal(before))
}

func TestBrokenReportsAreNoReports(t *testing.T) {
	g := NewWithT(t)
	var status agentv1.AgentStatus
	project(&status, &wire.Host{Status: wire.HostStatusKnown, Inventory: "{", NTPSources: "[", ValidationsInfo: "{"}, true, nil, metav1.Now())
	g.Expect(status.Inventory.Hostname).To(BeEmpty())
	g.Expect(status.NtpSources).To(BeNil())
}

// TestSigningRequestsOfTheKubelet are shown as the hub heard of them, and go back into one that has lost its store.
func TestSigningRequestsOfTheKubelet(t *testing.T) {
	w := newWorld(t, service.InfraEnvSpec{})
	w.register(testhub.Inventory(1))
	w.pass()
	w.Expect(w.agent().Status.CSRStatus).To(BeNil(), "there are none")
	at := time.Date(2026, 3, 1, 12, 0, 0, 5e8, time.UTC)
	told := wire.Event{Name: wire.EventSigningApproved, Props: text(wire.SigningProps{Request: "csr-1", Type: wire.SigningTypeClient, At: wire.At(at)})}
	w.Expect(w.hub.NoteSigning(t.Context(), w.host, told)).To(Succeed())
	failed := wire.Event{Name: wire.EventSigningFailed, Props: text(wire.SigningProps{Request: "csr-2", Type: wire.SigningTypeServing, At: wire.At(at.Add(time.Hour)), Error: "no"})}
	w.Expect(w.hub.NoteSigning(t.Context(), w.host, failed)).To(Succeed())
	w.pass()
	shown := w.agent().Status.CSRStatus
	w.Expect(shown.ApprovedCSRs).To(HaveExactElements(And(HaveField("Name", "csr-1"), HaveField("Type", "client"),
		HaveField("ApprovedAt", WithTransform(func(at metav1.Time) time.Time { return at.UTC() }, Equal(at.Truncate(time.Second)))))))
	w.Expect(shown.LastApprovalAttempt.UTC()).To(Equal(at.Add(time.Hour).Truncate(time.Second)))
	w.Expect(equality.Semantic.DeepEqual(csrStatus(signing(shown)), shown)).To(BeTrue())
}

package evaluate_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/evaluate"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

func TestWhomNodeZeroWaitsFor(t *testing.T) {
	const working = wire.HostStatusInstallingInProgress
	for name, tc := range map[string]struct {
		status     string
		stage      wire.HostStage
		role       wire.HostRole
		supervised bool
		want       bool
	}{
		"has not begun":                         {wire.HostStatusInstalling, "", wire.HostRoleWorker, false, false},
		"writes":                                {working, wire.HostStageWritingImageToDisk, wire.HostRoleWorker, false, false},
		"waits for the control plane":           {working, wire.HostStageWaitingForControlPlane, wire.HostRoleWorker, true, false},
		"reboots":                               {working, wire.HostStageRebooting, wire.HostRoleWorker, false, true},
		"reboots, a worker, and is reported on": {working, wire.HostStageRebooting, wire.HostRoleWorker, true, true},
		"reboots, of the control plane":         {working, wire.HostStageRebooting, wire.HostRoleMaster, false, true},
		"has not joined":                        {working, wire.HostStageConfiguring, wire.HostRoleMaster, true, false},
		"has joined":                            {working, wire.HostStageJoined, wire.HostRoleMaster, true, true},
		"is done":                               {working, wire.HostStageDone, wire.HostRoleMaster, true, true},
		"is installed":                          {wire.HostStatusInstalled, wire.HostStageDone, wire.HostRoleMaster, true, true},
		"has failed":                            {wire.HostStatusError, wire.HostStageWritingImageToDisk, wire.HostRoleWorker, false, true},
		"needs a person after its reboot":       {wire.HostStatusInstallingPendingUserAction, wire.HostStageRebooting, wire.HostRoleWorker, false, true},
		"is still being checked":                {wire.HostStatusPreparingSuccessful, "", wire.HostRoleWorker, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			h := &store.Host{API: wire.Host{Status: tc.status, Role: tc.role, Progress: &wire.HostProgressInfo{CurrentStage: tc.stage}}}
			NewWithT(t).Expect(evaluate.MayLeave(h, &store.Cluster{Supervised: tc.supervised})).To(Equal(tc.want))
		})
	}
}

func TestNodeZeroIsKnownByItsCards(t *testing.T) {
	g := NewWithT(t)
	h := &store.Host{MACs: []string{"02:00:00:00:00:01", "02:00:00:00:00:a1"}}
	g.Expect(evaluate.NodeZero{MAC: "02:00:00:00:00:a1"}.Is(h)).To(BeTrue())
	g.Expect(evaluate.NodeZero{MAC: "02:00:00:00:00:b1"}.Is(h)).To(BeFalse())
	g.Expect(evaluate.NodeZero{}.Is(h)).To(BeFalse())
}

// TestWhenTheHubsStateIsCopied to the disk of its host.
func TestWhenTheHubsStateIsCopied(t *testing.T) {
	const mac, working, waits = "02:00:00:00:00:a1", wire.HostStatusInstallingInProgress, wire.HostStatusInstalling
	host := func(status string, stage wire.HostStage, macs ...string) *store.Host {
		return &store.Host{MACs: macs, API: wire.Host{Status: status, Role: wire.HostRoleMaster, Progress: &wire.HostProgressInfo{CurrentStage: stage}}}
	}
	gone, writes := host(working, wire.HostStageRebooting), host(working, wire.HostStageWritingImageToDisk)
	restarted := host(waits, "", mac)
	restarted.Restarted = true
	keeps := host(waits, "", mac)
	keeps.API.InstallerArgs = `["--save-partlabel","data"]`
	for name, tc := range map[string]struct {
		status, release string
		hosts           []*store.Host
		want            evaluate.CopyWish
	}{
		"nobody is told to begin":                           {wire.ClusterStatusInstalling, "", []*store.Host{host(waits, "", mac), host(wire.HostStatusPreparingSuccessful, "")}, evaluate.LeaveCopy},
		"one is told to begin":                              {wire.ClusterStatusInstalling, "", []*store.Host{host(waits, "", mac), host(waits, "")}, evaluate.KeepCopy},
		"one writes its disk":                               {wire.ClusterStatusInstalling, "", []*store.Host{host(waits, "", mac), writes}, evaluate.KeepCopy},
		"it is alone":                                       {wire.ClusterStatusInstalling, "", []*store.Host{host(waits, "", mac)}, evaluate.LeaveCopy},
		"one has left":                                      {wire.ClusterStatusInstalling, "", []*store.Host{host(waits, "", mac), writes, gone}, evaluate.KeepCopy},
		"one is installed":                                  {wire.ClusterStatusFinalizing, "", []*store.Host{host(waits, "", mac), host(wire.HostStatusInstalled, wire.HostStageDone)}, evaluate.KeepCopy},
		"the hub's own host writes its disk":                {wire.ClusterStatusInstalling, "", []*store.Host{host(working, wire.HostStageWritingImageToDisk, mac), gone}, evaluate.LeaveCopy},
		"the hub's own host leaves":                         {wire.ClusterStatusInstalling, "", []*store.Host{host(working, wire.HostStageRebooting, mac), gone}, evaluate.DropCopy},
		"it was started anew, its disk's name is of before": {wire.ClusterStatusInstalling, "", []*store.Host{restarted, gone}, evaluate.LeaveCopy},
		"parts of its disk are kept":                        {wire.ClusterStatusInstalling, "", []*store.Host{keeps, gone}, evaluate.LeaveCopy},
		"two say that they are it":                          {wire.ClusterStatusInstalling, "", []*store.Host{host(waits, "", mac), host(waits, "", mac), gone}, evaluate.LeaveCopy},
		"it is none of them":                                {wire.ClusterStatusInstalling, "", []*store.Host{gone}, evaluate.LeaveCopy},
		"a release":                                         {wire.ClusterStatusInstalling, "4.20.1", []*store.Host{host(waits, "", mac), gone}, evaluate.LeaveCopy},
		"called off":                                        {wire.ClusterStatusCancelled, "", []*store.Host{host(wire.HostStatusCancelled, "", mac), gone}, evaluate.DropCopy},
		"failed":                                            {wire.ClusterStatusError, "", []*store.Host{host(wire.HostStatusError, "", mac), gone}, evaluate.DropCopy},
		"reset, to begin anew":                              {wire.ClusterStatusReady, "", []*store.Host{host(wire.HostStatusKnown, "", mac)}, evaluate.DropCopy},
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := evaluate.NodeZero{MAC: mac}.Copy(&store.Cluster{API: wire.Cluster{Status: tc.status, OpenshiftVersion: tc.release}}, tc.hosts)
			NewWithT(t).Expect(got).To(Equal(tc.want))
		})
	}
}

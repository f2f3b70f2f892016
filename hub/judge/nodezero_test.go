package judge_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/judge"
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
			NewWithT(t).Expect(judge.MayLeave(h, &store.Cluster{Supervised: tc.supervised})).To(Equal(tc.want))
		})
	}
}

func TestNodeZeroIsKnownByItsCards(t *testing.T) {
	g := NewWithT(t)
	h := &store.Host{MACs: []string{"02:00:00:00:00:01", "02:00:00:00:00:a1"}}
	g.Expect(judge.NodeZero{MAC: "02:00:00:00:00:a1"}.Is(h)).To(BeTrue())
	g.Expect(judge.NodeZero{MAC: "02:00:00:00:00:b1"}.Is(h)).To(BeFalse())
	g.Expect(judge.NodeZero{}.Is(h)).To(BeFalse())
}

package hostmachine_test

import (
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	hm "github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/tables"
)

// healthy is a bound host with everything in order.
func healthy(change func(*hm.Facts)) hm.Facts {
	f := hm.Facts{
		Bound: true, Connected: true, MediaConnected: true, HasInventory: true, MinimumHardware: true, NetworkDefined: true,
		OtherValidations: true, MinimumPool: true, RoleValid: true, DiskSpeed: hm.Passed, Images: hm.Passed, ClusterStatus: wire.ClusterStatusReady,
	}
	if change != nil {
		change(&f)
	}
	return f
}

func clusterIs(status string) func(*hm.Facts) { return func(f *hm.Facts) { f.ClusterStatus = status } }

func at(stage wire.HostStage) func(*hm.Facts) { return func(f *hm.Facts) { f.Stage = stage } }

func TestTableIsSound(t *testing.T) {
	NewWithT(t).Expect(tables.Check(hm.Machine)).To(Succeed())
}

func TestEveryStatusOfTheProtocolIsInTheTable(t *testing.T) {
	g := NewWithT(t)
	reachable := tables.Reachable(hm.Machine, hm.New)
	// The protocol has these, but no trigger leads to them any more.
	obsolete := []string{wire.HostStatusDisabled, wire.HostStatusDisabledUnbound, wire.HostStatusResetting}
	for _, status := range hm.Machine.States {
		if !slices.Contains(obsolete, status) {
			g.Expect(reachable).To(ContainElement(status))
		}
	}
	g.Expect(hm.Machine.States).To(HaveLen(29), "28 statuses of the protocol and the state before the first registration")
}

func TestRefreshHasAnAnswerForEveryStatus(t *testing.T) {
	for _, status := range hm.Machine.States {
		if status == hm.New {
			continue
		}
		for _, facts := range []hm.Facts{{}, healthy(nil), healthy(clusterIs(wire.ClusterStatusError)), healthy(clusterIs(wire.ClusterStatusInstalling))} {
			_, err := hm.Machine.Decide(hm.Refresh, status, facts)
			NewWithT(t).Expect(err).NotTo(HaveOccurred(), "%s with %+v", status, facts)
		}
	}
}

func TestTransitions(t *testing.T) {
	const long = 24 * time.Hour
	for name, tc := range map[string]struct {
		trigger, from string
		facts         hm.Facts
		want          string // "" = refused, "-" = no rule
	}{
		"a new host of a cluster":                     {hm.Register, hm.New, healthy(nil), wire.HostStatusDiscovering},
		"a new host of the pool":                      {hm.Register, hm.New, hm.Facts{}, wire.HostStatusDiscoveringUnbound},
		"restart while preparing keeps the inventory": {hm.Register, wire.HostStatusPreparingSuccessful, healthy(nil), wire.HostStatusKnown},
		"restart while installing":                    {hm.Register, wire.HostStatusInstallingInProgress, healthy(at(wire.HostStageWritingImageToDisk)), wire.HostStatusError},
		"restart while installing, where nobody else could start it again": {
			hm.Register, wire.HostStatusInstallingInProgress, healthy(func(f *hm.Facts) { f.Stage, f.Repeats = wire.HostStageWritingImageToDisk, true }), wire.HostStatusInstalling,
		},
		"restart at the reboot, there": {
			hm.Register, wire.HostStatusInstallingInProgress, healthy(func(f *hm.Facts) { f.Stage, f.Repeats = wire.HostStageRebooting, true }), wire.HostStatusInstallingPendingUserAction,
		},
		"restart at the reboot is a wrong boot order": {hm.Register, wire.HostStatusInstallingInProgress, healthy(at(wire.HostStageRebooting)), wire.HostStatusInstallingPendingUserAction},
		"a second wrong boot":                         {hm.Register, wire.HostStatusInstallingPendingUserAction, healthy(at(wire.HostStageRebooting)), ""},
		"an installed host is never touched again":    {hm.Register, wire.HostStatusInstalled, healthy(nil), ""},
		"a failed host stays failed":                  {hm.Register, wire.HostStatusError, healthy(nil), wire.HostStatusError},
		"a reset host begins anew":                    {hm.Register, wire.HostStatusResettingPendingUserAction, healthy(nil), wire.HostStatusDiscovering},
		"a bound host arrives in its cluster":         {hm.Register, wire.HostStatusBinding, healthy(nil), wire.HostStatusDiscovering},
		"an unbound host arrives in the pool":         {hm.Register, wire.HostStatusUnbindingPendingUserAction, hm.Facts{}, wire.HostStatusDiscoveringUnbound},
		"inventory makes a host known":                {hm.Refresh, wire.HostStatusDiscovering, healthy(nil), wire.HostStatusKnown},
		"without inventory it is discovered":          {hm.Refresh, wire.HostStatusDiscovering, healthy(func(f *hm.Facts) { f.HasInventory = false }), wire.HostStatusDiscovering},
		"too little hardware":                         {hm.Refresh, wire.HostStatusDiscovering, healthy(func(f *hm.Facts) { f.MinimumHardware = false }), wire.HostStatusInsufficient},
		"no network yet":                              {hm.Refresh, wire.HostStatusKnown, healthy(func(f *hm.Facts) { f.NetworkDefined = false }), wire.HostStatusPendingForInput},
		"a check of the cluster fails":                {hm.Refresh, wire.HostStatusKnown, healthy(func(f *hm.Facts) { f.OtherValidations = false }), wire.HostStatusInsufficient},
		"a silent host":                               {hm.Refresh, wire.HostStatusKnown, healthy(func(f *hm.Facts) { f.Connected = false }), wire.HostStatusDisconnected},
		"a silent host that speaks again":             {hm.Refresh, wire.HostStatusDisconnected, healthy(nil), wire.HostStatusKnown},
		"the cluster prepares":                        {hm.Refresh, wire.HostStatusKnown, healthy(clusterIs(wire.ClusterStatusPreparingForInstallation)), wire.HostStatusPreparingForInstallation},
		"the cluster prepares, but there is no role": {
			hm.Refresh, wire.HostStatusKnown, healthy(func(f *hm.Facts) { f.RoleValid, f.ClusterStatus = false, wire.ClusterStatusPreparingForInstallation }),
			wire.HostStatusKnown,
		},
		"checks pass": {
			hm.Refresh, wire.HostStatusPreparingForInstallation, healthy(clusterIs(wire.ClusterStatusPreparingForInstallation)), wire.HostStatusPreparingSuccessful,
		},
		"checks run": {
			hm.Refresh, wire.HostStatusPreparingForInstallation,
			healthy(func(f *hm.Facts) { f.Images, f.ClusterStatus = hm.Unknown, wire.ClusterStatusPreparingForInstallation }), wire.HostStatusPreparingForInstallation,
		},
		"the disk is slow": {hm.Refresh, wire.HostStatusPreparingForInstallation, healthy(func(f *hm.Facts) {
			f.DiskSpeed, f.ClusterStatus = hm.Failed, wire.ClusterStatusPreparingForInstallation
		}), wire.HostStatusInsufficient},
		"an image is missing": {
			hm.Refresh, wire.HostStatusPreparingForInstallation,
			healthy(func(f *hm.Facts) { f.Images, f.ClusterStatus = hm.Failed, wire.ClusterStatusPreparingForInstallation }), wire.HostStatusPreparingFailed,
		},
		"checks take too long": {hm.Refresh, wire.HostStatusPreparingForInstallation, healthy(func(f *hm.Facts) {
			f.Images, f.InState, f.PrepareTimeout, f.ClusterStatus = hm.Unknown, long, time.Minute, wire.ClusterStatusPreparingForInstallation
		}), wire.HostStatusPreparingFailed},
		"the cluster goes back":   {hm.Refresh, wire.HostStatusPreparingSuccessful, healthy(nil), wire.HostStatusKnown},
		"the installation starts": {hm.Refresh, wire.HostStatusPreparingSuccessful, healthy(clusterIs(wire.ClusterStatusInstalling)), wire.HostStatusInstalling},
		"the first stage":         {hm.ProgressChanged, wire.HostStatusInstalling, healthy(at(wire.HostStageStartingInstallation)), wire.HostStatusInstallingInProgress},
		"the last stage":          {hm.ProgressChanged, wire.HostStatusInstallingInProgress, healthy(at(wire.HostStageDone)), wire.HostStatusInstalled},
		"the last stage on day two": {
			hm.ProgressChanged, wire.HostStatusInstallingInProgress, healthy(func(f *hm.Facts) { f.DayTwo, f.Stage = true, wire.HostStageDone }),
			wire.HostStatusAddedToExistingCluster,
		},
		"a person has corrected the boot order": {hm.ProgressChanged, wire.HostStatusInstallingPendingUserAction, healthy(at(wire.HostStageJoined)), wire.HostStatusInstallingInProgress},
		"progress before the installation":      {hm.ProgressChanged, wire.HostStatusKnown, healthy(at(wire.HostStageInstalling)), "-"},
		"nothing happens after the start": {
			hm.Refresh, wire.HostStatusInstalling, healthy(func(f *hm.Facts) { f.InState, f.ClusterStatus = long, wire.ClusterStatusInstalling }), wire.HostStatusError,
		},
		"silence while writing": {
			hm.Refresh, wire.HostStatusInstallingInProgress, healthy(func(f *hm.Facts) { f.Connected, f.ClusterStatus = false, wire.ClusterStatusInstalling }),
			wire.HostStatusError,
		},
		"silence while writing with soft limits": {hm.Refresh, wire.HostStatusInstallingInProgress, healthy(func(f *hm.Facts) {
			f.Connected, f.SoftTimeouts, f.ClusterStatus = false, true, wire.ClusterStatusInstalling
		}), wire.HostStatusInstallingInProgress},
		"a stage takes too long": {
			hm.Refresh, wire.HostStatusInstallingInProgress,
			healthy(func(f *hm.Facts) { f.Stage, f.InStage, f.StageTimeout = wire.HostStageInstalling, long, time.Hour }), wire.HostStatusError,
		},
		"writing counts from the last percent": {hm.Refresh, wire.HostStatusInstallingInProgress, healthy(func(f *hm.Facts) {
			f.Stage, f.InStage, f.SinceUpdate, f.StageTimeout = wire.HostStageWritingImageToDisk, long, time.Second, time.Hour
		}), wire.HostStatusInstallingInProgress},
		"the disk does not boot": {hm.Refresh, wire.HostStatusInstallingInProgress, healthy(func(f *hm.Facts) {
			f.Inside, f.Stage, f.InStage, f.StageTimeout = true, wire.HostStageRebooting, long, time.Hour
		}), wire.HostStatusInstallingPendingUserAction},
		"nobody tells whether it came up": {hm.Refresh, wire.HostStatusInstallingInProgress, healthy(func(f *hm.Facts) {
			f.Stage, f.InStage, f.StageTimeout = wire.HostStageRebooting, long, time.Hour
		}), wire.HostStatusInstalled},
		"one that joins reboots, and nobody tells": {hm.ProgressChanged, wire.HostStatusInstallingInProgress, healthy(func(f *hm.Facts) {
			f.DayTwo, f.Stage = true, wire.HostStageRebooting
		}), wire.HostStatusAddedToExistingCluster},
		"one that joins reboots, and its cluster tells": {hm.ProgressChanged, wire.HostStatusInstallingInProgress, healthy(func(f *hm.Facts) {
			f.DayTwo, f.Inside, f.Stage = true, true, wire.HostStageRebooting
		}), wire.HostStatusInstallingInProgress},
		"the cluster fails":              {hm.Refresh, wire.HostStatusInstallingInProgress, healthy(clusterIs(wire.ClusterStatusError)), wire.HostStatusError},
		"the install step fails":         {hm.InstallationFailed, wire.HostStatusInstalling, healthy(nil), wire.HostStatusError},
		"called off while installing":    {hm.Cancel, wire.HostStatusInstallingInProgress, healthy(nil), wire.HostStatusCancelled},
		"called off while preparing":     {hm.Cancel, wire.HostStatusPreparingForInstallation, healthy(nil), wire.HostStatusKnown},
		"bind":                           {hm.Bind, wire.HostStatusKnownUnbound, hm.Facts{}, wire.HostStatusBinding},
		"bind too early":                 {hm.Bind, wire.HostStatusDiscoveringUnbound, hm.Facts{}, "-"},
		"unbind before the installation": {hm.Unbind, wire.HostStatusKnown, healthy(nil), wire.HostStatusUnbinding},
		"unbind after the installation":  {hm.Unbind, wire.HostStatusInstalled, healthy(nil), wire.HostStatusUnbindingPendingUserAction},
		"medium lost in the pool":        {hm.MediaDisconnect, wire.HostStatusKnownUnbound, hm.Facts{}, wire.HostStatusDisconnectedUnbound},
		"medium lost while installing":   {hm.MediaDisconnect, wire.HostStatusInstallingInProgress, healthy(nil), wire.HostStatusError},
		"a pool host with an inventory": {
			hm.Refresh, wire.HostStatusDiscoveringUnbound,
			hm.Facts{Connected: true, MediaConnected: true, HasInventory: true, MinimumPool: true},
			wire.HostStatusKnownUnbound,
		},
		"a pool host that is too small": {
			hm.Refresh, wire.HostStatusDiscoveringUnbound, hm.Facts{Connected: true, MediaConnected: true, HasInventory: true}, wire.HostStatusInsufficientUnbound,
		},
		"reclaim takes too long": {hm.Refresh, wire.HostStatusReclaiming, healthy(func(f *hm.Facts) { f.InState = long }), wire.HostStatusUnbindingPendingUserAction},
		"a person does not act, the cluster goes on": {
			hm.Refresh, wire.HostStatusInstallingPendingUserAction,
			healthy(func(f *hm.Facts) { f.InState, f.ClusterWithoutHost, f.Stage = long, true, wire.HostStageRebooting }), wire.HostStatusError,
		},
		"a person does not act, the cluster needs them": {
			hm.Refresh, wire.HostStatusInstallingPendingUserAction, healthy(func(f *hm.Facts) { f.InState, f.Stage = long, wire.HostStageRebooting }),
			wire.HostStatusInstallingPendingUserAction,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := hm.Machine.Decide(tc.trigger, tc.from, tc.facts)
			switch tc.want {
			case "":
				g.Expect(err).To(MatchError(ContainSubstring("refused")))
			case "-":
				g.Expect(err).To(MatchError(ContainSubstring("not possible")))
			default:
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(got.To).To(Equal(tc.want))
			}
		})
	}
}

// Repeating Refresh with the same facts must come to rest, or the hub's unit of
// work would never end.
func TestRefreshComesToRest(t *testing.T) {
	clusters := []string{"", wire.ClusterStatusReady, wire.ClusterStatusPreparingForInstallation, wire.ClusterStatusInstalling, wire.ClusterStatusError, wire.ClusterStatusInsufficient}
	checks := []hm.Check{hm.Unknown, hm.Passed, hm.Failed}
	for _, start := range hm.Machine.States {
		if start == hm.New {
			continue
		}
		for bits := range 1 << 7 {
			for _, cluster := range clusters {
				for _, disk := range checks {
					on := func(bit int) bool { return bits&(1<<bit) != 0 }
					f := healthy(func(f *hm.Facts) {
						f.Connected, f.HasInventory, f.MinimumHardware, f.OtherValidations, f.RoleValid = on(0), on(1), on(2), on(3), on(4)
						f.NetworkDefined, f.MediaConnected, f.ClusterStatus, f.DiskSpeed = on(5), on(6), cluster, disk
						// A disk that is too slow is also a validation that fails.
						f.OtherValidations = f.OtherValidations && disk != hm.Failed
					})
					rest(t, start, f)
				}
			}
		}
	}
}

func rest(t *testing.T, status string, f hm.Facts) {
	t.Helper()
	start, seen := status, []string{status}
	for range 8 {
		d, err := hm.Machine.Decide(hm.Refresh, status, f)
		if err != nil {
			t.Fatalf("%s: %v", status, err)
		}
		if !d.Changed {
			return
		}
		status = d.To
		seen = append(seen, status)
	}
	t.Fatalf("from %s the table goes round: %v with %+v", start, seen, f)
}

func TestStages(t *testing.T) {
	for name, tc := range map[string]struct {
		role              wire.HostRole
		bootstrap, single bool
		first, last       wire.HostStage
		length            int
	}{
		"single node":             {wire.HostRoleMaster, true, true, wire.HostStageStartingInstallation, wire.HostStageDone, 8},
		"bootstrap":               {wire.HostRoleMaster, true, false, wire.HostStageStartingInstallation, wire.HostStageDone, 11},
		"master":                  {wire.HostRoleMaster, false, false, wire.HostStageStartingInstallation, wire.HostStageDone, 8},
		"arbiter":                 {wire.HostRoleArbiter, false, false, wire.HostStageStartingInstallation, wire.HostStageDone, 8},
		"worker":                  {wire.HostRoleWorker, false, false, wire.HostStageStartingInstallation, wire.HostStageDone, 9},
		"no role has stages, too": {wire.HostRoleAutoAssign, false, false, wire.HostStageStartingInstallation, wire.HostStageDone, 8},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			stages := hm.Stages(tc.role, tc.bootstrap, tc.single)
			g.Expect(stages).To(HaveLen(tc.length))
			g.Expect(stages[0]).To(Equal(tc.first))
			g.Expect(stages[len(stages)-1]).To(Equal(tc.last))
		})
	}
}

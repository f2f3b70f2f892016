package clustermachine_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	cm "github.com/ironflow/ironflow/hub/clustermachine"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/tables"
)

func TestTableIsSound(t *testing.T) {
	g := NewWithT(t)
	g.Expect(tables.Check(cm.Machine)).To(Succeed())
	// An unmonitored cluster exists only for images; nothing leads to it.
	g.Expect(tables.Reachable(cm.Machine, wire.ClusterStatusInsufficient)).To(HaveLen(len(cm.Machine.States) - 1))
}

func TestRefreshHasAnAnswerForEveryStatus(t *testing.T) {
	for _, status := range cm.Machine.States {
		for _, facts := range []cm.Facts{{}, {ValidationsPass: true, Prepared: true, AllPrepared: true}, {HostWaits: true, InState: 48 * time.Hour}} {
			_, err := cm.Machine.Decide(cm.Refresh, status, facts)
			NewWithT(t).Expect(err).NotTo(HaveOccurred(), status)
		}
	}
}

func TestTransitions(t *testing.T) {
	single := func(n cm.Counts) cm.Facts { return cm.Facts{SingleNode: true, Hosts: n} }
	for name, tc := range map[string]struct {
		trigger, from string
		facts         cm.Facts
		want          string // "" = no rule
	}{
		"settings are missing":            {cm.Refresh, wire.ClusterStatusInsufficient, cm.Facts{InputMissing: true}, wire.ClusterStatusPendingForInput},
		"hosts are missing":               {cm.Refresh, wire.ClusterStatusReady, cm.Facts{}, wire.ClusterStatusInsufficient},
		"all is there":                    {cm.Refresh, wire.ClusterStatusInsufficient, cm.Facts{ValidationsPass: true}, wire.ClusterStatusReady},
		"start":                           {cm.Prepare, wire.ClusterStatusReady, cm.Facts{}, wire.ClusterStatusPreparingForInstallation},
		"start too early":                 {cm.Prepare, wire.ClusterStatusInsufficient, cm.Facts{}, ""},
		"every host is prepared":          {cm.Refresh, wire.ClusterStatusPreparingForInstallation, cm.Facts{AllPrepared: true, Prepared: true}, wire.ClusterStatusInstalling},
		"hosts prepared, cluster not yet": {cm.Refresh, wire.ClusterStatusPreparingForInstallation, cm.Facts{AllPrepared: true}, wire.ClusterStatusPreparingForInstallation},
		"a host fails to prepare":         {cm.Refresh, wire.ClusterStatusPreparingForInstallation, cm.Facts{HostFailed: true}, wire.ClusterStatusReady},
		"a host is gone":                  {cm.Refresh, wire.ClusterStatusPreparingForInstallation, cm.Facts{HostLeft: true}, wire.ClusterStatusInsufficient},
		"preparation fails":               {cm.Refresh, wire.ClusterStatusPreparingForInstallation, cm.Facts{PreparationFailed: true}, wire.ClusterStatusReady},
		"preparation takes too long":      {cm.Refresh, wire.ClusterStatusPreparingForInstallation, cm.Facts{InState: time.Hour, PrepareTimeout: time.Minute}, wire.ClusterStatusReady},
		"the single node goes on":         {cm.Refresh, wire.ClusterStatusInstalling, single(cm.Counts{Masters: 1, MastersComing: 1}), wire.ClusterStatusInstalling},
		"the single node is up":           {cm.Refresh, wire.ClusterStatusInstalling, single(cm.Counts{Masters: 1, MastersUp: 1}), wire.ClusterStatusFinalizing},
		"the single node failed":          {cm.Refresh, wire.ClusterStatusInstalling, single(cm.Counts{Masters: 1}), wire.ClusterStatusError},
		"one of three masters failed":     {cm.Refresh, wire.ClusterStatusInstalling, cm.Facts{MinMasters: 3, Hosts: cm.Counts{Masters: 3, MastersUp: 2}}, wire.ClusterStatusError},
		"three masters are up":            {cm.Refresh, wire.ClusterStatusInstalling, cm.Facts{MinMasters: 3, Hosts: cm.Counts{Masters: 3, MastersUp: 3}}, wire.ClusterStatusFinalizing},
		"one of three workers failed": {
			cm.Refresh, wire.ClusterStatusInstalling,
			cm.Facts{MinMasters: 3, Hosts: cm.Counts{Masters: 3, MastersUp: 3, Workers: 3, WorkersUp: 2}},
			wire.ClusterStatusFinalizing,
		},
		"two of three workers failed": {
			cm.Refresh, wire.ClusterStatusInstalling,
			cm.Facts{MinMasters: 3, Hosts: cm.Counts{Masters: 3, MastersUp: 3, Workers: 3, WorkersUp: 1}},
			wire.ClusterStatusError,
		},
		"two masters and an arbiter": {
			cm.Refresh, wire.ClusterStatusInstalling,
			cm.Facts{MinMasters: 2, Hosts: cm.Counts{Masters: 2, MastersUp: 2, Arbiters: 1, ArbitersUp: 1}},
			wire.ClusterStatusFinalizing,
		},
		"two masters without arbiter": {
			cm.Refresh, wire.ClusterStatusInstalling,
			cm.Facts{MinMasters: 2, Hosts: cm.Counts{Masters: 2, MastersUp: 2, Arbiters: 1, ArbitersComing: 1}},
			wire.ClusterStatusInstalling,
		},
		"too few masters were given": {cm.Refresh, wire.ClusterStatusInstalling, cm.Facts{MinMasters: 3, Hosts: cm.Counts{Masters: 2, MastersUp: 2}}, wire.ClusterStatusError},
		"one master with a worker": {
			cm.Refresh, wire.ClusterStatusInstalling,
			cm.Facts{MinMasters: 1, Hosts: cm.Counts{Masters: 1, MastersUp: 1, Workers: 1, WorkersComing: 1}},
			wire.ClusterStatusFinalizing,
		},
		"a host waits for a person":         {cm.Refresh, wire.ClusterStatusInstalling, cm.Facts{HostWaits: true}, wire.ClusterStatusInstallingPendingUserAction},
		"the person has acted":              {cm.Refresh, wire.ClusterStatusInstallingPendingUserAction, single(cm.Counts{Masters: 1, MastersComing: 1}), wire.ClusterStatusInstalling},
		"everything came up":                {cm.Refresh, wire.ClusterStatusFinalizing, cm.Facts{HostsSettled: true, Finalized: true}, wire.ClusterStatusInstalled},
		"finalizing takes too long":         {cm.Refresh, wire.ClusterStatusFinalizing, cm.Facts{InState: 6 * time.Hour}, wire.ClusterStatusError},
		"finalizing with soft limits":       {cm.Refresh, wire.ClusterStatusFinalizing, cm.Facts{InState: 6 * time.Hour, SoftTimeouts: true}, wire.ClusterStatusFinalizing},
		"a day is too long, also when soft": {cm.Refresh, wire.ClusterStatusFinalizing, cm.Facts{InState: 25 * time.Hour, SoftTimeouts: true}, wire.ClusterStatusError},
		"called off":                        {cm.Cancel, wire.ClusterStatusInstalling, cm.Facts{}, wire.ClusterStatusCancelled},
		"called off before it began":        {cm.Cancel, wire.ClusterStatusPreparingForInstallation, cm.Facts{}, wire.ClusterStatusReady},
		"called off when nothing runs":      {cm.Cancel, wire.ClusterStatusReady, cm.Facts{}, ""},
		"done over":                         {cm.Reset, wire.ClusterStatusError, cm.Facts{}, wire.ClusterStatusInsufficient},
		"an installed one is not done over": {cm.Reset, wire.ClusterStatusInstalled, cm.Facts{}, ""},
		"more hosts":                        {cm.ToAddingHosts, wire.ClusterStatusInstalled, cm.Facts{}, wire.ClusterStatusAddingHosts},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := cm.Machine.Decide(tc.trigger, tc.from, tc.facts)
			if tc.want == "" {
				g.Expect(err).To(MatchError(ContainSubstring("not possible")))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got.To).To(Equal(tc.want))
		})
	}
}

// TestTheEndSaysWhatIsKnown: that a cluster is installed is said where somebody inside has told so.
func TestTheEndSaysWhatIsKnown(t *testing.T) {
	for name, tc := range map[string]struct {
		facts cm.Facts
		want  string
	}{
		"somebody inside reports": {cm.Facts{HostsSettled: true, Finalized: true, Inside: true}, "The cluster is installed"},
		"nobody does":             {cm.Facts{HostsSettled: true, Finalized: true}, cm.HostsInstalled},
		"not yet":                 {cm.Facts{HostsSettled: true, Inside: true}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := cm.Machine.Decide(cm.Refresh, wire.ClusterStatusFinalizing, tc.facts)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got.Info).To(Equal(tc.want))
			g.Expect(got.Changed).To(Equal(tc.want != ""))
		})
	}
}

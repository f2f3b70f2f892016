package clustermachine_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/clustermachine"
	"github.com/ironflow/ironflow/hub/wire"
)

// TestWhoHasSeenMoreThanABackup: a record is not taken back by one who has seen less, as when a hub moves to another database.
func TestWhoHasSeenMoreThanABackup(t *testing.T) {
	g := NewWithT(t)
	for _, tc := range []struct {
		record, seen string
		overtaken    bool
	}{
		{wire.ClusterStatusReady, wire.ClusterStatusInstalled, true},
		{wire.ClusterStatusPreparingForInstallation, wire.ClusterStatusInstalling, true},
		{wire.ClusterStatusFinalizing, wire.ClusterStatusAddingHosts, true},
		{wire.ClusterStatusInstalling, wire.ClusterStatusError, true},
		{wire.ClusterStatusFinalizing, wire.ClusterStatusInstalling, false},
		{wire.ClusterStatusInstalled, wire.ClusterStatusFinalizing, false},
		{wire.ClusterStatusInstalled, wire.ClusterStatusAddingHosts, false},
		{wire.ClusterStatusError, wire.ClusterStatusInstalling, false},
		{wire.ClusterStatusInstalled, wire.ClusterStatusInsufficient, false},
		{wire.ClusterStatusReady, wire.ClusterStatusInsufficient, false},
	} {
		g.Expect(clustermachine.Overtaken(tc.record, tc.seen)).To(Equal(tc.overtaken), "%s, seen %s", tc.record, tc.seen)
	}
}

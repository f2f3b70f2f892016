package hostmachine_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/wire"
)

// TestWhoHasSeenMoreThanABackup: a record is not taken back by one who has seen less, as when a hub moves to another database.
func TestWhoHasSeenMoreThanABackup(t *testing.T) {
	g := NewWithT(t)
	for _, tc := range []struct {
		record, seen string
		overtaken    bool
	}{
		{wire.HostStatusKnown, wire.HostStatusInstalled, true},
		{wire.HostStatusKnownUnbound, wire.HostStatusInstalling, true},
		{wire.HostStatusPreparingForInstallation, wire.HostStatusError, true},
		{wire.HostStatusInstallingInProgress, wire.HostStatusInstalled, true},
		{wire.HostStatusInstallingInProgress, wire.HostStatusCancelled, true},
		{wire.HostStatusInstallingInProgress, wire.HostStatusInstalling, false},
		{wire.HostStatusInstalled, wire.HostStatusInstallingInProgress, false},
		{wire.HostStatusInstalled, wire.HostStatusInstalled, false},
		{wire.HostStatusError, wire.HostStatusInstalling, false},
		{wire.HostStatusInstalled, wire.HostStatusKnown, false},
		{wire.HostStatusKnown, wire.HostStatusKnown, false},
	} {
		g.Expect(hostmachine.Overtaken(tc.record, tc.seen)).To(Equal(tc.overtaken), "%s, seen %s", tc.record, tc.seen)
	}
}

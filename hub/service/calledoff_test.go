package service_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/wire"
)

// TestAnOrderThatDoesNotStandHasNoIgnition: an installer asks for its Ignition before it wipes
// a disk, and an order that came from another replica, or late, may have been called off.
func TestAnOrderThatDoesNotStandHasNoIgnition(t *testing.T) {
	for name, tc := range map[string]struct {
		ends   func(*world)
		status string
		want   string
	}{
		"it stands": {func(*world) {}, wire.HostStatusInstallingInProgress, ""},
		"it has failed": {func(w *world) {
			w.Expect(w.Reply(w.ctx, key(hostA), wire.StepReply{StepType: wire.StepTypeInstall, ExitCode: 1, Error: "no space left"})).To(Succeed())
		}, wire.HostStatusError, "is error; nothing is installed on it"},
		"it was called off": {func(w *world) {
			_, err := w.CancelInstallation(w.ctx, sharedCluster)
			w.Expect(err).NotTo(HaveOccurred())
		}, wire.HostStatusCancelled, "is cancelled; its hosts have no Ignition yet"},
	} {
		t.Run(name, func(t *testing.T) {
			w := shared(t, service.Options{}, service.ClusterSpec{})
			w.installing(hostA)
			tc.ends(w)
			w.Expect(w.status(hostA)).To(Equal(tc.status))
			_, err := w.HostIgnition(w.ctx, key(hostA))
			if tc.want == "" {
				w.Expect(err).NotTo(HaveOccurred())
				return
			}
			w.Expect(service.Code(err)).To(Equal(409))
			w.Expect(err).To(MatchError(ContainSubstring(tc.want)))
		})
	}
}

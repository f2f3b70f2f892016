package sdbus_test

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/systemd/systemdtest"
)

// TestACommandBesideOneThatWasLeft: a step that is killed leaves its command running. The next one asks its own
// question, and is answered at once.
func TestACommandBesideOneThatWasLeft(t *testing.T) {
	m := systemdtest.Boot(t)
	g := NewWithT(t)
	units := m.Units(t)
	ctx, kill := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() {
		_, err := units.Run(ctx, "ask.service", []string{"/bin/sleep", "600"}, time.Hour)
		left <- err
	}()
	running := func() string { return m.Run(t, "systemctl", "list-units", "--all", "--no-legend", "ask*") }
	g.Eventually(running, 20*time.Second).Should(ContainSubstring("activating"))
	kill()
	g.Eventually(left, 20*time.Second).Should(Receive(MatchError(context.Canceled)))
	g.Expect(running()).To(ContainSubstring("activating"), "the command goes on")

	g.Expect(units.Run(t.Context(), "ask.service", []string{"/bin/true"}, time.Minute)).To(BeTrue())
	g.Expect(units.Run(t.Context(), "ask.service", []string{"/bin/false"}, time.Minute)).To(BeFalse())
	g.Expect(units.Run(t.Context(), "ask.service", []string{"/bin/true"}, time.Minute)).To(BeTrue())
}

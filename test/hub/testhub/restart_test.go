package testhub_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// TestRestartInTheMiddleOfAnInstallation: the hub says which installation was
// cut off, also when the host began anew at once.
func TestRestartInTheMiddleOfAnInstallation(t *testing.T) {
	for name, attempts := range map[string][2]string{
		"an agent that tells its boots apart": {"boot-1", "boot-2"},
		"any other agent":                     {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			hub := testhub.Start(t, testhub.Options{})
			env, token := hub.InfraEnv(t, "pool")
			key := store.HostKey{InfraEnvID: env, HostID: uuid.NewString()}
			inventory := testhub.Inventory(7)
			begin := time.Now()
			// With the host's own token: what all share does not prove to be the machine.
			first := hub.Agent(token).With(wire.HeaderAttempt, attempts[0]).Exchange(t, key)
			untilInstall(t, first, key, inventory)
			first.Progress(t, key, wire.HostStageWritingImageToDisk, "5%")
			view, _, err := hub.View(t.Context(), key)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(view.CutOff).To(BeZero())
			installing := time.Now()

			first.With(wire.HeaderAttempt, attempts[1]).Register(t, key)
			view, _, err = hub.View(t.Context(), key)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(view.CutOff).To(BeTemporally("~", begin, installing.Sub(begin)+time.Second))
			g.Expect(view.Installing).To(BeFalse())
		})
	}
}

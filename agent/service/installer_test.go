package service

import (
	"log/slog"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/dryrun"
	"github.com/ironflow/ironflow/agent/install"
	"github.com/ironflow/ironflow/agent/install/coreos"
	"github.com/ironflow/ironflow/agent/notify"
	"github.com/ironflow/ironflow/agent/state"
)

// TestOnlyADryRunPretends is what README.md, docs/agent.md and docs/machines.md say: who changes it changes them.
func TestOnlyADryRunPretends(t *testing.T) {
	g := NewWithT(t)
	log := slog.New(slog.DiscardHandler)
	a := &agent{log: log, state: state.Open(Config{}.Dir), notifier: notify.New(log, nil, nil)}
	a.setInstaller()
	g.Expect(a.installer.Installer).To(BeAssignableToTypeOf(&coreos.Installer{}))
	a.cfg.Dry = dryrun.Settings{Enabled: true}
	a.setInstaller()
	g.Expect(a.installer.Installer).To(BeAssignableToTypeOf(&install.DryRun{}))
}

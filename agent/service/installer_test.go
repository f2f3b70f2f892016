package service

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/dryrun"
	"github.com/ironflow/ironflow/agent/install"
)

// TestOnlyADryRunInstalls is what README.md, docs/agent.md and docs/machines.md say: who changes it changes them.
func TestOnlyADryRunInstalls(t *testing.T) {
	g := NewWithT(t)
	a := &agent{}
	a.setInstaller()
	g.Expect(a.installer.Installer).To(Equal(install.Unsupported{}))
	a.cfg.Dry = dryrun.Settings{Enabled: true}
	a.setInstaller()
	g.Expect(a.installer.Installer).To(BeAssignableToTypeOf(&install.DryRun{}))
}

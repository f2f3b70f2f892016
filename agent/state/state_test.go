package state_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/agent/state"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
)

func TestStateIsBelievedOnlyInItsAttempt(t *testing.T) {
	started := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		change func(g *WithT, dir hostfile.Dir)
		kept   bool
	}{
		"the same attempt":         {func(*WithT, hostfile.Dir) {}, true},
		"another boot":             {func(g *WithT, dir hostfile.Dir) { boot(g, dir, "b2") }, false},
		"another step of the boot": {func(g *WithT, dir hostfile.Dir) { step(g, dir, started.Add(time.Hour)) }, false},
		"broken file": {func(g *WithT, dir hostfile.Dir) {
			g.Expect(os.WriteFile(dir.Path(state.Path), []byte("{"), 0o600)).To(Succeed())
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := hostfile.Dir{Root: t.TempDir()}
			boot(g, dir, "b1")
			step(g, dir, started)
			host := hubclient.Host{InfraEnvID: "ie", HostID: "h"}
			f := state.Open(dir)
			g.Expect(f.SetStage("Installing")).To(MatchError(state.ErrNoInstall))
			g.Expect(f.SetHost(host)).To(Succeed())
			g.Expect(f.SetInstall(&state.Install{Attempt: 2, Request: wire.InstallCmdRequest{BootDevice: "/dev/sda"}})).To(Succeed())
			g.Expect(f.SetStage("Installing")).To(Succeed())

			tc.change(g, dir)
			again := state.Open(dir)
			got := again.Get()
			g.Expect(again.Attempt() == f.Attempt()).To(Equal(tc.kept || name == "broken file"))
			if !tc.kept {
				g.Expect(got.Host).To(BeZero())
				g.Expect(got.Install).To(BeNil())
				return
			}
			g.Expect(got.Host).To(Equal(host))
			g.Expect(*got.Install).To(Equal(state.Install{Attempt: 2, Stage: "Installing", Request: wire.InstallCmdRequest{BootDevice: "/dev/sda"}}))
		})
	}
}

func boot(g *WithT, dir hostfile.Dir, id string) {
	path := dir.Path(hostfile.BootIDPath())
	g.Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(Succeed())
	g.Expect(os.WriteFile(path, []byte(id), 0o600)).To(Succeed())
}

func step(g *WithT, dir hostfile.Dir, at time.Time) {
	g.Expect(dir.Write(hostfile.StepFile, hostfile.StepState{BootID: "b1", StartedAt: at})).To(Succeed())
}

// TestWhatIsNotKeptDidNotHappen: the agent refuses an order that it cannot keep,
// and must not go on with it when it looks for one later.
func TestWhatIsNotKeptDidNotHappen(t *testing.T) {
	g := NewWithT(t)
	dir := hostfile.Dir{Root: t.TempDir()}
	boot(g, dir, "b1")
	f := state.Open(dir)
	run := dir.Path(hostfile.RunDir)
	g.Expect(os.MkdirAll(filepath.Dir(run), 0o755)).To(Succeed())
	g.Expect(os.WriteFile(run, nil, 0o600)).To(Succeed(), "nothing can be written there")
	g.Expect(f.SetInstall(&state.Install{Attempt: 1})).NotTo(Succeed())
	g.Expect(f.Get().Install).To(BeNil())
}

package status_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/messages"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/agentbased/status"
	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/systemd"
)

// noTerminal is a host without one.
type noTerminal struct{}

func (noTerminal) Run(context.Context, command.Command) error { return errors.New("no terminal") }

// host is a systemd by the states of its units; what it does not know has no file.
type host map[string]systemd.Properties

func (h host) Unit(_ context.Context, unit string) (systemd.Properties, error) {
	p, known := h[unit]
	if !known {
		p.LoadState = "not-found"
	}
	return p, nil
}

func unit(active, sub, result string, code, exit int) systemd.Properties {
	return systemd.Properties{LoadState: "loaded", ActiveState: active, SubState: sub, Result: result, ExecMainCode: code, ExecMainStatus: exit}
}

func TestWhatTheInstallationWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		dir := hostfile.Dir{Root: t.TempDir()}
		log := slog.New(slog.DiscardHandler)
		units := host{
			"assisted-service.service":           unit("active", "running", "success", 0, 0),
			"agent-register-cluster.service":     unit("activating", "auto-restart", "exit-code", systemd.Exited, 3),
			"agent-register-infraenv.service":    unit("inactive", "dead", "success", 0, 0),
			"apply-host-config.service":          unit("failed", "failed", "signal", systemd.Killed, 9),
			"start-cluster-installation.service": unit("inactive", "dead", "success", systemd.Exited, 0),
		}
		p := status.Program{Dir: dir, Units: units, Log: log, Console: &messages.Console{Dir: dir, Commands: noTerminal{}, Log: log}}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- p.Run(ctx) }()
		says := func(slot messages.Slot) string {
			<-time.After(6 * time.Second)
			synctest.Wait()
			raw, _ := os.ReadFile(dir.Path("/etc/motd.d/" + string(slot)))
			return string(raw)
		}
		g.Expect(says(messages.SlotServices)).To(Equal(`Waiting for services:
  agent-register-cluster.service: failed and starts again; it exited with status 3
  agent-register-infraenv.service: not started
  apply-host-config.service: failed: it was killed by signal 9 (SIGKILL)
`))
		delete(units, "agent-register-cluster.service")
		g.Expect(says(messages.SlotServices)).To(ContainSubstring("agent-register-cluster.service: its unit is not-found\n"))
		for _, name := range status.Services(false) {
			units[name] = unit("active", "exited", "success", systemd.Exited, 0)
		}
		g.Expect(says(messages.SlotServices)).To(BeEmpty(), "what is not waited for is not on the screen")

		g.Expect(says(messages.SlotHostConfig)).To(BeEmpty())
		var lines []string
		for n := range 12 {
			lines = append(lines, fmt.Sprintf("edge%d: no disk matches", n))
		}
		g.Expect(places.Write(dir, places.HostConfigFailures, []byte(strings.Join(lines, "\n")+"\n"), 0o644)).To(Succeed())
		text := says(messages.SlotHostConfig)
		g.Expect(text).To(HavePrefix("Installation cannot proceed:\n  edge0: no disk matches\n  edge1"))
		g.Expect(text).To(HaveSuffix("  and 4 more, in /run/agent-installer/host-config-failures\n"))
		g.Expect(places.Remove(dir, places.HostConfigFailures)).To(Succeed())
		g.Expect(says(messages.SlotHostConfig)).To(BeEmpty())

		g.Expect(places.Write(dir, places.RendezvousHost, []byte("AIUI_URL=http://192.0.2.1:3001\n"), 0o644)).To(Succeed())
		g.Expect(says(messages.SlotUI)).To(Equal("Look at the installation at http://192.0.2.1:3001\n"))
		g.Expect(places.Write(dir, places.AddNodes, nil, 0o644)).To(Succeed())
		g.Expect(says(messages.SlotServices)).To(ContainSubstring("agent-import-cluster.service: its unit is not-found"), "other services where hosts are added")
		cancel()
		g.Expect(<-ended).To(MatchError(context.Canceled))
	})
}

package logs_test

import (
	"os"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/agent/logs"
	"github.com/ironflow/ironflow/test/systemd/systemdtest"
)

// write writes an entry with the field TAG to the machine's journal.
func write(t *testing.T, m *systemdtest.Machine, tag, message string) {
	t.Helper()
	m.Run(t, "sh", "-c", `printf 'MESSAGE=%s\nTAG=%s\nSYSLOG_IDENTIFIER=%s\n' "$1" "$2" "$2" | logger --journald`, "sh", message, tag)
}

// TestARealJournal: the exports of a real systemd's journal, and programs of a
// real host that fail or hang.
func TestARealJournal(t *testing.T) {
	m := systemdtest.Boot(t)
	write(t, m, "agent", "registered with token=hunter22 at the hub")
	write(t, m, "installer", "writing image to disk")
	write(t, m, "other", "nobody's")
	m.Run(t, "systemd-run", "--wait", "--unit=ironic-agent", "echo", "IPA is up")
	m.Run(t, "journalctl", "--sync")
	order := logs.Order{ClusterID: id, Host: host, InstallerGather: true, Bootstrap: false}
	send := func(g *WithT, order logs.Order, limit time.Duration) map[string]string {
		h := &hub{}
		s := sender(h, logs.Sources{Dir: m.Host, Commands: command.Host{Dir: m.Host}}.WithPartLimit(limit))
		g.Expect(s.Send(t.Context(), order)).To(Succeed())
		return untar(t, h.uploads[0].bytes)
	}

	t.Run("exports by tag, by unit and whole", func(t *testing.T) {
		g := NewWithT(t)
		files := send(g, order, 0)
		g.Expect(files["agent.logs"]).To(And(ContainSubstring("registered with token=*** at the hub"), Not(ContainSubstring("writing image"))))
		g.Expect(files["agent.logs"]).To(MatchRegexp(`(?m)^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}`), "times are those of the world, with their fractions")
		g.Expect(files["installer.logs"]).To(And(ContainSubstring("writing image to disk"), Not(ContainSubstring("registered"))))
		g.Expect(files["ironic-agent.logs"]).To(ContainSubstring("IPA is up"))
		g.Expect(files["journal.logs"]).To(And(ContainSubstring("nobody's"), ContainSubstring("IPA is up"), ContainSubstring("systemd")))
		g.Expect(files["mount.logs"]).To(And(ContainSubstring("# block devices (lsblk)"), ContainSubstring(" / / ")))
		g.Expect(files["network.logs"]).To(ContainSubstring("lo:"))
		g.Expect(files["report.logs"]).To(ContainSubstring("mount.logs: lvm pvdisplay: lvm: this host has no such program"))
	})
	t.Run("a unit that does not exist has no file", func(t *testing.T) {
		g := NewWithT(t)
		files := send(g, logs.Order{ClusterID: id, Host: host, Bootstrap: true}, 0)
		g.Expect(files).NotTo(HaveKey("bootkube.logs"))
		g.Expect(files["report.logs"]).NotTo(ContainSubstring("bootkube"))
	})
	t.Run("older entries are left out", func(t *testing.T) {
		g := NewWithT(t)
		since := order
		since.Since = "+1 hour"
		g.Expect(send(g, since, 0)).NotTo(HaveKey("agent.logs"))
	})
	for name, tc := range map[string]struct{ script, report string }{
		"a journalctl that fails":          {"echo 'Failed to open journal: password=hunter22' >&2\nexit 3", "journal.logs: journalctl: exit status 3: Failed to open journal: password=***"},
		"a journalctl that hangs":          {"echo first line\nexec sleep 1000", "journal.logs: journalctl: took longer than 2s"},
		"a journalctl that leaves a child": {"sleep 1000 &\necho first line\nwait", "journal.logs: journalctl: took longer than 2s"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			file := m.Host.Path("/usr/local/bin/journalctl")
			g.Expect(os.WriteFile(file, []byte("#!/bin/sh\n"+tc.script+"\n"), 0o755)).To(Succeed())
			defer os.Remove(file)
			files := send(g, order, 2*time.Second)
			g.Expect(files["report.logs"]).To(ContainSubstring(tc.report))
			g.Expect(files["mount.logs"]).To(ContainSubstring("# block devices"), "the rest comes")
			g.Expect(files).To(HaveKey("dmesg.logs"))
		})
	}
}

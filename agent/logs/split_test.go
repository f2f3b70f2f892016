package logs_test

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/logs"
	"github.com/ironflow/ironflow/test/played"
)

// random is so many bytes that no compressor makes smaller.
func random(n int) string {
	raw := make([]byte, n)
	_, _ = rand.Read(raw) // never fails
	return string(raw)
}

func TestWhatIsTooLargeIsSplit(t *testing.T) {
	g := NewWithT(t)
	const limit = logs.Spare + 1<<20
	small, large := random(600<<10), random(2500<<10)
	dir := machine(t, map[string]string{
		"/run/ironflow/reason.json": "why",
		"/var/lib/systemd/coredump/core.small.0.b00t.1.1700000000000009.zst": small,
		"/var/lib/systemd/coredump/core.large.0.b00t.2.1700000000000008.zst": large,
	})
	h := &hub{max: limit}
	s := sender(h, logs.Sources{Dir: dir, Commands: programs{"journalctl": journal, "lsblk": played.Says(""), "lvm": played.Says("")}}).WithMaxUpload(limit)
	g.Expect(s.Send(t.Context(), logs.Order{ClusterID: id, Host: host, InstallerGather: true})).To(Succeed(), "no archive is beyond what the hub takes")

	var names []string
	parts := map[string]string{}
	for i, u := range h.uploads {
		names = append(names, u.name)
		files := untar(t, u.bytes)
		for name, text := range files {
			if name != "report.logs" {
				parts[name] = text
			}
		}
		if i < len(h.uploads)-2 {
			g.Expect(files["report.logs"]).To(ContainSubstring("the rest is in " + fmt.Sprintf("logs-%d.tar.gz", i+2)))
		}
	}
	g.Expect(len(names)).To(BeNumerically(">", 3))
	g.Expect(names[0]).To(Equal("logs.tar.gz"))
	g.Expect(names[1]).To(Equal("logs-2.tar.gz"))
	g.Expect(names[len(names)-1]).To(Equal("logs.tar.gz"), "a hub that keeps only the last one keeps what matters most")
	g.Expect(slices.Sorted(func(yield func(string) bool) {
		for name := range untar(t, h.uploads[len(h.uploads)-1].bytes) {
			if !yield(name) {
				return
			}
		}
	})).To(ContainElements("agent.logs", "reason.json"))
	g.Expect(parts["coredump_exe_small_pid_1.zst"]).To(Equal(small))
	var joined strings.Builder
	for i := 1; parts[fmt.Sprintf("coredump_exe_large_pid_2.zst.part-%d", i)] != ""; i++ {
		joined.WriteString(parts[fmt.Sprintf("coredump_exe_large_pid_2.zst.part-%d", i)])
	}
	g.Expect(joined.String() == large).To(BeTrue(), "the stretches put together are the file: %d of %d bytes", len(joined.String()), len(large))
}

func TestNamesOfCoreDumps(t *testing.T) {
	for file, want := range map[string]string{
		"core.sshd.0.5e0d.4711.1700000000000000.zst":        "coredump_exe_sshd_pid_4711.zst",
		"core.sshd.0.5e0d.4711.1700000000000000":            "coredump_exe_sshd_pid_4711",
		`core.a\x2eb\x2f..0.5e0d.1.1.lz4`:                   "",
		`core.a\x2eb\x2fc.0.5e0d.1.1.lz4`:                   "coredump_exe_a_x2eb_x2fc_pid_1.lz4",
		"core.sshd.0.5e0d.-1.1700000000000000.zst":          "",
		"core.sshd.0.5e0d.99999999999.1700000000000000.zst": "",
		"notes.txt": "",
		".#core.sshd.0.5e0d.4711.17000000000000005a1b2c3d":    "",
		"core.sshd.0.5e0d.4711.1700000000000000.zst.and.more": "",
	} {
		t.Run(file, func(t *testing.T) {
			g := NewWithT(t)
			name, ok := logs.ParseCore(file)
			g.Expect(ok).To(Equal(want != ""))
			if ok {
				g.Expect(name).To(Equal(want))
			}
		})
	}
}

// FuzzNamesOfCoreDumps: no name leads out of the archive's folder.
func FuzzNamesOfCoreDumps(f *testing.F) {
	f.Add("core.sshd.0.5e0d.4711.1700000000000000.zst")
	f.Fuzz(func(t *testing.T, file string) {
		if name, ok := logs.ParseCore(file); ok {
			NewWithT(t).Expect(name).To(MatchRegexp(`^coredump_exe_[\w+-]+_pid_\d+(\.[\w+-]*)?$`))
		}
	})
}

package demo_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/demo"
	"github.com/ironflow/ironflow/test/systemd/systemdtest"
)

// TestHostsThatInstallThemselves is the demo of an agent-based installation, whose hosts are a systemd
// each or, where none can be booted, folders. The hub's memory is bounded here as it is promised for
// hosts, whose live system keeps it.
func TestHostsThatInstallThemselves(t *testing.T) {
	for name, says := range map[string]string{"systemd": demo.EdgeSystemd, "folders": demo.EdgeFolders} {
		t.Run(name, func(t *testing.T) {
			folders := name == "folders"
			if !folders {
				systemdtest.Need(t)
			}
			g := NewWithT(t)
			var out strings.Builder
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
			defer cancel()
			err := demo.Run(ctx, demo.Options{Edge: true, Folders: folders, Hosts: 3, BinDir: programs(t), Out: &out, StateDir: t.TempDir()})
			g.Expect(err).NotTo(HaveOccurred(), out.String())
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			g.Expect(lines[0]).To(HaveSuffix(says))
			var summary demo.EdgeSummary
			g.Expect(json.Unmarshal([]byte(lines[len(lines)-1]), &summary)).To(Succeed(), "the last line is the summary")
			g.Expect(summary).To(And(HaveField("Hosts", 3), HaveField("Installed", 3), HaveField("HubMiB", BeNumerically("<=", 100)), HaveField("HubMiB", BeNumerically(">", 0))))
			g.Expect(out.String()).To(And(ContainSubstring("edge-0 (hub)"), ContainSubstring("Writing image to disk"), ContainSubstring("it is installed last")))
			t.Log(lines[len(lines)-1])
		})
	}
}

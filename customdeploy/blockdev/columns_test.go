package blockdev

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/needs"
)

// TestColumnsOfTheRealLsblk: lsblk refuses the whole call for one column that it
// does not know, and a live system's may be as old as this computer's.
func TestColumnsOfTheRealLsblk(t *testing.T) {
	lsblk := needs.Program(t, "lsblk", "util-linux")
	for name, columns := range map[string]string{"disks": DiskColumns, "tree": TreeColumns, "partitions": PartitionColumns} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			cmd := exec.CommandContext(t.Context(), lsblk, "--json", "--bytes", "--output", columns)
			var out, log bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &log
			_ = cmd.Run() // it may find no device, which is no trouble
			g.Expect(log.String()).NotTo(ContainSubstring("unknown column"))
			g.Expect(json.Valid(out.Bytes())).To(BeTrue(), log.String())
		})
	}
}

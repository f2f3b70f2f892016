package main

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/inventory"
	"github.com/ironflow/ironflow/agent/inventory/gpus"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/source"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/machines"
)

func take(t *testing.T, m source.Machine) wire.Inventory {
	t.Helper()
	inv, err := inventory.Gather(t.Context(), inventory.Machine(m, gpus.Defaults()), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	inv.CPU.Frequency = 0 // it changes from one moment to the next
	return inv
}

// TestARecordingPlaysTheMachine records this machine, both ways, and takes the
// inventory of the recordings: it is the machine's own.
func TestARecordingPlaysTheMachine(t *testing.T) {
	g := NewWithT(t)
	want := take(t, source.Live(hostfile.Dir{}))
	folder := filepath.Join(t.TempDir(), "folder")
	g.Expect(run([]string{folder})).To(Succeed())
	played, err := machines.Load(folder)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(json.Marshal(take(t, played))).To(MatchJSON(must(json.Marshal(want))))

	piece := filepath.Join(t.TempDir(), "piece")
	g.Expect(os.WriteFile(piece, nil, 0o600)).To(Succeed())
	g.Expect(run([]string{piece})).To(Succeed())
	unpacked := filepath.Join(t.TempDir(), "unpacked")
	g.Expect(run([]string{"--unpack", piece, unpacked})).To(Succeed())
	played, err = machines.Load(unpacked)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(json.Marshal(take(t, played))).To(MatchJSON(must(json.Marshal(want))))

	g.Expect(run(nil)).To(MatchError(ContainSubstring("usage")))
}

func must(raw []byte, err error) []byte {
	if err != nil {
		return []byte(err.Error())
	}
	return raw
}

func TestIoctlsAnswerWhatFilesSay(t *testing.T) {
	NewWithT(t).Expect(compare(t.Output(), source.Live(hostfile.Dir{}))).To(Succeed())
}

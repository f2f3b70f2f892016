package inventory

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/inventory/gpus"
	"github.com/ironflow/ironflow/test/machines"
)

// TestRecordedMachines takes the inventory of every machine below
// testdata/machines; the README there says which are real.
func TestRecordedMachines(t *testing.T) {
	const folder = "testdata/machines"
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	played := 0
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		played++
		t.Run(entry.Name(), func(t *testing.T) {
			g := NewWithT(t)
			machine, err := machines.Load(filepath.Join(folder, entry.Name()))
			g.Expect(err).NotTo(HaveOccurred())
			inv, err := Gather(t.Context(), Machine(machine, gpus.Defaults()), quiet)
			g.Expect(err).NotTo(HaveOccurred())
			golden(t, inv, filepath.Join("machines", entry.Name(), "inventory.json"))
		})
	}
	NewWithT(t).Expect(played).To(BeNumerically(">=", 12))
}

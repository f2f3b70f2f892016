package logging_test

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/logging"
	"github.com/ironflow/ironflow/api/hostfile"
)

func TestTextFileAndMemory(t *testing.T) {
	g := NewWithT(t)
	dir := hostfile.Dir{Root: t.TempDir()}
	log, ring, closeLog, err := logging.Setup(logging.Options{Text: true, Journal: true, Name: "inventory", Dir: dir})
	g.Expect(err).NotTo(HaveOccurred())
	log.Info("collected", "disks", 3)
	closeLog()
	file, err := os.ReadFile(dir.Path("/var/log/inventory.log"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(file)).To(ContainSubstring("msg=collected disks=3"))
	g.Expect(ring.Bytes()).To(Equal(file))
}

func TestRingKeepsTheNewestWholeLines(t *testing.T) {
	g := NewWithT(t)
	var ring logging.Ring
	for i := range 40_000 {
		fmt.Fprintf(&ring, "line %d of some length that fills the memory\n", i)
	}
	kept := ring.Bytes()
	g.Expect(len(kept)).To(And(BeNumerically(">", 400<<10), BeNumerically("<", 1200<<10)))
	g.Expect(bytes.HasPrefix(kept, []byte("line "))).To(BeTrue())
	g.Expect(bytes.HasSuffix(kept, []byte("line 39999 of some length that fills the memory\n"))).To(BeTrue())
}

package ironic

import (
	"testing"

	. "github.com/onsi/gomega"
)

// TestWhatIsWrittenBesideIsNoReasonToWrite: a node is not written to for it alone.
func TestWhatIsWrittenBesideIsNoReasonToWrite(t *testing.T) {
	g := NewWithT(t)
	name := "new"
	beside := Fields{KeyMachine: "bmc one"}
	n := &Node{Row: Row{Name: name}}
	alone, err := differences(n, Desired{Name: &name, ExtraBeside: beside})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(alone).To(BeEmpty())
	n.Name = "old"
	both, err := differences(n, Desired{Name: &name, ExtraBeside: beside})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(both).To(Equal([]patch{{"add", "/name", "new"}, {"add", "/extra/ironflow_machine", "bmc one"}}))
}

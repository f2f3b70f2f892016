package certificate

import (
	"testing"

	"github.com/onsi/gomega"
)

// TestPhasesAreATable walks the table.
func TestPhasesAreATable(t *testing.T) {
	g := gomega.NewWithT(t)
	for name, row := range phases {
		g.Expect(row.step).NotTo(gomega.BeNil(), string(name))
		g.Expect(row.next).NotTo(gomega.BeEmpty(), string(name))
		for _, next := range row.next {
			g.Expect(phases).To(gomega.HaveKey(next), "after %s", name)
		}
	}
}

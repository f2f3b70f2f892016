package rotation

import (
	"testing"

	"github.com/onsi/gomega"
)

// TestPhasesAreATable walks the table: every phase has a step, its successors exist, a
// rotation can get to it, and from it back to rest.
func TestPhasesAreATable(t *testing.T) {
	g := gomega.NewWithT(t)
	reach := func(from Phase) map[Phase]bool {
		seen, todo := map[Phase]bool{}, []Phase{from}
		for len(todo) > 0 {
			p := todo[0]
			todo = todo[1:]
			for _, next := range phases[p].next {
				if !seen[next] {
					seen[next] = true
					todo = append(todo, next)
				}
			}
		}
		return seen
	}
	for name, row := range phases {
		g.Expect(row.step).NotTo(gomega.BeNil(), string(name))
		g.Expect(row.stored).NotTo(gomega.BeEmpty(), string(name))
		g.Expect(row.does).NotTo(gomega.BeEmpty(), string(name))
		for _, next := range row.next {
			g.Expect(phases).To(gomega.HaveKey(next), "after %s", name)
		}
		g.Expect(reach(Rested)).To(gomega.HaveKey(name))
		g.Expect(reach(name)).To(gomega.HaveKey(Rested), "from %s", name)
	}
}

package pages_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/pages"
)

func TestATableWithAndWithoutItsTests(t *testing.T) {
	const table = "| a | b | c | test |\n|---|---|---|---|\n| 1 |  | x \\| y | `p.TestX` |\n\n2 of them.\n"
	g := NewWithT(t)
	g.Expect(pages.WithoutTests(table)).To(Equal("| a | b | c |\n|---|---|---|\n| 1 |  | x \\| y |\n\n2 of them.\n"))
	g.Expect(pages.OnlyTests(table, 1)).To(Equal("| a | test |\n|---|---|\n| 1 | `p.TestX` |\n"))
	g.Expect(pages.OnlyTests(table, 3)).To(Equal("| a | b | c | test |\n|---|---|---|---|\n| 1 |  | x \\| y | `p.TestX` |\n"))
}

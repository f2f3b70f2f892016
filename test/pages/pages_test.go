package pages_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/pages"
)

const page = `# Page

| not | this |
|---|---|
| a | b |

## Steps

Some words.

| step | limit |
|---|---|
| ` + "`install`" + ` | 1 min |
| a \| b | none |

| another | table |
|---|---|
| c | d |
`

func TestTable(t *testing.T) {
	g := NewWithT(t)
	g.Expect(pages.Table(t, page, "Steps")).To(Equal([]pages.Row{
		{"step": "`install`", "limit": "1 min"}, {"step": "a | b", "limit": "none"},
	}))
}

// failures is a test that others fail in.
type failures struct {
	testing.TB
	count int
}

func (f *failures) Helper()               {}
func (f *failures) Errorf(string, ...any) { f.count++ }

func TestNamedTestsMustExist(t *testing.T) {
	for text, want := range map[string]struct{ named, missing int }{
		"`test/pages.TestTable`":                                    {1, 0},
		"`test/pages.TestTable`, `test/pages.TestNoSuchTest`":       {2, 1},
		"`test/pages.TestNamedTestsMustExist/nothing named at all`": {1, 0},
		"`test/pages.TestNamedTestsMustExist/no such" + " case`":    {1, 1},
		"`test/nowhere.TestTable`":                                  {1, 2},
		"nothing named at all":                                      {0, 0},
	} {
		t.Run(text, func(t *testing.T) {
			g := NewWithT(t)
			f := &failures{TB: t}
			g.Expect(pages.Tests(f, "../..", text)).To(Equal(want.named))
			g.Expect(f.count).To(Equal(want.missing))
		})
	}
}

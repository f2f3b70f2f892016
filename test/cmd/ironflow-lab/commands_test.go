package main

import (
	"io"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/pages"
)

// TestCommandsOfTheDocumentation: what pages tell people to call is there, with its flags. Most of it starts real programs, which the
// tests of test/lab and `make demo` do.
func TestCommandsOfTheDocumentation(t *testing.T) {
	g := NewWithT(t)
	lines := pages.Lines(t, "../../..", "ironflow-lab")
	g.Expect(lines).To(ContainElements("up --help", "prepare --check"))
	for _, line := range lines {
		g.Expect(pages.Call(newCommand(), "page: "+line)).To(Succeed())
	}
	c := newCommand()
	c.SetArgs([]string{"up", "--help"})
	c.SetOut(io.Discard)
	g.Expect(c.ExecuteContext(t.Context())).To(Succeed())
}

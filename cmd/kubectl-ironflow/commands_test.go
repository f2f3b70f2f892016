package main

import (
	"io"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/pages"
)

// TestUnknownCommandsAreErrors: a script has to see a typing error by the exit code.
func TestUnknownCommandsAreErrors(t *testing.T) {
	for _, args := range [][]string{{"nosuch"}, {"get", "nosuch"}, {"bmc", "nosuch"}} {
		c := newCommand()
		c.SetArgs(args)
		c.SetOut(io.Discard)
		NewWithT(t).Expect(c.ExecuteContext(t.Context())).To(MatchError(ContainSubstring("nosuch")), "%v", args)
	}
}

// TestCommandsOfTheDocumentation: what pages tell people to call is there, with its flags.
func TestCommandsOfTheDocumentation(t *testing.T) {
	g := NewWithT(t)
	calls := pages.Commands(t, "../..", "kubectl ironflow")
	g.Expect(len(calls)).To(BeNumerically(">", 10))
	for _, call := range calls {
		g.Expect(pages.Call(newCommand(), call)).To(Succeed())
	}
}

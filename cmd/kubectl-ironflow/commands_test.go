package main

import (
	"io"
	"testing"

	. "github.com/onsi/gomega"
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

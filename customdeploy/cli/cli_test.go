package cli

import (
	"bytes"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/api/hostfile"
)

// TestWrongCalls: nothing is done, and the usage is printed.
func TestWrongCalls(t *testing.T) {
	t.Setenv(hostfile.RootEnv, t.TempDir())
	for name, args := range map[string][]string{
		"nothing":                 nil,
		"a host without a name":   {"set-hostname"},
		"a name that is a flag":   {"set-hostname", "--help"},
		"a step with an argument": {"start_assisted_install", "--help"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var out, errs bytes.Buffer
			g.Expect(run(Systemd, args, strings.NewReader(""), &out, &errs)).To(Equal(exitcode.StepBadInput))
			g.Expect(out.String()).To(BeEmpty())
			g.Expect(errs.String()).To(HavePrefix("Usage: ironflow-step list\n"))
		})
	}
}

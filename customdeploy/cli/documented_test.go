package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/test/pages"
)

// TestCommandsOfThePagesRun: what docs/deploy-steps.md has of the program. Steps and names need a host.
func TestCommandsOfThePagesRun(t *testing.T) {
	t.Setenv(hostfile.RootEnv, t.TempDir())
	pages.Run(t, "../..", "ironflow-step", []pages.Example{
		{Line: "list", Want: `"confirm_install"`},
		{Line: "STEP", By: "cmd/ironflow-step.TestAgentDiesWithTheStep"},
		{Line: "set-hostname NAME", By: "customdeploy/hostname.TestSet"},
	}, func(in string, args []string) (string, error) {
		var out, errs bytes.Buffer
		if code := run(Systemd, args, strings.NewReader(in), &out, &errs); code != exitcode.StepDone {
			return out.String(), fmt.Errorf("exit code %d: %s", code, errs.String())
		}
		return out.String(), nil
	})
}

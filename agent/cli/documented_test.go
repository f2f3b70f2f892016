package cli

import (
	"fmt"
	"testing"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/test/pages"
)

// TestCommandsOfThePagesRun: what pages tell people to call on a host.
func TestCommandsOfThePagesRun(t *testing.T) {
	t.Setenv(hostfile.RootEnv, t.TempDir())
	pages.Run(t, root, BinaryName, []pages.Example{{Line: "inventory", Want: `"disks":`}}, func(_ string, args []string) (string, error) {
		code, out, errs := call(t, append([]string{BinaryName}, args...)...)
		if code != 0 {
			return out, fmt.Errorf("exit code %d: %s", code, errs)
		}
		return out, nil
	})
}

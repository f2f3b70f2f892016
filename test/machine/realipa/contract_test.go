//go:build e2e

package realipa_test

import (
	"os"
	"testing"

	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/machine/contract"
	"github.com/ironflow/ironflow/test/machine/realipa"
)

// TestContract runs the cases of every IPA on the real one: they describe it,
// and the Go IPA has to follow.
func TestContract(t *testing.T) {
	if missing := realipa.Missing(); missing != "" {
		if os.Getenv("CI") == "true" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	venv, err := lab.AgentEnvironment(t.Context(), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	contract.Run(t, realipa.Agent{Venv: venv})
}

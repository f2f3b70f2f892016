package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/cluster/cli"
	"github.com/ironflow/ironflow/test/pages"
)

// TestCommandsOfThePagesRun: what docs/cluster.md tells people to copy prints the manifests.
func TestCommandsOfThePagesRun(t *testing.T) {
	g := NewWithT(t)
	root, err := filepath.Abs("../..")
	g.Expect(err).NotTo(HaveOccurred())
	t.Chdir(t.TempDir())
	g.Expect(os.WriteFile("token", []byte("very-secret"), 0o600)).To(Succeed())
	pages.Run(t, root, "ironflow-cluster", []pages.Example{{
		Line: "manifests --image registry.example/ironflow-cluster:v1 --hub-url https://hub.example:8090 --cluster-id ID --token-file token --stay",
		With: map[string]string{"ID": id}, Want: "kind: Deployment",
	}}, func(_ string, args []string) (string, error) {
		code, out, errs := run(t, args...)
		if code != cli.Over {
			return out, fmt.Errorf("exit code %d: %s", code, errs)
		}
		return out, nil
	})
}

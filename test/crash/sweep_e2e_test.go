//go:build e2e

package crash

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// TestFullSweep kills the controller at every single request of every kind of
// life, at both moments, and lives each of them undisturbed.
func TestFullSweep(t *testing.T) {
	w := newWorld(t)
	var kills atomic.Int32
	t.Run("lives", func(t *testing.T) {
		for _, k := range kinds {
			w.live(t, k, Plan{}, &kills)
			for _, when := range []When{Before, After} {
				for first := range every {
					w.live(t, k, Plan{When: when, First: first + 1, Every: every}, &kills)
				}
			}
		}
	})
	t.Logf("%d kills", kills.Load())
	if !strings.Contains(flag.Lookup("test.run").Value.String(), "/") { // all of them
		NewWithT(t).Expect(kills.Load()).To(BeNumerically(">", 2*len(kinds)*every), "more than one in each life")
	}
}

// TestProgram kills the program itself, with everything that it runs for hosts
// and with its own timing.
func TestProgram(t *testing.T) {
	bin := os.Getenv("IRONFLOW_BIN")
	if bin == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("IRONFLOW_BIN is not set: run this by `make test-e2e`")
		}
		t.Skip("IRONFLOW_BIN is not set: run this by `make test-e2e`, which builds the programs first")
	}
	w := newWorld(t)
	w.command = func(t *testing.T, o controllerOptions, log *os.File) func() *exec.Cmd {
		file := filepath.Join(t.TempDir(), "kubeconfig")
		access := clientcmdapi.NewConfig()
		access.Clusters["life"] = &clientcmdapi.Cluster{Server: o.Kubernetes}
		access.Contexts["life"] = &clientcmdapi.Context{Cluster: "life"}
		access.CurrentContext = "life"
		NewWithT(t).Expect(clientcmd.WriteToFile(*access, file)).To(Succeed())
		return func() *exec.Cmd {
			cmd := exec.Command(filepath.Join(bin, "ironflow"), "controllers", "--kubeconfig", file, "--namespace", o.Namespace,
				"--ironic-endpoint", o.Ironic, "--metrics-addr", "0", "--health-addr", "0", "--deploy-iso-url", "http://images.test/live.iso")
			cmd.Stdout, cmd.Stderr = log, log
			return cmd
		}
	}
	var kills atomic.Int32
	t.Run("lives", func(t *testing.T) {
		for i, k := range kinds {
			w.live(t, k, []Plan{{Before, 20, 2 * every}, {After, 50, 2 * every}}[i%2], &kills)
		}
	})
	NewWithT(t).Expect(kills.Load()).To(BeNumerically(">", 5))
}

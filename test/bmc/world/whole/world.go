package whole

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/onsi/gomega"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
	"github.com/ironflow/ironflow/test/machine/ironictest"
	"github.com/ironflow/ironflow/test/shipped"
)

// Namespace is that of all hosts.
const Namespace = "default"

// Options are how a world is set up.
type Options struct {
	// Hall is the real Ironic with its machines.
	Hall ironictest.HallOptions
	// Patience bounds every wait for a host, Glance is how often it is looked.
	Patience, Glance time.Duration
}

// World is the program with everything around it.
type World struct {
	Hall   *ironictest.Hall
	Kube   client.Client
	Ironic ironictest.Ironic
	// Program is nil before it is started.
	Program *shipped.Process

	options Options
	path    string // of the compiled program
}

// New starts all but the program. Everything ends with the test.
func New(t *testing.T, o Options) *World {
	t.Helper()
	w := &World{options: o, path: program(t)}
	ctrl.SetLogger(logr.Discard())
	g := gomega.NewWithT(t)
	l := labtest.New(t)
	w.Hall = ironictest.Start(t, l, o.Hall)
	w.Ironic = ironictest.Ironic{URL: l.Ironic.URL, HTTP: l.Ironic.HTTPClient()}
	_, err := l.StartControlPlane(t.Context(), lab.ControlPlaneOptions{Controllers: true})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	w.Kube, err = shipped.NewClient(l.ControlPlane.Config())
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return w
}

// program is the compiled one; `make test-e2e` says where.
func program(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("IRONFLOW_BIN")
	if dir == "" {
		dir = "../../bin"
	}
	path, err := filepath.Abs(filepath.Join(dir, "ironflow"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath(path); err != nil {
		message := "ironflow is not built: run make lab-programs, or make test-e2e"
		if os.Getenv("CI") == "true" {
			t.Fatal(message)
		}
		t.Skip(message)
	}
	return path
}

// Start runs the controllers, which ask BMCs, in the place of those that ran before.
// The settings add to those that every test needs, or replace them.
func (w *World) Start(t *testing.T, settings map[string]string) {
	t.Helper()
	w.Stop(t)
	all := map[string]string{"DEPLOY_ISO_URL": "http://127.0.0.1:1/live.iso", "IRONFLOW_BMC": "true"}
	maps.Copy(all, settings)
	var err error
	w.Program, err = shipped.Start(t.Context(), shipped.Options{Lab: w.Hall.Lab, Program: w.path, Command: "controllers", Settings: all})
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(func() { w.Stop(t) })
}

// Stop ends the program, if it runs.
func (w *World) Stop(t *testing.T) {
	t.Helper()
	if w.Program == nil {
		return
	}
	if err := w.Program.Stop(); err != nil {
		t.Errorf("stop ironflow: %v", err)
	}
	w.Program = nil
}

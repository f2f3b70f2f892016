//go:build e2e

package e2e

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/ironflow/ironflow/cluster/manifests"
	"github.com/ironflow/ironflow/test/cluster/incluster"
	"github.com/ironflow/ironflow/test/hub/program"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/progress"
	"github.com/ironflow/ironflow/test/needs"
	"github.com/ironflow/ironflow/test/openshiftinstall"
	"github.com/ironflow/ironflow/test/postgres"
)

const (
	// patience is for a machine that has other work.
	patience = 5 * time.Minute
	// look is the time between two looks at what a test waits for.
	look = 200 * time.Millisecond
)

var (
	// plane is the Kubernetes API of all tests.
	plane *lab.ControlPlane
	// installed is that of most clusters that they install: the hosts' names tell these apart.
	installed *incluster.Cluster
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	l, err := lab.New(lab.Options{Progress: progress.Lines(os.Stderr)})
	if err == nil {
		plane, err = l.StartControlPlane(context.Background(), lab.ControlPlaneOptions{})
	}
	if err == nil {
		err = lab.InstallCRDs(context.Background(), plane.Config())
	}
	var other *lab.Lab
	if err == nil {
		installed, other, err = startInstalled(context.Background())
	}
	if err == nil {
		err = installed.Up(context.Background(), version)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e: the Kubernetes API:", err)
		os.Exit(1)
	}
	postgres.Main(m, func() error { return errors.Join(l.Stop(context.Background()), other.Stop(context.Background())) })
}

// startInstalled starts the API of clusters that are installed, with what only OpenShift
// makes: its operators are not available yet.
func startInstalled(ctx context.Context) (*incluster.Cluster, *lab.Lab, error) {
	l, err := lab.New(lab.Options{Progress: progress.Lines(os.Stderr)})
	if err != nil {
		return nil, nil, err
	}
	p, err := l.StartControlPlane(ctx, lab.ControlPlaneOptions{})
	if err != nil {
		return nil, l, err
	}
	c, err := incluster.New(ctx, p)
	if err != nil {
		return nil, l, err
	}
	err = c.Apply(ctx, manifests.Settings{Image: "registry.example/ironflow-cluster:1", HubURL: "https://hub.example", ClusterID: "any", OpenShift: true})
	return c, l, errors.Join(err, c.OpenShift(ctx, version))
}

// world is a hub with its agents and a user.
type world struct {
	*WithT
	*testing.T
	user   *program.User
	hub    *program.Hub
	dir    string
	booted int
	// installer is the program that the hub runs, inner the API of the clusters that are installed.
	installer *openshiftinstall.Program
	inner     *incluster.Cluster
	workloads map[string]map[string]string // the environment of the programs inside, by cluster
	wiped     int                          // how often the installed cluster was lost
}

// newWorld starts a hub on SQLite.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := prepare(t)
	w.start(w.hub)
	w.connect(w.hub.URL, w.hub.CA)
	return w
}

// prepare makes a world whose hub has not been started.
func prepare(t *testing.T, args ...string) *world {
	t.Helper()
	w := &world{WithT: NewWithT(t), T: t, dir: t.TempDir(), installer: openshiftinstall.New(t), inner: installed, workloads: map[string]map[string]string{}}
	w.hub = w.newHub("hub", args...)
	return w
}

// namespace is the one of this world's hubs, so that none works for another.
func (w *world) namespace() string { return strings.ToLower(filepath.Base(filepath.Dir(w.dir))) }

// short is a name of this world that leaves room for more in a host's name.
func (w *world) short() string {
	sum := sha256.Sum256([]byte(w.dir))
	return "w" + hex.EncodeToString(sum[:4])
}

// ownInner gives the world an API of installed clusters of its own, whose operators are not
// available before the test says so.
func (w *world) ownInner() {
	w.Helper()
	inner, l, err := startInstalled(w.Context())
	if l != nil {
		w.Cleanup(func() { w.Expect(l.Stop(context.Background())).To(Succeed()) })
	}
	w.Expect(err).NotTo(HaveOccurred())
	w.Cleanup(inner.Close)
	w.inner = inner
}

// newHub makes a hub with the world's keys.
func (w *world) newHub(name string, args ...string) *program.Hub {
	w.Helper()
	hub, err := program.New(program.Options{
		Program: needs.Shipped(w.T, "ironflow"), Kubeconfig: plane.Kubeconfig, Dir: w.dir, Name: name, UserToken: userToken,
		Args: append([]string{
			"--namespace", w.namespace(), "--metrics-insecure", "--hub-ignition-source", "openshift-install", "--hub-openshift-install", w.installer.Path,
			"--hub-cluster-image", "registry.example/ironflow-cluster:e2e", // put among the manifests; the program itself runs beside the cluster
		}, args...),
	})
	w.Expect(err).NotTo(HaveOccurred())
	w.Cleanup(func() {
		w.Expect(hub.Stop()).To(Succeed())
		if w.Failed() {
			w.Log(hub.Log + ":\n" + hub.Tail())
		}
	})
	return hub
}

func (w *world) start(hub *program.Hub) {
	w.Helper()
	w.Expect(hub.Start(w.Context())).To(Succeed())
}

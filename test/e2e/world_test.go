//go:build e2e

package e2e_test

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/progress"
	"github.com/ironflow/ironflow/test/machine"
	"github.com/ironflow/ironflow/test/media"
	"github.com/ironflow/ironflow/test/needs"
	"github.com/ironflow/ironflow/test/scenario/generate"
	"github.com/ironflow/ironflow/test/shipped"
)

const (
	// namespace is where docs/install.md has Ironflow.
	namespace = "ironflow-system"
	// patience is for a machine that has other work.
	patience = 15 * time.Minute
	look     = 500 * time.Millisecond
	// heartbeat is how long a ramdisk may be silent, see test/demo.
	heartbeat = 40 * time.Second
)

// world is a site: a cluster, an Ironic, three machines and a server of images.
type world struct {
	*WithT
	t    *testing.T
	kube client.WithWatch

	dir, bin  string
	lab       *lab.Lab
	fleet     *machine.Fleet
	scenarios []*scenario.Scenario
	// roots are the mounted images by their reference.
	roots map[string]builtImage
	// live is the medium that the mirror has, and its checksum.
	live, liveSum string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	needs.Root(t)
	needs.Program(t, "unshare", "util-linux")
	needs.Helm(t)
	needs.Program(t, "buildah", "buildah")
	ctrl.SetLogger(logr.Discard())
	w := &world{WithT: NewWithT(t), t: t, dir: t.TempDir(), bin: filepath.Dir(needs.Shipped(t, "ironflow")), roots: map[string]builtImage{}}
	w.startMachines()
	w.startMirror()
	return w
}

// startMachines starts machines without power, and the cluster and Ironic with their BMCs.
func (w *world) startMachines() {
	w.t.Helper()
	w.scenarios = generate.Machines(3, generate.Options{Speed: 3})
	var err error
	w.fleet, err = machine.NewFleet(machine.Options{
		Dir: filepath.Join(w.dir, "machines"), BinDir: filepath.Join(w.bin, "lab"), Scenarios: w.scenarios, Fresh: true, Pace: machine.LabPace,
	})
	w.Expect(err).NotTo(HaveOccurred())
	w.t.Cleanup(func() {
		w.Expect(w.fleet.Close()).To(Succeed())
		w.Expect(w.fleet.Processes()).To(BeEmpty(), "nothing is left of the machines")
	})
	user, password := w.fleet.NotifierCredentials()
	w.lab, err = lab.Start(w.t.Context(), lab.Options{
		StateDir: filepath.Join(w.dir, "lab"), Address: netip.MustParseAddr(ironicAddress),
		Progress: func(e progress.Event) {
			if e.State != progress.Started {
				w.t.Log(e)
			}
		},
		ControlPlane: &lab.ControlPlaneOptions{Controllers: true},
		Ironic:       &lab.IronicOptions{Port: 6385, HeartbeatTimeout: heartbeat},
		Emulator:     &lab.EmulatorOptions{NotifierURL: w.fleet.NotifierURL(), NotifierUser: user, NotifierPassword: password},
	})
	w.Expect(err).NotTo(HaveOccurred())
	w.t.Cleanup(func() { w.Expect(w.lab.Stop(context.Background())).To(Succeed()) })
	w.Expect(w.fleet.Plug(w.t.Context(), w.lab.Emulator)).To(Succeed())
	w.kube, err = shipped.NewClient(w.lab.ControlPlane.Config())
	w.Expect(err).NotTo(HaveOccurred())
}

// startMirror starts the server of the samples' image, by TLS, and of the live medium.
func (w *world) startMirror() {
	w.t.Helper()
	dir := filepath.Join(w.dir, "mirror")
	w.Expect(os.MkdirAll(dir, 0o755)).To(Succeed())
	w.live = filepath.Join(dir, "live.x86_64.iso")
	w.Expect(media.WriteFile(w.live, media.Options{})).To(Succeed())
	medium, err := os.ReadFile(w.live)
	w.Expect(err).NotTo(HaveOccurred())
	w.liveSum = sum(medium)
	disk := make([]byte, 1<<20)
	w.Expect(os.WriteFile(filepath.Join(dir, "server.qcow2"), disk, 0o644)).To(Succeed())
	w.Expect(os.WriteFile(filepath.Join(dir, "server.qcow2.sha256"), []byte(sum(disk)+"  server.qcow2\n"), 0o644)).To(Succeed())
	pair, err := w.lab.Authority.Server(mirror)
	w.Expect(err).NotTo(HaveOccurred())
	certificate, err := tls.X509KeyPair(pair.Cert, pair.Key)
	w.Expect(err).NotTo(HaveOccurred())
	plain, err := (&net.ListenConfig{}).Listen(w.t.Context(), "tcp", mirrorAddress+":80")
	w.Expect(err).NotTo(HaveOccurred())
	secure, err := (&net.ListenConfig{}).Listen(w.t.Context(), "tcp", mirrorAddress+":443")
	w.Expect(err).NotTo(HaveOccurred())
	server := &http.Server{Handler: http.FileServer(http.Dir(dir)), ReadHeaderTimeout: time.Minute}
	w.t.Cleanup(func() { w.Expect(server.Close()).To(Succeed()) })
	for _, l := range []net.Listener{plain, tls.NewListener(secure, &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12})} {
		go func() {
			if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				w.t.Error(err)
			}
		}()
	}
}

func sum(content []byte) string {
	s := sha256.Sum256(content)
	return hex.EncodeToString(s[:])
}

// kubectl runs it as an administrator.
func (w *world) kubectl(args ...string) string {
	w.t.Helper()
	return w.run([]string{"KUBECONFIG=" + w.lab.ControlPlane.Kubeconfig}, filepath.Join(w.lab.ControlPlane.AssetsDir, "kubectl"), args...)
}

// helm runs it on the cluster.
func (w *world) helm(args ...string) string {
	w.t.Helper()
	home := w.t.TempDir()
	return w.run([]string{"KUBECONFIG=" + w.lab.ControlPlane.Kubeconfig, "HOME=" + home}, needs.Helm(w.t), args...)
}

// write writes a file of the site, and returns its path.
func (w *world) write(name, text string) string {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	w.Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(Succeed())
	w.Expect(os.WriteFile(path, []byte(text), 0o600)).To(Succeed())
	return path
}

// labPrograms is a folder with the programs of simulated machines that everybody may read.
func (w *world) labPrograms() string {
	w.t.Helper()
	dir := filepath.Join(w.dir, "lab-programs")
	w.Expect(os.MkdirAll(dir, 0o755)).To(Succeed())
	for _, name := range []string{"ironflow-agent", "ironflow-step"} {
		raw, err := os.ReadFile(filepath.Join(w.bin, "lab", name))
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(os.WriteFile(filepath.Join(dir, name), raw, 0o755)).To(Succeed())
	}
	return dir
}

//go:build e2e

package joint_test

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/uuid"
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/ironflow/ironflow/agent/scenario"
	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/controllers/host"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/controllers/hubid"
	"github.com/ironflow/ironflow/controllers/progress"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/hub/testhub"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/emulator"
	"github.com/ironflow/ironflow/test/lab/labtest"
	"github.com/ironflow/ironflow/test/machine/bmc"
	"github.com/ironflow/ironflow/test/machine/realipa"
	"github.com/ironflow/ironflow/test/scenario/generate"
	"github.com/ironflow/ironflow/test/systemd/systemdtest"
)

// heartbeats are so frequent that a lost agent is noticed while a test waits;
// margin is what an agent may be late by.
const (
	heartbeats = 30 * time.Second
	margin     = 20 * time.Second
)

//go:embed python
var python embed.FS

// world is everything in front of the machines.
type world struct {
	lab     *lab.Lab
	hub     *testhub.Hub
	kube    client.Client
	gateway *ironic.Gateway
	// infraEnv is what the images of the hub are of.
	infraEnv string
	// agent and step are the compiled programs, venv the environment with IPA,
	// python and plugin the folders with the pretended hardware and our plugin.
	agent, step, venv, python, plugin string

	mu       sync.Mutex
	machines map[string]*machine
}

func newWorld(t *testing.T) *world {
	t.Helper()
	systemdtest.Need(t)
	if missing := realipa.Missing(); missing != "" {
		if os.Getenv("CI") == "true" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	g := NewWithT(t)
	w := &world{lab: labtest.New(t), machines: map[string]*machine{}}
	var err error
	w.venv, err = lab.AgentEnvironment(t.Context(), "", nil)
	g.Expect(err).NotTo(HaveOccurred())
	w.agent = systemdtest.Build(t, "github.com/ironflow/ironflow/cmd/ironflow-agent")
	w.step = systemdtest.Build(t, "github.com/ironflow/ironflow/cmd/ironflow-step")
	w.python, w.plugin = t.TempDir(), installPlugin(t)
	sources, err := fs.Sub(python, "python")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.CopyFS(w.python, sources)).To(Succeed())
	w.hub = testhub.Start(t, testhub.Options{})
	w.startIronic(t)
	w.startControllers(t)
	w.makeInfraEnv(t)
	return w
}

// infraEnvName is the InfraEnv that the label of each host names.
const infraEnvName = "joint"

// makeInfraEnv makes the InfraEnv and its record, as the controller of InfraEnvs does.
func (w *world) makeInfraEnv(t *testing.T) {
	t.Helper()
	g := NewWithT(t)
	env := &agentv1.InfraEnv{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: infraEnvName},
		Spec:       agentv1.InfraEnvSpec{PullSecretRef: &corev1.LocalObjectReference{Name: "pull"}},
	}
	g.Expect(w.kube.Create(t.Context(), env)).To(Succeed())
	w.infraEnv = hubid.InfraEnv(env)
	_, err := w.hub.EnsureInfraEnv(t.Context(), service.InfraEnvSpec{ID: w.infraEnv, Name: infraEnvName, SingleHost: true, AutoApprove: true})
	g.Expect(err).NotTo(HaveOccurred())
}

// installPlugin lays our plugin out as pip does, so that IPA finds its entry point.
func installPlugin(t *testing.T) string {
	t.Helper()
	g := NewWithT(t)
	dir := t.TempDir()
	const source = "../../customdeploy/ipa"
	g.Expect(os.CopyFS(filepath.Join(dir, "ironflow_ipa"), os.DirFS(filepath.Join(source, "ironflow_ipa")))).To(Succeed())
	project, err := os.ReadFile(filepath.Join(source, "pyproject.toml"))
	g.Expect(err).NotTo(HaveOccurred())
	_, rest, found := strings.Cut(string(project), `[project.entry-points."ironic_python_agent.hardware_managers"]`)
	g.Expect(found).To(BeTrue(), "the plugin's entry point")
	entry, _, _ := strings.Cut(strings.TrimSpace(rest), "\n")
	info := filepath.Join(dir, "ironflow_ipa-1.0.0.dist-info")
	g.Expect(os.Mkdir(info, 0o755)).To(Succeed())
	for name, text := range map[string]string{
		"METADATA":         "Metadata-Version: 2.1\nName: ironflow-ipa\nVersion: 1.0.0\n",
		"entry_points.txt": "[ironic_python_agent.hardware_managers]\n" + strings.ReplaceAll(entry, `"`, "") + "\n",
	} {
		g.Expect(os.WriteFile(filepath.Join(info, name), []byte(text), 0o644)).To(Succeed())
	}
	return dir
}

// startIronic starts Ironic and the BMCs.
func (w *world) startIronic(t *testing.T) {
	t.Helper()
	g := NewWithT(t)
	receiver, err := bmc.Listen(nil, w.find, slog.New(slog.DiscardHandler))
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = receiver.Close() })
	user, password := receiver.Credentials()
	_, err = w.lab.StartEmulator(t.Context(), lab.EmulatorOptions{NotifierURL: receiver.URL(), NotifierUser: user, NotifierPassword: password})
	g.Expect(err).NotTo(HaveOccurred())
	started, err := w.lab.StartIronic(t.Context(), lab.IronicOptions{HeartbeatTimeout: heartbeats})
	g.Expect(err).NotTo(HaveOccurred())
	w.gateway, err = ironic.New(t.Context(), ironic.Config{
		URL: started.URL, CAFile: w.lab.CAFile,
		Auth: ironic.Auth{Basic: &ironic.Basic{Username: started.User, Password: ironic.Secret(started.Password)}},
	})
	g.Expect(err).NotTo(HaveOccurred())
}

func (w *world) find(id string) (bmc.Taker, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	m, ok := w.machines[id]
	return m, ok
}

// noReads stands for an image server: the machines of these tests read no image.
type noReads struct{}

func (noReads) Progress(string) (images.ReadProgress, bool) { return images.ReadProgress{}, false }
func (noReads) Watch(context.Context) <-chan images.Event   { return nil }

// startControllers starts a kube-apiserver and the host controller, which hears
// the hub as in the program.
func (w *world) startControllers(t *testing.T) {
	t.Helper()
	ctrl.SetLogger(logr.Discard())
	g := NewWithT(t)
	plane, err := w.lab.StartControlPlane(t.Context(), lab.ControlPlaneOptions{Controllers: true})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = envtest.InstallCRDs(plane.Config(), envtest.CRDInstallOptions{Paths: []string{"../../config/crd/metal3", "../../config/crd/agent-install"}})
	g.Expect(err).NotTo(HaveOccurred())
	scheme := runtime.NewScheme()
	g.Expect(clientgoscheme.AddToScheme(scheme)).To(Succeed())
	g.Expect(metal3.AddToScheme(scheme)).To(Succeed())
	g.Expect(agentv1.AddToScheme(scheme)).To(Succeed())
	mgr, err := ctrl.NewManager(plane.Config(), ctrl.Options{
		Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"},
		Client: client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: new(true)}},
	})
	g.Expect(err).NotTo(HaveOccurred())
	watch := ironic.NewWatch(w.gateway, ironic.WatchOptions{HeartbeatTimeout: heartbeats, HeartbeatMargin: margin})
	source := progress.New(w.hub.Hub, noReads{}, mgr.GetClient(), logr.Discard())
	g.Expect(mgr.Add(source)).To(Succeed())
	g.Expect(host.Setup(mgr, host.Options{
		Gateway: w.gateway, Watch: watch, Progress: source, ProgressChanged: source.Changed, Name: "joint",
		Settings: policy.Settings{Settings: nodespec.Settings{DeployISO: "http://127.0.0.1:1/live.iso", Architecture: "x86_64"}},
	})).To(Succeed())
	done := make(chan error, 1)
	go func() { _ = watch.Run(t.Context()) }()
	go func() { done <- mgr.Start(t.Context()) }()
	t.Cleanup(func() {
		if err := <-done; err != nil {
			t.Errorf("manager: %v", err)
		}
	})
	w.kube, err = client.New(plane.Config(), client.Options{Scheme: scheme})
	g.Expect(err).NotTo(HaveOccurred())
}

// machine makes a machine with its BMC; the number makes it its own.
func (w *world) machine(t *testing.T, number int, change func(*machine)) *machine {
	t.Helper()
	s := generate.Machine(number, generate.Options{Prefix: "joint-"})
	s.Install = scenario.Install{DefaultStage: duration(50 * time.Millisecond), Stages: map[string]scenario.Duration{writing: duration(time.Second)}}
	m := &machine{t: t, world: w, name: s.Name, uuid: uuid.NewString(), scenario: s, dir: t.TempDir()}
	if change != nil {
		change(m)
	}
	w.mu.Lock()
	w.machines[m.uuid] = m
	w.mu.Unlock()
	t.Cleanup(func() {
		m.end()
		if t.Failed() {
			t.Logf("the end of IPA's log:\n%s\nthe hub:\n%s", realipa.Tail(m.ipaLog()), w.hub.Timeline(t))
		}
	})
	err := w.lab.Emulator.Add(t.Context(), emulator.System{UUID: m.uuid, Name: m.name, NICs: []emulator.NIC{{MAC: m.mac()}}})
	if err != nil {
		t.Fatal(fmt.Errorf("add the machine to the BMC: %w", err))
	}
	return m
}

func (m *machine) mac() string { return m.scenario.Hardware.NICs[0].MAC }

func duration(d time.Duration) scenario.Duration { return scenario.Duration{Duration: d} }

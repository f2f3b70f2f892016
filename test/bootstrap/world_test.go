//go:build e2e

package bootstrap_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/uuid"
	. "github.com/onsi/gomega"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/agent/outcome"
	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/balance"
	"github.com/ironflow/ironflow/test/bootstrap/release"
	"github.com/ironflow/ironflow/test/cluster/incluster"
	"github.com/ironflow/ironflow/test/hub/program"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
	"github.com/ironflow/ironflow/test/livesystem"
	"github.com/ironflow/ironflow/test/needs"
	"github.com/ironflow/ironflow/test/openshiftinstall"
	"github.com/ironflow/ironflow/test/output"
	"github.com/ironflow/ironflow/test/systemd/systemdtest"
)

const (
	// patience bounds a whole installation.
	patience  = 15 * time.Minute
	look      = 500 * time.Millisecond
	diskBytes = 10 << 30

	version = "4.20.1"
	network = "192.0.2.0/24"
	apiVIP  = "192.0.2.3"
	appsVIP = "192.0.2.4"

	// userToken is that of the hub's one user; the pull secret opens nothing.
	userToken  = "the-user-of-this-test"
	pullSecret = `{"auths":{"registry.example":{"auth":"dXNlcjpub3RoaW5n"}}}`
)

// addresses are those of the hosts; the first one is the bootstrap host's, see livesystem.AddNIC.
var addresses = []string{"192.0.2.10", "192.0.2.11", "192.0.2.12"}

func mac(n int) string { return fmt.Sprintf("02:00:00:00:00:%02x", n+1) }

func TestMain(m *testing.M) {
	release.Main()
	os.Exit(m.Run())
}

// world is a hub with a cluster of three, and the machines of its hosts on one network.
type world struct {
	*WithT
	*testing.T
	hub               *program.Hub
	user              *program.User
	cluster, infraEnv string // their ids
	token, agent      string
	plane             *release.Plane
	// first is the bootstrap host in its live system, others the installed systems of the others,
	// and of that host when it has rebooted.
	first  *livesystem.System
	others []*systemdtest.Machine
	inner  *incluster.Cluster
	inside *run // the program in the cluster
}

func newWorld(t *testing.T) *world {
	t.Helper()
	livesystem.Need(t)
	w := &world{WithT: NewWithT(t), T: t}
	w.plane = release.New(t, addresses...)
	w.startHub()
	w.agent = needs.Shipped(t, "ironflow-agent")
	w.newCluster()
	w.bootMachines()
	return w
}

// startHub starts the hub, whose clusters' Ignition comes from the stand-in.
func (w *world) startHub() {
	w.Helper()
	ctrl.SetLogger(logr.Discard())
	installer := openshiftinstall.New(w.T)
	installer.Bootstrap(w.plane.Bootstrap())
	outer := labtest.ControlPlane(w.T, lab.ControlPlaneOptions{})
	w.Expect(lab.InstallCRDs(w.Context(), outer.Config())).To(Succeed())
	var err error
	w.hub, err = program.New(program.Options{
		Program: needs.Shipped(w.T, "ironflow"), Kubeconfig: outer.Kubeconfig, Dir: filepath.Join(w.TempDir(), "hub"), UserToken: userToken,
		Args: []string{
			"--namespace", "default", "--metrics-insecure", "--hub-ignition-source", "openshift-install", "--hub-openshift-install", installer.Path,
			"--hub-cluster-image", "registry.example/ironflow-cluster:e2e", "--hub-host-requirements", program.SmallHosts,
			"--hub-disabled-host-validations", program.DisabledChecks,
		},
	})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(w.hub.Start(w.Context())).To(Succeed())
	w.Cleanup(func() {
		w.Expect(w.hub.Stop()).To(Succeed())
		if w.Failed() {
			w.Log(w.hub.Log + ":\n" + w.hub.Tail())
		}
	})
	w.user, err = program.NewUser(w.hub.URL, w.hub.CA, userToken)
	w.Expect(err).NotTo(HaveOccurred())
	w.Cleanup(w.user.Close)
}

// newCluster makes the cluster of three and its infra-env.
func (w *world) newCluster() {
	w.Helper()
	var cluster wire.Cluster
	w.do(http.MethodPost, "/clusters", wire.ClusterCreateParams{
		Name: "prod", BaseDNSDomain: "lab.example", ControlPlaneCount: new(int64(3)), OpenshiftVersion: version, OcpReleaseImage: "registry.example/release:" + version,
		PullSecret: pullSecret, MachineNetworks: []wire.MachineNetwork{{CIDR: network}}, APIVIPs: []wire.APIVIP{{IP: apiVIP}}, IngressVIPs: []wire.IngressVIP{{IP: appsVIP}},
	}, &cluster)
	w.cluster = cluster.ID
	var env wire.InfraEnv
	w.do(http.MethodPost, "/infra-envs", wire.InfraEnvCreateParams{Name: "pool", ClusterID: &w.cluster, PullSecret: pullSecret}, &env)
	w.infraEnv = env.ID
	var err error
	w.token, err = w.hub.AgentToken(w.infraEnv)
	w.Expect(err).NotTo(HaveOccurred())
}

// do is a user's call, which must succeed; what may pass is repeated, as clients do.
func (w *world) do(method, path string, in, out any) {
	w.Helper()
	ctx, end := context.WithTimeout(w.Context(), patience)
	defer end()
	w.Expect(w.user.Do(ctx, method, path, in, out)).To(Succeed())
}

// status is the cluster's.
func (w *world) status() string {
	w.Helper()
	var c wire.Cluster
	w.do(http.MethodGet, "/clusters/"+w.cluster, nil, &c)
	return c.Status
}

// bootMachines boots the three, with the programs of a control plane, and puts them on one network.
func (w *world) bootMachines() {
	w.Helper()
	first := systemdtest.Boot(w.T)
	w.first = livesystem.New(w.T, first, livesystem.Disk{Bytes: diskBytes})
	w.first.BringImage(w.T, livesystem.MakeImage(w.T, "../fixtures/coreos-disk/make.sh"))
	w.first.AddNIC(w.T, mac(0))
	w.plane.Installs(first)
	w.plane.Bind(first, w.agent, hostfile.AgentBinary)
	w.plane.Put(first, hostfile.UnitDir+"/"+hostfile.IPAUnit, "[Service]\nExecStart=/bin/sleep infinity\n")
	w.plane.Lives(first)
	first.Run(w.T, "systemctl", "start", hostfile.IPAUnit)
	w.inNetworkOf(first, "ip link add br0 type bridge", "ip link set peer1 master br0", "ip link set br0 up")
	for i := 1; i < len(addresses); i++ {
		w.others = append(w.others, w.installed(i))
	}
}

// installed boots the installed system of a host, with the host's address.
func (w *world) installed(n int) *systemdtest.Machine {
	w.Helper()
	m := systemdtest.Boot(w.T)
	w.plane.Installs(m)
	w.inNetworkOf(w.first.Machine,
		fmt.Sprintf("ip link add port%d type veth peer name eno1 address %s netns %s", n, mac(n), pid(m)),
		fmt.Sprintf("ip link set port%d master br0", n), fmt.Sprintf("ip link set port%d up", n))
	w.inNetworkOf(m, "ip address add "+addresses[n]+"/24 dev eno1", "ip link set eno1 up")
	return m
}

// pid is the machine's first process.
func pid(m *systemdtest.Machine) string {
	return strings.TrimSuffix(strings.TrimPrefix(m.Host.Root, "/proc/"), "/root")
}

func (w *world) inNetworkOf(m *systemdtest.Machine, lines ...string) {
	w.Helper()
	for _, line := range lines {
		livesystem.Output(w.T, "nsenter", append([]string{"--net=/proc/" + pid(m) + "/ns/net", "--"}, strings.Fields(line)...)...)
	}
}

// run is a program that the test has started.
type run struct {
	w       *world
	name    string
	command *exec.Cmd
	said    output.Buffer
	ended   chan error
}

func (w *world) start(name string, command *exec.Cmd) *run {
	w.Helper()
	r := &run{w: w, name: name, command: command, ended: make(chan error, 1)}
	command.Stdout, command.Stderr = &r.said, &r.said
	w.Expect(command.Start()).To(Succeed())
	go func() { r.ended <- command.Wait() }()
	w.Cleanup(func() {
		_ = command.Process.Kill()
		if w.Failed() {
			w.Logf("%s:\n%s", name, r.said.String())
		}
	})
	return r
}

// code waits for the program's end.
func (r *run) code() int {
	r.w.Helper()
	r.w.Eventually(r.ended, patience).Should(Receive(), "%s ends: %s", r.name, r.w.story())
	return r.command.ProcessState.ExitCode()
}

// startFirst starts the agent of the bootstrap host, in its machine.
func (w *world) startFirst() *run {
	w.Helper()
	listener := w.first.Listen(w.T) // on the machine's own loopback, for which the hub's certificate is good, too
	balance.Serve(w.T, listener, balance.TCP(strings.TrimPrefix(w.hub.URL, "https://"))...)
	ca, err := os.ReadFile(w.hub.CA)
	w.Expect(err).NotTo(HaveOccurred())
	w.plane.Put(w.first.Machine, "/etc/hub-ca.crt", string(ca))
	cmd := w.first.Command(context.WithoutCancel(w.Context()), hostfile.AgentBinary, "agent", "--url", "https://"+listener.Addr().String(), "--infra-env-id", w.infraEnv,
		"--cacert", "/etc/hub-ca.crt", "--agent-version", "ironflow-agent:test", "--interval", "1", "--with-stdout-logging")
	cmd.Env = append(cmd.Env, hubclient.TokenEnv+"="+w.token, outcome.InvocationEnv+"="+invocation())
	return w.start("the bootstrap host's agent", cmd)
}

func invocation() string { return strings.ReplaceAll(uuid.NewString(), "-", "") }

// startOther starts the agent of another host, in dry run. Its machine is weaker than the one of the bootstrap host.
func (w *world) startOther(n int) *run {
	w.Helper()
	s := &scenario.Scenario{
		Name: name(n),
		Hardware: scenario.Hardware{
			System:    scenario.System{Manufacturer: "Example", Product: "Box", Serial: "SER-" + name(n)},
			CPU:       scenario.CPU{Architecture: "x86_64", Model: "Example CPU", Count: 1, MHz: 2400, Flags: []string{"vmx", "sse4_2", "avx2"}},
			MemoryMiB: 2048,
			NICs:      []scenario.NIC{{Name: "eno1", MAC: mac(n), IPv4: []string{addresses[n] + "/24"}, Gateway: "192.0.2.1", SpeedMbps: 10000}},
			Disks:     []scenario.Disk{{Name: "sda", SizeGiB: 20, Type: "SSD", Serial: "D-" + name(n), WWN: fmt.Sprintf("0x5000%012x", n)}},
		},
		Install: scenario.Install{DefaultStage: scenario.Duration{Duration: 300 * time.Millisecond}},
	}
	dir := hostfile.Dir{Root: w.TempDir()}
	file := filepath.Join(dir.Root, "scenario.yaml")
	w.Expect(s.Save(file)).To(Succeed())
	ca, err := os.ReadFile(w.hub.CA)
	w.Expect(err).NotTo(HaveOccurred())
	boot := dir.Path(hostfile.BootIDPath())
	w.Expect(os.MkdirAll(filepath.Dir(boot), 0o755)).To(Succeed())
	w.Expect(os.WriteFile(boot, []byte(uuid.NewString()+"\n"), 0o600)).To(Succeed())
	w.Expect(os.WriteFile(dir.Path("/ca.crt"), bytes.TrimSpace(ca), 0o600)).To(Succeed())
	cmd := exec.CommandContext(context.WithoutCancel(w.Context()), w.agent, "agent", "--url", w.hub.URL, "--infra-env-id", w.infraEnv, "--cacert", "/ca.crt",
		"--agent-version", "ironflow-agent:test", "--interval", "1", "--with-journal-logging=false", "--with-text-logging=false", "--with-stdout-logging",
		"--dry-run", "--dry-scenario", file)
	cmd.Env = append(os.Environ(), hostfile.RootEnv+"="+dir.Root, hubclient.TokenEnv+"="+w.token, outcome.InvocationEnv+"="+invocation())
	return w.start(name(n), cmd)
}

// name is the host name of one of the others.
func name(n int) string { return fmt.Sprintf("node-%d", n) }

// story is how far all is, for a test that fails.
func (w *world) story() string {
	var b strings.Builder
	var c wire.Cluster
	w.do(http.MethodGet, "/clusters/"+w.cluster, nil, &c)
	fmt.Fprintln(&b, "cluster:", c.Status, c.StatusInfo, c.ValidationsInfo)
	for _, h := range c.Hosts {
		fmt.Fprintln(&b, "host:", h.ID, h.RequestedHostname, h.Role, h.Bootstrap, h.Status, h.StatusInfo, h.Progress, h.ValidationsInfo)
	}
	if w.inside != nil {
		fmt.Fprintln(&b, "inside the cluster:", w.inside.said.String())
	}
	for _, m := range append([]*systemdtest.Machine{w.first.Machine}, w.others...) {
		out, _ := m.Command(
			context.WithoutCancel(w.Context()), "sh", "-c",
			"systemctl --failed --no-legend; journalctl --no-pager --lines 40 --unit 'bootkube*' --unit 'etcd*' --unit 'kube-*' --unit 'progress*' --unit 'join*'",
		).CombinedOutput()
		fmt.Fprintf(&b, "machine:\n%s\n", out)
	}
	return b.String()
}

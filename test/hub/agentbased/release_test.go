//go:build e2e

package agentbased

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/agentbased/units"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/balance"
	"github.com/ironflow/ironflow/test/bootstrap/release"
	"github.com/ironflow/ironflow/test/cluster/incluster"
	"github.com/ironflow/ironflow/test/hub/program"
	"github.com/ironflow/ironflow/test/livesystem"
	"github.com/ironflow/ironflow/test/needs"
	"github.com/ironflow/ironflow/test/openshiftinstall"
	"github.com/ironflow/ironflow/test/systemd/systemdtest"
)

// TestMain lets the test binary be what sees to etcd's members in the machines.
func TestMain(m *testing.M) {
	release.Main()
	os.Exit(m.Run())
}

const (
	// factoryVersion is that of factoryRelease.
	factoryVersion = "4.20.1"
	// installerDir is where an appliance has the program of its release.
	installerDir = "/var/lib/openshift-install"
	// clusterUnit runs what works inside the cluster: no host here runs pods.
	clusterUnit = "ironflow-cluster.service"
)

// smallHosts are settings of a hub for hosts that are smaller than a release needs, and have neither the time nor a registry.
const smallHosts = "HW_VALIDATOR_REQUIREMENTS=" + program.SmallHosts + "\nDISABLED_HOST_VALIDATIONS=" + program.DisabledChecks + "\n"

// hasImages is a container engine that has each image already.
const hasImages = `case "$1 $2" in
"image exists") ;;
"image inspect") echo 400000000 ;;
*) exit 125 ;;
esac
`

// released are three appliances of a release: node zero is its bootstrap host.
type released struct {
	*rack
	plane   *release.Plane
	inner   *incluster.Cluster
	image   string
	systems []*livesystem.System
}

// TestDisksOfAppliancesAreWritten: machines of one factory image get their settings from a medium each, and write their
// disks by the real coreos-installer. Node zero does it last: as the bootstrap host of the release, it brings up a control
// plane, a real etcd and kube-apiserver, hands it over to the two others, and takes the hub with it. What OpenShift alone
// makes is played: its installer, what the bootstrap services do, the systems that are installed, kubelets and operators.
func TestDisksOfAppliancesAreWritten(t *testing.T) {
	livesystem.Need(t)
	a := newReleased(t)
	a.settings()
	a.reach(a.machines[0], four.address(0))
	hub := balance.Start(t, "127.0.0.1", a.dialOf(0, four.address(0)+":8090"))
	wait := a.start(a.dir, map[string]string{"WATCHER_AUTH_TOKEN": a.tokens["WATCHER_AUTH_TOKEN"]},
		"ironflow", "agent-image", "wait-for", "install-complete", "--url", "http://"+hub, "--kubeconfig", a.kubeconfig(), "--interval", "1s", "--output", "json")
	for i := 1; i < 3; i++ {
		a.Eventually(a.stages, 2*patience, look).Should(HaveKeyWithValue(mac(i), wire.HostStageRebooting), a.journals)
	}
	for i := 1; i < 3; i++ {
		a.written(i, a.systems[i], a.image)
		a.restarts(i)
		a.plane.Joins(a.machines[i], hostName(i), four.address(i), four.address(0), patience, a.journals)
	}
	a.connect()
	a.works(1)
	a.kubelet(1)
	a.kubelet(2)

	a.Eventually(a.stages, 2*patience, look).Should(HaveKeyWithValue(mac(0), wire.HostStageRebooting), a.journals)
	a.written(0, a.systems[0], a.image)
	zero := a.zero()
	a.Expect([]any{zero.Bootstrap, string(zero.Role), zero.InstallationDiskPath}).To(Equal([]any{true, "master", "/dev/sda"}))
	a.Expect(a.statuses()).To(And(HaveKeyWithValue(mac(1), wire.HostStatusInstalled), HaveKeyWithValue(mac(2), wire.HostStatusInstalled)), "node zero has told of the others' nodes")
	a.Expect(a.plane.Members(a.machines[1])).To(Equal("2"), "etcd has left node zero")

	a.restarts(0) // and the hub is gone
	a.plane.Joins(a.machines[0], hostName(0), four.address(0), four.address(1), patience, a.journals)
	a.kubelet(0)
	a.Expect(a.inner.Up(t.Context(), factoryVersion)).To(Succeed())
	a.Eventually(wait.ended, patience).Should(BeClosed(), wait.tail)
	a.Expect(wait.command.ProcessState.ExitCode()).To(Equal(0), wait.tail)
	a.Expect(wait.tail()).To(ContainSubstring("the cluster says so: its version is available"))
	a.Expect(release.Kubectl(t.Context(), a.machines[0], release.AdminConfig, "get", "nodes")).To(And(
		ContainSubstring(hostName(0)), ContainSubstring(hostName(1)), ContainSubstring(hostName(2)), Not(ContainSubstring("NotReady"))))
}

// hostName is what a machine calls itself.
func hostName(i int) string { return fmt.Sprintf("edge-%d", i) }

// newReleased boots the machines from the appliance's disk, on one cable.
func newReleased(t *testing.T) *released {
	t.Helper()
	r := &released{
		rack:  newRack(t, units.Appliance, map[string]string{}, "--release-image", factoryRelease),
		plane: release.New(t, four.address(0), four.address(1), four.address(2)), image: fixture(t),
	}
	for i := range 3 {
		s := r.live(i, r.image)
		s.Script(t, release.ProgramDir+"/podman", hasImages)
		s.Run(t, "useradd", "core") // whose password is among the settings
		if i == 0 {
			installer := openshiftinstall.In(t, s.Host.Path(installerDir))
			installer.Bootstrap(r.plane.Bootstrap())
			r.plane.Installs(s.Machine)
			r.plane.Lives(s.Machine)
		}
		r.manufactured(s.Machine)
		r.systems, r.machines = append(r.systems, s), append(r.machines, s.Machine)
	}
	r.cableCards()
	r.plane.URL = "https://" + balance.Start(t, "127.0.0.1", r.dialOf(1, "127.0.0.1:6443"), r.dialOf(2, "127.0.0.1:6443"))
	return r
}

// dialOf connects from inside a machine, whichever runs at the time.
func (r *released) dialOf(i int, address string) balance.Dial {
	return func(ctx context.Context) (net.Conn, error) { return r.machines[i].Dial(ctx, "tcp", address) }
}

// settings plugs the config image of the cluster into each machine, and waits until node zero has it.
func (r *released) settings() {
	r.Helper()
	medium := needs.LoopDevice(r.T, r.medium(factoryRelease, func(input map[string]string) {
		install := "cluster-manifests/agent-cluster-install.yaml"
		input[install] = strings.Replace(input[install], "{ironflow.io/ignition-source: files}", "{ironflow.io/ignition-source: openshift-install}", 1)
		r.Expect(input[install]).To(ContainSubstring("ignition-source: openshift-install"))
		input["hostconfig/zero/root-device-hints.yaml"] = "deviceName: /dev/sda\n"
		input["hub.env"] = "IRONFLOW_HUB_OPENSHIFT_INSTALL=" + installerDir + "/openshift-install\nIRONFLOW_HUB_IGNITION_SOURCE=openshift-install\n" +
			"IRONFLOW_HUB_CLUSTER_IMAGE=registry.example/ironflow-cluster:e2e\n" + smallHosts
	}))
	for _, m := range r.machines {
		m.Plug(r.T, medium)
	}
	r.Eventually(func() string { return r.holdsOn(0, places.RendezvousHost) }, patience, look).Should(ContainSubstring("NODE_ZERO_IP"), r.journals)
}

// kubeconfig is the file of an administrator who looks from outside.
func (r *released) kubeconfig() string {
	r.Helper()
	r.write(r.dir, "admin.kubeconfig", r.plane.Kubeconfig(r.plane.URL))
	return r.dir + "/admin.kubeconfig"
}

// restarts ends the live system of a machine, which has said that it restarts, and boots what is installed, at the same cable.
func (r *released) restarts(i int) {
	r.Helper()
	r.pull(r.machines[i])
	r.machines[i].Kill()
	m := systemdtest.Boot(r.T)
	m.Run(r.T, "hostname", hostName(i))
	r.plane.Installs(m)
	r.machines[i] = m
	r.plugCard(i)
}

// connect makes in the control plane what only OpenShift makes.
func (r *released) connect() {
	r.Helper()
	var err error
	r.inner, err = incluster.New(r.Context(), r.plane)
	r.Expect(err).NotTo(HaveOccurred())
	r.Cleanup(r.inner.Close)
	r.Expect(r.inner.OpenShift(r.Context(), factoryVersion)).To(Succeed())
}

// kubelet plays that of an installed host: somebody in the cluster lets it in.
func (r *released) kubelet(i int) {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	k := incluster.Kubelet{Cluster: r.inner, Name: hostName(i), Address: four.address(i), Labels: map[string]string{"node-role.kubernetes.io/master": ""}}
	for _, step := range []func(context.Context) error{k.Joins, k.GetsReady} {
		if err := step(ctx); err != nil {
			r.Fatalf("%s: %v\n%s", k.Name, err, r.journals())
		}
	}
}

// works starts the shipped program of the cluster on one of its hosts, as its Job says.
func (r *released) works(i int) {
	r.Helper()
	r.Eventually(func() string { // node zero's services put it there
		return release.Kubectl(r.Context(), r.machines[i], release.AdminConfig, "get", "jobs", "--all-namespaces")
	}, patience, look).Should(ContainSubstring("ironflow-cluster"), r.journals)
	env, err := incluster.Environment(r.holdsOn(0, "/opt/openshift/openshift/ironflow-cluster.yaml"))
	r.Expect(err).NotTo(HaveOccurred())
	config, err := r.inner.Kubeconfig()
	r.Expect(err).NotTo(HaveOccurred())
	m, folder := r.machines[i], "/etc/ironflow-cluster"
	r.plane.Bind(m, needs.Shipped(r.T, "ironflow-cluster"), release.ProgramDir+"/ironflow-cluster")
	r.plane.Put(m, folder+"/kubeconfig", strings.ReplaceAll(string(config), r.plane.URL, "https://127.0.0.1:6443"))
	r.plane.Put(m, folder+"/env", places.FormatEnv(env))
	r.plane.Put(m, hostfile.UnitDir+"/"+clusterUnit, "[Service]\nEnvironmentFile="+folder+"/env\nRestart=always\nRestartSec=1\n"+
		"ExecStart="+release.ProgramDir+"/ironflow-cluster run --kubeconfig "+folder+"/kubeconfig --listen 0\n")
	m.Run(r.T, "systemctl", "daemon-reload")
	m.Run(r.T, "systemctl", "start", clusterUnit)
}

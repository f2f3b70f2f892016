package agentbased

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/client"
	"github.com/ironflow/ironflow/agent/agentbased/hostconfig"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/agentbased/programs"
	"github.com/ironflow/ironflow/agent/agentbased/units"
	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/agent/program"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

const (
	edgeEnv     = "11111111-1111-4111-8111-111111111111"
	edgeCluster = "22222222-2222-4222-8222-222222222222"
)

// described is a real hub with a cluster, and the folders of some of its hosts.
type described struct {
	*WithT
	t    *testing.T
	hub  *testhub.Hub
	root hostfile.Dir
}

// newDescribed starts the hub; folders are files by their names below that of the hosts.
func newDescribed(t *testing.T, masters, workers int, folders map[string]string) *described {
	t.Helper()
	d := &described{NewWithT(t), t, testhub.Start(t, testhub.Options{}), hostfile.Dir{Root: t.TempDir()}}
	_, err := d.hub.EnsureCluster(t.Context(), service.ClusterSpec{ID: edgeCluster, Name: "edge", Masters: masters, Workers: workers, Hold: true})
	d.Expect(err).NotTo(HaveOccurred())
	_, err = d.hub.EnsureInfraEnv(t.Context(), service.InfraEnvSpec{ID: edgeEnv, Name: "edge", ClusterID: edgeCluster, AutoApprove: true})
	d.Expect(err).NotTo(HaveOccurred())
	for name, text := range folders {
		d.Expect(places.Write(d.root, path.Join("/etc/assisted/hostconfig", name), []byte(text), 0o600)).To(Succeed())
	}
	return d
}

func hostKey(n int) store.HostKey {
	return store.HostKey{InfraEnvID: edgeEnv, HostID: "aaaaaaaa-0000-4000-8000-00000000000" + string(rune('0'+n))}
}

// comes has the host register and send its inventory, again if it has done so before.
func (d *described) comes(n int, change func(*wire.Inventory)) {
	d.t.Helper()
	token, err := d.hub.AgentToken(d.t.Context(), edgeEnv)
	d.Expect(err).NotTo(HaveOccurred())
	agent := d.hub.Agent(token)
	agent.Register(d.t, hostKey(n))
	inventory := testhub.Inventory(n)
	if change != nil {
		change(&inventory)
	}
	raw, err := json.Marshal(inventory)
	d.Expect(err).NotTo(HaveOccurred())
	agent.Reply(d.t, hostKey(n), wire.StepReply{StepType: wire.StepTypeInventory, Output: string(raw)})
}

// configure runs the client, which ends once each folder has its host.
func (d *described) configure() {
	d.t.Helper()
	calls, err := hubclient.New(hubclient.Options{URL: d.hub.URL, CAFile: d.hub.CAFile, Dir: hostfile.Dir{}, Header: http.Header{"Authorization": {"Bearer " + d.hub.UserToken}}})
	d.Expect(err).NotTo(HaveOccurred())
	d.t.Cleanup(calls.Close)
	settings := client.FromEnv(func(name string) string { return map[string]string{places.InfraEnvID: edgeEnv}[name] }, d.root)
	c := &client.Client{Settings: settings, Hub: calls, Dir: d.root, Log: slog.New(slog.DiscardHandler)}
	d.Expect(c.Run(d.t.Context(), "configure")).To(Succeed())
}

// unit runs apply-host-config.service as it is shipped: its command with its environment, until the
// test ends. It returns once systemd would know it as active.
func (d *described) unit() {
	d.t.Helper()
	rendered, err := units.Render(units.Options{Workflow: units.Automated})
	d.Expect(err).NotTo(HaveOccurred())
	at := slices.IndexFunc(rendered, func(r units.Rendered) bool { return r.Name == units.HostConfigUnit })
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path.Join(d.t.TempDir(), "notify"), Net: "unixgram"})
	d.Expect(err).NotTo(HaveOccurred())
	env := map[string]string{
		hostfile.RootEnv: d.root.Root, "NOTIFY_SOCKET": socket.LocalAddr().String(),
		places.InfraEnvID: edgeEnv, places.ServiceBaseURL: d.hub.URL, places.UserToken: "Bearer " + d.hub.UserToken, // of its files
	}
	var words []string
	for line := range strings.Lines(rendered[at].Content) {
		switch key, value, _ := strings.Cut(strings.TrimSpace(line), "="); key {
		case "Environment":
			name, value, _ := strings.Cut(value, "=")
			env[name] = value
		case "ExecStart":
			words = strings.Fields(value)
		}
	}
	for name, value := range env {
		d.t.Setenv(name, value)
	}
	ca, err := os.ReadFile(d.hub.CAFile)
	d.Expect(err).NotTo(HaveOccurred())
	d.Expect(places.Write(d.root, hostfile.HubCA, ca, 0o644)).To(Succeed())
	words[0] = path.Base(words[0])
	ctx, stop := context.WithCancel(d.t.Context())
	ended := make(chan int, 1)
	go func() {
		ended <- programs.Main(ctx, program.Streams{In: strings.NewReader(""), Out: io.Discard, Err: os.Stderr}, words)
	}()
	d.t.Cleanup(func() {
		stop()
		d.Expect(<-ended).To(BeZero(), "a unit that is stopped has not failed")
		d.Expect(socket.Close()).To(Succeed())
	})
	said := make([]byte, 100)
	n, err := socket.Read(said)
	d.Expect(err).NotTo(HaveOccurred())
	d.Expect(string(said[:n])).To(Equal("READY=1"))
}

// TestAHostThatIsRemovedAndComesAgain has its role and disk again, though all hosts had theirs before.
func TestAHostThatIsRemovedAndComesAgain(t *testing.T) {
	d := newDescribed(t, 3, 1, map[string]string{
		"worker-0/mac_addresses": "02:00:00:00:00:01\n", "worker-0/role": "worker\n", "worker-0/root-device-hints.yaml": "vendor: Example\n",
	})
	ours := func(i *wire.Inventory) { // not the one that the hub would choose
		i.Disks = append(i.Disks, wire.Disk{
			ID: "/dev/disk/by-id/wwn-0xbeef", Path: "/dev/sdb", Name: "sdb", Vendor: "Example", DriveType: wire.DriveTypeSsd, SizeBytes: 900_000_000_000,
			InstallationEligibility: wire.DiskInstallationEligibility{Eligible: true},
		})
	}
	d.comes(1, ours)
	d.unit()
	has := func() string {
		h, _ := d.host(1)
		return string(h.Role) + " " + h.InstallationDiskPath
	}
	d.Expect(has()).To(Equal("worker /dev/sdb"))
	key := hostKey(1)
	code, body := d.hub.User().Do(t, http.MethodDelete, "/infra-envs/"+key.InfraEnvID+"/hosts/"+key.HostID, nil, nil)
	d.Expect(code).To(Equal(http.StatusNoContent), body)
	d.comes(1, ours)
	d.Expect(has()).To(Equal("auto-assign /dev/sda"), "as the hub would have it")
	h, _ := d.host(1)
	applied, err := hostconfig.Read(d.root)
	d.Expect(err).NotTo(HaveOccurred())
	d.Expect(applied.Missing([]wire.Host{h})).To(HaveLen(1), "it is not installed so")
	d.Eventually(has).WithTimeout(time.Minute).Should(Equal("worker /dev/sdb"))
	d.Eventually(func() int {
		applied, err := hostconfig.Read(d.root)
		d.Expect(err).NotTo(HaveOccurred())
		return len(applied.Missing([]wire.Host{h}))
	}).WithTimeout(time.Minute).Should(BeZero())
}

// host is the host as the hub has it; the role is that which it would be installed with.
func (d *described) host(n int) (h wire.Host, role wire.HostRole) {
	d.t.Helper()
	h, err := d.hub.Host(d.t.Context(), hostKey(n))
	d.Expect(err).NotTo(HaveOccurred())
	if role = h.Role; role == wire.HostRoleAutoAssign {
		role = ""
	}
	return h, cmp.Or(role, h.SuggestedRole)
}

// TestTheDiskThatTheHintsNameStays: the hub would have chosen it anyway, and would choose another that appears later.
func TestTheDiskThatTheHintsNameStays(t *testing.T) {
	d := newDescribed(t, 3, 0, map[string]string{"zero/mac_addresses": "02:00:00:00:00:01\n", "zero/root-device-hints.yaml": "vendor: Example\n"})
	ours := func(i *wire.Inventory) { i.Disks[0].Vendor = "Example" }
	d.comes(1, ours)
	d.comes(2, nil)
	h, _ := d.host(1)
	d.Expect(h.InstallationDiskPath).To(Equal("/dev/sda"), "the hints fit it already")
	d.configure()
	late := wire.Disk{ID: "/dev/disk/by-id/wwn-0xbeef", Path: "/dev/sdb", Name: "sdb", DriveType: wire.DriveTypeHdd, SizeBytes: 200_000_000_000}
	with := func(i *wire.Inventory) {
		ours(i)
		i.Disks = append(i.Disks, late)
	}
	for _, n := range []int{1, 2} {
		d.comes(n, with)
	}
	h, _ = d.host(1)
	d.Expect(h.InstallationDiskPath).To(Equal("/dev/sda"))
	h, _ = d.host(2)
	d.Expect(h.InstallationDiskPath).To(Equal("/dev/sdb"), "of a host without hints, the hub chooses the disk")
}

// TestTheRoleOfTheFolderStays: the hub suggests it while few hosts are there, and another one once smaller hosts have come.
func TestTheRoleOfTheFolderStays(t *testing.T) {
	d := newDescribed(t, 3, 1, map[string]string{
		"master-0/mac_addresses": "02:00:00:00:00:01\n", "master-0/role": "master\n",
		"master-1/mac_addresses": "02:00:00:00:00:02\n", "master-1/role": "master\n",
	})
	d.comes(1, nil)
	d.comes(2, func(i *wire.Inventory) {
		i.CPU.Count, i.Memory.PhysicalBytes, i.Memory.UsableBytes = 64, 512<<30, 512<<30
	})
	_, role := d.host(2)
	d.Expect(role).To(Equal(wire.HostRoleMaster), "of two hosts, each is of the control plane")
	d.configure()
	d.comes(3, nil)
	d.comes(4, nil)
	roles := map[wire.HostRole]int{}
	for n := range 4 {
		_, role := d.host(n + 1)
		roles[role]++
	}
	_, role = d.host(2)
	d.Expect(role).To(Equal(wire.HostRoleMaster))
	d.Expect(roles).To(Equal(map[wire.HostRole]int{wire.HostRoleMaster: 3, wire.HostRoleWorker: 1}))
}

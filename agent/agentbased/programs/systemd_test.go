package programs

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/vishvananda/netlink"
	vns "github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"github.com/ironflow/ironflow/agent/agentbased/installed"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/agentbased/units"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/test/systemd/systemdtest"
)

// edgeHost is a machine with a real systemd, which has the units of an automated installation.
type edgeHost struct {
	*WithT
	t *testing.T
	*systemdtest.Machine
	link *netlink.Handle
}

// newEdgeHost boots it. Its program is this test's own binary, its hub one that does nothing.
func newEdgeHost(t *testing.T) *edgeHost {
	t.Helper()
	h := &edgeHost{WithT: NewWithT(t), t: t, Machine: systemdtest.Boot(t)}
	table, err := units.Render(units.Options{Workflow: units.Automated})
	h.Expect(err).NotTo(HaveOccurred())
	words := []string{"enable"}
	for _, u := range table {
		h.write(u.Path, u.Content)
		if u.Enabled {
			words = append(words, u.Name)
		}
	}
	h.write(hostfile.UnitDir+"/node-zero.service.d/test.conf", "[Service]\nEnvironment=BE_START_AGENT=1\n")
	h.write(hostfile.UnitDir+"/agent.service.d/test.conf", "[Service]\nEnvironment=BE_START_AGENT=1\n")
	h.write(units.HubBinary, "#!/bin/sh\nexec sleep infinity\n")
	h.Run(t, "chmod", "+x", units.HubBinary)
	h.write(places.ServiceSettings+"/assisted-service.env", "")
	h.write(places.RendezvousHost, "NODE_ZERO_IP=192.0.2.1\nSERVICE_BASE_URL=http://192.0.2.1:8090/\n")
	self, err := os.Executable()
	h.Expect(err).NotTo(HaveOccurred())
	systemdtest.Install(t, h.Host, self, units.Binary)
	h.Run(t, "systemctl", words...)

	ns, err := vns.GetFromPath(h.Network())
	h.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = ns.Close() }() // it was only looked through
	h.link, err = netlink.NewHandleAt(ns, unix.NETLINK_ROUTE)
	h.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(h.link.Close)
	return h
}

func (h *edgeHost) write(path, text string) {
	h.t.Helper()
	file := h.Host.Path(path)
	h.Expect(os.MkdirAll(filepath.Dir(file), 0o755)).To(Succeed())
	h.Expect(os.WriteFile(file, []byte(text), 0o644)).To(Succeed())
}

// gets gives its card an address.
func (h *edgeHost) gets(address string) {
	h.t.Helper()
	card, err := h.link.LinkByName("eno1")
	if err != nil {
		h.Expect(h.link.LinkAdd(&netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: "eno1"}})).To(Succeed())
		card, err = h.link.LinkByName("eno1")
		h.Expect(err).NotTo(HaveOccurred())
		h.Expect(h.link.LinkSetUp(card)).To(Succeed())
	}
	a, err := netlink.ParseAddr(address)
	h.Expect(err).NotTo(HaveOccurred())
	h.Expect(h.link.AddrAdd(card, a)).To(Succeed())
}

// shows are properties of a unit, each on its line.
func (h *edgeHost) shows(unit string, properties ...string) func() string {
	return func() string {
		return h.Run(h.t, "systemctl", "show", "--property="+strings.Join(properties, ","), unit)
	}
}

// waits is an assertion that may take as long as the program's own waits.
func (h *edgeHost) waits(actual func() string) AsyncAssertion {
	return h.Eventually(actual).WithTimeout(5 * time.Minute).WithPolling(200 * time.Millisecond)
}

func (h *edgeHost) journal() string { return h.Run(h.t, "journalctl", "--no-pager", "-n", "60") }

// TestTheAddressComesAfterTheDecision: a real systemd starts the agent of a host that is not the
// rendezvous host, and that host's hub once it gets the address, without a reboot.
func TestTheAddressComesAfterTheDecision(t *testing.T) {
	h := newEdgeHost(t)
	h.gets("192.0.2.9/24")
	h.Run(t, "systemctl", "start", "--no-block", units.RunAgain)
	h.waits(h.shows("node-zero.service", "ActiveState", "SubState")).Should(Equal("ActiveState=active\nSubState=running"), h.journal)
	agent := h.shows(hostfile.AgentUnit, "MainPID", "NRestarts", "ActiveState")
	h.waits(agent).Should(MatchRegexp(`MainPID=[1-9]\d*\nNRestarts=0\nActiveState=activating`), h.journal)
	before := agent()
	h.Expect(h.shows(units.HubUnit, "ActiveState", "ConditionResult")()).To(Equal("ActiveState=inactive\nConditionResult=no"))

	h.gets("192.0.2.1/24")
	h.waits(h.shows(units.HubUnit, "ActiveState")).Should(Equal("ActiveState=active"), h.journal)
	h.waits(h.shows("node-zero.service", "ActiveState", "SubState", "Result")).Should(Equal("Result=success\nActiveState=active\nSubState=exited"), h.journal)
	h.Expect(agent()).To(Equal(before), "it goes on, and finds the hub")
}

// TestTheRendezvousHostOnARealSystemd: what waits for the decision begins at once, and systemd
// knows the program that has ended as one that has done its work.
func TestTheRendezvousHostOnARealSystemd(t *testing.T) {
	h := newEdgeHost(t)
	h.gets("192.0.2.1/24")
	h.Run(t, "systemctl", "start", "--no-block", units.RunAgain)
	h.waits(h.shows(units.HubUnit, "ActiveState")).Should(Equal("ActiveState=active"), h.journal)
	h.Expect(h.shows("node-zero.service", "ActiveState", "SubState", "Result", "NRestarts")()).To(Equal("Result=success\nNRestarts=0\nActiveState=active\nSubState=exited"), h.journal)
}

// partition plays an EFI system partition, whose files are in /var/esp.
var partition = map[string]string{
	"lsblk":  `echo '{"blockdevices": [{"path": "/dev/played", "children": [{"path": "/dev/played1", "parttype": "c12a7328-f81f-11d2-ba4b-00a0c93ec93b"}]}]}'`,
	"mount":  `cp -r /var/esp/. "$4"`,
	"umount": `rm -rf "$1/ironflow"`,
}

// record is what the image with these settings leaves on the disk of the host.
func (h *edgeHost) record(settings, rendezvous string) string {
	h.t.Helper()
	live := hostfile.Dir{Root: h.t.TempDir()}
	h.Expect(places.Write(live, places.ServiceSettings+"/assisted-service.env", []byte(settings), 0o600)).To(Succeed())
	h.Expect(places.Write(live, places.RendezvousHost, []byte(rendezvous), 0o600)).To(Succeed())
	var left []byte
	run := func(_ context.Context, argv []string, line func(string)) (err error) {
		switch argv[0] {
		case "lsblk":
			line(strings.Trim(strings.TrimPrefix(partition["lsblk"], "echo "), "'"))
		case "umount":
			left, err = os.ReadFile(filepath.Join(live.Path(argv[1]), installed.File))
		}
		return err
	}
	id := strings.TrimSpace(h.Run(h.t, "env", "BE_HOST_ID=1", units.Binary))
	h.Expect(installed.Leave(h.t.Context(), run, live, "/dev/played", "/dev/disk/by-id/wwn-0x1", id)).To(Succeed())
	return string(left)
}

// TestAHostThatWasInstalledBefore boots the image once more: a real systemd starts neither hub nor
// agent until the record is gone, and the console says why.
func TestAHostThatWasInstalledBefore(t *testing.T) {
	h := newEdgeHost(t)
	const settings, rendezvous = "INFRA_ENV_ID=11111111-1111-4111-8111-111111111111\n", "NODE_ZERO_IP=192.0.2.1\nSERVICE_BASE_URL=http://192.0.2.1:8090/\n"
	h.write(places.ServiceSettings+"/assisted-service.env", settings)
	h.gets("192.0.2.1/24")
	h.Run(t, "mount", "-t", "tmpfs", "firmware", "/sys/class")
	h.write("/sys/class/dmi/id/board_serial", "SER-1\n")
	h.write("/var/esp/"+installed.File, h.record(settings, rendezvous))
	for name, script := range partition {
		h.write("/usr/local/sbin/"+name, "#!/bin/sh\n"+script+"\n")
		h.Run(t, "chmod", "+x", "/usr/local/sbin/"+name)
	}
	h.Run(t, "systemctl", "start", "--no-block", units.RunAgain)
	said := func() string {
		out, _ := h.Command(t.Context(), "cat", "/etc/motd.d/60_installed").CombinedOutput() // it is not there at once
		return string(out)
	}
	h.waits(said).Should(MatchRegexp(`^This host was installed by this image at \S+Z, to /dev/disk/by-id/wwn-0x1, and does not begin again: set its boot order to that disk\.`), h.journal)
	h.Expect(h.shows("node-zero.service", "ActiveState")()).To(Equal("ActiveState=activating"), h.journal)
	for _, unit := range []string{units.HubUnit, hostfile.AgentUnit} {
		h.Expect(h.shows(unit, "ActiveState")()).To(Equal("ActiveState=inactive"), unit)
	}

	h.Run(t, "rm", "/var/esp/"+installed.File)
	h.Run(t, "systemctl", "restart", "--no-block", "node-zero.service")
	h.waits(h.shows(units.HubUnit, "ActiveState")).Should(Equal("ActiveState=active"), h.journal)
	h.Expect(said()).To(ContainSubstring("No such file"))
}

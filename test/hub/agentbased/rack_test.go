//go:build e2e || machine

package agentbased

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/vishvananda/netlink"
	vns "github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"github.com/ironflow/ironflow/agent/agentbased/units"
	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/edge/live"
	"github.com/ironflow/ironflow/test/liveimage"
	"github.com/ironflow/ironflow/test/needs"
	"github.com/ironflow/ironflow/test/systemd/cable"
	"github.com/ironflow/ironflow/test/systemd/systemdtest"
)

// rack are machines with a real systemd each, which runs the units of one image.
type rack struct {
	*site
	workflow units.Workflow
	config   *liveimage.Decoded
	machines []*systemdtest.Machine
	// switchboard is where the cable of real cards is, once it is laid.
	switchboard *netlink.Handle
}

// newRack makes the image; nothing is booted yet.
func newRack(t *testing.T, workflow units.Workflow, input map[string]string, flags ...string) *rack {
	t.Helper()
	systemdtest.Need(t)
	r := &rack{site: &site{WithT: NewWithT(t), T: t, dir: t.TempDir(), client: &http.Client{Timeout: time.Second}}, workflow: workflow} // of nobody yet
	r.config = r.image(input, append(flags, "--workflow", string(workflow))...)
	return r
}

// power boots one more machine whose installation is pretended, and starts no unit.
func (r *rack) power(i int) *systemdtest.Machine {
	r.Helper()
	m := r.boots(i)
	r.pretends(m, i)
	return m
}

// boots boots one more machine, with the image's files and programs.
func (r *rack) boots(i int) *systemdtest.Machine {
	r.Helper()
	boot := systemdtest.Boot
	if r.workflow == units.Appliance {
		boot = systemdtest.BootWithUdev // which finds the config image
	}
	m := boot(r.T)
	programs := live.Programs{Agent: needs.Shipped(r.T, "ironflow-agent"), AgentBased: needs.Shipped(r.T, "ironflow-agent-based")}
	if i == 0 || r.workflow == units.AddNodes { // no other host runs it
		programs.Hub = needs.Shipped(r.T, "ironflow")
	}
	r.Expect(live.Install(m.Machine, r.config, programs)).To(Succeed())
	return m
}

// pretends has a machine's agent pretend to install: what its firmware says, and what the
// agent finds.
func (r *rack) pretends(m *systemdtest.Machine, i int) {
	r.Helper()
	cards := []scenario.NIC{{Name: "eno1", MAC: mac(i), IPv4: []string{four.address(i) + "/24"}, Gateway: "198.51.100.1", SpeedMbps: 25000}}
	r.Expect(live.Pretend(r.Context(), m.Machine, hardware(i, fmt.Sprintf("SER-%s-%d", r.Name(), i), cards))).To(Succeed())
}

// starts has systemd start what is enabled in the image, as a boot does.
func (r *rack) starts(m *systemdtest.Machine) {
	r.Helper()
	r.Expect(live.Start(r.Context(), m.Machine, r.workflow)).To(Succeed())
}

// namespace is the network of a machine.
func (r *rack) namespace(m *systemdtest.Machine) (vns.NsHandle, *netlink.Handle) {
	r.Helper()
	ns, err := vns.GetFromPath(m.Network())
	r.Expect(err).NotTo(HaveOccurred())
	link, err := netlink.NewHandleAt(ns, unix.NETLINK_ROUTE)
	r.Expect(err).NotTo(HaveOccurred())
	return ns, link
}

// cable gives each machine a card with its address. That of the first is the switch.
func (r *rack) cable() {
	r.Helper()
	var ends []cable.End
	for i, m := range r.machines {
		ends = append(ends, cable.End{Namespace: m.Network(), MAC: mac(i), Address: four.address(i) + "/24"})
	}
	r.Expect(cable.Lay(ends)).To(Succeed())
}

// address gives a card its address, as DHCP would.
func (r *rack) address(link *netlink.Handle, i int) {
	r.Helper()
	card, err := link.LinkByName("eno1")
	r.Expect(err).NotTo(HaveOccurred())
	address, err := netlink.ParseAddr(four.address(i) + "/24")
	r.Expect(err).NotTo(HaveOccurred())
	r.Expect(link.AddrAdd(card, address)).To(Succeed())
	r.Expect(link.LinkSetUp(card)).To(Succeed())
}

func (r *rack) hardwareAddress(i int) net.HardwareAddr {
	address, err := net.ParseMAC(mac(i))
	r.Expect(err).NotTo(HaveOccurred())
	return address
}

// reach has the test ask the hub of a machine.
func (r *rack) reach(m *systemdtest.Machine, address string) {
	r.client = &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DialContext: m.Dial}}
	r.url = "http://" + address + ":8090/"
	r.tokens = r.environment(m.Host.Root, "/etc/assisted/rendezvous-host.env")
}

// journals are what the machines say, for a test that fails.
func (r *rack) journals() string {
	var b strings.Builder
	b.WriteString(r.story())
	for i, m := range r.machines {
		out, _ := m.Command(r.Context(), "sh", "-c", "systemctl list-units --all --no-pager --plain 'a*' 'n*' 'i*' 's*' | grep -v '^  *systemd'; journalctl --no-pager -n 60").CombinedOutput()
		fmt.Fprintf(&b, "==== machine %d\n%s\n", i, out)
	}
	return b.String()
}

// statuses are those of the hosts by their cards.
func (r *rack) statuses() (map[string]string, error) {
	var all []wire.Cluster
	if err := r.get("/clusters?with_hosts=true", &all); err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, c := range all {
		for _, h := range c.Hosts {
			out[cardOf(h)] = h.Status
		}
	}
	return out, nil
}

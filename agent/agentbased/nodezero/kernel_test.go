package nodezero_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"os"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/ironflow/ironflow/agent/agentbased/messages"
	"github.com/ironflow/ironflow/agent/agentbased/nodezero"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/test/netns"
)

func TestMain(m *testing.M) { netns.Main(m, map[string]netns.Program{"node-zero": nodeZero}) }

// nodeZero is the program, in the host that it runs in.
func nodeZero(ctx context.Context, args []string, _ io.Writer) error {
	dir := hostfile.Dir{Root: args[0]}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	console := &messages.Console{Dir: dir, Commands: command.Host{Dir: dir, Log: log}, Log: log}
	return nodezero.Program{Dir: dir, Network: nodezero.Kernel{}, Console: console, Log: log, Ready: func() {}, Start: func(context.Context) error { return nil }}.Run(ctx)
}

// TestAddressesOfARealKernel: a host with two NICs hears of the address that it waits for,
// of either family, when it comes.
func TestAddressesOfARealKernel(t *testing.T) {
	for name, want := range map[string]string{"IPv4": "198.51.100.7/24", "IPv6": "2001:db8:2::7/64"} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			host := netns.Topology{Hosts: []netns.HostSpec{{Name: "a", Writes: true, NICs: []netns.NIC{
				{Name: "eth0", Segment: "left", MAC: "52:54:00:00:00:0a", Addresses: []string{"192.0.2.10/24", "2001:db8:1::10/64"}},
				{Name: "eth1", Segment: "right", MAC: "52:54:00:00:00:0b"},
			}}}}.Build(t).Host("a")
			dir := hostfile.Dir{Root: host.Root}
			address, err := netlink.ParseAddr(want)
			g.Expect(err).NotTo(HaveOccurred())
			address.Flags = unix.IFA_F_NODAD
			g.Expect(places.Write(dir, places.RendezvousHost, []byte("NODE_ZERO_IP="+address.IP.String()+"\n"), 0o644)).To(Succeed())
			_, err = host.StartProgram(netns.Options{}, "node-zero", dir.Root)
			g.Expect(err).NotTo(HaveOccurred())
			says := func() string {
				raw, _ := os.ReadFile(dir.Path("/etc/motd.d/60_rendezvous-host"))
				return string(raw)
			}
			g.Eventually(says).WithTimeout(time.Minute).Should(ContainSubstring("this host has 192.0.2.10 on eth0, 2001:db8:1::10 on eth0, and waits for more"))
			g.Expect(host.Do(func() error {
				link, err := netlink.LinkByName("eth1")
				if err != nil {
					return err
				}
				return netlink.AddrAdd(link, address)
			})).To(Succeed())
			g.Eventually(says).WithTimeout(time.Minute).Should(Equal("This host is the rendezvous host: it has " + address.IP.String() + " on eth1.\n"))
			g.Eventually(func() (map[string]string, error) { return places.ReadEnv(dir, places.NodeZero) }).WithTimeout(time.Minute).
				Should(Equal(map[string]string{"BOOTSTRAP_HOST_MAC": "52:54:00:00:00:0b"}))
		})
	}
}

// TestTheDefaultRouteOfARealKernel: a host that joins hears of the route, which comes after the
// addresses, and is known by the interface of it.
func TestTheDefaultRouteOfARealKernel(t *testing.T) {
	g := NewWithT(t)
	host := netns.Topology{Hosts: []netns.HostSpec{{Name: "a", Writes: true, NICs: []netns.NIC{
		{Name: "eth0", Segment: "left", MAC: "52:54:00:00:00:0a", Addresses: []string{"192.0.2.10/24"}},
		{Name: "eth1", Segment: "right", MAC: "52:54:00:00:00:0b", Addresses: []string{"198.51.100.7/24"}},
	}}}}.Build(t).Host("a")
	dir := hostfile.Dir{Root: host.Root}
	g.Expect(places.Write(dir, places.AddNodes, nil, 0o644)).To(Succeed())
	_, err := host.StartProgram(netns.Options{}, "node-zero", dir.Root)
	g.Expect(err).NotTo(HaveOccurred())
	says := func() string {
		raw, _ := os.ReadFile(dir.Path("/etc/motd.d/60_rendezvous-host"))
		return string(raw)
	}
	g.Eventually(says).WithTimeout(time.Minute).Should(ContainSubstring("this host has 192.0.2.10 on eth0, 198.51.100.7 on eth1, and waits for more"))
	g.Expect(host.Do(func() error {
		link, err := netlink.LinkByName("eth1")
		if err != nil {
			return err
		}
		return netlink.RouteAdd(&netlink.Route{LinkIndex: link.Attrs().Index, Gw: net.IPv4(198, 51, 100, 1)})
	})).To(Succeed())
	g.Eventually(says).WithTimeout(time.Minute).Should(Equal("This host is the rendezvous host: it has 198.51.100.7 on eth1.\n"))
}

package source

import (
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/ironflow/ironflow/test/needs"
)

// ipAddress is an interface as `ip -j -d address` prints it.
type ipAddress struct {
	Index    int      `json:"ifindex"`
	Name     string   `json:"ifname"`
	Flags    []string `json:"flags"`
	MTU      int      `json:"mtu"`
	Address  string   `json:"address"`
	LinkInfo struct {
		Kind   string `json:"info_kind"`
		Member string `json:"info_slave_kind"`
	} `json:"linkinfo"`
	Addresses []struct {
		Local  netip.Addr `json:"local"`
		Length int        `json:"prefixlen"`
	} `json:"addr_info"`
}

// ipRoute is a route as `ip -j route` prints it.
type ipRoute struct {
	Destination string     `json:"dst"`
	Gateway     netip.Addr `json:"gateway"`
	Device      string     `json:"dev"`
	Metric      int        `json:"metric"`
	Protocol    string     `json:"protocol"`
}

// ip runs the program of iproute2 on this thread, so in its namespace.
func ip(t *testing.T, into any, args ...string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), needs.Program(t, "ip", "iproute2"), append([]string{"-j", "-d"}, args...)...).Output()
	if err != nil {
		t.Fatalf("ip %s: %v", strings.Join(args, " "), err)
	}
	if err := json.Unmarshal(out, into); err != nil {
		t.Fatal(err)
	}
}

// sameAsIP compares the network that the kernel tells us of with what ip shows.
func sameAsIP(t *testing.T) Network {
	t.Helper()
	g := NewWithT(t)
	network, err := Linux{}.Network()
	g.Expect(err).NotTo(HaveOccurred())
	var want []ipAddress
	ip(t, &want, "address")
	g.Expect(network.Links).To(HaveLen(len(want)))
	names := map[int]string{}
	for i, link := range network.Links {
		names[link.Index] = link.Name
		w := want[i]
		g.Expect([]any{link.Index, link.Name, link.MTU, link.Kind, link.Member}).To(Equal([]any{w.Index, w.Name, w.MTU, w.LinkInfo.Kind, w.LinkInfo.Member}), w.Name)
		if _, err := net.ParseMAC(w.Address); err == nil && w.Address != "00:00:00:00:00:00" {
			g.Expect(link.MAC).To(Equal(w.Address), w.Name)
		}
		g.Expect(slices.Contains(link.Flags, "up")).To(Equal(slices.Contains(w.Flags, "UP")), w.Name)
		g.Expect(slices.Contains(link.Flags, "broadcast")).To(Equal(slices.Contains(w.Flags, "BROADCAST")), w.Name)
		g.Expect(link.Carrier).To(Equal(slices.Contains(w.Flags, "LOWER_UP")), w.Name)
		var addresses []netip.Prefix
		for _, a := range w.Addresses {
			addresses = append(addresses, netip.PrefixFrom(a.Local, a.Length))
		}
		g.Expect(link.Addresses).To(ConsistOf(addresses), w.Name)
	}
	var wantRoutes []ipRoute
	for _, family := range []string{"-4", "-6"} {
		var routes []ipRoute
		ip(t, &routes, family, "route", "show", "table", "main")
		for _, r := range routes {
			if r.Destination == "default" {
				r.Destination = map[string]string{"-4": "0.0.0.0/0", "-6": "::/0"}[family]
			}
			wantRoutes = append(wantRoutes, r)
		}
	}
	g.Expect(network.Routes).To(HaveLen(len(wantRoutes)))
	for i, r := range network.Routes {
		w := wantRoutes[i]
		if !strings.Contains(w.Destination, "/") {
			w.Destination += fmt.Sprintf("/%d", r.Destination.Addr().BitLen())
		}
		got := ipRoute{Destination: r.Destination.String(), Gateway: r.Gateway, Device: names[r.Link], Metric: r.Metric, Protocol: w.Protocol}
		g.Expect(got).To(Equal(w))
		g.Expect(r.Advertised).To(Equal(w.Protocol == "ra"))
	}
	return network
}

func TestTheNetworkIsThatOfIP(t *testing.T) { sameAsIP(t) }

// TestKindsOfLinks makes links of every kind that this kernel has, in a network
// namespace of its own.
func TestKindsOfLinks(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("a network namespace needs root")
	}
	runtime.LockOSThread() // and never unlock it: the thread ends with this test
	g := NewWithT(t)
	g.Expect(unix.Unshare(unix.CLONE_NEWNET)).To(Succeed())
	lo, err := netlink.LinkByName("lo")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(netlink.LinkSetUp(lo)).To(Succeed())
	named := func(name string) netlink.LinkAttrs {
		a := netlink.NewLinkAttrs()
		a.Name = name
		return a
	}
	bridge := &netlink.Bridge{LinkAttrs: named("br0")}
	g.Expect(netlink.LinkAdd(bridge)).To(Succeed())
	g.Expect(netlink.LinkAdd(&netlink.Veth{LinkAttrs: named("veth0"), PeerName: "veth1"})).To(Succeed())
	want := map[string]string{"lo": "", "br0": "bridge", "veth0": "veth", "veth1": "veth"}
	veth, err := netlink.LinkByName("veth1")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(netlink.LinkSetMaster(veth, bridge)).To(Succeed())
	outer, err := netlink.LinkByName("veth0")
	g.Expect(err).NotTo(HaveOccurred())
	parent := func(name string) netlink.LinkAttrs {
		a := named(name)
		a.ParentIndex = outer.Attrs().Index
		return a
	}
	// Not every kernel has these.
	for kind, link := range map[string]netlink.Link{
		"macvlan": &netlink.Macvlan{LinkAttrs: parent("x-macvlan"), Mode: netlink.MACVLAN_MODE_BRIDGE},
		"ipvlan":  &netlink.IPVlan{LinkAttrs: parent("x-ipvlan")},
		"vlan":    &netlink.Vlan{LinkAttrs: parent("x-vlan"), VlanId: 20},
		"bond":    netlink.NewLinkBond(named("x-bond")),
		"dummy":   &netlink.Dummy{LinkAttrs: named("x-dummy")},
		"vxlan":   &netlink.Vxlan{LinkAttrs: named("x-vxlan"), VxlanId: 7, Port: 4789},
		"tun":     &netlink.Tuntap{LinkAttrs: named("x-tun"), Mode: netlink.TUNTAP_MODE_TUN},
	} {
		if err := netlink.LinkAdd(link); err != nil {
			t.Logf("this kernel makes no %s: %v", kind, err)
			continue
		}
		want[link.Attrs().Name] = kind
	}
	for _, l := range []netlink.Link{outer, veth, bridge} {
		g.Expect(netlink.LinkSetUp(l)).To(Succeed())
	}
	// A bridge has its carrier a moment after its port.
	g.Eventually(func() bool {
		network, err := Linux{}.Network()
		return err == nil && slices.ContainsFunc(network.Links, func(l Link) bool { return l.Name == bridge.Attrs().Name && l.Carrier })
	}, 10*time.Second, time.Millisecond).Should(BeTrue())
	for _, text := range []string{"192.0.2.7/24", "2001:db8::7/128"} {
		address, err := netlink.ParseAddr(text)
		g.Expect(err).NotTo(HaveOccurred())
		address.Flags = unix.IFA_F_NODAD
		g.Expect(netlink.AddrAdd(outer, address)).To(Succeed())
	}
	_, advertised, _ := net.ParseCIDR("2001:db8::/64")
	g.Expect(netlink.RouteAdd(&netlink.Route{LinkIndex: outer.Attrs().Index, Dst: advertised, Protocol: unix.RTPROT_RA, Priority: 300})).To(Succeed())
	g.Expect(netlink.RouteAdd(&netlink.Route{Gw: net.ParseIP("192.0.2.1"), Priority: 100})).To(Succeed())
	_, several, _ := net.ParseCIDR("198.51.100.0/24")
	g.Expect(netlink.RouteAdd(&netlink.Route{Dst: several, MultiPath: []*netlink.NexthopInfo{
		{LinkIndex: outer.Attrs().Index, Gw: net.ParseIP("192.0.2.2")}, {LinkIndex: outer.Attrs().Index, Gw: net.ParseIP("192.0.2.3")},
	}})).To(Succeed())
	network, err := Linux{}.Network()
	g.Expect(err).NotTo(HaveOccurred())
	kinds, members := map[string]string{}, map[string]string{}
	for _, link := range network.Links {
		kinds[link.Name] = link.Kind
		members[link.Name] = link.Member
	}
	g.Expect(kinds).To(Equal(want))
	g.Expect(members).To(HaveKeyWithValue("veth1", "bridge"))
	outerIndex := outer.Attrs().Index
	g.Expect(network.Routes).To(ContainElements(
		Route{Destination: netip.MustParsePrefix("0.0.0.0/0"), Gateway: netip.MustParseAddr("192.0.2.1"), Link: outerIndex, Metric: 100},
		Route{Destination: netip.MustParsePrefix("198.51.100.0/24"), Gateway: netip.MustParseAddr("192.0.2.2"), Link: outerIndex},
		Route{Destination: netip.MustParsePrefix("2001:db8::/64"), Link: outerIndex, Metric: 300, Advertised: true},
	))
	g.Expect(netlink.RouteDel(&netlink.Route{Dst: several})).To(Succeed()) // ip prints it in a form of its own
	sameAsIP(t)
}

func TestWhatIsNotThereDoesNotAnswer(t *testing.T) {
	g := NewWithT(t)
	_, err := Linux{}.PermanentMAC("lo")
	g.Expect(err).To(MatchError(ErrNoAnswer))
	_, err = Linux{}.PermanentMAC("a-name-that-is-too-long")
	g.Expect(err).To(MatchError(ContainSubstring("too long")))
	for _, device := range []string{"/dev/does-not-exist", "/etc/hostname", "/dev/null"} {
		_, err = Linux{}.Inquiry(device, 0x83)
		g.Expect(err).To(MatchError(ErrNoAnswer), device)
	}
	if _, err := os.Stat(ipmiDevice); err != nil {
		_, err = Linux{}.IPMI(t.Context(), IPMIRequest{NetFn: 6, Command: 1})
		g.Expect(err).To(MatchError(ErrNoAnswer))
	}
}

// TestTheDriversNumbers holds the computed numbers against include/uapi/linux/ipmi.h
// on machines with 64 bits.
func TestTheDriversNumbers(t *testing.T) {
	g := NewWithT(t)
	g.Expect(ipmiRequest(iocRead, ipmiSendCommand, 40)).To(BeEquivalentTo(0x8028690d))
	g.Expect(ipmiRequest(iocRead|iocWrite, ipmiReceiveMsgTrunc, 48)).To(BeEquivalentTo(0xc030690b))
}

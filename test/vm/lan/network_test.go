//go:build machine

package lan_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mdlayher/packet"
	. "github.com/onsi/gomega"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/ironflow/ironflow/test/needs"
	"github.com/ironflow/ironflow/test/vm/lan"
)

// prefix is one that no other test uses at the same time.
var prefix = netip.MustParsePrefix("172.22.77.1/24")

func begin(t *testing.T, options lan.Options) *lan.Network {
	t.Helper()
	needs.Program(t, "dnsmasq", "dnsmasq-base")
	needs.Root(t)
	options.Dir, options.Prefix = t.TempDir(), prefix
	n, err := lan.Start(t.Context(), options)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = n.Close() })
	return n
}

// cable is a tap that the test plays a network card on.
type cable struct {
	*WithT
	file *os.File
	got  chan []byte
}

func plug(t *testing.T, n *lan.Network) (cable, string) {
	t.Helper()
	c := cable{WithT: NewWithT(t), got: make(chan []byte, 100)}
	device, err := n.Tap(t.Context(), "card0")
	c.Expect(err).NotTo(HaveOccurred())
	// What QEMU does with the tap.
	held := &netlink.Tuntap{
		LinkAttrs: netlink.LinkAttrs{Name: device}, Mode: netlink.TUNTAP_MODE_TAP, Queues: 1, Flags: netlink.TUNTAP_NO_PI,
	}
	c.Expect(netlink.LinkAdd(held)).To(Succeed())
	c.file = held.Fds[0]
	t.Cleanup(func() { _ = c.file.Close() })
	go func() {
		for {
			room := make([]byte, 2048)
			size, err := c.file.Read(room)
			if err != nil {
				return
			}
			select {
			case c.got <- room[:size]:
			default:
			}
		}
	}()
	return c, device
}

var ours = net.HardwareAddr{0x52, 0x54, 0, 0, 0, 0x77}

// ask is an ARP request for an address, in a VLAN if it is not 0.
func ask(from, to netip.Addr, vlan uint16) []byte {
	frame := bytes.Repeat([]byte{0xff}, 6)
	frame = append(frame, ours...)
	if vlan != 0 {
		frame = binary.BigEndian.AppendUint16(frame, 0x8100)
		frame = binary.BigEndian.AppendUint16(frame, vlan)
	}
	frame = append(frame, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1)
	frame = append(append(frame, ours...), from.AsSlice()...)
	return append(append(frame, 0, 0, 0, 0, 0, 0), to.AsSlice()...)
}

// answered sends the request until an ARP answer to us has come, for a while,
// and returns the answer's type field and what follows.
func (c cable) answered(request []byte, limit time.Duration) []byte {
	end := time.After(limit)
	for {
		// A device that was just plugged in may lose a frame.
		_, _ = c.file.Write(request)
		again := time.After(200 * time.Millisecond)
		for waiting := true; waiting; {
			select {
			case frame := <-c.got:
				if bytes.Equal(frame[:6], ours) && bytes.Contains(frame[12:], []byte{8, 6, 0, 1, 8, 0, 6, 4, 0, 2}) {
					return frame[12:]
				}
			case <-again:
				waiting = false
			case <-end:
				return nil
			}
		}
	}
}

// TestThisMachineAnswers is about the bridge, a VLAN by the relay, and a link
// that goes and comes.
func TestThisMachineAnswers(t *testing.T) {
	inside := netip.MustParsePrefix("172.22.78.1/24")
	n := begin(t, lan.Options{VLANs: []lan.VLAN{{ID: 7, Prefix: inside}}})
	c, device := plug(t, n)
	card := netip.MustParseAddr("172.22.77.9")
	plain := ask(card, n.Address, 0)
	c.Expect(c.answered(plain, time.Minute)).To(HavePrefix("\x08\x06"))
	vlan := ask(netip.MustParseAddr("172.22.78.9"), inside.Addr(), 7)
	c.Expect(c.answered(vlan, time.Minute)).To(HavePrefix("\x81\x00\x00\x07\x08\x06"))
	c.Expect(c.answered(ask(netip.MustParseAddr("172.22.78.9"), inside.Addr(), 8), 2*time.Second)).To(BeNil(), "another VLAN")

	c.Expect(n.SetUp(t.Context(), device, false)).To(Succeed())
	for len(c.got) > 0 {
		<-c.got
	}
	c.Expect(c.answered(plain, 2*time.Second)).To(BeNil(), "no network")
	c.Expect(n.SetUp(t.Context(), device, true)).To(Succeed())
	c.Expect(c.answered(plain, time.Minute)).NotTo(BeNil())
	c.Expect(n.SetUp(t.Context(), "lo", false)).NotTo(Succeed())
}

// TestACableIsAPort: what a machine sends is there at the cable's other end, until the network ends.
func TestACableIsAPort(t *testing.T) {
	n := begin(t, lan.Options{})
	c, _ := plug(t, n)
	device, err := n.Cable(t.Context(), "rack")
	c.Expect(err).NotTo(HaveOccurred())
	end, err := net.InterfaceByName(device)
	c.Expect(err).NotTo(HaveOccurred())
	socket, err := packet.Listen(end, packet.Raw, unix.ETH_P_ARP, nil)
	c.Expect(err).NotTo(HaveOccurred())
	defer socket.Close()
	request := ask(netip.MustParseAddr("172.22.77.9"), netip.MustParseAddr("172.22.77.20"), 0)
	arrived := make(chan []byte, 1)
	go func() {
		room := make([]byte, 2048)
		size, _, err := socket.ReadFrom(room)
		if err == nil {
			arrived <- room[:size]
		}
	}()
	c.Eventually(func() []byte {
		_, _ = c.file.Write(request) // a device that was just plugged in may lose a frame
		select {
		case frame := <-arrived:
			return frame
		default:
			return nil
		}
	}).WithTimeout(time.Minute).Should(HavePrefix(string(request)))

	c.Expect(n.Close()).To(Succeed())
	_, err = net.InterfaceByName(device)
	c.Expect(err).To(HaveOccurred())
	_, err = n.Cable(t.Context(), "a.name")
	c.Expect(err).To(MatchError(ContainSubstring("not a name")))
}

func TestNamesAndEnd(t *testing.T) {
	n := begin(t, lan.Options{Names: map[string]netip.Addr{"hub.example": netip.MustParseAddr("172.22.77.1")}})
	g := NewWithT(t)
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, net.JoinHostPort(n.Address.String(), "53"))
	}}
	g.Expect(resolver.LookupHost(t.Context(), "hub.example")).To(ConsistOf("172.22.77.1"))
	_, err := resolver.LookupHost(t.Context(), "debian.org")
	g.Expect(err).To(HaveOccurred(), "the network has no way out")

	_, err = lan.Start(t.Context(), lan.Options{Dir: t.TempDir(), Prefix: prefix})
	g.Expect(err).To(MatchError(ContainSubstring("in use")))
	g.Expect(n.Close()).To(Succeed())
	links, err := netlink.LinkList()
	g.Expect(err).NotTo(HaveOccurred())
	for _, link := range links {
		g.Expect(strings.Contains(link.Attrs().Alias, "ironflow") && strings.HasSuffix(link.Attrs().Alias, " "+strconv.Itoa(os.Getpid()))).To(BeFalse(), link.Attrs().Name)
	}
}

// TestCardsHearWhereTheyAre is the switch's LLDP on a tap.
func TestCardsHearWhereTheyAre(t *testing.T) {
	n := begin(t, lan.Options{})
	c, device := plug(t, n)
	c.Eventually(c.got, time.Minute).Should(Receive(And(
		HavePrefix("\x01\x80\xc2\x00\x00\x0e"), ContainSubstring(device), ContainSubstring(lan.SwitchName),
	)))
}

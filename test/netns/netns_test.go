package netns_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/netns"
)

func TestMain(m *testing.M) {
	netns.Main(m, map[string]netns.Program{
		"interfaces": func(ctx context.Context, _ []string, stdout io.Writer) error {
			nics, err := netns.Interfaces(ctx)
			for _, nic := range nics {
				fmt.Fprintln(stdout, nic.Name, nic.Type, nic.MTU, nic.MACAddress, nic.Ipv4Addresses, nic.Ipv6Addresses)
			}
			return err
		},
		"fail": func(context.Context, []string, io.Writer) error { return fmt.Errorf("broken on purpose") },
		"ask": func(ctx context.Context, args []string, stdout io.Writer) error {
			conn, err := new(net.Dialer).DialContext(ctx, "tcp", args[0])
			if err != nil {
				return err
			}
			defer conn.Close()
			_, err = io.Copy(stdout, conn)
			return err
		},
	})
}

// answer serves one line on a port of the host.
func answer(t *testing.T, h *netns.Host, address, line string) {
	t.Helper()
	var l net.Listener
	err := h.Do(func() (err error) {
		l, err = new(net.ListenConfig).Listen(t.Context(), "tcp", address)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			fmt.Fprint(conn, line)
			conn.Close()
		}
	}()
}

func TestHostsReachEachOtherOverSegmentsAndRouters(t *testing.T) {
	g := NewWithT(t)
	network := netns.Topology{Hosts: []netns.HostSpec{
		{
			Name: "a", NICs: []netns.NIC{{Name: "eth0", Segment: "left", MAC: "52:54:00:00:00:0a", MTU: 9000, Addresses: []string{"192.0.2.10/24", "2001:db8::10/64"}}},
			Routes: []netns.Route{{To: "198.51.100.0/24", Via: "192.0.2.1"}},
		},
		{
			Name: "router", Forwards: true, NICs: []netns.NIC{
				{Name: "eth0", Segment: "left", Addresses: []string{"192.0.2.1/24"}},
				{Name: "eth1", Segment: "right", Addresses: []string{"198.51.100.1/24"}},
			},
		},
		{
			Name: "b", NICs: []netns.NIC{{Name: "eth0", Segment: "right", Addresses: []string{"198.51.100.10/24"}}},
			Routes: []netns.Route{{To: "0.0.0.0/0", Via: "198.51.100.1"}},
		},
		{Name: "c", NICs: []netns.NIC{{Name: "eth0", Segment: "left", Addresses: []string{"2001:db8::12/64"}}}},
	}}.Build(t)

	out, err := network.Host("a").Run(netns.Options{}, "interfaces")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(strings.Split(out, "\n")).To(ContainElements(
		"lo loopback 65536  [127.0.0.1/8] [::1/128]",
		"eth0 physical 9000 52:54:00:00:00:0a [192.0.2.10/24] [2001:db8::10/64]"))

	answer(t, network.Host("b"), "198.51.100.10:80", "b over the router")
	out, err = network.Host("a").Run(netns.Options{}, "ask", "198.51.100.10:80")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(out).To(Equal("b over the router"))

	answer(t, network.Host("c"), "[2001:db8::12]:80", "c by IPv6")
	out, err = network.Host("a").Run(netns.Options{}, "ask", "[2001:db8::12]:80")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(out).To(Equal("c by IPv6"))
}

// listen opens the UDP port 9 of an address of the host.
func listen(t *testing.T, host *netns.Host, address net.IP) (conn *net.UDPConn) {
	t.Helper()
	g := NewWithT(t)
	g.Expect(host.Do(func() (err error) {
		conn, err = net.ListenUDP("udp", &net.UDPAddr{IP: address, Port: 9})
		return err
	})).To(Succeed())
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// received returns which of the datagrams that host a sends to b over a lossy
// segment arrive.
func received(t *testing.T, seed uint64, datagrams byte) (numbers []byte) {
	t.Helper()
	g := NewWithT(t)
	network := netns.Topology{Hosts: []netns.HostSpec{
		{Name: "a", NICs: []netns.NIC{{Name: "eth0", Segment: "s", Addresses: []string{"192.0.2.10/24"}, Loss: 0.2, Seed: seed}}},
		{Name: "b", NICs: []netns.NIC{{Name: "eth0", Segment: "s", Addresses: []string{"192.0.2.11/24"}}}},
	}}.Build(t)
	sender := listen(t, network.Host("a"), net.IPv4(192, 0, 2, 10))
	receiver := listen(t, network.Host("b"), net.IPv4(192, 0, 2, 11))
	to := receiver.LocalAddr()
	// A knows the MAC of b first: datagrams that wait for it are kept in a short queue,
	// and which ones fall out of that depends on time. B asks, whose frames are not lost.
	_, err := receiver.WriteTo([]byte{0}, sender.LocalAddr())
	g.Expect(err).NotTo(HaveOccurred())
	_, err = sender.Read(make([]byte, 1))
	g.Expect(err).NotTo(HaveOccurred())
	for i := range datagrams {
		_, err := sender.WriteTo([]byte{i}, to)
		g.Expect(err).NotTo(HaveOccurred())
	}
	// The last one may be lost, too: it is sent again until it comes.
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(10 * time.Millisecond):
				_, _ = sender.WriteTo([]byte{datagrams}, to)
			}
		}
	}()
	for {
		buffer := make([]byte, 10)
		_, err := receiver.Read(buffer)
		g.Expect(err).NotTo(HaveOccurred())
		if buffer[0] == datagrams {
			return numbers
		}
		numbers = append(numbers, buffer[0])
	}
}

func TestLossySegmentsLoseFrames(t *testing.T) {
	g := NewWithT(t)
	first := received(t, 1, 200)
	g.Expect(len(first)).To(BeNumerically("~", 160, 20), "20 % are lost")
	g.Expect(received(t, 1, 200)).To(Equal(first), "the same in each run")
	g.Expect(received(t, 2, 200)).NotTo(Equal(first), "another seed, other frames")
}

func TestProgramsThatFailSayWhy(t *testing.T) {
	g := NewWithT(t)
	network := netns.Topology{Hosts: []netns.HostSpec{{Name: "a"}}}.Build(t)
	_, err := network.Host("a").Run(netns.Options{}, "fail")
	g.Expect(err).To(MatchError(And(ContainSubstring("program fail in host a"), ContainSubstring("broken on purpose"))))
	_, err = network.Host("a").Run(netns.Options{}, "missing")
	g.Expect(err).To(MatchError(ContainSubstring(`no program "missing"`)))
}

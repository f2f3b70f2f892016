package dhcplease

import (
	"net"
	"net/netip"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
	. "github.com/onsi/gomega"
)

// written is a file of leases as dhclient 4.4 leaves it.
const written = `default-duid "\000\001\000\001";
lease {
  interface "old";
  fixed-address 192.0.2.4;
  expire 0 2020/01/05 00:00:00;
}
lease {
  interface "eth9";
  fixed-address 192.0.2.5;
  option subnet-mask 255.255.255.0;
  option routers 192.0.2.1,192.0.2.2;
  option dhcp-lease-time 3600;
  option dhcp-message-type 5;
  option domain-name-servers 192.0.2.1;
  option dhcp-server-identifier 192.0.2.1;
  option host-name "00-1a-4a-00-00-01-api";
  option domain-name "c.example";
  renew 1 2026/11/23 06:30:00;
  rebind 1 2026/11/23 06:52:30;
  expire 1 2026/11/23 07:00:00;
}
`

func TestTheLastLeaseOfAFile(t *testing.T) {
	g := NewWithT(t)
	lease, text, err := LastLease(written)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(lease).To(Equal(Lease{
		Interface: "eth9", Address: netip.MustParseAddr("192.0.2.5"),
		Options: []string{
			"subnet-mask 255.255.255.0", "routers 192.0.2.1,192.0.2.2", "dhcp-lease-time 3600", "dhcp-message-type 5", "domain-name-servers 192.0.2.1",
			"dhcp-server-identifier 192.0.2.1", `host-name "00-1a-4a-00-00-01-api"`, `domain-name "c.example"`,
		},
		Renew: time.Date(2026, 11, 23, 6, 30, 0, 0, time.UTC), Rebind: time.Date(2026, 11, 23, 6, 52, 30, 0, time.UTC), Expire: time.Date(2026, 11, 23, 7, 0, 0, 0, time.UTC),
	}))
	g.Expect(written).To(HaveSuffix(text), "the text is handed on as it is")
	g.Expect(lease.Text()).To(Equal(text), "and it is what is written")
	g.Expect(renamed(text, "api")).To(Equal(strings.Replace(text, "eth9", "api", 1)))
}

func TestMoments(t *testing.T) {
	now := time.Date(2026, 11, 23, 6, 0, 0, 0, time.UTC)
	for text, want := range map[string]struct{ readable, valid bool }{
		"never": {true, true}, "epoch 1795413600": {true, false}, "epoch 4000000000": {true, true}, "1 2026/11/23 06:00:01": {true, true}, "1 2026/11/23 06:00:00": {true, false},
		"tomorrow": {false, false}, "epoch x": {false, false}, "1 2026/13/23 06:00:01": {false, false},
	} {
		t.Run(text, func(t *testing.T) {
			g := NewWithT(t)
			lease, _, err := LastLease("lease {\n  fixed-address 192.0.2.5;\n  expire " + text + ";\n}")
			g.Expect(err == nil).To(Equal(want.readable), "%v", err)
			if err == nil {
				g.Expect(lease.valid(now)).To(Equal(want.valid))
			}
		})
	}
}

func TestTextsThatAreNoLease(t *testing.T) {
	for name, text := range map[string]string{
		"empty":         "",
		"no address":    "lease {\n  interface \"api\";\n}",
		"not closed":    "lease {\n  fixed-address 192.0.2.5;\n",
		"other content": "lease {\n  fixed-address 192.0.2.5;\n  #include \"/etc/shadow\"\n}",
		"IPv6":          "lease {\n  fixed-address 2001:db8::1;\n}",
		"broadcast":     "lease {\n  fixed-address 255.255.255.255;\n}",
		"loopback":      "lease {\n  fixed-address 127.0.0.1;\n}",
		"brace in text": "lease {\n  fixed-address 192.0.2.5;\n  option domain-name \"a}b\";\n}",
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := LastLease(text)
			NewWithT(t).Expect(err).To(HaveOccurred())
		})
	}
}

// hubForm is the form that hubs check before they keep a lease.
var hubForm = regexp.MustCompile(`^\s*lease\s*[{](?:\s+[a-z-]+ [^;}]*;)*\s+[}]\s*$`)

func TestWhatAServerSays(t *testing.T) {
	g := NewWithT(t)
	now := time.Date(2026, 11, 23, 6, 0, 0, 0, time.UTC)
	ack, err := dhcpv4.New(dhcpv4.WithYourIP(net.IPv4(192, 0, 2, 5)), dhcpv4.WithMessageType(dhcpv4.MessageTypeAck), dhcpv4.WithLeaseTime(3600),
		dhcpv4.WithNetmask(net.CIDRMask(24, 32)),
		dhcpv4.WithOption(dhcpv4.OptDomainName("c.example")),
		dhcpv4.WithOption(dhcpv4.OptHostName("a\";}\nlease {\n  fixed-address 6.6.6.6;")),
		dhcpv4.WithGeneric(dhcpv4.OptionRouter, []byte{192, 0, 2}),
		dhcpv4.WithGeneric(dhcpv4.OptionInterfaceMTU, []byte{5, 0xdc}))
	g.Expect(err).NotTo(HaveOccurred())
	lease, err := leaseOf(ack, "api", now)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(lease.Text()).To(Equal(`lease {
  interface "api";
  fixed-address 192.0.2.5;
  option subnet-mask 255.255.255.0;
  option dhcp-lease-time 3600;
  option dhcp-message-type 5;
  option domain-name "c.example";
  option interface-mtu 1500;
  renew 1 2026/11/23 06:30:00;
  rebind 1 2026/11/23 06:52:30;
  expire 1 2026/11/23 07:00:00;
}
`), "values that would end their statement are left out")
	g.Expect(hubForm.MatchString(lease.Text())).To(BeTrue())

	endless, err := dhcpv4.New(dhcpv4.WithYourIP(net.IPv4(192, 0, 2, 5)), dhcpv4.WithLeaseTime(0xffffffff))
	g.Expect(err).NotTo(HaveOccurred())
	lease, err = leaseOf(endless, "api", now)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(lease.Text()).To(ContainSubstring("expire never;"))

	none, err := dhcpv4.New(dhcpv4.WithYourIP(net.IPv4(224, 0, 0, 1)))
	g.Expect(err).NotTo(HaveOccurred())
	_, err = leaseOf(none, "api", now)
	g.Expect(err).To(MatchError(ContainSubstring("not the address of a host")))
}

// FuzzLastLease: a lease that is read has a host's address and a text that hubs take.
func FuzzLastLease(f *testing.F) {
	f.Add(written)
	f.Add("lease {\n  fixed-address 192.0.2.5;\n  expire never;\n}")
	f.Add("lease{ fixed-address 1.2.3.4; }lease {")
	f.Fuzz(func(t *testing.T, text string) {
		lease, own, err := LastLease(text)
		if err != nil {
			return
		}
		if !usable(lease.Address) {
			t.Errorf("address %s of %q", lease.Address, text)
		}
		if !hubForm.MatchString(own) {
			t.Errorf("%q is not of the hub's form", own)
		}
		again, _, err := LastLease(own)
		if err != nil || again.Address != lease.Address {
			t.Errorf("%q is read as %v, %v, then as %v", own, lease, err, again)
		}
	})
}

// FuzzAnswer: no packet of a server becomes a lease that is not of the hub's form.
func FuzzAnswer(f *testing.F) {
	ack, _ := dhcpv4.New(dhcpv4.WithYourIP(net.IPv4(192, 0, 2, 5)), dhcpv4.WithLeaseTime(3600), dhcpv4.WithOption(dhcpv4.OptDomainName("c.example")))
	f.Add(ack.ToBytes())
	f.Fuzz(func(t *testing.T, packet []byte) {
		m, err := dhcpv4.FromBytes(packet)
		if err != nil {
			return
		}
		lease, err := leaseOf(m, "api", time.Unix(1e9, 0))
		if err != nil {
			return
		}
		if !hubForm.MatchString(lease.Text()) {
			t.Errorf("%q is not of the hub's form", lease.Text())
		}
		if read, _, err := LastLease(lease.Text()); err != nil || read.Address != lease.Address {
			t.Errorf("%q is read back as %v, %v", lease.Text(), read, err)
		}
	})
}

//go:build machine

package install_test

import (
	"bytes"
	"fmt"
	"net/netip"
	"os"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/network"
	"github.com/ironflow/ironflow/test/needs"
	"github.com/ironflow/ironflow/test/vm"
	"github.com/ironflow/ironflow/test/vm/lan"
)

// TestAPublishedNetwork gives a machine with the cards of a document of the kind that
// owners of fleets have published that very document: two bonds by LACP of two cards
// each, by the names that the firmware gives the cards, and a VLAN with an address on
// each. The live system comes up with both networks, and fetches the step's program and
// reports over the first. The switch speaks no LACP: each bond uses one card. The first
// network is another one than in the document, where it may be the computer's own.
func TestAPublishedNetwork(t *testing.T) {
	needs.Root(t)
	needs.Program(t, "dnsmasq", "dnsmasq-base")
	g := NewWithT(t)
	document, err := os.ReadFile("../../../imagecustomization/network/testdata/fleet/bond-two-bonds-two-vlans.yaml")
	g.Expect(err).NotTo(HaveOccurred())
	document = bytes.ReplaceAll(document, []byte("192.0.2."), []byte("203.0.113."))
	keyfiles, err := network.Keyfiles(document)
	g.Expect(err).NotTo(HaveOccurred())
	off := lan.DHCP{Off: true}
	switched, _ := plug(t, lan.Options{Prefix: netip.MustParsePrefix("172.24.0.1/24"), DHCP: off, VLANs: []lan.VLAN{
		{ID: 110, Prefix: netip.MustParsePrefix("203.0.113.1/24"), DHCP: off},
		{ID: 220, Prefix: netip.MustParsePrefix("198.51.100.1/24"), DHCP: off},
	}})
	s := newStand(t, "203.0.113.1", func(c *vm.Config) {
		c.NICs = nil
		for n := range 4 {
			tap, err := switched.Tap(t.Context(), fmt.Sprintf("eno%d", n+1))
			g.Expect(err).NotTo(HaveOccurred())
			c.NICs = append(c.NICs, vm.NIC{MAC: fmt.Sprintf("52:54:00:00:00:c%d", n+1), Tap: tap, Onboard: n + 1})
		}
	})
	r := s.install(order{
		script: publishedNetwork, keyfiles: keyfiles,
		properties: map[string]any{"root_device": map[string]any{"serial": "SYSTEM1"}},
	})
	s.Expect(r.Outcome).To(Equal("done"), "%+v", r)
	s.Expect(s.hasTable(s.machine.DiskPath(0))).To(BeTrue())
	root, _ := s.installed()
	s.Expect(root).To(HavePrefix("/dev/sd"))
}

// publishedNetwork fails unless the live system has what the document says: which card
// has which name and bond, the bonds' mode, the VLANs' addresses and size of packets, the
// route and the name server, and a way over the second VLAN, too.
const publishedNetwork = `for n in 1 2 3 4; do
  ethtool -P eno$n | grep -q "52:54:00:00:00:c$n"
done
[ "$(cat /sys/class/net/bond0/bonding/slaves)" = "eno1 eno2" ]
[ "$(cat /sys/class/net/bond1/bonding/slaves)" = "eno3 eno4" ]
grep -q "^802.3ad " /sys/class/net/bond0/bonding/mode
grep -q "^802.3ad " /sys/class/net/bond1/bonding/mode
ip -d link show bond0.110 | grep -q "vlan protocol 802.1Q id 110"
ip -d link show bond1.220 | grep -q "vlan protocol 802.1Q id 220"
[ "$(cat /sys/class/net/bond1.220/mtu)" = 9000 ]
ip -4 -o address show bond0.110 | grep -q "203.0.113.11/24"
ip -4 -o address show bond1.220 | grep -q "198.51.100.11/24"
ip route show default | grep -q "via 203.0.113.1 dev bond0.110 .*metric 100"
grep -q "nameserver 203.0.113.53" /etc/resolv.conf
ping -c 1 -W 60 -I bond1.220 198.51.100.1`

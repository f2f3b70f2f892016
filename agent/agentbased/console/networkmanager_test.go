package console

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/vishvananda/netlink"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/test/networkmanager"
)

// TestNetworkManagerTakesTheNewSettings: the connection that a person types is that of the card at
// once, though it has another one, with the real NetworkManager; and so is the next one.
func TestNetworkManagerTakesTheNewSettings(t *testing.T) {
	if !networkmanager.OnHost(t) {
		return
	}
	g := NewWithT(t)
	addresses := func() []string {
		all, err := Interfaces()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(cards(all)).To(ConsistOf("eth0", "switch0"), "a bridge is no card")
		for _, one := range all {
			if one.Name == "eth0" {
				return one.Addresses
			}
		}
		return nil
	}
	g.Eventually(addresses).WithTimeout(time.Minute).Should(ConsistOf("192.0.2.5/24"))
	said := &strings.Builder{}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	p := Program{Out: io.MultiWriter(said, os.Stderr), Commands: command.Host{Log: log}, Log: log}
	for _, address := range []string{"192.0.2.10/24", "192.0.2.11/24"} {
		s := &settings{nic: "eth0"}
		g.Expect(s.parseAddress(address)).To(Succeed())
		g.Expect(p.apply(t.Context(), s)).To(Succeed())
		g.Expect(addresses()).To(ConsistOf(address))
	}
	g.Expect(said.String()).NotTo(ContainSubstring("cannot be applied"))
	gone := &settings{nic: "eth9", dhcp: true}
	g.Expect(p.apply(t.Context(), gone)).To(Succeed())
	g.Expect(said.String()).To(ContainSubstring("The settings cannot be applied: connection console-eth9: nmcli: exit status"), "a person reads why")
	g.Expect(hostfile.Dir{}.Path("/etc/NetworkManager/system-connections/console-eth9.nmconnection")).To(BeAnExistingFile())
}

// TestEthernetCards are those for which the dialogue's connection is one.
func TestEthernetCards(t *testing.T) {
	sys := t.TempDir()
	NewWithT(t).Expect(os.MkdirAll(filepath.Join(sys, "wlan0", "phy80211"), 0o755)).To(Succeed())
	named := func(name, encap string) netlink.LinkAttrs { return netlink.LinkAttrs{Name: name, EncapType: encap} }
	for _, tc := range []struct {
		link netlink.Link
		want bool
	}{
		{&netlink.Device{LinkAttrs: named("eno1", "ether")}, true},
		{&netlink.Veth{LinkAttrs: named("eth0", "ether")}, true},
		{&netlink.Device{LinkAttrs: named("wlan0", "ether")}, false},
		{&netlink.Device{LinkAttrs: named("ib0", "infiniband")}, false},
		{&netlink.Bond{LinkAttrs: named("bond0", "ether")}, false},
		{&netlink.Vlan{LinkAttrs: named("eno1.7", "ether")}, false},
		{&netlink.Bridge{LinkAttrs: named("br0", "ether")}, false},
		{&netlink.Dummy{LinkAttrs: named("dummy0", "ether")}, false},
	} {
		NewWithT(t).Expect(ethernet(tc.link, sys)).To(Equal(tc.want), tc.link.Attrs().Name)
	}
}

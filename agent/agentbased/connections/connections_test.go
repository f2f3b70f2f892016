package connections_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/connections"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/test/networkmanager"
)

// TestNetworkManagerPutsThemInThePlaceOfOthers: a card that has an address of its own becomes the
// port of a bridge, and what lies on that has the addresses, with the real NetworkManager, which does
// nothing of that when it is restarted.
func TestNetworkManagerPutsThemInThePlaceOfOthers(t *testing.T) {
	if !networkmanager.OnHost(t) {
		return
	}
	g := NewWithT(t)
	commands := command.Host{Log: slog.New(slog.NewTextHandler(os.Stderr, nil))}
	addresses := func(device string) func() []string { return func() []string { return addressesOf(device) } }
	g.Eventually(addresses("eth0")).WithTimeout(time.Minute).Should(ConsistOf("192.0.2.5/24"))
	files := written(t, hostfile.Dir{}, map[string]string{
		"mac1": "id=mac1\ntype=macvlan\ninterface-name=mac1\n[macvlan]\nmode=2\nparent=br1\n[ipv4]\nmethod=manual\naddress1=192.0.2.10/24\n[ipv6]\nmethod=disabled\n",
		"br1":  "id=br1\ntype=bridge\ninterface-name=br1\n[bridge]\nstp=false\n[ipv4]\nmethod=disabled\n[ipv6]\nmethod=disabled\n",
		// Two connections have the same id: that of the config image, and that which the card has.
		"eth0": "id=old\nuuid=6f9c1a1e-0a51-4d6c-8a4e-3b7f6f0f5a01\ntype=ethernet\ninterface-name=eth0\nmaster=br1\nslave-type=bridge\n",
	})
	restarted, err := exec.CommandContext(t.Context(), "sh", "-c", "p=$(cat /run/NetworkManager/NetworkManager.pid) && kill $p && tail --pid=$p -f /dev/null; NetworkManager").
		CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), string(restarted))
	g.Eventually(func() string {
		out, _ := exec.CommandContext(t.Context(), "nmcli", "--get-values", "GENERAL.STATE", "device", "show", "eth0").CombinedOutput() // it does not run at once
		return string(out)
	}).WithTimeout(time.Minute).Should(HavePrefix("100 "))
	g.Expect(addressesOf("eth0")).To(ConsistOf("192.0.2.5/24"), "a restart has it go on with what the card has")

	for range 2 { // once more after a loss of power
		loaded, err := connections.Load(t.Context(), hostfile.Dir{}, commands, files...)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(loaded.Activate(t.Context())).To(Succeed())
		g.Eventually(addresses("mac1")).WithTimeout(time.Minute).Should(ConsistOf("192.0.2.10/24"))
		g.Expect(addressesOf("eth0")).To(BeEmpty())
		master, err := os.Readlink("/sys/class/net/eth0/master")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(path.Base(master)).To(Equal("br1"))
	}
	loaded, err := connections.Load(t.Context(), hostfile.Dir{}, commands, written(t, hostfile.Dir{}, map[string]string{"eth9": "type=ethernet\ninterface-name=eth9\n"})...)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(loaded.Activate(t.Context())).To(MatchError(ContainSubstring("connection eth9: nmcli: exit status")))
}

// addressesOf are those of an interface that other hosts could use.
func addressesOf(device string) (all []string) {
	link, err := net.InterfaceByName(device)
	if err != nil {
		return nil
	}
	list, err := link.Addrs()
	if err != nil {
		return nil
	}
	for _, a := range list {
		if ip, _, err := net.ParseCIDR(a.String()); err == nil && !ip.IsLinkLocalUnicast() {
			all = append(all, a.String())
		}
	}
	return all
}

// written are the keyfiles, which have what follows the head of their first section.
func written(t *testing.T, dir hostfile.Dir, keyfiles map[string]string) (files []string) {
	t.Helper()
	for _, name := range []string{"mac1", "br1", "br0", "bond0.100", "bond0", "eth0", "eth1", "eth9"} {
		if keyfiles[name] != "" {
			files = append(files, places.Keyfiles+"/"+name+connections.Suffix)
			NewWithT(t).Expect(places.Write(dir, files[len(files)-1], []byte("[connection]\n"+keyfiles[name]), 0o600)).To(Succeed())
		}
	}
	return files
}

// calls notes what nmcli is told; those that end with fails fail.
type calls struct {
	made  []string
	fails []string
}

func (c *calls) Run(_ context.Context, run command.Command) error {
	line := strings.TrimPrefix(strings.Join(run.Args, " "), "--wait 30 connection ")
	c.made = append(c.made, line)
	for _, end := range c.fails {
		if strings.HasSuffix(line, end) {
			return errors.New("no carrier")
		}
	}
	return nil
}

func TestWhatLiesOnOthersComesAfterThem(t *testing.T) {
	keyfiles := map[string]string{
		"br0":       "id=br0\ninterface-name=br0\n",
		"bond0.100": "id=a VLAN\ninterface-name=bond0.100\ncontroller=br0\n[vlan]\nid=100\nparent=bond0\n",
		"bond0":     "id=bond0\nuuid=uuid-of-bond0\ninterface-name=bond0\nautoconnect-slaves=1\n",
		"eth0":      "interface-name=eth0\nmaster=uuid-of-bond0\n",
		"eth1":      "interface-name=eth1\nmaster=bond0\n[match]\nid=other\n",
		"eth9":      "id=eth9\ninterface-name=eth9\nautoconnect=false\n",
	}
	for name, tc := range map[string]struct {
		fails, want []string
		err         string
	}{
		"all are there":         {nil, []string{"up id eth0 ifname eth0", "up id eth1 ifname eth1", "up id a VLAN ifname bond0.100"}, ""},
		"one port has no cable": {[]string{"eth1"}, []string{"up id eth0 ifname eth0", "up id eth1 ifname eth1", "up id a VLAN ifname bond0.100"}, "connection eth1: no carrier"},
		"no port has one": {
			[]string{"eth0", "eth1", "bond0.100"},
			[]string{"up id eth0 ifname eth0", "up id eth1 ifname eth1", "up uuid uuid-of-bond0 ifname bond0", "up id a VLAN ifname bond0.100", "up id br0 ifname br0"},
			"connection eth0: no carrier\nconnection eth1: no carrier\nconnection a VLAN: no carrier",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir, commands := hostfile.Dir{Root: t.TempDir()}, &calls{fails: tc.fails}
			loaded, err := connections.Load(t.Context(), dir, commands, written(t, dir, keyfiles)...)
			g.Expect(err).NotTo(HaveOccurred())
			err = loaded.Activate(t.Context())
			if tc.err == "" {
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				g.Expect(err).To(MatchError(tc.err))
			}
			g.Expect(commands.made[0]).To(HavePrefix("connection load /etc/NetworkManager/system-connections/br0.nmconnection /etc/"))
			g.Expect(commands.made[1:]).To(Equal(tc.want))
		})
	}
	nothing, err := connections.Load(t.Context(), hostfile.Dir{}, nil)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	NewWithT(t).Expect(nothing.Activate(t.Context())).To(Succeed(), "a host that keeps to DHCP")
}

package sharednetwork_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/cpio"
	"github.com/ironflow/ironflow/imagecustomization/sharednetwork"
)

var hosts = []sharednetwork.Host{
	{Cards: map[string]string{"52:54:00:00:00:0a": "eth0"}, Keyfiles: map[string][]byte{"eth0.nmconnection": []byte("first")}},
	{
		Cards:    map[string]string{"52:54:00:00:00:0B": "eth0", "52:54:00:00:00:0c": "eth1"},
		Keyfiles: map[string][]byte{"bond0.nmconnection": []byte("bond"), "eth0.nmconnection": []byte("second")},
	},
}

func TestEntries(t *testing.T) {
	g := NewWithT(t)
	g.Expect(sharednetwork.Entries(nil, time.Minute)).To(BeEmpty())
	found := map[string]cpio.Entry{}
	for _, e := range sharednetwork.Entries(hosts, 20*time.Second) {
		found[e.Name] = e
	}
	g.Expect(found).To(HaveLen(8))
	g.Expect(string(found["etc/assisted/network/host1/mac_interface.ini"].Data)).To(Equal("52:54:00:00:00:0B=eth0\n52:54:00:00:00:0c=eth1\n"))
	g.Expect(found["etc/assisted/network/host1/bond0.nmconnection"].Mode & 0o777).To(BeEquivalentTo(0o600))
	g.Expect(string(found["etc/systemd/system/pre-network-manager-config.service"].Data)).To(And(
		ContainSubstring("DISCOVERY_DELAY_SECONDS=20\n"), ContainSubstring("TimeoutStartSec=80\n")))
	g.Expect(string(found["etc/systemd/system/initrd.target.wants/pre-network-manager-config.service"].Data)).To(Equal("../pre-network-manager-config.service"))
}

// The names of cards are the document's; the kernel's are only known in the initrd. The
// two of this machine are the other's, which is no matter.
func TestTheScriptGivesCardsTheKernelsNames(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is missing: apt install bash")
	}
	const bond = "[bond]\nmode=active-backup\nprimary=ens1\n\n[ipv4]\nrouting-rule1=priority 5 from 0.0.0.0/0 iif ens2 table 7\nrouting-rule2=priority 6 from 0.0.0.0/0 iif bond0 table 7"
	host := sharednetwork.Host{
		Cards:    map[string]string{"52:54:00:00:00:01": "ens1", "52:54:00:00:00:02": "ens2"},
		Keyfiles: map[string][]byte{"bond0.nmconnection": []byte(bond)},
	}
	for name, tc := range map[string]struct {
		cards, late map[string]string
		want        string
	}{
		"each has the other's name": {
			map[string]string{"ens1": "52:54:00:00:00:02", "ens2": "52:54:00:00:00:01"},
			nil,
			"primary=ens2\n\n[ipv4]\nrouting-rule1=priority 5 from 0.0.0.0/0 iif ens1 table 7\nrouting-rule2=priority 6 from 0.0.0.0/0 iif bond0 table 7\n",
		},
		"the primary comes late": {
			map[string]string{"enp9s0": "52:54:00:00:00:02"}, map[string]string{"enp8s0": "52:54:00:00:00:01"}, "primary=enp8s0\n\n[ipv4]\nrouting-rule1=priority 5 from 0.0.0.0/0 iif enp9s0 ",
		},
		"one never comes": {map[string]string{"enp8s0": "52:54:00:00:00:01"}, nil, "primary=enp8s0\n\n[ipv4]\nrouting-rule1=priority 5 from 0.0.0.0/0 iif ens2 "},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			root := unpacked(g, t.TempDir(), []sharednetwork.Host{host})
			cards, target := filepath.Join(root, "sys"), filepath.Join(root, "target")
			plug := func(all map[string]string) {
				for name, mac := range all {
					// The address appears whole, as that of a card does.
					g.Expect(os.MkdirAll(filepath.Join(cards, name), 0o755)).To(Succeed())
					g.Expect(os.WriteFile(filepath.Join(cards, name, "new"), []byte(mac+"\n"), 0o644)).To(Succeed())
					g.Expect(os.Rename(filepath.Join(cards, name, "new"), filepath.Join(cards, name, "address"))).To(Succeed())
				}
			}
			plug(tc.cards)
			script := exec.CommandContext(t.Context(), bash, filepath.Join(root, "usr/local/bin/pre-network-manager-config.sh"), filepath.Join(root, "etc/assisted/network"), target, cards)
			script.Env = append(os.Environ(), "PAUSE=0.1")
			time.AfterFunc(20*time.Millisecond, func() { plug(tc.late) })
			said, err := script.CombinedOutput()
			g.Expect(err).NotTo(HaveOccurred(), string(said))
			got, err := os.ReadFile(filepath.Join(target, "bond0.nmconnection"))
			g.Expect(err).NotTo(HaveOccurred(), string(said))
			g.Expect(string(got)).To(ContainSubstring(tc.want), string(said))
		})
	}
}

// unpacked is a root with the files of the hosts.
func unpacked(g *WithT, root string, hosts []sharednetwork.Host) string {
	for _, e := range sharednetwork.Entries(hosts, 0) {
		if e.IsRegular() {
			file := filepath.Join(root, e.Name)
			g.Expect(os.MkdirAll(filepath.Dir(file), 0o755)).To(Succeed())
			g.Expect(os.WriteFile(file, e.Data, os.FileMode(e.Mode&0o777))).To(Succeed())
		}
	}
	return root
}

// TestTheScript with the bash of this machine: it takes the files of the machine whose
// card is there, also when the card appears late, and none for a stranger.
func TestTheScript(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is missing: apt install bash")
	}
	for name, tc := range map[string]struct {
		cards []string
		late  string
		want  map[string]string
	}{
		"the first":          {cards: []string{"00:00:00:00:00:00", "52:54:00:00:00:0a"}, want: map[string]string{"eth0.nmconnection": "first"}},
		"capital letters":    {cards: []string{"52:54:00:00:00:0b"}, want: map[string]string{"eth0.nmconnection": "second", "bond0.nmconnection": "bond"}},
		"by its second card": {cards: []string{"52:54:00:00:00:0C"}, want: map[string]string{"eth0.nmconnection": "second", "bond0.nmconnection": "bond"}},
		"a card that comes late": {
			cards: []string{"02:00:00:00:00:01"}, late: "52:54:00:00:00:0c",
			want: map[string]string{"eth0.nmconnection": "second", "bond0.nmconnection": "bond"},
		},
		"a stranger": {cards: []string{"52:54:00:00:00:0"}},
		"no card":    {},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			root := unpacked(g, t.TempDir(), hosts)
			cards, target := filepath.Join(root, "sys"), filepath.Join(root, "etc/coreos-firstboot-network")
			plug := func(name, mac string) {
				g.Expect(os.MkdirAll(filepath.Join(cards, name), 0o755)).To(Succeed())
				g.Expect(os.WriteFile(filepath.Join(cards, name, "address"), []byte(mac+"\n"), 0o644)).To(Succeed())
			}
			for i, mac := range tc.cards {
				plug("eth"+strings.Repeat("x", i), mac)
			}
			script := exec.CommandContext(t.Context(), bash, filepath.Join(root, "usr/local/bin/pre-network-manager-config.sh"),
				filepath.Join(root, "etc/assisted/network"), target, cards)
			script.Env = append(os.Environ(), "PAUSE=0.05")
			if tc.late != "" {
				script.Env = append(script.Env, "DISCOVERY_DELAY_SECONDS=0.3")
				time.AfterFunc(20*time.Millisecond, func() { plug("late", tc.late) })
			}
			said, err := script.CombinedOutput()
			g.Expect(err).NotTo(HaveOccurred(), string(said))
			taken := map[string]string{}
			entries, _ := os.ReadDir(target) // missing: nothing was taken
			for _, e := range entries {
				raw, err := os.ReadFile(filepath.Join(target, e.Name()))
				g.Expect(err).NotTo(HaveOccurred())
				taken[e.Name()] = string(raw)
			}
			if tc.want == nil {
				tc.want = map[string]string{}
				g.Expect(string(said)).To(ContainSubstring("no network names a card"))
			}
			g.Expect(taken).To(Equal(tc.want), string(said))
		})
	}
}

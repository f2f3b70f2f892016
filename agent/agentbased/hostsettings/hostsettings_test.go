package hostsettings_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/hostsettings"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/api/hostfile"
)

// machine is a host below a folder, with cards that appear when udev has settled.
type machine struct {
	dir  hostfile.Dir
	late map[string]string
	asks int
	// picked is how many keyfiles the last pick has copied.
	picked int
}

func newMachine(t *testing.T, cards map[string]string) *machine {
	m := &machine{dir: hostfile.Dir{Root: t.TempDir()}}
	for name, mac := range cards {
		m.plug(name, mac)
	}
	return m
}

func (m *machine) plug(name, mac string) {
	if err := places.Write(m.dir, "/sys/class/net/"+name+"/address", []byte(mac+"\n"), 0o644); err != nil {
		panic(err)
	}
}

// Run is udevadm settle.
func (m *machine) Run(_ context.Context, c command.Command) error {
	if c.Name != "udevadm" || c.Args[0] != "settle" {
		return errors.New("what is that?")
	}
	m.asks++
	for name, mac := range m.late {
		m.plug(name, mac)
	}
	return nil
}

func (m *machine) write(t *testing.T, file, text string) {
	t.Helper()
	if err := places.Write(m.dir, file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (m *machine) keyfile(name string) string {
	raw, err := os.ReadFile(m.dir.Path(places.Keyfiles + "/" + name))
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

func (m *machine) pick(t *testing.T) (string, error) {
	t.Helper()
	picked, err := hostsettings.PickNetwork(t.Context(), m.dir, m, slog.New(slog.DiscardHandler))
	for _, file := range picked.Keyfiles {
		NewWithT(t).Expect(m.dir.Path(file)).To(BeAnExistingFile())
	}
	m.picked = len(picked.Keyfiles)
	return picked.Folder, err
}

func TestTheNetworkOfThisHost(t *testing.T) {
	g := NewWithT(t)
	m := newMachine(t, map[string]string{"lo": "00:00:00:00:00:00", "enp1s0": "52:54:00:00:00:0b"})
	m.late = map[string]string{"enp2s0": "52:54:00:00:00:0c"}
	m.write(t, "/etc/assisted/network/host0/mac_interface.ini", "52:54:00:00:00:01=eth0\n")
	m.write(t, "/etc/assisted/network/host0/eth0.nmconnection", "[connection]\nid=other\n")
	m.write(t, "/etc/assisted/network/host10/mac_interface.ini", "52:54:00:00:00:0B=eth9\n")
	m.write(t, "/etc/assisted/network/host2/mac_interface.ini", "52:54:00:00:00:0B=eth0\n52:54:00:00:00:0c=eth1\n")
	m.write(
		t, "/etc/assisted/network/host2/bond0.nmconnection",
		"[connection]\nid=eth0\ninterface-name=bond0\n[bond]\nprimary=eth1\nmode=active-backup\n[ipv4]\nrouting-rule1=priority 5 from 0.0.0.0/0 iif eth0 table 7\n",
	)
	m.write(t, "/etc/assisted/network/host2/eth0.nmconnection", "[connection]\r\ninterface-name=eth0\r\n")
	m.write(t, "/etc/assisted/network/host2/readme.txt", "x")
	picked, err := m.pick(t)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(picked).To(Equal("host2"), "the first in the order of the numbers")
	g.Expect(m.asks).To(Equal(1), "one of its cards was not there yet")
	g.Expect(m.keyfile("bond0.nmconnection")).
		To(Equal("[connection]\nid=eth0\ninterface-name=bond0\n[bond]\nprimary=enp2s0\nmode=active-backup\n[ipv4]\nrouting-rule1=priority 5 from 0.0.0.0/0 iif enp1s0 table 7\n"))
	g.Expect(m.keyfile("eth0.nmconnection")).To(Equal("[connection]\r\ninterface-name=enp1s0\r\n"))
	entries, err := os.ReadDir(m.dir.Path(places.Keyfiles))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(entries).To(HaveLen(2))
	g.Expect(m.picked).To(Equal(2), "those are told to NetworkManager where it runs already")
	info, err := entries[0].Info()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o600)), "NetworkManager reads no other")
}

// TestCardsThatComeLate are waited for as long as the settings say, and no longer than they take.
func TestCardsThatComeLate(t *testing.T) {
	for name, tc := range map[string]struct {
		delay       string
		comes, want time.Duration
		picked, err string
	}{
		"in time":         {"DISCOVERY_DELAY_SECONDS=30\n", 10500 * time.Millisecond, 11 * time.Second, "host0", ""},
		"too late":        {"DISCOVERY_DELAY_SECONDS=5\n", 10500 * time.Millisecond, 5 * time.Second, "", ""},
		"no time for it":  {"", 10500 * time.Millisecond, 0, "", ""},
		"there already":   {"DISCOVERY_DELAY_SECONDS=30\n", 0, 0, "host0", ""},
		"no number":       {"DISCOVERY_DELAY_SECONDS=soon\n", time.Minute, 0, "", `/etc/assisted/network/discovery.env: DISCOVERY_DELAY_SECONDS is "soon": want a number of seconds`},
		"a negative time": {"DISCOVERY_DELAY_SECONDS=-1\n", time.Minute, 0, "", "want a number of seconds"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				m := newMachine(t, map[string]string{"lo": "00:00:00:00:00:00"})
				m.write(t, "/etc/assisted/network/host0/mac_interface.ini", "52:54:00:00:00:0b=eth0\n")
				if tc.delay != "" {
					m.write(t, places.NetworkDelay, tc.delay)
				}
				if tc.comes == 0 {
					m.plug("enp1s0", "52:54:00:00:00:0b")
				} else {
					late := time.AfterFunc(tc.comes, func() { m.plug("enp1s0", "52:54:00:00:00:0b") })
					defer late.Stop()
				}
				begin := time.Now()
				picked, err := m.pick(t)
				if tc.err != "" {
					g.Expect(err).To(MatchError(ContainSubstring(tc.err)))
				} else {
					g.Expect(err).NotTo(HaveOccurred())
				}
				g.Expect(picked).To(Equal(tc.picked))
				g.Expect(time.Since(begin)).To(Equal(tc.want))
			})
		})
	}
}

func TestAHostWithoutANetworkOfItsOwn(t *testing.T) {
	g := NewWithT(t)
	m := newMachine(t, map[string]string{"enp1s0": "52:54:00:00:00:0b"})
	picked, err := m.pick(t)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(picked).To(BeEmpty())
	m.write(t, "/etc/assisted/network/host0/mac_interface.ini", "52:54:00:00:00:01=eth0\n")
	picked, err = m.pick(t)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(picked).To(BeEmpty())
	m.write(t, "/etc/assisted/network/host1/mac_interface.ini", "\neth0\n")
	_, err = m.pick(t)
	g.Expect(err).To(MatchError(ContainSubstring("/etc/assisted/network/host1/mac_interface.ini: line 2: want MAC=NAME")))
}

// A link in a host's folder does not lead out of it.
func TestLinksInTheFolders(t *testing.T) {
	g := NewWithT(t)
	m := newMachine(t, map[string]string{"enp1s0": "52:54:00:00:00:0b"})
	m.write(t, "/etc/shadow", "secret")
	m.write(t, "/etc/assisted/network/host0/mac_interface.ini", "52:54:00:00:00:0b=eth0\n")
	g.Expect(os.Symlink("/etc/shadow", m.dir.Path("/etc/assisted/network/host0/eth0.nmconnection"))).To(Succeed())
	_, err := m.pick(t)
	g.Expect(err).To(MatchError(ContainSubstring("eth0.nmconnection")))
	g.Expect(m.keyfile("eth0.nmconnection")).To(ContainSubstring("no such file"))
}

func TestHostnames(t *testing.T) {
	for name, tc := range map[string]struct {
		files map[string]string
		want  string
		err   string
	}{
		"first match wins":     {map[string]string{"52:54:00:00:00:01": "other", "52:54:00:00:00:0b": " edge1.example.com\n", "52:54:00:00:00:0c": "edge2"}, "edge1.example.com", ""},
		"any case":             {map[string]string{"52:54:00:00:00:0B": "edge1"}, "edge1", ""},
		"none of this host":    {map[string]string{"52:54:00:00:00:01": "other", "README": "x"}, "", ""},
		"no names":             {nil, "", ""},
		"a name of no node":    {map[string]string{"52:54:00:00:00:0b": "Edge_1"}, "", `/etc/assisted/hostnames/52:54:00:00:00:0b: "Edge_1" is no name that a node can have`},
		"localhost is no name": {map[string]string{"52:54:00:00:00:0b": "localhost"}, "", `"localhost" is no name`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			m := newMachine(t, map[string]string{"enp1s0": "52:54:00:00:00:0b", "enp2s0": "52:54:00:00:00:0c"})
			for file, text := range tc.files {
				m.write(t, places.Hostnames+"/"+file, text)
			}
			set := ""
			got, err := hostsettings.SetHostname(t.Context(), m.dir, func(_ context.Context, name string) error { set = name; return nil })
			if tc.err != "" {
				g.Expect(err).To(MatchError(ContainSubstring(tc.err)))
			} else {
				g.Expect(err).NotTo(HaveOccurred())
			}
			g.Expect(got).To(Equal(tc.want))
			g.Expect(set).To(Equal(tc.want))
		})
	}
	g := NewWithT(t)
	m := newMachine(t, map[string]string{"enp1s0": "52:54:00:00:00:0b"})
	m.write(t, places.Hostnames+"/52:54:00:00:00:0b", "edge1")
	_, err := hostsettings.SetHostname(t.Context(), m.dir, func(context.Context, string) error { return errors.New("no bus") })
	g.Expect(err).To(MatchError(`set the name "edge1" of 52:54:00:00:00:0b: no bus`))
}

//go:build e2e

package boot_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/hostprograms"
	"github.com/ironflow/ironflow/imagecustomization/ignition"
	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/imagecustomization/media"
	"github.com/ironflow/ironflow/imagecustomization/network"
	"github.com/ironflow/ironflow/imagecustomization/overlay"
	"github.com/ironflow/ironflow/imagecustomization/server"
	"github.com/ironflow/ironflow/test/boot"
	"github.com/ironflow/ironflow/test/needs"
)

// guestGateway is this machine as a guest sees it.
const guestGateway = "10.0.2.2"

// site is an image server with one base medium.
type site struct {
	guest    boot.Guest
	programs *hostprograms.Archives
	bin      string
	addr     string
	// store hands out addresses for the BMC's side, far for the guest's; the images
	// of plain have no host programs, so that the embed area stays where it is.
	store, far, plain *images.Store
}

// open makes the guest and starts the image server.
func open(t *testing.T) *site {
	t.Helper()
	g := NewWithT(t)
	for program, pkg := range map[string]string{
		"qemu-system-x86_64": "qemu-system-x86", "xorriso": "xorriso", "mformat": "mtools", "grub-mkimage": "grub-common",
		"mksquashfs": "squashfs-tools", "mmdebstrap": "mmdebstrap",
	} {
		needs.Program(t, program, pkg)
	}
	switch root := os.Getuid() == 0; {
	case !root && os.Getenv("CI") == "true":
		t.Fatal("making the guest needs root")
	case !root:
		t.Skip("making the guest needs root")
	}
	s := &site{}
	var err error
	s.guest, err = boot.Make(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	s.bin = hostPrograms(t)
	s.programs, err = hostprograms.Open(s.bin, t.TempDir())
	g.Expect(err).NotTo(HaveOccurred())
	registry, err := media.Open(t.Context(), s.guest.ISO, media.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	s.addr = l.Addr().String()
	_, port, err := net.SplitHostPort(s.addr)
	g.Expect(err).NotTo(HaveOccurred())
	store := func(host string, hostPrograms func(string) []overlay.Source) *images.Store {
		st, err := images.NewStore(t.Context(), images.Options{
			Media: registry, BaseURL: "http://" + net.JoinHostPort(host, port), SigningKey: bytes.Repeat([]byte(host), 8), Programs: hostPrograms,
		})
		g.Expect(err).NotTo(HaveOccurred())
		st.MarkSynced()
		return st
	}
	s.store, s.far, s.plain = store("127.0.0.1", s.programs.ForArch), store(guestGateway, s.programs.ForArch), store("localhost", nil)
	serve(t, l, stores{s.store, s.far, s.plain})
	return s
}

// serve answers for the stores until the test ends.
func serve(t *testing.T, l net.Listener, images stores) {
	ctx, stop := context.WithCancel(t.Context())
	var serving sync.WaitGroup
	serving.Go(func() {
		// Its end is told by the boot that finds nobody.
		_ = server.New(server.Options{Store: images, Log: logr.Discard()}).Serve(ctx, []server.Listener{{Listener: l}})
	})
	t.Cleanup(func() {
		stop()
		serving.Wait()
	})
}

// stores serves the images of several stores.
type stores []*images.Store

// Lookup implements server.Store.
func (s stores) Lookup(path string) *images.Revision {
	for _, store := range s {
		if r := store.Lookup(path); r != nil {
			return r
		}
	}
	return nil
}

// Synced implements server.Store.
func (s stores) Synced() bool { return true }

// Images implements server.Store.
func (s stores) Images() (count int, memoryBytes int64) { return s[0].Images() }

// hostPrograms is a folder with the agent and the step's program.
func hostPrograms(t *testing.T) string {
	t.Helper()
	bin := os.Getenv("IRONFLOW_BIN")
	if bin == "" {
		bin = "../../bin"
	}
	dir := t.TempDir()
	for name, places := range map[string][]string{
		"ironflow-agent": {"ironflow-agent"}, "ironflow-step": {"ironflow-step", "lab/ironflow-step"},
	} {
		i := slices.IndexFunc(places, func(p string) bool { _, err := os.Stat(filepath.Join(bin, p)); return err == nil })
		if i < 0 {
			t.Fatalf("no %s in %s: run this by `make test-e2e`, or `make build` first", name, bin)
		}
		raw, err := os.ReadFile(filepath.Join(bin, places[i]))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), raw, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// config is a whole Ignition config, as the controllers render it.
func config(t *testing.T, host string) []byte {
	t.Helper()
	raw, err := ignition.Build(ignition.HostConfig{
		IPA:     &ignition.IPA{APIURLs: []string{"https://192.0.2.1:6385"}, Image: "registry.example/ipa:1", DefaultHostname: host},
		Agent:   &ignition.Agent{URL: "https://192.0.2.1:8090", InfraEnvID: "0ad6d3b0-0000-4000-8000-000000000001", Version: "1", Token: "secret", Gate: true},
		SSHKeys: []string{"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ5KFKiYqTqK0aP1R3dG4B2mY0kV6eHcU5w0xkQd7n2B test"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// toFile downloads an image as a user would.
func toFile(t *testing.T, url string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "host.iso")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	f, err := os.Create(path)
	if err == nil {
		_, err = io.Copy(f, resp.Body)
	}
	if err != nil || resp.StatusCode != http.StatusOK || f.Close() != nil {
		t.Fatal(resp.Status, err)
	}
	return path
}

func sum(raw []byte) string {
	s := sha256.Sum256(raw)
	return hex.EncodeToString(s[:])
}

// bootCase is one way to boot, with one network.
type bootCase struct {
	name string
	uefi bool
	// plain leaves the host programs out.
	plain bool
	// long makes the kernel arguments longer than the medium's areas for them, so that
	// the boot loaders read configurations that were moved.
	long bool
	// from says where the image comes from.
	from source
	// nmstate are the network settings, "" for none; nics what the machine has.
	nmstate string
	nics    []boot.NIC
	// check looks at the network of the running system.
	check func(g *WithT, r *boot.Report)
}

// source is where a machine boots from.
type source int

const (
	file    source = iota // a downloaded ISO in the drive
	ranges                // an ISO straight off the image server
	iPXE                  // the script for all hosts, then the host's own, kernel, initrd and root file system over the network
	minimal               // a minimal ISO off the image server, its root file system over the network
)

func nic(n, network int) boot.NIC {
	return boot.NIC{MAC: fmt.Sprintf("52:54:00:00:00:%02x", n), Network: network}
}

var bootCases = []bootCase{
	{
		name: "BIOS, file, no network settings", from: file, plain: true, nics: []boot.NIC{nic(1, 0)},
		check: func(g *WithT, r *boot.Report) {
			g.Expect(r.Addresses("eth0")).To(ContainElement(HavePrefix("10.0.2.")), "DHCP, as the live system does by itself")
			g.Expect(r.DNS).To(ContainSubstring("nameserver 10.0.2.3"))
		},
	},
	{
		name: "BIOS, file, long kernel arguments", from: file, long: true, plain: true, nics: []boot.NIC{nic(1, 0)},
		check: func(g *WithT, r *boot.Report) {
			g.Expect(r.Addresses("eth0")).To(ContainElement(HavePrefix("10.0.2.")))
		},
	},
	{
		name: "UEFI, off the image server, long kernel arguments", from: ranges, long: true, uefi: true, nics: []boot.NIC{nic(1, 0)},
		check: func(g *WithT, r *boot.Report) {
			g.Expect(r.Addresses("eth0")).To(ContainElement(HavePrefix("10.0.2.")))
		},
	},
	{
		name: "UEFI, file, VLAN over a bond", from: file, uefi: true, nics: []boot.NIC{nic(1, 0), nic(2, 0)}, nmstate: `
interfaces:
- {name: eth0, type: ethernet, state: up}
- {name: eth1, type: ethernet, state: up}
- name: bond0
  type: bond
  link-aggregation: {mode: active-backup, port: [eth0, eth1], options: {miimon: "100"}}
  ipv4: {enabled: true, address: [{ip: 10.0.2.50, prefix-length: 24}]}
- name: bond0.42
  type: vlan
  vlan: {base-iface: bond0, id: 42}
  ipv4: {enabled: true, address: [{ip: 192.0.2.5, prefix-length: 24}]}
  ipv6: {enabled: true, address: [{ip: "fd00:42::5", prefix-length: 64}]}
routes: {config: [{destination: 0.0.0.0/0, next-hop-address: 10.0.2.2, next-hop-interface: bond0}]}
dns-resolver: {config: {server: [10.0.2.3, 192.0.2.53], search: [example.test]}}
`,
		check: func(g *WithT, r *boot.Report) {
			g.Expect(r.Bonds).To(Equal(map[string]string{"bond0": "active-backup"}))
			g.Expect(r.Link("eth0").Master).To(Equal("bond0"))
			g.Expect(r.Link("eth1").Master).To(Equal("bond0"))
			g.Expect(r.Addresses("bond0")).To(ConsistOf("10.0.2.50/24"))
			g.Expect(r.Link("bond0.42").Parent).To(Equal("bond0"))
			g.Expect(r.Addresses("bond0.42")).To(ConsistOf("192.0.2.5/24", "fd00:42::5/64"))
			g.Expect(r.Routes).To(ContainElement(And(HaveField("Destination", "default"), HaveField("Gateway", "10.0.2.2"), HaveField("Device", "bond0"))))
			g.Expect(r.DNS).To(And(ContainSubstring("search example.test"), ContainSubstring("nameserver 10.0.2.3 nameserver 192.0.2.53")))
		},
	},
	{
		name: "BIOS, ranges, bridge with DHCP and routing rules", from: ranges, nics: []boot.NIC{nic(1, 0), nic(2, 1)}, nmstate: `
interfaces:
- {name: storage, type: ethernet, state: up, identifier: mac-address, mac-address: "52:54:00:00:00:01", mtu: 1400,
   ipv4: {enabled: true, address: [{ip: 10.0.2.60, prefix-length: 24}]}}
- {name: eth1, type: ethernet, state: up}
- {name: br0, type: linux-bridge, state: up, bridge: {port: [{name: eth1}], options: {stp: {enabled: false}}},
   ipv4: {enabled: true, dhcp: true}}
routes:
  config:
  - {destination: 198.51.100.0/24, next-hop-address: 10.0.2.9, next-hop-interface: storage, metric: 150}
  - {destination: 0.0.0.0/0, next-hop-address: 10.0.2.2, next-hop-interface: storage, table-id: 100}
route-rules: {config: [{ip-from: 10.0.2.60, route-table: 100, priority: 5000}]}
`,
		check: func(g *WithT, r *boot.Report) {
			g.Expect(r.Addresses("br0")).To(ConsistOf(HavePrefix("10.1.2.")), "DHCP over the bridge")
			g.Expect(r.Link("eth1").Master).To(Equal("br0"))
			g.Expect(r.Addresses("eth0")).To(ConsistOf("10.0.2.60/24"), "found by its MAC address")
			g.Expect(r.Link("eth0").MTU).To(Equal(1400))
			g.Expect(r.Routes).To(ContainElements(
				And(HaveField("Destination", "198.51.100.0/24"), HaveField("Gateway", "10.0.2.9"), HaveField("Device", "eth0"), HaveField("Metric", 150)),
				And(HaveField("Destination", "default"), HaveField("Gateway", "10.0.2.2"), HaveField("Table", "100")),
				And(HaveField("Destination", "default"), HaveField("Gateway", "10.1.2.2"), HaveField("Device", "br0"))))
			g.Expect(r.Rules).To(ContainElement(And(HaveField("Priority", 5000), HaveField("Source", "10.0.2.60"), HaveField("Table", "100"))))
			g.Expect(r.DNS).To(ContainSubstring("nameserver 10.1.2.3"), "the network's own")
		},
	},
	{
		name: "UEFI, ranges, both families", from: ranges, uefi: true, nics: []boot.NIC{nic(1, 0)}, nmstate: `
interfaces:
- name: eth0
  type: ethernet
  ipv4: {enabled: true, dhcp: true, auto-dns: false, auto-route-metric: 300}
  ipv6: {enabled: true, address: [{ip: "fd00:1::7", prefix-length: 64}]}
routes: {config: [{destination: "fd00:99::/48", next-hop-address: "fd00:1::1", next-hop-interface: eth0}]}
dns-resolver: {config: {server: ["fd00:1::53"]}}
`,
		check: func(g *WithT, r *boot.Report) {
			g.Expect(r.Addresses("eth0")).To(ConsistOf(HavePrefix("10.0.2."), "fd00:1::7/64"))
			g.Expect(r.Routes).To(ContainElement(And(HaveField("Destination", "default"), HaveField("Metric", 300))))
			g.Expect(r.Routes6).To(ContainElement(And(HaveField("Destination", "fd00:99::/48"), HaveField("Gateway", "fd00:1::1"))))
			g.Expect(r.DNS).To(And(ContainSubstring("nameserver fd00:1::53"), Not(ContainSubstring("10.0.2.3"))))
		},
	},
	{
		name: "BIOS, iPXE, two static interfaces", from: iPXE, nics: []boot.NIC{nic(1, 0), nic(2, 1)}, nmstate: `
interfaces:
- {name: eth0, type: ethernet, ipv4: {enabled: true, address: [{ip: 10.0.2.70, prefix-length: 24}]}}
- {name: eth1, type: ethernet, mac-address: "02:00:00:00:00:77", ipv4: {enabled: true, address: [{ip: 10.1.2.70, prefix-length: 25}]}}
routes: {config: [{destination: 0.0.0.0/0, next-hop-address: 10.1.2.2, next-hop-interface: eth1}]}
`,
		check: func(g *WithT, r *boot.Report) {
			g.Expect(r.Addresses("eth0")).To(ConsistOf("10.0.2.70/24"))
			g.Expect(r.Addresses("eth1")).To(ConsistOf("10.1.2.70/25"))
			g.Expect(r.Link("eth1").MAC).To(Equal("02:00:00:00:00:77"))
			g.Expect(r.Routes).To(ContainElement(And(HaveField("Destination", "default"), HaveField("Gateway", "10.1.2.2"))))
		},
	},
	{
		name: "UEFI, minimal ISO, bond of mode balance-xor", from: minimal, uefi: true, nics: []boot.NIC{nic(1, 0), nic(2, 0)}, nmstate: `
interfaces:
- {name: eth0, type: ethernet}
- {name: eth1, type: ethernet}
- {name: bond1, type: bond, link-aggregation: {mode: balance-xor, port: [eth0, eth1]}, ipv4: {enabled: true, address: [{ip: 10.0.2.80, prefix-length: 24}]}}
`,
		check: func(g *WithT, r *boot.Report) {
			g.Expect(r.Bonds).To(Equal(map[string]string{"bond1": "balance-xor"}))
			g.Expect(r.Addresses("bond1")).To(ConsistOf("10.0.2.80/24"))
		},
	},
}

// spec is the image of a case.
func (c bootCase) spec(t *testing.T, keyfiles map[string][]byte) images.Spec {
	length := 300
	if c.long {
		length = 1600
	}
	spec := images.Spec{
		Key: "boot/host-0", UID: "1", Ignition: config(t, "host-0"), NetworkKeyfiles: keyfiles,
		Kargs: overlay.KargsEdit{Append: []string{"ironflow.test=" + strings.Repeat("x", length)}},
	}
	if c.from == iPXE {
		spec.Format, spec.MACs = images.FormatInitrd, []string{c.nics[0].MAC}
		spec.Kargs.Append = append(spec.Kargs.Append, "console=ttyS0", "quiet", "net.ifnames=0")
	}
	if c.from == minimal {
		spec.Format = images.FormatMinimalISO
	}
	return spec
}

// machine builds the case's image and returns a machine that boots it.
func (c bootCase) machine(t *testing.T, s *site, spec images.Spec) boot.Machine {
	t.Helper()
	store := s.store
	switch {
	case c.plain:
		store = s.plain
	case c.from == iPXE || c.from == minimal:
		store = s.far
	}
	built, err := store.Put(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	m := boot.Machine{NICs: c.nics}
	if c.uefi {
		m.UEFI = s.guest.UEFI
	}
	near := func(url string) string {
		_, path, _ := strings.Cut(url, "/images/")
		return "http://" + s.addr + "/images/" + path
	}
	switch c.from {
	case file:
		m.Medium = toFile(t, built.URL)
	case ranges, minimal:
		m.Medium = near(built.URL)
	case iPXE:
		m.Script, m.NetworkROM = store.RedirectURL(), s.guest.NetworkROM
	}
	return m
}

func TestBoot(t *testing.T) {
	s := open(t)
	for _, c := range bootCases {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			keyfiles, err := network.Keyfiles([]byte(c.nmstate))
			g.Expect(err).NotTo(HaveOccurred())
			spec := c.spec(t, keyfiles)
			r, err := c.machine(t, s, spec).Boot(t.Context())
			g.Expect(err).NotTo(HaveOccurred())

			g.Expect(r.Ignition).To(Equal(sum(spec.Ignition)), "the config, byte for byte")
			for _, arg := range spec.Kargs.Append {
				g.Expect(strings.Fields(r.Cmdline)).To(ContainElement(arg))
			}
			g.Expect(r.Cmdline).To(ContainSubstring("ignition.platform.id=metal"))
			want := map[string]string{}
			for name, content := range keyfiles {
				want[name] = sum(content)
			}
			g.Expect(r.Keyfiles).To(Equal(want))
			if c.plain {
				g.Expect(r.Programs).To(BeEmpty())
			} else {
				s.checkPrograms(g, r)
			}
			g.Expect(r.Slow).To(BeFalse(), "NetworkManager is done: %s", r.Devices)
			c.check(g, r)
		})
	}
}

// checkPrograms expects the host programs in the live system, ready to run.
func (s *site) checkPrograms(g *WithT, r *boot.Report) {
	for _, name := range []string{"ironflow-agent", "ironflow-step"} {
		raw, err := os.ReadFile(filepath.Join(s.bin, name))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(r.Programs).To(HaveKeyWithValue("/usr/local/bin/"+name, boot.Program{Mode: "755", Owner: "root", SHA256: sum(raw)}))
	}
	g.Expect(r.Runs).To(ContainSubstring("ironflow"))
}

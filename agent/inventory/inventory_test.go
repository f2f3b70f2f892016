package inventory

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/dryrun"
	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
)

var update = flag.Bool("update", false, "write the golden files anew")

var quiet = slog.New(slog.DiscardHandler)

// golden compares the inventory with the file, and checks that the file is what
// the wire types print: no member more, none less.
func golden(t *testing.T, inv wire.Inventory, name string) {
	t.Helper()
	g := NewWithT(t)
	raw, err := Print(inv, Options{})
	g.Expect(err).NotTo(HaveOccurred())
	path := filepath.Join("testdata", name)
	if *update {
		var indented bytes.Buffer
		g.Expect(json.Indent(&indented, raw, "", "  ")).To(Succeed())
		g.Expect(os.WriteFile(path, append(indented.Bytes(), '\n'), 0o600)).To(Succeed())
	}
	want, err := os.ReadFile(path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(raw).To(MatchJSON(want))

	decoder := json.NewDecoder(bytes.NewReader(want))
	decoder.DisallowUnknownFields()
	var model wire.Inventory
	g.Expect(decoder.Decode(&model)).To(Succeed())
	again, err := json.Marshal(model)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again).To(MatchJSON(raw), "a hub that decodes and encodes it keeps every member")
}

func TestInventoryOfAScenario(t *testing.T) {
	g := NewWithT(t)
	no := false
	s := &scenario.Scenario{
		Name: "node-7",
		Hardware: scenario.Hardware{
			System:    scenario.System{Manufacturer: "Example", Product: "Box 7", Serial: "S7"},
			CPU:       scenario.CPU{Architecture: "aarch64", Model: "Example A1", Count: 64, MHz: 3000, Flags: []string{"fp", "asimd"}},
			MemoryMiB: 131072,
			NICs: []scenario.NIC{
				{Name: "eth0", MAC: "52:54:00:AA:00:01", IPv4: []string{"192.0.2.7/24"}, IPv6: []string{"2001:db8::7/64"}, Gateway: "192.0.2.1", Vendor: "0x8086", Product: "0x1563", SpeedMbps: 25000},
				{Name: "eth1", MAC: "52:54:00:aa:00:02", Carrier: &no},
				{Name: "eth2", MAC: "52:54:00:aa:00:03", IPv6: []string{"2001:db8:1::7/64"}, Gateway: "fe80::1", MTU: 9000},
			},
			Disks: []scenario.Disk{
				{Name: "sda", SizeGiB: 480, Type: "SSD", Model: "Disk One", Vendor: "ACME", Serial: "D1", WWN: "0x5000c500a0000001", HCTL: "0:0:0:0"},
				{Name: "nvme0n1", SizeGiB: 1920, Type: "NVME", WWN: "eui.0025385b71b00001"},
				{Name: "sdb", SizeGiB: 8000, Type: "HDD", ByPath: "pci-0000:00:1f.2-ata-2"},
				{Name: "sdc", SizeGiB: 100, Type: "HDD"},
			},
		},
	}
	inv, err := Gather(t.Context(), Scenario(s), quiet)
	g.Expect(err).NotTo(HaveOccurred())
	golden(t, inv, "scenario.json")
}

// tree writes a machine's files: a content, or with "-> " a symbolic link.
func tree(t *testing.T, files map[string]string) hostfile.Dir {
	t.Helper()
	root := t.TempDir()
	for path, content := range files {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		target, isLink := strings.CutPrefix(content, "-> ")
		err := os.WriteFile(path, []byte(content), 0o600)
		if isLink {
			_ = os.Remove(path)
			err = os.Symlink(target, path)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return hostfile.Dir{Root: root}
}

func TestInventoryOfAHost(t *testing.T) {
	g := NewWithT(t)
	h := host{
		dir:      tree(t, recorded()),
		hostname: func() (string, error) { return "localhost", nil },
		addresses: func() (map[string]nicState, error) {
			return map[string]nicState{
				"lo":   {flags: []string{"up", "loopback"}, addresses: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/8"), netip.MustParsePrefix("::1/128")}},
				"eno1": {flags: []string{"up", "broadcast"}, addresses: []netip.Prefix{netip.MustParsePrefix("192.0.2.9/24"), netip.MustParsePrefix("169.254.3.4/16"), netip.MustParsePrefix("fe80::1/64"), netip.MustParsePrefix("2001:db8::9/64")}},
				"eno2": {flags: []string{"broadcast"}},
			}, nil
		},
	}
	inv, err := Gather(t.Context(), []Collector{
		{"cpu", h.cpu},
		{"memory", h.memory},
		{"system", h.system},
		{"boot", h.boot},
		{"tpm", h.tpm},
		{"interfaces", h.interfaces},
		{"routes", h.routes},
		{"disks", h.disks},
	}, quiet)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(inv.CPU.Architecture).NotTo(BeEmpty())
	inv.CPU.Architecture = "from uname"
	golden(t, inv, "host.json")
}

func TestThisMachine(t *testing.T) {
	g := NewWithT(t)
	start := time.Now()
	inv, err := Gather(t.Context(), Host(hostfile.Dir{}), quiet)
	g.Expect(err).NotTo(HaveOccurred())
	t.Logf("collected in %s", time.Since(start).Round(time.Microsecond))
	g.Expect(inv.CPU.Count).To(BeNumerically(">", 0))
	g.Expect(inv.Memory.UsableBytes).To(BeNumerically(">", 1<<20))
	g.Expect(inv.Interfaces).To(ContainElement(HaveField("Name", "lo")))
}

func TestLateAndBrokenCollectorsAreLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		release := make(chan struct{})
		defer close(release)
		start := time.Now()
		inv, err := Gather(t.Context(), []Collector{
			{"good", func(context.Context) (Apply, error) { return func(i *wire.Inventory) { i.Hostname = "h" }, nil }},
			{"stuck", func(context.Context) (Apply, error) { <-release; return nil, nil }},
			{"panics", func(context.Context) (Apply, error) { panic("odd") }},
			{"fails", func(context.Context) (Apply, error) { return nil, errors.New("no such file") }},
		}, quiet)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(inv.Hostname).To(Equal("h"))
		g.Expect(time.Since(start)).To(Equal(Deadline))
		_, err = Gather(t.Context(), []Collector{{"fails", func(context.Context) (Apply, error) { return nil, errors.New("x") }}}, quiet)
		g.Expect(err).To(MatchError(ErrEmpty))
	})
}

func TestForcedIdentity(t *testing.T) {
	g := NewWithT(t)
	base := Collector{"base", func(context.Context) (Apply, error) {
		return func(i *wire.Inventory) {
			i.Hostname = "real"
			i.Interfaces = []wire.Interface{{Name: "lo"}, {Name: "eth0", MACAddress: "a", Ipv4Addresses: []string{"192.0.2.1/24"}}, {Name: "eth1"}}
		}, nil
	}}
	d := dryrun.Settings{Enabled: true, Hostname: "forced", MAC: "52:54:00:00:00:AA", IPv4: "198.51.100.7/24"}
	inv, err := Gather(t.Context(), append([]Collector{base}, Forced(d)...), quiet)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(inv.Hostname).To(Equal("forced"))
	g.Expect(inv.Interfaces).To(Equal([]wire.Interface{{Name: "eth0", MACAddress: "52:54:00:00:00:aa", Ipv4Addresses: []string{"198.51.100.7/24"}}}))
	g.Expect(Forced(dryrun.Settings{Hostname: "x"})).To(BeEmpty(), "only in a dry run")
}

func TestTruncation(t *testing.T) {
	inv := empty()
	inv.Hostname = "many-disks"
	for i := range 100 {
		inv.Disks = append(inv.Disks, wire.Disk{Name: "sd", SizeBytes: int64(i) << 30, InstallationEligibility: wire.DiskInstallationEligibility{Eligible: i < 3}})
	}
	for name, tc := range map[string]struct {
		options    Options
		disks      int
		truncation string
	}{
		"no limit":                 {Options{}, 100, ""},
		"large limit":              {Options{OutputMaxSize: 1 << 20}, 100, ""},
		"small disks":              {Options{DiskMinSize: 90 << 30}, 10, ""},
		"only what is installable": {Options{OutputMaxSize: 2000}, 3, "partial"},
		"nothing fits":             {Options{OutputMaxSize: 100}, 0, "full"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			raw, err := Print(inv, tc.options)
			g.Expect(err).NotTo(HaveOccurred())
			var got wire.Inventory
			g.Expect(json.Unmarshal(raw, &got)).To(Succeed())
			g.Expect(got.Disks).To(HaveLen(tc.disks))
			if tc.truncation == "" {
				g.Expect(got.Truncation).To(BeNil())
				return
			}
			g.Expect(got.Truncation.Type).To(Equal(tc.truncation))
			g.Expect(got.Truncation.Reasons).To(HaveLen(1))
		})
	}
	NewWithT(t).Expect(inv.Disks).To(HaveLen(100), "the inventory itself is not changed")
}

func TestStepArguments(t *testing.T) {
	const id = "11111111-1111-4111-8111-111111111111"
	for name, tc := range map[string]struct {
		args    []string
		want    Options
		wantErr string
	}{
		"id":        {[]string{id}, Options{}, ""},
		"limits":    {[]string{id, "--output-max-size=10", "--disk-min-size=20"}, Options{10, 20}, ""},
		"no id":     {nil, Options{}, "arguments"},
		"other id":  {[]string{"; reboot"}, Options{}, "UUID"},
		"odd limit": {[]string{id, "--output-max-size=ten"}, Options{}, "number"},
		"unknown":   {[]string{id, "--exec=1"}, Options{}, "not known"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := ParseStep(tc.args)
			if tc.wantErr != "" {
				g.Expect(err).To(MatchError(ContainSubstring(tc.wantErr)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(tc.want))
		})
	}
}

func FuzzKernelFiles(f *testing.F) {
	f.Add("eth0\t00000000\t010200C0\t0003\t0\t0\t100\t00000000\t0\t0\t0", "E:ID_SERIAL=x")
	f.Add("20010db8000000000000000000000000 40 00000000000000000000000000000000 00 00000000000000000000000000000000 00000100 00000001 00000000 00000001 eth0", "=")
	f.Fuzz(func(t *testing.T, line, file string) {
		for _, route := range []func([]string) (wire.Route, bool){route4, route6} {
			if r, ok := route(strings.Fields(line)); ok && netip.MustParseAddr(r.Destination).Zone() != "" {
				t.Errorf("odd route %v", r)
			}
		}
		fields(file, "=", func(string, string) {})
	})
}

package inventory

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/dryrun"
	"github.com/ironflow/ironflow/agent/scenario"
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

func TestACollectorThatHangsRunsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		release, runs := make(chan struct{}), 0
		machine := oneAtATime([]Collector{
			{"cpu", func(context.Context) (Apply, error) { return func(*wire.Inventory) {}, nil }},
			{"disks", func(context.Context) (Apply, error) {
				runs++
				<-release
				return func(i *wire.Inventory) { i.Disks = []wire.Disk{{Name: "sda"}} }, nil
			}},
			{"odd", func(context.Context) (Apply, error) { panic("odd hardware") }},
		})
		for range 5 {
			inv, err := Gather(t.Context(), machine, quiet)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(inv.Disks).To(BeEmpty())
		}
		g.Expect(runs).To(Equal(1), "what hangs is not begun again")
		close(release)
		synctest.Wait()
		inv, err := Gather(t.Context(), machine, quiet)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(inv.Disks).To(HaveLen(1))
		g.Expect(runs).To(Equal(2))

		ended, cancel := context.WithCancel(t.Context())
		cancel()
		release = make(chan struct{})
		_, err = Gather(ended, machine, quiet)
		g.Expect(err).To(MatchError(ErrEmpty))
		close(release)
		inv, err = Gather(t.Context(), machine, quiet)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(inv.Disks).To(HaveLen(1), "who gives up does not spoil the run for others")
	})
}

func TestInterfacesDoNotWaitForOtherParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		machine := func(network error) []Collector {
			return []Collector{
				{"disks", func(ctx context.Context) (Apply, error) { <-ctx.Done(); return nil, ctx.Err() }},
				{"network", func(context.Context) (Apply, error) {
					return func(i *wire.Inventory) { i.Interfaces = []wire.Interface{{Name: "eth0"}} }, network
				}},
				{"cpu", func(context.Context) (Apply, error) { return func(*wire.Inventory) {}, nil }},
			}
		}
		start := time.Now()
		inv, err := Gather(t.Context(), Network(machine(nil)), quiet)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(inv.Interfaces).To(Equal([]wire.Interface{{Name: "eth0"}}))
		g.Expect(time.Since(start)).To(BeZero())
		_, err = Gather(t.Context(), Network(machine(errors.New("no netlink"))), quiet)
		g.Expect(err).To(MatchError(ErrEmpty), "a check must not take a host for one without a network")
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

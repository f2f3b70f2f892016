package preflight_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/bios"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/preflight"
	"github.com/ironflow/ironflow/bmc/probe"
	"github.com/ironflow/ironflow/bmc/quirks"
	"github.com/ironflow/ironflow/test/bmc/simulator"
)

// TestProbedMachine: wishes against what the real probe says of a simulated machine.
func TestProbedMachine(t *testing.T) {
	cases := map[string]struct {
		switches []simulator.Quirk
		wishes   func(*preflight.Wishes)
		want     []string
	}{
		"all that works": {wishes: func(w *preflight.Wishes) {
			raid(preflight.Volume{Level: "1", Controller: "RAID.1", Disks: []string{"Disk.0", "Disk.1"}}, preflight.Volume{Level: "5", SizeGiB: 1000, Count: 3})(w)
			set("SysProfile", "Custom", "PowerDelaySeconds", 90, "QuietBoot", "false", "AssetTag", "rack 7")(w)
			update(preflight.Update{Component: "bios", URL: "http://192.0.2.9/bios"})(w)
			w.BootMode = "UEFISecureBoot"
		}},
		"volumes that cannot be": {
			wishes: raid(preflight.Volume{Level: "6", SizeGiB: 10}, preflight.Volume{Level: "1", Controller: "RAID.1", Disks: []string{"Disk.0", "Disk.99"}}),
			want:   []string{"RAIDLevel", "RAIDDiskUnknown"},
		},
		"settings that cannot be": {
			wishes: set("SysProfile", "Loud", "PowerDelaySeconds", 5, "SystemBiosDate", "today", "SetupPassword", "x", "Wings", "x"),
			want:   []string{"SettingUnknown", "SettingProtected", "SettingLocked", "SettingValue", "SettingValue"},
		},
		"no volumes":      {switches: []simulator.Quirk{simulator.VolumesReadOnly}, wishes: raid(preflight.Volume{Level: "1", SizeGiB: 10}), want: []string{"VolumesNotOffered"}},
		"no BIOS":         {switches: []simulator.Quirk{simulator.NoBIOS}, wishes: set("SysProfile", "Custom"), want: []string{"SettingsNotOffered"}},
		"no secure boot":  {switches: []simulator.Quirk{simulator.NoSecureBoot}, wishes: func(w *preflight.Wishes) { w.BootMode = "UEFISecureBoot" }, want: []string{"SecureBootNotOffered"}},
		"no HTTP boot":    {switches: []simulator.Quirk{simulator.NoHTTPBoot}, wishes: boots("redfish-uefihttp", preflight.HTTPBoot), want: []string{"HTTPBootNotOffered"}},
		"no media":        {switches: []simulator.Quirk{simulator.NoVirtualMedia}, want: []string{"VirtualMediaNotOffered"}},
		"no updates":      {switches: []simulator.Quirk{simulator.NoSimpleUpdate}, wishes: update(preflight.Update{Component: "bmc", URL: "https://192.0.2.9/bmc"}), want: []string{"UpdatesNotOffered"}},
		"types not said":  {switches: []simulator.Quirk{simulator.NoRAIDType}, wishes: raid(preflight.Volume{Level: "6", SizeGiB: 10})},
		"bounds of -1":    {switches: []simulator.Quirk{simulator.RegistryNegative}, wishes: set("PowerDelaySeconds", 5)},
		"without wishes":  {switches: []simulator.Quirk{simulator.VolumesReadOnly, simulator.NoBIOS, simulator.NoSecureBoot, simulator.NoHTTPBoot, simulator.NoSimpleUpdate}},
		"only unreadable": {switches: []simulator.Quirk{simulator.BIOSFails}, wishes: set("Wings", "x")},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			report, settings, registry := probed(t, c.switches)
			w := plain()
			if c.wishes != nil {
				c.wishes(&w)
			}
			var got []string
			var messages strings.Builder
			for _, m := range preflight.Check(w, report, registry, settings) {
				got = append(got, m.Reason)
				fmt.Fprintln(&messages, m.Field, m.Message)
			}
			g.Expect(got).To(ConsistOf(c.want), messages.String())
		})
	}
}

// probed reads a simulated machine of a vendor without quirks.
func probed(t *testing.T, switches []simulator.Quirk) (*v1alpha1.BMCReport, *bios.Settings, *bios.Registry) {
	t.Helper()
	g := NewWithT(t)
	s := simulator.New(simulator.Options{Username: "admin", Password: "simulated"})
	t.Cleanup(s.Close)
	machine := simulator.System{ID: "1", Manufacturer: "Maker", Model: "One", Power: simulator.On, Firmware: simulator.Firmware{BIOS: "2.0.1", BMC: "7.1"}, Quirks: map[simulator.Quirk]int{}}
	for _, q := range switches {
		machine.Quirks[q] = simulator.Always
	}
	controller := simulator.Storage{ID: "RAID.1", Name: "RAID controller", RAIDTypes: []string{"RAID0", "RAID1", "RAID5"}}
	for i := range 8 {
		controller.Drives = append(controller.Drives, simulator.Drive{ID: fmt.Sprintf("Disk.%d", i), CapacityBytes: 960e9})
	}
	machine.Storage = []simulator.Storage{controller}
	g.Expect(s.AddSystem(machine)).To(Succeed())
	server := httptest.NewTLSServer(s)
	t.Cleanup(server.Close)
	bmc, err := client.New(client.Target{URL: server.URL, Username: "admin", Password: "simulated", TLS: client.Trust{Insecure: true}}, client.Options{Rate: 1e6, Burst: 1e6})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = bmc.Close(t.Context()) })
	report, err := probe.Probe(t.Context(), bmc, probe.Options{Username: "admin", Quirks: func(id probe.Identity) []v1alpha1.AppliedQuirk {
		return quirks.New().Match(quirks.Identity{Vendor: id.Vendor, Model: id.Model, Manager: id.ManagerModel, Version: id.BMCVersion})
	}})
	g.Expect(err).NotTo(HaveOccurred())
	where := bios.Where{System: report.System}
	if report.BIOS != nil {
		where.RegistryPath = report.BIOS.RegistryPath
	}
	settings, registry, _ := bios.Read(t.Context(), bmc, where)
	return report, settings, registry
}

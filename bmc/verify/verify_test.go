package verify_test

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/bios"
	"github.com/ironflow/ironflow/bmc/preflight"
	"github.com/ironflow/ironflow/bmc/verify"
)

func registry(t *testing.T) *bios.Registry {
	t.Helper()
	r, err := bios.ParseRegistry([]byte(`{"RegistryEntries": {"Attributes": [
		{"AttributeName": "Turbo", "Type": "Enumeration", "Value": [{"ValueName": "Turbo1", "ValueDisplayName": "On, always"}, {"ValueName": "Turbo0"}]},
		{"AttributeName": "Mode", "Type": "Enumeration", "Value": [{"ValueName": "Enabled"}, {"ValueName": "On"}, {"ValueName": "Off"}]},
		{"AttributeName": "Boot", "Type": "Boolean"},
		{"AttributeName": "Secret", "Type": "Password"}
	]}}`))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSettings(t *testing.T) {
	cases := map[string]struct {
		name           string
		wish           any
		ironic         string
		current        any
		pending        any
		wanted, seen   string
		by             string
		withoutIronic  bool
		withoutCurrent bool
	}{
		"the same":                      {name: "A", wish: "x", ironic: "x", current: "x"},
		"a number and its text":         {name: "A", wish: 3, ironic: "3", current: json.Number("3")},
		"a text and its number":         {name: "A", wish: "3", ironic: "3", current: json.Number("3.0")},
		"Enable and Enabled":            {name: "A", wish: "Enabled", ironic: "Enable", current: "enable"},
		"a switch as Ironic keeps it":   {name: "Boot", wish: "true", ironic: "1", current: true},
		"a display name":                {name: "Turbo", wish: "Turbo1", ironic: "On, always", current: "Turbo1"},
		"two words that are two values": {name: "Mode", wish: "Enabled", ironic: "Enabled", current: "On", wanted: "Enabled", seen: "On", by: verify.ByBMC},
		"a password":                    {name: "Secret", wish: "a", ironic: "b", current: "b"},
		"null":                          {name: "A", wish: "x", ironic: "x", current: nil},
		"both differ":                   {name: "A", wish: "x", ironic: "y", current: "y", wanted: "x", seen: "y", by: verify.ByBoth},
		"Ironic differs":                {name: "A", wish: "x", ironic: "y", current: "x", wanted: "x", seen: "y", by: verify.ByIronic},
		"the BMC differs":               {name: "A", wish: "x", ironic: "x", current: "y", wanted: "x", seen: "y", by: verify.ByBMC},
		"the BMC waits":                 {name: "A", wish: "x", ironic: "x", current: "y", pending: "x", wanted: "x", seen: "y until a restart makes it x", by: verify.ByBMC},
		"a number differs":              {name: "A", wish: 3, ironic: "3", current: json.Number("4"), wanted: "3", seen: "4", by: verify.ByBMC},
		"Ironic does not know":          {name: "A", wish: "x", current: "y", withoutIronic: true, wanted: "x", seen: "y", by: verify.ByBMC},
		"nobody knows":                  {name: "A", wish: "x", withoutIronic: true, withoutCurrent: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			ironic := verify.Ironic{Settings: map[string]string{c.name: c.ironic}}
			bmc := verify.BMC{Registry: registry(t), Settings: &bios.Settings{Current: map[string]any{c.name: c.current}, Pending: map[string]any{}}}
			if c.pending != nil {
				bmc.Settings.Pending[c.name] = c.pending
			}
			if c.withoutIronic {
				ironic.Settings = nil
			}
			if c.withoutCurrent {
				bmc.Settings = nil
			}
			drifts := verify.Compare(verify.Wanted{Settings: map[string]any{c.name: c.wish}}, ironic, bmc)
			if c.by == "" {
				g.Expect(drifts).To(BeEmpty())
				return
			}
			g.Expect(drifts).To(Equal([]verify.Drift{{Kind: "HostFirmwareSettings", Field: "spec.settings." + c.name, Wanted: c.wanted, Seen: c.seen, By: c.by}}))
		})
	}
}

// report has one controller with volumes, all of which are known.
func report(volumes ...v1alpha1.VolumeReport) *v1alpha1.BMCReport {
	return &v1alpha1.BMCReport{
		Capabilities: []v1alpha1.Capability{{Name: "StorageDiscovered", State: v1alpha1.Yes}},
		Storage: []v1alpha1.StorageReport{
			{ID: "AHCI", Controllers: 1, RAIDTypes: &[]string{}, CreatesVolumes: v1alpha1.No, Volumes: []v1alpha1.VolumeReport{{ID: "disk"}}},
			{ID: "RAID", Controllers: 1, CreatesVolumes: v1alpha1.Yes, Volumes: volumes},
		},
	}
}

func TestVolumes(t *testing.T) {
	const first = "spec.raid.hardwareRAIDVolumes[0]"
	mirror := preflight.Volume{Level: "1", SizeGiB: 100, Disks: []string{"D1", "D0"}}
	good := v1alpha1.VolumeReport{ID: "V", RAIDType: "RAID1", CapacityBytes: 100 << 30, Drives: []string{"D0", "D1"}}
	change := func(f func(*v1alpha1.VolumeReport)) *v1alpha1.BMCReport {
		v := good
		f(&v)
		return report(v)
	}
	cases := map[string]struct {
		want   []preflight.Volume
		ironic []verify.Volume
		report *v1alpha1.BMCReport
		fields []string
		seen   string
	}{
		"as wished":                {want: []preflight.Volume{mirror}, report: report(good), ironic: []verify.Volume{{Level: "1", Bytes: 99 << 30}}},
		"in older words":           {want: []preflight.Volume{mirror}, report: change(func(v *v1alpha1.VolumeReport) { v.RAIDType = "Mirrored" })},
		"level 6 in older words":   {want: []preflight.Volume{{Level: "6"}}, report: change(func(v *v1alpha1.VolumeReport) { v.RAIDType = "StripedWithParity" })},
		"level 1+0":                {want: []preflight.Volume{{Level: "1+0"}}, report: change(func(v *v1alpha1.VolumeReport) { v.RAIDType = "RAID10" })},
		"rounded":                  {want: []preflight.Volume{mirror}, report: change(func(v *v1alpha1.VolumeReport) { v.CapacityBytes = 99 << 30 })},
		"of which little is known": {want: []preflight.Volume{mirror}, report: report(v1alpha1.VolumeReport{ID: "V"})},
		"as large as possible":     {want: []preflight.Volume{{Level: "1"}}, report: report(good)},
		"nothing was wished for":   {report: report(good)},
		"nobody knows":             {want: []preflight.Volume{mirror}},
		"the host is off":          {want: []preflight.Volume{mirror}, report: func() *v1alpha1.BMCReport { r := report(); r.Capabilities = nil; return r }()},
		"cleared":                  {want: []preflight.Volume{}, report: report()},
		"not cleared":              {want: []preflight.Volume{}, report: report(good), fields: []string{"spec.raid.hardwareRAIDVolumes"}, seen: "besides: RAID1 of 100 GiB"},
		"of another level":         {want: []preflight.Volume{mirror}, report: change(func(v *v1alpha1.VolumeReport) { v.RAIDType = "RAID0" }), fields: []string{first}, seen: "RAID0 of 100 GiB"},
		"of another size":          {want: []preflight.Volume{mirror}, report: change(func(v *v1alpha1.VolumeReport) { v.CapacityBytes = 80 << 30 }), fields: []string{first}, seen: "RAID1 of 80 GiB"},
		"on other disks":           {want: []preflight.Volume{mirror}, report: change(func(v *v1alpha1.VolumeReport) { v.Drives = []string{"D0", "D2"} }), fields: []string{first}},
		"on fewer disks": {
			want:   []preflight.Volume{{Level: "5", Count: 4}},
			report: change(func(v *v1alpha1.VolumeReport) { v.RAIDType, v.Drives = "RAID5", []string{"a", "b", "c"} }),
			fields: []string{first},
		},
		"gone":                          {want: []preflight.Volume{mirror}, report: report(), fields: []string{first}, seen: "no volume"},
		"gone with Ironic too":          {want: []preflight.Volume{mirror, {Level: "0"}}, ironic: []verify.Volume{{Level: "0"}}, fields: []string{first}, seen: "0"},
		"one of another":                {want: []preflight.Volume{mirror}, report: report(good, v1alpha1.VolumeReport{ID: "W", RAIDType: "RAID0"}), fields: []string{"spec.raid.hardwareRAIDVolumes"}},
		"the choosy wish goes first":    {want: []preflight.Volume{{Level: "1"}, mirror}, report: report(good, v1alpha1.VolumeReport{ID: "W", RAIDType: "RAID1", Drives: []string{"E0", "E1"}})},
		"besides a single disk":         {want: []preflight.Volume{mirror}, report: report(good, v1alpha1.VolumeReport{ID: "W", RAIDType: "RawDevice"})},
		"besides one that was not read": {want: []preflight.Volume{mirror}, report: report(good, v1alpha1.VolumeReport{ID: "W"})},
		"Ironic shows none":             {want: []preflight.Volume{mirror}, ironic: []verify.Volume{}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var fields []string
			for _, d := range verify.Compare(verify.Wanted{Volumes: c.want}, verify.Ironic{Volumes: c.ironic}, verify.BMC{Report: c.report}) {
				fields = append(fields, d.Field)
				g.Expect(d.Kind).To(Equal("BareMetalHost"))
				g.Expect(d.Seen).To(ContainSubstring(c.seen))
				g.Expect(d.Wanted).NotTo(BeEmpty())
			}
			g.Expect(fields).To(Equal(c.fields))
		})
	}
}

func TestVersions(t *testing.T) {
	card := v1alpha1.BMCReport{Firmware: []v1alpha1.FirmwareReport{{ID: "Installed-NIC.Slot.1", Version: "22.1"}}}
	cases := map[string]struct {
		want, ironic map[string]string
		report       *v1alpha1.BMCReport
		drifts       []verify.Drift
	}{
		"the same, in the vendor's form":    {ironic: map[string]string{"bmc": "iLO 6 v1.57"}, report: &v1alpha1.BMCReport{BMCVersion: "1.57"}},
		"the same, with a date":             {ironic: map[string]string{"bios": "U46 v1.72 (08/01/2024)"}, report: &v1alpha1.BMCReport{BIOSVersion: "U46 v1.72"}},
		"the same, without dots":            {ironic: map[string]string{"bios": "TQE123A"}, report: &v1alpha1.BMCReport{BIOSVersion: "TQE123A build 5"}},
		"a card":                            {ironic: map[string]string{"nic:NIC.Slot.1": "22.1.0"}, report: &card},
		"a card that the BMC does not list": {ironic: map[string]string{"nic:X": "22.1.0"}, report: &card},
		"not known":                         {ironic: map[string]string{"bmc": ""}, report: &v1alpha1.BMCReport{BMCVersion: "1.57"}},
		"no report":                         {ironic: map[string]string{"bmc": "1"}},
		"the BMC shows another one": {
			ironic: map[string]string{"bmc": "1.57"}, report: &v1alpha1.BMCReport{BMCVersion: "1.55"},
			drifts: []verify.Drift{{Kind: "HostFirmwareComponents", Field: "status.components.bmc", Wanted: "1.57", Seen: "1.55", By: verify.ByBMC}},
		},
		"both show another one": {
			want: map[string]string{"bios": "2.0"}, ironic: map[string]string{"bios": "1.9"}, report: &v1alpha1.BMCReport{BIOSVersion: "1.9"},
			drifts: []verify.Drift{{Kind: "HostFirmwareComponents", Field: "status.components.bios", Wanted: "2.0", Seen: "1.9", By: verify.ByBoth}},
		},
		"each shows its own": {
			want: map[string]string{"bios": "2.0"}, ironic: map[string]string{"bios": "1.9"}, report: &v1alpha1.BMCReport{BIOSVersion: "1.8"},
			drifts: []verify.Drift{
				{Kind: "HostFirmwareComponents", Field: "status.components.bios", Wanted: "2.0", Seen: "1.9", By: verify.ByIronic},
				{Kind: "HostFirmwareComponents", Field: "status.components.bios", Wanted: "2.0", Seen: "1.8", By: verify.ByBMC},
			},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(verify.Compare(verify.Wanted{Versions: c.want}, verify.Ironic{Versions: c.ironic}, verify.BMC{Report: c.report})).To(Equal(c.drifts))
		})
	}
}

func TestIronicVolumes(t *testing.T) {
	g := NewWithT(t)
	var config map[string]any
	g.Expect(json.Unmarshal([]byte(`{"logical_disks": [{"raid_level": "1+0", "size_gb": 100, "physical_disks": ["a", 5]}, {"raid_level": 5, "size_gb": 1e300}, "x"]}`), &config)).To(Succeed())
	g.Expect(verify.IronicVolumes(config)).To(Equal([]verify.Volume{{Level: "1+0", Bytes: 100 << 30, Drives: []string{"a"}}, {}}))
	g.Expect(verify.IronicVolumes(nil)).To(BeNil())
}

func TestDriftReads(t *testing.T) {
	d := verify.Drift{Kind: "HostFirmwareSettings", Field: "spec.settings.A", Wanted: "x", Seen: "y", By: verify.ByBMC}
	NewWithT(t).Expect(d.String()).To(Equal("spec.settings.A of HostFirmwareSettings is to be x, and the BMC shows y."))
}

package preflight_test

import (
	"encoding/json"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/bios"
	"github.com/ironflow/ironflow/bmc/preflight"
	"github.com/ironflow/ironflow/bmc/quirks"
)

const (
	host     = "BareMetalHost "
	settings = "HostFirmwareSettings "
	updates  = "HostFirmwareComponents "
	volume   = host + "spec.raid.hardwareRAIDVolumes[0]"
)

// test is a case: wishes against a machine, and what does not fit.
type test struct {
	wishes func(*preflight.Wishes)
	// machine changes the one that can do everything.
	machine func(*machine)
	// want are the mismatches as "Kind field Reason"; says are parts of their messages.
	want, says []string
}

// machine is what is known of a machine.
type machine struct {
	report   v1alpha1.BMCReport
	registry *bios.Registry
	settings *bios.Settings
}

// can sets the state of a capability.
func (m *machine) can(name string, state v1alpha1.CapabilityState, proof string) {
	for i, c := range m.report.Capabilities {
		if c.Name == name {
			m.report.Capabilities[i] = v1alpha1.Capability{Name: name, State: state, Proof: proof}
		}
	}
}

// is makes the machine one of a vendor, with its quirks.
func (m *machine) is(vendor, model, manager, version string) {
	m.report.Vendor, m.report.Model, m.report.ManagerModel, m.report.BMCVersion = vendor, model, manager, version
	m.report.Quirks = quirks.New().Match(quirks.Identity{Vendor: vendor, Model: model, Manager: manager, Version: version})
}

// site adds a quirk.
func (m *machine) site(effect quirks.Effect, value string) {
	m.report.Quirks = append(m.report.Quirks, v1alpha1.AppliedQuirk{ID: "site", Effect: string(effect), Value: value, Advice: "We know it."})
}

// storage is a controller with drives of 1 TB.
func storage(id string, types *[]string, drives ...string) v1alpha1.StorageReport {
	s := v1alpha1.StorageReport{ID: id, Name: id + " of somebody", Controllers: 1, RAIDTypes: types, CreatesVolumes: v1alpha1.Yes}
	for _, d := range drives {
		s.Drives = append(s.Drives, v1alpha1.DriveReport{ID: d, CapacityBytes: 1 << 40, MediaType: "SSD", Protocol: "SAS", Health: v1alpha1.HealthOK})
	}
	return s
}

// able is a machine that can do everything.
func able() *machine {
	m := &machine{report: v1alpha1.BMCReport{
		Vendor: "Maker", Model: "One", ManagerModel: "BMC", BMCVersion: "1.2.3", MediaProtocols: []string{"http", "https"},
		UpdateProtocols: []string{"https"}, MaxImageBytes: 100 << 20,
		Storage: []v1alpha1.StorageReport{
			storage("AHCI", &[]string{}, "S0"),
			storage("RAID", &[]string{"RAID0", "RAID1", "RAID5", "RAID6", "RAID10", "RAID50", "RAID60"}, "D0", "D1", "D2", "D3", "D4", "D5", "D6", "D7"),
		},
		Firmware: []v1alpha1.FirmwareReport{
			{ID: "Installed-BIOS", Name: "BIOS", Version: "2.0.0", Updateable: new(true), LowestSupportedVersion: "1.5.0"},
			{ID: "BMC", Name: "BMC image", Version: "1.2.3", Updateable: new(true)},
		},
		BIOS: &v1alpha1.BIOSReport{Attributes: 9},
	}}
	for _, name := range append([]string{"RAID", "StorageDiscovered", "UpdateLicence"}, quirks.Capabilities...) {
		m.report.Capabilities = append(m.report.Capabilities, v1alpha1.Capability{Name: name, State: v1alpha1.Yes})
	}
	m.settings = &bios.Settings{Pending: map[string]any{}, Current: map[string]any{
		"Turbo": "On", "Cores": json.Number("8"), "Asset": "old", "Boot": true, "Locked": "a", "Grey": "a", "Secret": nil, "Odd_0055": "a",
		"Free": json.Number("1"), "Word": "w", "BootMode": "Uefi", "ProcVirtualization": "Disabled", "TpmSecurity": "Off", "Note": "", "Profile": "Custom",
		"SecureBoot": "Enabled",
	}}
	registry, err := bios.ParseRegistry([]byte(`{"RegistryEntries": {"Attributes": [
		{"AttributeName": "Turbo", "Type": "Enumeration", "Value": [{"ValueName": "On", "ValueDisplayName": "Enabled"}, {"ValueName": "Off"}]},
		{"AttributeName": "Cores", "Type": "Integer", "LowerBound": 2, "UpperBound": 64, "ScalarIncrement": 2},
		{"AttributeName": "Asset", "Type": "String", "MinLength": 2, "MaxLength": 5, "ValueExpression": "^[a-z]*$"},
		{"AttributeName": "Boot", "Type": "Boolean"},
		{"AttributeName": "Locked", "Type": "String", "ReadOnly": true},
		{"AttributeName": "Grey", "Type": "String"},
		{"AttributeName": "Secret", "Type": "Password"},
		{"AttributeName": "Note", "Type": "String", "WriteOnly": true},
		{"AttributeName": "Profile", "Type": "Enumeration", "Value": [{"ValueName": "Custom"}, {"ValueName": "Quiet"}]},
		{"AttributeName": "BootMode", "Type": "Enumeration", "Value": [{"ValueName": "Uefi"}, {"ValueName": "Bios"}]},
		{"AttributeName": "SecureBoot", "Type": "Enumeration", "Value": [{"ValueName": "Enabled"}, {"ValueName": "Disabled"}]}
	], "Dependencies": [
		{"Type": "Map", "Dependency": {"MapFrom": [{"MapFromAttribute": "Turbo", "MapFromProperty": "CurrentValue", "MapFromCondition": "EQU", "MapFromValue": "On"}],
			"MapToAttribute": "Grey", "MapToProperty": "GrayOut", "MapToValue": true}},
		{"Type": "Map", "Dependency": {"MapFrom": [{"MapFromAttribute": "Profile", "MapFromProperty": "CurrentValue", "MapFromCondition": "EQU", "MapFromValue": "Quiet"}],
			"MapToAttribute": "Turbo", "MapToProperty": "CurrentValue", "MapToValue": "Off"}},
		{"Type": "Map", "Dependency": {"MapFrom": [{"MapFromAttribute": "Profile", "MapFromProperty": "CurrentValue", "MapFromCondition": "EQU", "MapFromValue": "Quiet"}],
			"MapToAttribute": "Cores", "MapToProperty": "UpperBound", "MapToValue": 16}}
	]}}`))
	if err != nil {
		panic(err)
	}
	m.registry = registry
	return m
}

// plain are wishes that every machine meets.
func plain() preflight.Wishes {
	return preflight.Wishes{
		Address:   preflight.Address{Scheme: "redfish-virtualmedia", Boot: preflight.VirtualMedia, Redfish: true},
		LiveImage: preflight.LiveImage{Scheme: "https", Bytes: 1 << 30},
	}
}

// raid are wishes for volumes.
func raid(volumes ...preflight.Volume) func(*preflight.Wishes) {
	return func(w *preflight.Wishes) { w.Volumes = volumes }
}

// set are wishes for settings, by name and value.
func set(pairs ...any) func(*preflight.Wishes) {
	return func(w *preflight.Wishes) {
		w.Settings = map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			w.Settings[pairs[i].(string)] = pairs[i+1]
		}
	}
}

func update(u preflight.Update) func(*preflight.Wishes) {
	return func(w *preflight.Wishes) { w.Updates = []preflight.Update{u} }
}

func boots(scheme string, kind preflight.BootKind) func(*preflight.Wishes) {
	return func(w *preflight.Wishes) { w.Address.Scheme, w.Address.Boot = scheme, kind }
}

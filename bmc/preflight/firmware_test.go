package preflight_test

import (
	"encoding/json"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/bios"
	"github.com/ironflow/ironflow/bmc/preflight"
	"github.com/ironflow/ironflow/bmc/quirks"
)

const setting = settings + "spec.settings."

// undescribed takes the registry away.
func undescribed(m *machine) { m.registry = nil }

var settingCases = map[string]test{
	"settings that fit":    {wishes: set("Turbo", "Off", "Cores", 16, "Asset", "abc", "Boot", "false", "Profile", "Custom")},
	"settings as they are": {wishes: set("Locked", "a", "Turbo", "On"), machine: func(m *machine) { m.settings.Pending = map[string]any{"Asset": "x"} }},
	"a number as a text":   {wishes: set("Cores", "16")},
	"nothing is known":     {wishes: set("Nothing", "x"), machine: func(m *machine) { m.registry, m.settings = nil, nil }},
	"no registry":          {wishes: set("Locked", "b", "Turbo", "Fast"), machine: undescribed},
	"a registry alone":     {wishes: set("Nothing", "x", "Turbo", "Off"), machine: func(m *machine) { m.settings = nil }},
	"a registry alone, read only": {
		wishes: set("Locked", "b"), machine: func(m *machine) { m.settings = nil },
		want: []string{setting + "Locked SettingLocked"},
	},

	"settings that cannot be set": {
		wishes: set("Turbo", "Off"), machine: func(m *machine) { m.can("BIOSSettings", v1alpha1.No, "there is no settings object") },
		want: []string{settings + "spec.settings SettingsNotOffered"}, says: []string{"1 BIOS setting is asked for", "there is no settings object"},
	},
	"settings of Gigabyte": {
		wishes: set("Turbo", "Off"), machine: func(m *machine) { m.is("Giga Computing", "R283", "", "") },
		want: []string{settings + "spec.settings SettingsNotOffered"},
	},
	"settings that may be set": {wishes: set("Turbo", "Off"), machine: func(m *machine) { m.can("BIOSSettings", v1alpha1.Unknown, "") }},

	"a name in other letters": {wishes: set("turbo", "Off"), want: []string{setting + "turbo SettingUnknown"}, says: []string{"write Turbo"}},
	"a name without suffix":   {wishes: set("Odd", "b"), want: []string{setting + "Odd SettingUnknown"}, says: []string{"write Odd_0055"}},
	"a name of nothing":       {wishes: set("Wings", "b"), want: []string{setting + "Wings SettingUnknown"}, says: []string{"one of the names in status.settings"}},

	"read only": {wishes: set("Locked", "b"), want: []string{setting + "Locked SettingLocked"}, says: []string{`"b" is asked for "Locked", which is read only: remove it`}},
	"greyed out": {
		wishes: set("Grey", "b"),
		want:   []string{setting + "Grey SettingLocked"}, says: []string{`greyed out while Turbo is "On": change that as well`},
	},
	"opened by another wish": {wishes: set("Grey", "b", "Turbo", "Off")},

	"a password": {wishes: set("Secret", "hidden"), want: []string{setting + "Secret SettingProtected"}, says: []string{"is a password"}},
	"a password by its name": {
		wishes:  set("SetupPassword", "hidden"),
		machine: func(m *machine) { m.registry, m.settings = nil, nil },
		want:    []string{setting + "SetupPassword SettingProtected"},
	},
	"the TPM":                        {wishes: set("TpmSecurity", "On"), want: []string{setting + "TpmSecurity SettingProtected"}, says: []string{"by hand"}},
	"not the TPM":                    {wishes: set("FastPMode", "On"), machine: func(m *machine) { m.registry, m.settings = nil, nil }},
	"the TPM as it is":               {wishes: set("TpmSecurity", "Off")},
	"a setting that is not readable": {wishes: set("Note", "x"), want: []string{setting + "Note SettingUnreadable"}},

	"a value that is none":        {wishes: set("Turbo", "Fast"), want: []string{setting + "Turbo SettingValue"}, says: []string{`"Fast" is asked for "Turbo", and it takes one of On, Off`}},
	"a value by its display name": {wishes: set("Turbo", "Enabled"), want: []string{setting + "Turbo SettingValue"}, says: []string{`the machine writes it as "On"`}},
	"a value in other letters":    {wishes: set("Turbo", "off"), want: []string{setting + "Turbo SettingValue"}, says: []string{`writes it as "Off"`}},
	"a switch of words":           {wishes: set("Boot", "Disabled"), want: []string{setting + "Boot SettingValue"}, says: []string{`the switch takes "true" and "false"`}},
	"a number that is too small":  {wishes: set("Cores", 0), want: []string{setting + "Cores SettingValue"}, says: []string{"numbers from 2 to 64"}},
	"a number that is too large":  {wishes: set("Cores", "66"), want: []string{setting + "Cores SettingValue"}},
	"a number between the steps":  {wishes: set("Cores", 5), want: []string{setting + "Cores SettingValue"}, says: []string{"in steps of 2"}},
	"a number over a bound that another wish sets": {
		wishes: set("Cores", 32, "Profile", "Quiet"),
		want:   []string{setting + "Cores SettingValue"}, says: []string{"numbers from 2 to 16"},
	},
	"a text that is too short": {wishes: set("Asset", "a"), want: []string{setting + "Asset SettingValue"}, says: []string{"at least 2 characters"}},
	"a text that is too long":  {wishes: set("Asset", "abcdef"), want: []string{setting + "Asset SettingValue"}},
	"a text of other letters":  {wishes: set("Asset", "A-1"), want: []string{setting + "Asset SettingValue"}, says: []string{"meet the expression"}},

	"a number for a switch":        {wishes: set("Boot", 0), want: []string{setting + "Boot SettingType"}, says: []string{`write "true" or "false"`}},
	"a number for a text":          {wishes: set("Asset", 123), want: []string{setting + "Asset SettingType"}, says: []string{`as "123"`}},
	"a text for a number":          {wishes: set("Cores", "many"), want: []string{setting + "Cores SettingType"}},
	"a text where a number is now": {wishes: set("Free", "2"), want: []string{setting + "Free SettingType"}, says: []string{"a number without quotes"}},
	"a number where a text is now": {wishes: set("Word", 2), want: []string{setting + "Word SettingType"}, says: []string{"write it in quotes"}},
	"a number where one is now":    {wishes: set("Free", 2)},

	"a value that another wish decides": {
		wishes: set("Profile", "Quiet", "Turbo", "On"), machine: func(m *machine) { m.settings.Current["Turbo"] = "Off" },
		want: []string{setting + "Turbo SettingDependency"}, says: []string{`"On" is asked for "Turbo", which is "Off" while Profile is "Quiet"`},
	},
	"a value that another wish decides likewise": {wishes: set("Profile", "Quiet", "Turbo", "Off")},

	"legacy boot against the host": {wishes: set("BootMode", "Bios"), want: []string{setting + "BootMode SettingBootMode"}, says: []string{"spec.bootMode of the host is UEFI"}},
	"legacy boot with the host":    {wishes: func(w *preflight.Wishes) { w.BootMode = "legacy"; set("BootMode", "Bios")(w) }},
	"UEFI against the host": {
		wishes:  func(w *preflight.Wishes) { w.BootMode = "legacy"; set("BootMode", "Uefi")(w) },
		machine: func(m *machine) { m.settings.Current["BootMode"] = "Bios" },
		want:    []string{setting + "BootMode SettingBootMode"},
	},
	"a boot mode with a number": {wishes: set("BootModeSelect_0055", "Legacy"), machine: func(m *machine) { m.settings = nil }, want: []string{setting + "BootModeSelect_0055 SettingBootMode"}},
	"no secure boot against the host": {
		wishes: func(w *preflight.Wishes) { w.BootMode = "UEFISecureBoot"; set("SecureBoot", "Disabled")(w) },
		want:   []string{setting + "SecureBoot SettingBootMode"},
	},
	"no secure boot": {wishes: set("SecureBoot", "Disabled")},

	"spec.firmware that differs": {
		wishes: func(w *preflight.Wishes) { w.Firmware = map[string]bool{"virtualizationEnabled": true} },
		want:   []string{host + "spec.firmware.virtualizationEnabled FirmwareSwitch"}, says: []string{"write the setting ProcVirtualization into HostFirmwareSettings"},
	},
	"spec.firmware as it is":          {wishes: func(w *preflight.Wishes) { w.Firmware = map[string]bool{"virtualizationEnabled": false} }},
	"spec.firmware that is not known": {wishes: func(w *preflight.Wishes) { w.Firmware = map[string]bool{"sriovEnabled": true} }},
	"spec.firmware beside the setting": {wishes: func(w *preflight.Wishes) {
		w.Firmware = map[string]bool{"virtualizationEnabled": true}
		set("ProcVirtualization", "Enabled")(w)
	}},

	"settings of somebody else": {
		wishes: set("Turbo", "Off"), machine: func(m *machine) { m.settings.Pending = map[string]any{"Asset": "x", "Turbo": "Off"} },
		want: []string{settings + "spec.settings PendingChanges"}, says: []string{"applied with these: Asset."},
	},
	"settings that wait as wished": {wishes: set("Cores", 16), machine: func(m *machine) { m.settings.Pending = map[string]any{"Cores": json.Number("16")} }},
	"settings of somebody else, by number": {
		wishes: set("Turbo", "Off"),
		machine: func(m *machine) {
			m.settings, m.report.BIOS.Pending = &bios.Settings{Current: m.settings.Current}, 2
		},
		want: []string{settings + "spec.settings PendingChanges"}, says: []string{"2 BIOS settings of somebody else wait"},
	},
	"jobs of Dell": {
		wishes: raid(mirror("D0", "D1")),
		machine: func(m *machine) {
			m.is("Dell", "R750", "iDRAC9", "7.00.00.00")
			m.report.PendingJobs = []string{"JID_1: Configure: BIOS (Scheduled)"}
		},
		want: []string{host + "spec.raid.hardwareRAIDVolumes PendingChanges"}, says: []string{"JID_1"},
	},
	"jobs of Dell before settings": {
		wishes: set("Turbo", "Off"), machine: func(m *machine) { m.report.Vendor, m.report.PendingJobs = "Dell", []string{"JID_1"} },
		want: []string{settings + "spec.settings PendingChanges"},
	},
	"jobs of Dell before an update": {
		wishes:  update(preflight.Update{Component: "bios", URL: "https://192.0.2.9/x"}),
		machine: func(m *machine) { m.report.Vendor, m.report.PendingJobs = "Dell", []string{"JID_1"} },
		want:    []string{updates + "spec.updates PendingChanges"},
	},
	"jobs of Dell, and no wishes": {machine: func(m *machine) { m.report.Vendor, m.report.PendingJobs = "Dell", []string{"JID_1"} }},
	"jobs of others":              {wishes: raid(mirror("D0", "D1")), machine: func(m *machine) { m.report.PendingJobs = []string{"Task 1"} }},
}

var updateCases = map[string]test{
	"an update that fits":       {wishes: update(preflight.Update{Component: "bios", URL: "https://192.0.2.9/x", Version: "2.1.0", Bytes: 100 << 20})},
	"an update of a card":       {wishes: update(preflight.Update{Component: "nic:NIC.1", URL: "https://192.0.2.9/x"})},
	"an update through Ironic":  {wishes: update(preflight.Update{Component: "bmc", URL: "file:///images/x"})},
	"schemes that are not said": {wishes: update(preflight.Update{Component: "bmc", URL: "http://192.0.2.9/x"}), machine: func(m *machine) { m.report.UpdateProtocols = nil }},

	"no updates": {
		wishes:  update(preflight.Update{Component: "bmc", URL: "https://192.0.2.9/x"}),
		machine: func(m *machine) { m.can("SimpleUpdate", v1alpha1.No, "there is no SimpleUpdate") },
		want:    []string{updates + "spec.updates UpdatesNotOffered"}, says: []string{"1 update is asked for", "there is no SimpleUpdate"},
	},
	"no updates of a GB200": {
		wishes:  update(preflight.Update{Component: "bmc", URL: "https://192.0.2.9/x"}),
		machine: func(m *machine) { m.is("NVIDIA", "GB200 NVL", "OpenBMC", "24.12") },
		want:    []string{updates + "spec.updates UpdatesNotOffered"},
	},
	"a fault of the version": {
		wishes:  update(preflight.Update{Component: "bmc", URL: "https://192.0.2.9/x"}),
		machine: func(m *machine) { m.site(quirks.KnownBadVersion, "1.3 for SimpleUpdate") },
		want:    []string{updates + "spec.updates BadVersion"},
	},
	"no licence": {
		wishes: update(preflight.Update{Component: "bmc", URL: "https://192.0.2.9/x"}),
		machine: func(m *machine) {
			m.can("UpdateLicence", v1alpha1.No, "neither SFT-OOB-LIC nor SFT-DCMS-SINGLE is installed")
		},
		want: []string{updates + "spec.updates UpdateLicence"}, says: []string{"SFT-OOB-LIC"},
	},
	"no licence, and no updates": {machine: func(m *machine) { m.can("UpdateLicence", v1alpha1.No, "") }},

	"a component of nothing": {
		wishes: update(preflight.Update{Component: "cpld", URL: "https://192.0.2.9/x"}),
		want:   []string{updates + "spec.updates[0].component UpdateComponent"},
		says:   []string{"write bmc, bios or nic:ID"},
	},
	"a card without an id": {wishes: update(preflight.Update{Component: "nic:", URL: "https://192.0.2.9/x"}), want: []string{updates + "spec.updates[0].component UpdateComponent"}},
	"a component that is fixed": {
		wishes:  update(preflight.Update{Component: "bios", URL: "https://192.0.2.9/x"}),
		machine: func(m *machine) { m.report.Firmware[0].Updateable = new(false) },
		want:    []string{updates + "spec.updates[0].component UpdatesNotOffered"}, says: []string{"Installed-BIOS cannot be updated"},
	},
	"a component of which it is not said": {
		wishes:  update(preflight.Update{Component: "bios", URL: "https://192.0.2.9/x"}),
		machine: func(m *machine) { m.report.Firmware[0].Updateable = nil },
	},
	"an address of nothing": {wishes: update(preflight.Update{Component: "bmc", URL: "bmc.bin"}), want: []string{updates + "spec.updates[0].url UpdateScheme"}, says: []string{"https://HOST/PATH"}},
	"a scheme that is not taken": {
		wishes: update(preflight.Update{Component: "bmc", URL: "http://user:secret@192.0.2.9/x"}),
		want:   []string{updates + "spec.updates[0].url UpdateScheme"}, says: []string{"served by http", "fetches firmware by https"},
	},
	"Swift on an old iDRAC": {
		wishes:  update(preflight.Update{Component: "bmc", URL: "swift://a/b"}),
		machine: func(m *machine) { m.report.Vendor, m.report.BMCVersion = "Dell", "5.10.50.00" },
		want:    []string{updates + "spec.updates[0].url UpdateScheme"}, says: []string{"6.00.00.00"},
	},
	"Swift on a newer iDRAC": {
		wishes:  update(preflight.Update{Component: "bmc", URL: "swift://a/b"}),
		machine: func(m *machine) { m.report.Vendor, m.report.BMCVersion = "Dell", "7.00.00.00" },
	},
	"an image that is too large": {
		wishes: update(preflight.Update{Component: "bios", URL: "https://192.0.2.9/x", Bytes: 101 << 20}),
		want:   []string{updates + "spec.updates[0].url UpdateSize"}, says: []string{"has 101 MiB, and the BMC takes 100 MiB"},
	},
	"a bound that is not said": {
		wishes:  update(preflight.Update{Component: "bios", URL: "https://192.0.2.9/x", Bytes: 101 << 20}),
		machine: func(m *machine) { m.report.MaxImageBytes = 0 },
	},
	"an image that is too old": {
		wishes: update(preflight.Update{Component: "bios", URL: "https://192.0.2.9/x", Version: "1.4.9"}),
		want:   []string{updates + "spec.updates[0].url UpdateVersion"}, says: []string{"1.5.0 or later"},
	},
}

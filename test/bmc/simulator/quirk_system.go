package simulator

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// The quirks of boot and power.
const (
	BootInSettings      Quirk = "boot-in-settings"
	SettingsWithoutBoot Quirk = "settings-without-boot"
	UsbCdOnly           Quirk = "boot-usbcd-only"
	BootFallsToOnce     Quirk = "boot-falls-to-once"
	BootModeUnknown     Quirk = "boot-mode-unknown"
	BootModeFixed       Quirk = "boot-mode-fixed"
	BootModeFollows     Quirk = "boot-mode-follows-device"
	BootTargetRewritten Quirk = "boot-target-rewritten"
	BootNeedsAll        Quirk = "boot-needs-all"
	NoPersistentBoot    Quirk = "no-persistent-boot"
	NoBootOnceList      Quirk = "no-boot-once-list"
	NoBootTargets       Quirk = "no-boot-targets"
	HTTPBootNoURI       Quirk = "http-boot-without-uri"
	CDIsADrive          Quirk = "cd-is-a-drive"
	BusyInPOST          Quirk = "busy-in-post"
	BusyAfterPower      Quirk = "busy-after-power"
	PowerConflict       Quirk = "power-conflict"
	RestartHangs        Quirk = "restart-hangs"
	Lockdown            Quirk = "lockdown"
	SecureBootLicence   Quirk = "secure-boot-needs-licence"
	SettingsLicence     Quirk = "settings-need-licence"
	BootProgressStuck   Quirk = "boot-progress-stuck"
	BootProgress1970    Quirk = "boot-progress-1970"
)

const (
	systemGet   = "GET /redfish/v1/Systems/{system}"
	systemPatch = "PATCH /redfish/v1/Systems/{system}"
	resetPost   = "POST */ComputerSystem.Reset"
)

// bootGiven narrows a PATCH to one of the boot override that has a property.
func bootGiven(name string) func(c *call) bool {
	return func(c *call) bool {
		boot, _ := c.body["Boot"].(object)
		return boot != nil && (name == "" || boot[name] != nil)
	}
}

// edits changes the boot override of a request before it is handled.
func edits(change func(c *call, boot object)) func(c *call) error {
	return func(c *call) error {
		if boot, ok := c.body["Boot"].(object); ok {
			change(c, boot)
		}
		return nil
	}
}

// showsBoot changes the boot override that is shown.
func showsBoot(change func(boot object)) func(c *call, body object) {
	return func(_ *call, body object) {
		if boot, ok := body["Boot"].(object); ok {
			boot = maps.Clone(boot)
			change(boot)
			body["Boot"] = boot
		}
	}
}

const (
	bootTarget  = "BootSourceOverrideTarget"
	bootEnabled = "BootSourceOverrideEnabled"
	bootMode    = "BootSourceOverrideMode"
	allowable   = "@Redfish.AllowableValues"
)

func readOnlyBoot(name string) func(*call) error {
	return func(*call) error {
		return faultAt("Boot/"+name, readOnlyProperty, "The property %s is a read-only property and cannot be assigned a value.", name)
	}
}

// settled narrows a request to those that change settings.
var settled = []string{systemPatch, "PATCH */Bios/*", "PATCH */SecureBoot", "POST */Actions/Bios.*", "POST */Volumes", "PATCH */VirtualMedia/{slot}"}

var systemOddities = []oddity{
	{Info{BootInSettings, "The boot override is read only in the system, and changed in its settings object.", true}, trait{
		at: []string{systemGet, systemPatch}, when: func(c *call) bool { return c.r.Method == http.MethodGet || bootGiven("")(c) },
		refuse: func(c *call) error {
			if c.r.Method == http.MethodGet {
				return nil
			}
			return readOnlyBoot("Boot")(c)
		},
		reshape: settingsObject,
	}},
	{Info{SettingsWithoutBoot, "The system has a settings object, which refuses the boot override.", true}, trait{
		at: []string{systemGet, systemPatch + "/Settings"}, when: func(c *call) bool { return c.r.Method == http.MethodGet || bootGiven("")(c) },
		refuse: func(c *call) error {
			if c.r.Method == http.MethodGet {
				return nil
			}
			return faultAt("Boot", unknownProperty, "The property Boot is not in the list of valid properties.")
		},
		reshape: settingsObject,
	}},
	{Info{UsbCdOnly, "The boot targets have UsbCd instead of Cd.", true}, trait{}},
	{Info{BootFallsToOnce, "A boot override without BootSourceOverrideEnabled is for once.", true}, trait{
		at: []string{systemPatch}, refuse: edits(func(_ *call, boot object) {
			if boot[bootEnabled] == nil {
				boot[bootEnabled] = "Once"
			}
		}),
	}},
	{Info{BootModeUnknown, "There is no BootSourceOverrideMode; a PATCH with it is refused.", true}, trait{
		at: []string{systemGet, systemPatch}, when: func(c *call) bool { return c.r.Method == http.MethodGet || bootGiven(bootMode)(c) },
		refuse: func(c *call) error {
			if c.r.Method == http.MethodGet {
				return nil
			}
			return faultAt("Boot/"+bootMode, unknownProperty, "The property %s is not in the list of valid properties.", bootMode)
		},
		reshape: showsBoot(func(boot object) { delete(boot, bootMode); delete(boot, bootMode+allowable) }),
	}},
	{Info{BootModeFixed, "BootSourceOverrideMode cannot be changed.", true}, trait{
		at: []string{systemPatch}, when: bootGiven(bootMode), refuse: readOnlyBoot(bootMode),
	}},
	{Info{BootModeFollows, "A boot override without BootSourceOverrideMode changes the mode to Legacy.", true}, trait{
		at: []string{systemPatch}, refuse: edits(func(_ *call, boot object) {
			if boot[bootMode] == nil {
				boot[bootMode] = legacy
			}
		}),
	}},
	{Info{BootTargetRewritten, "Pxe with the mode UEFI reads back as UefiBootNext.", true}, trait{
		at: []string{systemGet}, reshape: showsBoot(func(boot object) {
			if boot[bootTarget] == "Pxe" && boot[bootMode] == uefi {
				boot[bootTarget] = "UefiBootNext"
			}
		}),
	}},
	{Info{BootNeedsAll, "A boot override without Target, Enabled and Mode together is accepted and not kept.", true}, trait{}},
	{Info{NoPersistentBoot, "A boot override is for once: Continuous is refused.", true}, trait{
		at: []string{systemGet, systemPatch},
		when: func(c *call) bool {
			boot, _ := c.body["Boot"].(object)
			return c.r.Method == http.MethodGet || boot[bootEnabled] == "Continuous"
		},
		refuse: func(c *call) error {
			if c.r.Method == http.MethodGet {
				return nil
			}
			return faultAt("Boot/"+bootEnabled, wrongValue, "The value 'Continuous' for the property %s is not in the list of acceptable values.", bootEnabled)
		},
		reshape: showsBoot(func(boot object) { boot[bootEnabled+allowable] = []string{"Once", "Disabled"} }),
	}},
	{Info{NoBootOnceList, "The values of BootSourceOverrideEnabled are not listed.", true}, trait{
		at: []string{systemGet}, reshape: showsBoot(func(boot object) { delete(boot, bootEnabled+allowable) }),
	}},
	{Info{NoBootTargets, "The values of BootSourceOverrideTarget are not listed.", true}, trait{
		at: []string{systemGet}, reshape: showsBoot(func(boot object) { delete(boot, bootTarget+allowable) }),
	}},
	{Info{HTTPBootNoURI, "UefiHttp is among the boot targets, and HttpBootUri is missing.", true}, trait{
		at: []string{systemGet, systemPatch}, when: func(c *call) bool { return c.r.Method == http.MethodGet || bootGiven("HttpBootUri")(c) },
		refuse: func(c *call) error {
			if c.r.Method == http.MethodGet {
				return nil
			}
			return faultAt("Boot/HttpBootUri", unknownProperty, "The property HttpBootUri is not in the list of valid properties.")
		},
		reshape: showsBoot(func(boot object) { delete(boot, "HttpBootUri") }),
	}},
	{Info{CDIsADrive, "The boot target Cd is a real drive: the machine does not boot the virtual medium by it.", true}, trait{}},
	{Info{BusyInPOST, "A change of settings is refused with UnableToModifyDuringSystemPOST.", false}, trait{
		at: settled, refuse: func(*call) error {
			return oem(http.StatusBadRequest, "iLO.2.23.UnableToModifyDuringSystemPOST", "The system is in POST: the change cannot be made now.")
		},
	}},
	{Info{BusyAfterPower, "A reset or a change of settings is refused with InvalidOperationForSystemState.", false}, trait{
		at: append([]string{resetPost}, settled...), refuse: func(*call) error {
			return oem(http.StatusBadRequest, "iLO.2.23.InvalidOperationForSystemState", "The operation was not successful due to the current power state.")
		},
	}},
	{Info{PowerConflict, "A request to switch on is refused with 409 and ActionParameterValueConflict.", false}, trait{
		at: []string{resetPost}, when: func(c *call) bool { return c.body["ResetType"] == string(ResetOn) },
		refuse: func(*call) error {
			return &refusal{
				status: http.StatusConflict, key: "ActionParameterValueConflict", args: []string{"ResetType", "On"},
				text: "The parameter 'ResetType' with the requested value of 'On' does not meet the constraints of the implementation.",
			}
		},
	}},
	{Info{RestartHangs, "ForceRestart and GracefulRestart are accepted, and nothing happens.", true}, trait{}},
	{Info{Lockdown, "Every change of settings, and the removal of jobs, is refused: the system is locked down.", true}, trait{
		at: append([]string{"DELETE */Jobs/{task}", "DELETE */Volumes/{volume}", "POST */UpdateService.SimpleUpdate"}, settled...), refuse: func(*call) error {
			return oem(http.StatusForbidden, "IDRAC.2.8.RAC0506", "Unable to perform the operation because the system is in lockdown mode.")
		},
	}},
	{Info{SecureBootLicence, "SecureBoot is refused in the vendor's words while no licence is in force.", true}, trait{
		at: []string{"* */SecureBoot*"}, when: func(c *call) bool { return !c.sys.licensed() }, refuse: func(c *call) error { return c.unlicensed() },
	}},
	{Info{SettingsLicence, "Bios, Storage and the firmware inventory are refused in the vendor's words while no licence is in force.", true}, trait{
		at: []string{"* */Bios*", "* */Storage*", "* */FirmwareInventory*"}, when: func(c *call) bool { return !c.of.licensed() },
		refuse: func(c *call) error { return c.unlicensed() },
	}},
	{Info{BootProgressStuck, "BootProgress ends at SystemHardwareInitializationComplete.", true}, trait{
		at: []string{systemGet}, when: func(c *call) bool { return c.sys.progress == osRunning },
		reshape: func(_ *call, body object) {
			body["BootProgress"] = object{"LastState": "SystemHardwareInitializationComplete"}
		},
	}},
	{Info{BootProgress1970, "LastStateTime of BootProgress is in 1970.", true}, trait{
		at: []string{systemGet}, reshape: func(c *call, body object) {
			body["BootProgress"] = object{"LastState": c.sys.progress, "LastStateTime": "1970-01-01T00:02:11.000000Z"}
		},
	}},
}

// settingsObject shows where the settings of a system are.
func settingsObject(c *call, body object) {
	body["@Redfish.Settings"] = object{
		"@odata.type": "#Settings.v1_4_0.Settings", "SettingsObject": link("Systems", c.sys.ID, "Settings"), "SupportedApplyTimes": []ApplyTime{OnReset},
	}
}

// hasSettings says whether the system has a settings object; the lock is held.
func (c *call) hasSettings() bool { return c.sys.has(BootInSettings) || c.sys.has(SettingsWithoutBoot) }

func getSystemSettings(c *call) (reply, error) {
	if !c.hasSettings() {
		return reply{}, notFound(c.r.URL.Path)
	}
	body := resource("ComputerSystem.v1_22_0.ComputerSystem", "Settings", "Settings", path("Systems", c.sys.ID, "Settings"), object{})
	if c.sys.has(BootInSettings) {
		body["Boot"] = c.sys.bootObject()
	}
	return ok(body)
}

func patchSystemSettings(c *call) (reply, error) {
	c.s.mu.Lock()
	there := c.hasSettings()
	c.s.mu.Unlock()
	boot, given := c.body["Boot"].(object)
	switch {
	case !there:
		return reply{}, notFound(c.r.URL.Path)
	case given:
		if err := c.setBoot(boot); err != nil {
			return reply{}, err
		}
	}
	return done()
}

// partial says whether a boot override is not whole.
func partial(boot object) bool {
	return slices.ContainsFunc([]string{bootTarget, bootEnabled, bootMode}, func(name string) bool { return boot[name] == nil })
}

// isRestart says whether a reset type is one that hangs on some machines.
func isRestart(reset ResetType) bool { return strings.HasSuffix(string(reset), "Restart") }

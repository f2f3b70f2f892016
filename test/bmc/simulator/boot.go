package simulator

import (
	"net/http"
	"slices"
)

// bootTargets are the boot devices that a system lists; the lock is held.
func (sys *system) bootTargets() []string {
	targets := []string{"None", "Pxe", "Cd", "Usb", "Hdd", "BiosSetup"}
	if sys.has(UsbCdOnly) {
		targets[2] = "UsbCd"
	}
	if !sys.has(NoHTTPBoot) {
		targets = append(targets, uefiHTTP)
	}
	return targets
}

// uefiHTTP is the boot target of UEFI HTTP boot.
const uefiHTTP = "UefiHttp"

func (sys *system) bootObject() object {
	boot := sys.state.Boot
	body := object{
		"BootSourceOverrideTarget": boot.Target, "BootSourceOverrideEnabled": boot.Enabled, "BootSourceOverrideMode": boot.Mode,
		"BootSourceOverrideTarget@Redfish.AllowableValues":  sys.bootTargets(),
		"BootSourceOverrideEnabled@Redfish.AllowableValues": overrides,
		"BootSourceOverrideMode@Redfish.AllowableValues":    bootModes,
	}
	if !sys.has(NoHTTPBoot) {
		body["HttpBootUri"] = nil
		if boot.HTTPURI != "" {
			body["HttpBootUri"] = boot.HTTPURI
		}
	}
	return body
}

var (
	overrides = []string{"Disabled", "Once", "Continuous"}
	bootModes = []string{legacy, uefi}
)

// setBoot changes the boot override once the machine agrees.
func (c *call) setBoot(values object) error {
	c.s.mu.Lock()
	targets, ignored := c.sys.bootTargets(), c.sys.has(BootNeedsAll) && partial(values)
	c.s.mu.Unlock()
	edit := func(state *State) error { return editBoot(&state.Boot, values, targets) }
	if ignored {
		return edit(&State{Boot: Boot{Mode: uefi}})
	}
	return c.s.change(c.r.Context(), c.sys, edit, func(m Machine, state State) error {
		return m.BootChanged(c.r.Context(), state)
	})
}

// editBoot takes over the values of a PATCH.
func editBoot(boot *Boot, values object, targets []string) error {
	choices := map[string]struct {
		into    *string
		allowed []string
	}{
		"BootSourceOverrideTarget":  {&boot.Target, targets},
		"BootSourceOverrideEnabled": {&boot.Enabled, overrides},
		"BootSourceOverrideMode":    {&boot.Mode, bootModes},
	}
	for name, value := range values {
		text, isText := value.(string)
		choice, known := choices[name]
		switch {
		case name == "HttpBootUri" && slices.Contains(targets, uefiHTTP):
			boot.HTTPURI = text // null clears it
		case !known:
			return faultAt("Boot/"+name, unknownProperty, "The property %s is not in the list of valid properties.", name)
		case !isText || !slices.Contains(choice.allowed, text):
			return faultAt("Boot/"+name, wrongValue, "The value '%v' for the property %s is not in the list of acceptable values.", value, name)
		default:
			*choice.into = text
		}
	}
	if _, given := values["BootSourceOverrideEnabled"]; !given && boot.Target != "None" && boot.Enabled == "Disabled" {
		boot.Enabled = "Continuous" // as a target without a duration is meant
	}
	if boot.Target == uefiHTTP && boot.Mode != uefi {
		return faultAt("Boot/BootSourceOverrideTarget", wrongValue, "UefiHttp needs the boot mode UEFI.")
	}
	return nil
}

// secureBoot is what the SecureBoot resource has besides the setting.
type secureBoot struct {
	mode    string // UserMode or SetupMode
	current bool   // in this boot
}

func getSecureBoot(c *call) (reply, error) {
	if c.sys.has(NoSecureBoot) {
		return reply{}, notFound(c.r.URL.Path)
	}
	current := "Disabled"
	if c.sys.secure.current {
		current = "Enabled"
	}
	return ok(resource("SecureBoot.v1_1_0.SecureBoot", "SecureBoot", "UEFI Secure Boot", path("Systems", c.sys.ID, "SecureBoot"), object{
		"SecureBootEnable": c.sys.state.SecureBoot, "SecureBootCurrentBoot": current, "SecureBootMode": c.sys.secure.mode,
		"Actions": object{"#SecureBoot.ResetKeys": object{
			"target":                                path("Systems", c.sys.ID, "SecureBoot", "Actions", "SecureBoot.ResetKeys"),
			"ResetKeysType@Redfish.AllowableValues": keyResets,
		}},
	}))
}

func patchSecureBoot(c *call) (reply, error) {
	enable, ok := c.body["SecureBootEnable"].(bool)
	if !ok {
		return reply{}, faultAt("SecureBootEnable", wrongType, "The property SecureBootEnable must be true or false.")
	}
	c.s.mu.Lock()
	missing := c.sys.has(NoSecureBoot)
	c.s.mu.Unlock()
	if missing {
		return reply{}, notFound(c.r.URL.Path)
	}
	err := c.s.change(c.r.Context(), c.sys, func(state *State) error {
		if enable && state.Boot.Mode != uefi {
			return faultAt("SecureBootEnable", notAllowed, "Secure boot needs the boot mode UEFI.")
		}
		state.SecureBoot = enable
		return nil
	}, func(m Machine, state State) error { return m.BootChanged(c.r.Context(), state) })
	if err != nil {
		return reply{}, err
	}
	return done()
}

// keyResets are the ways to reset the keys; the first brings keys, the others leave none.
var keyResets = []string{"ResetAllKeysToDefault", "DeleteAllKeys", "DeletePK"}

func resetKeys(c *call) (reply, error) {
	kind, _ := c.body["ResetKeysType"].(string)
	if !slices.Contains(keyResets, kind) {
		return reply{}, faultAt("ResetKeysType", wrongParameter, "The value '%s' for the parameter ResetKeysType is not in the list of acceptable values.", kind)
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.sys.secure.mode = "SetupMode"
	if kind == keyResets[0] {
		c.sys.secure.mode = "UserMode"
	}
	return reply{status: http.StatusNoContent}, nil
}

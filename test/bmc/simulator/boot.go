package simulator

import "slices"

// bootTargets are the boot devices that a system lists; the lock is held.
func (sys *system) bootTargets() []string {
	targets := []string{"None", "Pxe", "Cd", "Usb", "Hdd", "BiosSetup"}
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
	targets, ignored := c.sys.bootTargets(), c.sys.strikes(BootIgnored)
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

package simulator

import (
	"net/http"
	"slices"
)

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

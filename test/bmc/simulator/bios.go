package simulator

import (
	"fmt"
	"maps"
	"net/http"
	"time"
)

var biosRoutes = map[string]handler{
	"GET /redfish/v1/Systems/{system}/Bios":                         getBIOS,
	"GET /redfish/v1/Systems/{system}/Bios/Settings":                getBIOSSettings,
	"PATCH /redfish/v1/Systems/{system}/Bios/Settings":              patchBIOSSettings,
	"GET /redfish/v1/Systems/{system}/Bios/{pending}":               getBIOSSettings,
	"PATCH /redfish/v1/Systems/{system}/Bios/{pending}":             patchBIOSSettings,
	"POST /redfish/v1/Systems/{system}/Bios/Actions/Bios.ResetBios": resetBIOS,
}

// bios are a system's settings: current and those that wait for a reset.
type bios struct {
	registry *Registry
	current  map[string]any
	pending  map[string]any
	applied  time.Time // of the last settings
	idle     bool      // the pending ones wait for no reset
}

// SetPending puts settings into the pending ones of a system, as somebody else did.
// They are applied at the next reset like ours.
func (s *Server) SetPending(id string, attributes map[string]any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	sys, err := s.system(id)
	if err != nil {
		return err
	}
	maps.Copy(sys.bios.pending, attributes)
	sys.bios.idle = false
	return nil
}

// newBIOS completes the settings with the registry's defaults.
func newBIOS(b BIOS) (bios, error) {
	if b.Registry == nil {
		b.Registry = defaultRegistry
	}
	current := b.Registry.defaults()
	for name, value := range b.Attributes {
		attribute, ok := b.Registry.find(name)
		if !ok {
			return bios{}, fmt.Errorf("the BIOS registry %s does not have the setting %q", b.Registry.ID, name)
		}
		if number, ok := value.(int); ok {
			value = float64(number) // as it comes out of JSON
		}
		checked, err := attribute.check(value)
		if err != nil {
			return bios{}, err
		}
		current[name] = checked
	}
	return bios{registry: b.Registry, current: current, pending: map[string]any{}}, nil
}

// defaults are the values after a reset to defaults.
func (r *Registry) defaults() map[string]any {
	values := make(map[string]any, len(r.Attributes))
	for _, a := range r.Attributes {
		values[a.Name] = a.Default
	}
	return values
}

// apply makes the pending settings current, or drops them.
func (b *bios) apply(drop bool) {
	if !drop {
		maps.Copy(b.current, b.pending)
		b.applied = time.Now()
	}
	clear(b.pending)
}

// shown hides the values of passwords.
func (b *bios) shown(values map[string]any) map[string]any {
	out := maps.Clone(values)
	for name := range out {
		if a, ok := b.registry.find(name); ok && a.Type == password {
			out[name] = nil
		}
	}
	return out
}

func (c *call) biosMissing() error {
	if c.sys.has(NoBIOS) || (c.r.PathValue("pending") != "" && (c.r.PathValue("pending") != "SD" || !c.sys.has(BIOSPendingElsewhere))) {
		return notFound(c.r.URL.Path)
	}
	return nil
}

func getBIOS(c *call) (reply, error) {
	if err := c.biosMissing(); err != nil {
		return reply{}, err
	}
	b := &c.sys.bios
	registry := b.registry.ID
	if c.sys.has(NoBIOSRegistry) {
		registry = "BiosAttributeRegistryMissing.v1_0_0"
	}
	settings := object{
		"@odata.type": "#Settings.v1_4_0.Settings", "SettingsObject": link("Systems", c.sys.ID, "Bios", "Settings"),
		"SupportedApplyTimes": []ApplyTime{OnReset}, "Messages": []object{}, "ETag": etag(encode(c.biosSettings())),
	}
	if !b.applied.IsZero() {
		settings["Time"] = b.applied.UTC().Format(time.RFC3339)
	}
	return ok(resource("Bios.v1_2_3.Bios", "BIOS", "BIOS settings", path("Systems", c.sys.ID, "Bios"), object{
		"AttributeRegistry": registry, "Attributes": b.shown(b.current), "@Redfish.Settings": settings,
		"Actions": object{"#Bios.ResetBios": object{"target": path("Systems", c.sys.ID, "Bios", "Actions", "Bios.ResetBios")}},
	}))
}

// biosSettings are the pending settings as a resource.
func (c *call) biosSettings() object {
	place := "Settings"
	if c.sys.has(BIOSPendingElsewhere) {
		place = "SD"
	}
	return resource("Bios.v1_2_3.Bios", place, "Pending BIOS settings", path("Systems", c.sys.ID, "Bios", place), object{
		"AttributeRegistry": c.sys.bios.registry.ID, "Attributes": c.sys.bios.shown(c.sys.bios.pending),
	})
}

func getBIOSSettings(c *call) (reply, error) {
	if err := c.biosMissing(); err != nil {
		return reply{}, err
	}
	return ok(c.biosSettings())
}

func patchBIOSSettings(c *call) (reply, error) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if err := c.biosMissing(); err != nil {
		return reply{}, err
	}
	values, isObject := c.body["Attributes"].(object)
	if !isObject {
		return reply{}, faultAt("Attributes", missingProperty, "The property Attributes is required.")
	}
	checked := make(map[string]any, len(values))
	for name, value := range values {
		attribute, known := c.sys.bios.registry.find(name)
		switch {
		case !known:
			return reply{}, faultAt("Attributes/"+name, unknownProperty, "The property %s is not in the list of valid properties.", name)
		case attribute.ReadOnly:
			return reply{}, faultAt("Attributes/"+name, readOnlyProperty, "The property %s is a read-only property and cannot be assigned a value.", name)
		}
		var err error
		if checked[name], err = attribute.check(value); err != nil {
			return reply{}, err
		}
	}
	maps.Copy(c.sys.bios.pending, checked)
	c.sys.bios.idle = c.sys.has(BIOSNeedsApplyTime) && c.body["@Redfish.SettingsApplyTime"] == nil
	return ok(c.biosSettings())
}

func resetBIOS(c *call) (reply, error) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if err := c.biosMissing(); err != nil {
		return reply{}, err
	}
	b := &c.sys.bios
	for _, a := range b.registry.Attributes {
		if !a.ReadOnly && b.current[a.Name] != a.Default {
			b.pending[a.Name] = a.Default
		}
	}
	return reply{status: http.StatusNoContent}, nil
}

package bios

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/ironflow/ironflow/bmc/lenient"
)

// Settings are the settings of a machine. Values are nil, bool, string or json.Number.
type Settings struct {
	// Registry is the registry's name, as the BIOS gives it; empty is not said.
	Registry string
	// Current are the settings that are in force.
	Current map[string]any
	// Pending are those that wait for a restart and differ from the current ones.
	Pending map[string]any
}

// Names are the names of the current settings, sorted.
func (s *Settings) Names() []string { return slices.Sorted(maps.Keys(s.Current)) }

// wireBIOS is a Bios resource, or its settings object.
type wireBIOS struct {
	Registry   lenient.String `json:"AttributeRegistry"`
	Attributes map[string]json.RawMessage
	Settings   lenient.Optional[struct {
		Object lenient.Link `json:"SettingsObject"`
	}] `json:"@Redfish.Settings"`
}

// ParseSettings reads a Bios and its settings object; pending is nil if it has none.
// A settings object may hold the changes alone or a copy of all settings: only what
// differs is pending.
func ParseSettings(bios, pending []byte) (*Settings, error) {
	now, err := parseBIOS(bios)
	if err != nil {
		return nil, err
	}
	s := &Settings{Registry: string(now.Registry), Current: now.values()}
	if len(pending) == 0 {
		return s, nil
	}
	next, err := parseBIOS(pending)
	if err != nil {
		return s, fmt.Errorf("pending settings: %w", err)
	}
	s.Pending = map[string]any{}
	for name, v := range next.values() {
		if current, there := s.Current[name]; v != nil && (!there || !Same(current, v)) {
			s.Pending[name] = v
		}
	}
	return s, nil
}

func parseBIOS(raw []byte) (*wireBIOS, error) {
	var wire wireBIOS
	if err := json.Unmarshal(raw, &wire); err != nil && !lenient.OnlyTypes(err) {
		return nil, fmt.Errorf("the BIOS settings are no JSON: %w", err)
	}
	if len(wire.Attributes) > maxAttributes {
		return nil, fmt.Errorf("there are %d BIOS settings, more than %d", len(wire.Attributes), maxAttributes)
	}
	return &wire, nil
}

func (w *wireBIOS) values() map[string]any {
	values := make(map[string]any, len(w.Attributes))
	for name, raw := range w.Attributes {
		if v, ok := Decode(raw); ok {
			values[name] = v
		}
	}
	return values
}

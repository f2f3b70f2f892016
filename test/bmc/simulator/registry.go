package simulator

import (
	"maps"
	"reflect"
	"slices"
	"unicode/utf8"
)

// Registry is an attribute registry: what a BIOS's settings may be. Registries are
// shared: systems with the same ID must have the same registry. Ironic reads a
// service's registries once per connection, so they should be known before it
// connects: that of [DefaultBIOS] is as soon as there is a system.
type Registry struct {
	// ID is the registry's Id and its name and version, such as
	// BiosAttributeRegistryP89.v1_1_0.
	ID         string
	Attributes []Attribute
	// Dependencies say how settings depend on each other, as they stand in JSON.
	Dependencies []map[string]any
}

// Attribute describes one setting.
type Attribute struct {
	// Name is the key in a BIOS's attributes; DisplayName is Name when empty.
	Name, DisplayName string
	// Type is Enumeration, String, Integer, Boolean or Password.
	Type string
	// Values are those of an Enumeration.
	Values []string
	// Default is the value after a reset to defaults: string, int or bool.
	Default any
	// Lower and Upper bound an Integer; MinLength and MaxLength a String. Both
	// zero is without bounds.
	Lower, Upper, MinLength, MaxLength int
	ReadOnly                           bool
	// More are further properties of the entry, such as Hidden, GrayOut, Immutable,
	// WriteOnly, ScalarIncrement and ValueExpression, as they stand in JSON.
	More map[string]any
}

// The types of attributes.
const (
	enumeration = "Enumeration"
	text        = "String"
	integer     = "Integer"
	boolean     = "Boolean"
	password    = "Password"
)

func (r *Registry) equal(other *Registry) bool { return reflect.DeepEqual(r, other) }

// find returns the description of a setting.
func (r *Registry) find(name string) (Attribute, bool) {
	i := slices.IndexFunc(r.Attributes, func(a Attribute) bool { return a.Name == name })
	if i < 0 {
		return Attribute{}, false
	}
	return r.Attributes[i], true
}

// check turns a value out of JSON into the attribute's type, or says what is
// wrong with it.
func (a Attribute) check(value any) (any, error) {
	at := "Attributes/" + a.Name
	wrong := faultAt(at, wrongType, "The value '%v' for the property %s is of a different type than the property can accept.", value, a.Name)
	outside := faultAt(at, wrongValue, "The value '%v' for the property %s is not in the list of acceptable values.", value, a.Name)
	switch a.Type {
	case integer:
		number, ok := value.(float64)
		n := int(number)
		switch {
		case !ok || float64(n) != number:
			return nil, wrong
		case (a.Lower != 0 || a.Upper != 0) && (n < a.Lower || n > a.Upper):
			return nil, outside
		}
		return n, nil
	case boolean:
		if on, ok := value.(bool); ok {
			return on, nil
		}
		return nil, wrong
	default:
		word, ok := value.(string)
		length := utf8.RuneCountInString(word)
		switch {
		case !ok:
			return nil, wrong
		case a.Type == enumeration && !slices.Contains(a.Values, word):
			return nil, outside
		case (a.MinLength != 0 || a.MaxLength != 0) && (length < a.MinLength || length > a.MaxLength):
			return nil, outside
		}
		return word, nil
	}
}

// object is the registry as a resource.
func (r *Registry) object() object {
	list := make([]object, 0, len(r.Attributes))
	for _, a := range r.Attributes {
		list = append(list, a.object())
	}
	return resource("AttributeRegistry.v1_3_8.AttributeRegistry", r.ID, "BIOS attribute registry", path("RegistryStore", r.ID), object{
		"Language": "en", "OwningEntity": "ACME", "RegistryVersion": "1.0.0",
		"SupportedSystems": []object{{"ProductName": "Simulated Server"}},
		"RegistryEntries":  object{"Attributes": list, "Dependencies": append([]object{}, r.Dependencies...), "Menus": []object{}},
	})
}

func (a Attribute) object() object {
	entry := object{
		"AttributeName": a.Name, "DisplayName": a.DisplayName, "Type": a.Type, "ReadOnly": a.ReadOnly,
		"DefaultValue": a.Default, "ResetRequired": true, "Immutable": false, "IsSystemUniqueProperty": false,
	}
	if a.DisplayName == "" {
		entry["DisplayName"] = a.Name
	}
	switch a.Type {
	case enumeration:
		values := make([]object, 0, len(a.Values))
		for _, v := range a.Values {
			values = append(values, object{"ValueName": v, "ValueDisplayName": v})
		}
		entry["Value"] = values
	case integer:
		entry["LowerBound"], entry["UpperBound"] = a.Lower, a.Upper
	case text, password:
		entry["MinLength"], entry["MaxLength"] = a.MinLength, a.MaxLength
	}
	maps.Copy(entry, a.More)
	return entry
}

// defaultRegistry has a setting of each type, one that is read-only, and those
// of the fields spec.firmware of a BareMetalHost.
var defaultRegistry = &Registry{ID: "BiosAttributeRegistrySim.v1_0_0", Attributes: []Attribute{
	{Name: "ProcVirtualization", DisplayName: "Virtualization technology", Type: enumeration, Values: []string{"Enabled", "Disabled"}, Default: "Enabled"},
	{Name: "LogicalProc", DisplayName: "Simultaneous multithreading", Type: enumeration, Values: []string{"Enabled", "Disabled"}, Default: "Enabled"},
	{Name: "SriovGlobalEnable", DisplayName: "SR-IOV", Type: enumeration, Values: []string{"Enabled", "Disabled"}, Default: "Disabled"},
	{Name: "SysProfile", DisplayName: "System profile", Type: enumeration, Values: []string{"PerfOptimized", "DenseConfig", "Custom"}, Default: "PerfOptimized"},
	{Name: "PowerDelaySeconds", DisplayName: "Delay after power is restored", Type: integer, Default: 60, Lower: 60, Upper: 240},
	{Name: "QuietBoot", DisplayName: "Quiet boot", Type: boolean, Default: true},
	{Name: "AssetTag", DisplayName: "Asset tag", Type: text, Default: "", MaxLength: 63},
	{Name: "SystemBiosDate", DisplayName: "Date of the firmware", Type: text, Default: "2025-01-01", ReadOnly: true},
	{Name: "SetupPassword", DisplayName: "Password of the setup", Type: password, Default: "", MaxLength: 32},
}}

// DefaultBIOS is the BIOS of systems that bring none: a setting of each type,
// with their defaults.
func DefaultBIOS() *BIOS { return &BIOS{Registry: defaultRegistry} }

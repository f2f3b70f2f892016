package bios

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/ironflow/ironflow/bmc/lenient"
)

// Bounds of a registry; the largest that was seen has 700 attributes.
const (
	maxAttributes   = 10_000
	maxValues       = 1_000
	maxDependencies = 20_000
	maxConditions   = 64
	maxExpression   = 512
)

// Registry describes the settings of a BIOS.
type Registry struct {
	// Name is its Id, as "BiosAttributeRegistry.v1_0_0".
	Name string

	attributes   map[string]*Attribute
	dependencies []dependency
}

// Attribute is the description of a setting; nil if there is none.
func (r *Registry) Attribute(name string) *Attribute {
	if r == nil {
		return nil
	}
	return r.attributes[name]
}

// Len is how many settings are described.
func (r *Registry) Len() int {
	if r == nil {
		return 0
	}
	return len(r.attributes)
}

// wireRegistry is a registry as it is sent.
type wireRegistry struct {
	ID      lenient.String `json:"Id"`
	Entries struct {
		Attributes   lenient.List[wireAttribute]
		Dependencies lenient.List[wireDependency]
	} `json:"RegistryEntries"`
}

type wireAttribute struct {
	Name            lenient.String `json:"AttributeName"`
	DisplayName     lenient.String
	Type            lenient.String
	Value           lenient.List[wireValue]
	LowerBound      json.RawMessage
	UpperBound      json.RawMessage
	ScalarIncrement json.RawMessage
	MinLength       json.RawMessage
	MaxLength       json.RawMessage
	ValueExpression lenient.String
	ReadOnly        lenient.Bool
	Immutable       lenient.Bool
	Hidden          lenient.Bool
	GrayOut         lenient.Bool
	WriteOnly       lenient.Bool
}

type wireValue struct {
	ValueName        lenient.String
	ValueDisplayName lenient.String
}

// ErrNoRegistry says that a document is no attribute registry.
var ErrNoRegistry = errors.New("the document is no attribute registry: it has no attributes")

// ParseRegistry reads a registry. Attributes and dependencies that cannot be read are
// left out; a document without any, or with far too many, is an error.
func ParseRegistry(raw []byte) (*Registry, error) {
	var wire wireRegistry
	if err := json.Unmarshal(raw, &wire); err != nil && !lenient.OnlyTypes(err) {
		return nil, fmt.Errorf("the attribute registry is no JSON: %w", err)
	}
	if n := len(wire.Entries.Attributes); n > maxAttributes {
		return nil, fmt.Errorf("the attribute registry has %d attributes, more than %d", n, maxAttributes)
	}
	if n := len(wire.Entries.Dependencies); n > maxDependencies {
		return nil, fmt.Errorf("the attribute registry has %d dependencies, more than %d", n, maxDependencies)
	}
	r := &Registry{Name: string(wire.ID), attributes: make(map[string]*Attribute, len(wire.Entries.Attributes))}
	for i := range wire.Entries.Attributes {
		if a := wire.Entries.Attributes[i].attribute(); a.Name != "" {
			r.attributes[a.Name] = a
		}
	}
	if len(r.attributes) == 0 {
		return nil, ErrNoRegistry
	}
	for _, d := range wire.Entries.Dependencies {
		if parsed, ok := d.dependency(); ok {
			r.dependencies = append(r.dependencies, parsed)
		}
	}
	return r, nil
}

func (w *wireAttribute) attribute() *Attribute {
	a := &Attribute{
		Name: string(w.Name), DisplayName: string(w.DisplayName), Type: typeOf(string(w.Type)),
		ReadOnly: bool(w.ReadOnly), Immutable: bool(w.Immutable), Hidden: bool(w.Hidden), GrayOut: bool(w.GrayOut), WriteOnly: bool(w.WriteOnly),
		Lower: boundOf(w.LowerBound), Upper: boundOf(w.UpperBound), MinLength: lengthOf(w.MinLength), MaxLength: lengthOf(w.MaxLength),
	}
	if step := boundOf(w.ScalarIncrement); step != nil && *step > 0 {
		a.Step = step
	}
	if a.Lower != nil && a.Upper != nil && *a.Lower > *a.Upper {
		a.Lower, a.Upper = nil, nil // no value could meet them
	}
	if a.MinLength != nil && a.MaxLength != nil && *a.MinLength > *a.MaxLength {
		a.MinLength, a.MaxLength = nil, nil
	}
	if len(w.ValueExpression) <= maxExpression {
		a.Expression = strings.TrimSpace(string(w.ValueExpression))
	}
	for i, v := range w.Value {
		if i == maxValues {
			break
		}
		a.Values = append(a.Values, Value{Name: string(v.ValueName), DisplayName: string(v.ValueDisplayName)})
	}
	return a
}

// boundOf reads a bound. -1 is what some vendors write for none.
func boundOf(raw json.RawMessage) *float64 {
	v, ok := Decode(raw)
	if !ok {
		return nil
	}
	n, ok := Number(v)
	if !ok || n == -1 {
		return nil
	}
	return &n
}

// lengthOf reads a length. Zero as the longest is what some vendors write for none,
// which is the same as a shortest of zero.
func lengthOf(raw json.RawMessage) *int {
	n := boundOf(raw)
	if n == nil || *n < 1 || *n > 1<<20 {
		return nil
	}
	length := int(*n)
	return &length
}

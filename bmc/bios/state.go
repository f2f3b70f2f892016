package bios

import "maps"

// State is what the settings may be while they have certain values.
type State struct {
	registry *Registry
	values   map[string]any
	set      map[target]effect
}

// target is a property of an attribute.
type target struct{ attribute, property string }

// effect is what dependencies have made of a property.
type effect struct {
	value   any
	known   bool
	because string
}

// rounds bounds how often values that dependencies set may change others.
const rounds = 8

// Evaluate plays the dependencies through for the current values with a wish on top.
// Where a condition cannot be told, the property that it would set is not known.
func (r *Registry) Evaluate(current, wish map[string]any) *State {
	s := &State{registry: r, values: maps.Clone(current)}
	if s.values == nil {
		s.values = map[string]any{}
	}
	maps.Copy(s.values, wish)
	for range rounds {
		s.set = map[target]effect{}
		changed := false
		for _, d := range r.dependencies {
			switch s.all(d.conditions) {
			case yes:
				s.set[target{d.attribute, d.property}] = effect{value: d.value, known: true, because: because(d.conditions)}
			case maybe:
				s.set[target{d.attribute, d.property}] = effect{}
			case no:
			}
		}
		for t, e := range s.set {
			if _, wished := wish[t.attribute]; t.property == currentValue && e.known && !wished && !Same(s.values[t.attribute], e.value) {
				s.values[t.attribute], changed = e.value, true
			}
		}
		if !changed {
			break
		}
	}
	return s
}

// property is a property's value: what dependencies made of it, else what the
// registry or the values say.
func (s *State) property(name, property string) (v any, known bool) {
	if property == currentValue {
		v, known = s.values[name]
		return v, known && v != nil
	}
	if e, set := s.set[target{name, property}]; set {
		return e.value, e.known
	}
	a := s.registry.Attribute(name)
	if a == nil {
		return nil, false
	}
	switch property {
	case readOnly:
		return a.ReadOnly, true
	case immutable:
		return a.Immutable, true
	case grayOut:
		return a.GrayOut, true
	case hidden:
		return a.Hidden, true
	}
	return nil, false
}

// Locked says why an attribute cannot be set: read only, immutable, greyed out or hidden,
// and the condition that makes it so, empty if it always is. what is empty for one
// that can be set, or of which it is not known.
func (s *State) Locked(name string) (what, because string) {
	for _, p := range []struct{ property, word string }{{readOnly, "read only"}, {immutable, "immutable"}, {grayOut, "greyed out"}, {hidden, "hidden"}} {
		v, known := s.property(name, p.property)
		if on := Text(v); known && (on == "true" || on == "True") {
			return p.word, s.set[target{name, p.property}].because
		}
	}
	return "", ""
}

// Forced is the value that dependencies give an attribute, and the condition; ok is
// false where there is none.
func (s *State) Forced(name string) (v any, because string, ok bool) {
	e := s.set[target{name, currentValue}]
	return e.value, e.because, e.known
}

// Bounds are the bounds of an Integer as dependencies leave them; nil for none.
func (s *State) Bounds(name string) (lower, upper *float64) {
	a := s.registry.Attribute(name)
	if a == nil {
		return nil, nil
	}
	return s.bound(name, lowerBound, a.Lower), s.bound(name, upperBound, a.Upper)
}

func (s *State) bound(name, property string, otherwise *float64) *float64 {
	e, set := s.set[target{name, property}]
	if !set {
		return otherwise
	}
	n, ok := Number(e.value)
	if !e.known || !ok || n == -1 {
		return nil
	}
	return &n
}

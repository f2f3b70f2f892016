package bios

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ironflow/ironflow/bmc/lenient"
)

// dependency sets a property of an attribute while its conditions hold.
type dependency struct {
	attribute, property string
	value               any
	conditions          []condition
}

// condition compares a property of an attribute with a value. or says how it is
// joined to what stands before it.
type condition struct {
	attribute, property, operator string
	value                         any
	or                            bool
}

// Properties that dependencies set and conditions look at.
const (
	currentValue = "CurrentValue"
	readOnly     = "ReadOnly"
	immutable    = "Immutable"
	grayOut      = "GrayOut"
	hidden       = "Hidden"
	lowerBound   = "LowerBound"
	upperBound   = "UpperBound"
)

var properties = []string{currentValue, readOnly, immutable, grayOut, hidden, lowerBound, upperBound}

// propertyOf reads a property's name in any case; empty for one that does not matter.
func propertyOf(text string) string {
	for _, p := range properties {
		if strings.EqualFold(text, p) {
			return p
		}
	}
	return ""
}

type wireDependency struct {
	Type       lenient.String
	For        lenient.String `json:"DependencyFor"`
	Dependency struct {
		MapFrom        lenient.List[wireCondition]
		MapToAttribute lenient.String
		MapToProperty  lenient.String
		MapToValue     json.RawMessage
	}
}

type wireCondition struct {
	MapFromAttribute lenient.String
	MapFromProperty  lenient.String
	MapFromCondition lenient.String
	MapFromValue     json.RawMessage
	MapTerms         lenient.String
}

// dependency reads a mapping; ok is false for one that does not matter or that
// cannot be understood whole.
func (w *wireDependency) dependency() (d dependency, ok bool) {
	to := w.Dependency
	d = dependency{attribute: string(to.MapToAttribute), property: propertyOf(string(to.MapToProperty))}
	if d.attribute == "" {
		d.attribute = string(w.For)
	}
	if w.Type != "" && !strings.EqualFold(string(w.Type), "Map") || d.attribute == "" || d.property == "" {
		return d, false
	}
	if d.value, ok = Decode(to.MapToValue); !ok || len(to.MapFrom) == 0 || len(to.MapFrom) > maxConditions {
		return d, false
	}
	for i, from := range to.MapFrom {
		c := condition{attribute: string(from.MapFromAttribute), property: propertyOf(string(from.MapFromProperty)), operator: strings.ToUpper(string(from.MapFromCondition))}
		if c.value, ok = Decode(from.MapFromValue); !ok || c.attribute == "" || c.property == "" {
			return d, false
		}
		// The term stands with the later of two conditions, with some vendors with the earlier.
		term := from.MapTerms
		if term == "" && i > 0 {
			term = to.MapFrom[i-1].MapTerms
		}
		c.or = strings.EqualFold(string(term), "OR")
		d.conditions = append(d.conditions, c)
	}
	return d, true
}

// truth is true, false, or not known.
type truth int8

const (
	no    truth = -1
	maybe truth = 0
	yes   truth = 1
)

func truthOf(holds bool) truth {
	if holds {
		return yes
	}
	return no
}

// all joins the conditions from left to right.
func (s *State) all(list []condition) truth {
	result := s.holds(list[0])
	for _, c := range list[1:] {
		next := s.holds(c)
		if c.or {
			result = max(result, next)
		} else {
			result = min(result, next)
		}
	}
	return result
}

// holds evaluates a condition. What is not known, and what cannot be compared, is
// neither true nor false.
func (s *State) holds(c condition) truth {
	have, known := s.property(c.attribute, c.property)
	if !known {
		return maybe
	}
	switch c.operator {
	case "EQU":
		return truthOf(Same(have, c.value))
	case "NEQ":
		return truthOf(!Same(have, c.value))
	}
	x, first := Number(have)
	y, second := Number(c.value)
	if !first || !second {
		return maybe
	}
	switch c.operator {
	case "GTR":
		return truthOf(x > y)
	case "GEQ":
		return truthOf(x >= y)
	case "LSS":
		return truthOf(x < y)
	case "LEQ":
		return truthOf(x <= y)
	}
	return maybe
}

// comparisons are the operators in words.
var comparisons = map[string]string{
	"EQU": "is", "NEQ": "is not", "GTR": "is more than", "GEQ": "is at least", "LSS": "is less than", "LEQ": "is at most",
}

// because says the conditions in words, as "BootMode is LegacyBios".
func because(list []condition) string {
	var b strings.Builder
	for i, c := range list {
		switch {
		case i == 0:
		case c.or:
			b.WriteString(" or ")
		default:
			b.WriteString(" and ")
		}
		name := c.attribute
		if c.property != currentValue {
			name = c.property + " of " + c.attribute
		}
		fmt.Fprintf(&b, "%s %s %q", name, comparisons[c.operator], Text(c.value))
	}
	return b.String()
}

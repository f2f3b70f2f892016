package bios

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Type is the type of an attribute.
type Type string

// The types of Redfish. Unknown is any other one, or none.
const (
	Enumeration Type = "Enumeration"
	String      Type = "String"
	Integer     Type = "Integer"
	Boolean     Type = "Boolean"
	Password    Type = "Password"
	Unknown     Type = ""
)

// typeOf reads a type in any case.
func typeOf(text string) Type {
	for _, t := range []Type{Enumeration, String, Integer, Boolean, Password} {
		if strings.EqualFold(text, string(t)) {
			return t
		}
	}
	return Unknown
}

// Attribute describes a setting. Bounds that are not said are nil.
type Attribute struct {
	Name, DisplayName string
	Type              Type
	// Values are those of an Enumeration.
	Values []Value
	// Lower, Upper and Step bound an Integer: Lower plus whole steps, up to Upper.
	Lower, Upper, Step *float64
	// MinLength and MaxLength bound a String, in characters.
	MinLength, MaxLength *int
	// Expression is a regular expression for the value; empty for any value.
	Expression string
	// ReadOnly, Immutable, Hidden and GrayOut attributes cannot be set, WriteOnly ones
	// cannot be read back. Dependencies may change this: see [State].
	ReadOnly, Immutable, Hidden, GrayOut, WriteOnly bool
}

// Value is a value of an Enumeration.
type Value struct {
	// Name is what is sent, DisplayName what a screen shows.
	Name, DisplayName string
}

// Names are the values that Ironic takes: the names, or the display names where
// the registry has no names.
func (a *Attribute) Names() []string {
	var names, shown []string
	for _, v := range a.Values {
		if v.Name != "" {
			names = append(names, v.Name)
		}
		if v.DisplayName != "" {
			shown = append(shown, v.DisplayName)
		}
	}
	if len(names) > 0 {
		return names
	}
	return shown
}

// Nearest is the value that a wish probably means: one that differs by case or
// blanks, or has the wish as its display name; empty if there is none.
func (a *Attribute) Nearest(wish string) string {
	names := a.Names()
	for i, v := range a.Values {
		if alike(v.Name, wish) || alike(v.DisplayName, wish) {
			if v.Name != "" {
				return v.Name
			}
			return a.Values[i].DisplayName
		}
	}
	i := slices.IndexFunc(names, func(name string) bool { return alike(name+"d", wish) || alike(name, wish+"d") })
	if i < 0 {
		return ""
	}
	return names[i]
}

// alike compares texts without case, blanks, dashes and underscores.
func alike(a, b string) bool {
	return a != "" && squeezed(a) == squeezed(b)
}

func squeezed(text string) string {
	return strings.ToLower(strings.NewReplacer(" ", "", "-", "", "_", "").Replace(text))
}

// Typed turns a wish into the attribute's own type: numbers and switches may be
// written as texts. Another wish stays what it is.
func (a *Attribute) Typed(wish any) any {
	text, ok := wish.(string)
	if !ok {
		if n, ok := wish.(int); ok {
			return json.Number(strconv.Itoa(n))
		}
		return wish
	}
	switch a.Type {
	case Integer:
		if _, err := strconv.ParseInt(text, 10, 64); err == nil {
			return json.Number(text)
		}
	case Boolean:
		if strings.EqualFold(text, "true") || strings.EqualFold(text, "false") {
			return strings.EqualFold(text, "true")
		}
	case Enumeration, String, Password, Unknown:
	}
	return text
}

// Fits reports whether a text meets the attribute's regular expression. One that
// cannot be read here is met by every text.
func (a *Attribute) Fits(text string) bool {
	if a.Expression == "" {
		return true
	}
	expression, err := regexp.Compile(a.Expression)
	return err != nil || expression.MatchString(text)
}

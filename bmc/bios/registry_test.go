package bios_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/bios"
)

// registry wraps attributes and dependencies into a registry.
func registry(attributes, dependencies string) []byte {
	return []byte(`{"Id": "BiosAttributeRegistry.v1_0_0", "RegistryEntries": {"Attributes": [` + attributes + `], "Dependencies": [` + dependencies + `]}}`)
}

func parsed(t *testing.T, attributes, dependencies string) *bios.Registry {
	t.Helper()
	r, err := bios.ParseRegistry(registry(attributes, dependencies))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestParseAttribute(t *testing.T) {
	cases := map[string]struct {
		json string
		want bios.Attribute
	}{
		"enumeration": {
			`{"AttributeName": "BootMode", "DisplayName": "Boot Mode", "Type": "Enumeration", "ReadOnly": false,
			  "Value": [{"ValueName": "Uefi", "ValueDisplayName": "UEFI Mode"}, {"ValueName": "Bios"}]}`,
			bios.Attribute{Name: "BootMode", DisplayName: "Boot Mode", Type: bios.Enumeration, Values: []bios.Value{{Name: "Uefi", DisplayName: "UEFI Mode"}, {Name: "Bios"}}},
		},
		"integer": {
			`{"AttributeName": "Cores", "Type": "Integer", "LowerBound": 0, "UpperBound": 64, "ScalarIncrement": 2}`,
			bios.Attribute{Name: "Cores", Type: bios.Integer, Lower: new(0.0), Upper: new(64.0), Step: new(2.0)},
		},
		"-1 is no bound": {
			`{"AttributeName": "Cores", "Type": "Integer", "LowerBound": 0, "UpperBound": -1}`,
			bios.Attribute{Name: "Cores", Type: bios.Integer, Lower: new(0.0)},
		},
		"bounds as texts, and far ones": {
			`{"AttributeName": "A", "Type": "Integer", "LowerBound": "1", "UpperBound": 18446744073709551615}`,
			bios.Attribute{Name: "A", Type: bios.Integer, Lower: new(1.0), Upper: new(18446744073709551615.0)},
		},
		"bounds that nothing meets": {
			`{"AttributeName": "A", "Type": "Integer", "LowerBound": 5, "UpperBound": 2}`,
			bios.Attribute{Name: "A", Type: bios.Integer},
		},
		"string": {
			`{"AttributeName": "Asset", "Type": "String", "MinLength": 0, "MaxLength": 63, "ValueExpression": "^[a-z]*$"}`,
			bios.Attribute{Name: "Asset", Type: bios.String, MaxLength: new(63), Expression: "^[a-z]*$"},
		},
		"any case": {
			`{"attributename": "A", "TYPE": "boolean", "readonly": true}`,
			bios.Attribute{Name: "A", Type: bios.Boolean, ReadOnly: true},
		},
		"marks": {
			`{"AttributeName": "P", "Type": "Password", "Hidden": true, "Immutable": true, "WriteOnly": true, "GrayOut": "true"}`,
			bios.Attribute{Name: "P", Type: bios.Password, Hidden: true, Immutable: true, WriteOnly: true, GrayOut: true},
		},
		"wrong types cost what they are in": {
			`{"AttributeName": "A", "Type": 5, "Value": "x", "UpperBound": [], "ReadOnly": {}, "MaxLength": "long"}`,
			bios.Attribute{Name: "A"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := parsed(t, c.json, "")
			NewWithT(t).Expect(r.Attribute(c.want.Name)).To(HaveValue(Equal(c.want)))
		})
	}
}

func TestParseRegistryRefuses(t *testing.T) {
	many := strings.TrimSuffix(strings.Repeat(`{"AttributeName": "A"},`, 10_001), ",")
	cases := map[string]struct{ text, want string }{
		"no JSON":             {"{", "is no JSON"},
		"HTML":                {"<html>", "is no JSON"},
		"a registry of other": {`{"Id": "Base.1.0", "Messages": {}}`, "no attribute registry"},
		"no attributes":       {string(registry("", "")), "no attribute registry"},
		"too many attributes": {string(registry(many, "")), "more than 10000"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := bios.ParseRegistry([]byte(c.text))
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(c.want)))
		})
	}
}

func TestOneAttributeDoesNotHideTheOthers(t *testing.T) {
	r := parsed(t, `5, null, {"Type": "String"}, {"AttributeName": "A", "Type": "String"}`, `7, {"Type": "Map"}`)
	g := NewWithT(t)
	g.Expect(r.Len()).To(Equal(1))
	g.Expect(r.Attribute("A")).NotTo(BeNil())
	g.Expect((*bios.Registry)(nil).Attribute("A")).To(BeNil())
}

func TestNearest(t *testing.T) {
	a := &bios.Attribute{Type: bios.Enumeration, Values: []bios.Value{{Name: "Enabled", DisplayName: "On"}, {Name: "Uefi", DisplayName: "UEFI Mode"}, {Name: "Disable"}}}
	for wish, want := range map[string]string{"enabled": "Enabled", "On": "Enabled", "Enable": "Enabled", "Disabled": "Disable", "uefi mode": "Uefi", "Legacy": "", "": ""} {
		NewWithT(t).Expect(a.Nearest(wish)).To(Equal(want), wish)
	}
	shown := &bios.Attribute{Type: bios.Enumeration, Values: []bios.Value{{DisplayName: "On"}}}
	NewWithT(t).Expect(shown.Names()).To(Equal([]string{"On"}))
	NewWithT(t).Expect(shown.Nearest("on")).To(Equal("On"))
}

func TestTyped(t *testing.T) {
	cases := map[string]struct {
		kind bios.Type
		wish any
		want any
	}{
		"number as text": {bios.Integer, "3", json.Number("3")},
		"number":         {bios.Integer, 3, json.Number("3")},
		"no number":      {bios.Integer, "x", "x"},
		"switch":         {bios.Boolean, "True", true},
		"no switch":      {bios.Boolean, "Enabled", "Enabled"},
		"text of digits": {bios.Enumeration, "3", "3"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect((&bios.Attribute{Type: c.kind}).Typed(c.wish)).To(Equal(c.want))
		})
	}
}

func TestFits(t *testing.T) {
	g := NewWithT(t)
	g.Expect((&bios.Attribute{Expression: "^[a-z]+$"}).Fits("abc")).To(BeTrue())
	g.Expect((&bios.Attribute{Expression: "^[a-z]+$"}).Fits("A1")).To(BeFalse())
	g.Expect((&bios.Attribute{Expression: "(?<=x)y"}).Fits("A1")).To(BeTrue(), "an expression that Go cannot read says nothing")
}

func TestSame(t *testing.T) {
	cases := []struct {
		a, b any
		want bool
	}{
		{json.Number("1"), json.Number("1.0"), true},
		{json.Number("3"), "3", true},
		{"Enabled", "Enabled", true},
		{"Enabled", "enabled", false},
		{true, true, true},
		{true, "true", true},
		{nil, "", true},
		{json.Number("1"), "one", false},
	}
	for _, c := range cases {
		NewWithT(t).Expect(bios.Same(c.a, c.b)).To(Equal(c.want), fmt.Sprint(c.a, " ", c.b))
	}
}

func FuzzParseRegistry(f *testing.F) {
	f.Add(registry(
		`{"AttributeName": "A", "Type": "Integer", "LowerBound": -1, "UpperBound": 1e400}`,
		`{"Type": "Map", "Dependency": {
			"MapFrom": [{"MapFromAttribute": "A", "MapFromProperty": "CurrentValue", "MapFromCondition": "GTR", "MapFromValue": 1}],
			"MapToAttribute": "A", "MapToProperty": "CurrentValue", "MapToValue": 2}}`,
	), "A", "2")
	f.Add([]byte(`{"RegistryEntries": [{"Attributes": {"AttributeName": "B", "Value": {}}}]}`), "B", "x")
	f.Fuzz(func(t *testing.T, raw []byte, name, wish string) {
		r, err := bios.ParseRegistry(raw)
		if err != nil {
			return
		}
		g := NewWithT(t)
		g.Expect(r.Len()).To(BeNumerically(">", 0))
		values := map[string]any{}
		if a := r.Attribute(name); a != nil {
			values[name] = a.Typed(wish)
			a.Fits(wish)
			if near := a.Nearest(wish); near != "" {
				g.Expect(a.Names()).To(ContainElement(near))
			}
		}
		s := r.Evaluate(nil, values)
		s.Locked(name)
		s.Forced(name)
		if lower, upper := s.Bounds(name); lower != nil && upper != nil {
			_, err := json.Marshal([]float64{*lower, *upper})
			g.Expect(err).NotTo(HaveOccurred(), "bounds are finite")
		}
	})
}

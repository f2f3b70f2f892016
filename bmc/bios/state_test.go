package bios_test

import (
	"encoding/json"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// mapping is a dependency; conditions have the form "Attribute EQU value".
func mapping(attribute, property, value string, conditions ...string) string {
	var from []string
	for _, c := range conditions {
		word := strings.Fields(c)
		term := ""
		if len(word) == 4 {
			term, word = word[0], word[1:]
		}
		from = append(from, `{"MapFromAttribute": "`+word[0]+`", "MapFromProperty": "CurrentValue", "MapFromCondition": "`+word[1]+`", "MapFromValue": `+word[2]+`, "MapTerms": "`+term+`"}`)
	}
	return `{"DependencyFor": "` + attribute + `", "Type": "Map", "Dependency": {"MapFrom": [` + strings.Join(from, ",") +
		`], "MapToAttribute": "` + attribute + `", "MapToProperty": "` + property + `", "MapToValue": ` + value + `}}`
}

const abc = `{"AttributeName": "A", "Type": "Enumeration", "Value": [{"ValueName": "On"}, {"ValueName": "Off"}]},
	{"AttributeName": "B", "Type": "Integer", "LowerBound": 0, "UpperBound": 100},
	{"AttributeName": "C", "Type": "String", "GrayOut": true}`

func TestLocked(t *testing.T) {
	cases := map[string]struct {
		dependencies  []string
		current, wish map[string]any
		what, because string
	}{
		"nothing is said": {nil, nil, nil, "", ""},
		"the condition holds now": {
			[]string{mapping("B", "GrayOut", "true", `A EQU "Off"`)},
			map[string]any{"A": "Off"},
			nil, "greyed out", `A is "Off"`,
		},
		"it does not": {[]string{mapping("B", "GrayOut", "true", `A EQU "Off"`)}, map[string]any{"A": "On"}, nil, "", ""},
		"the wish makes it hold": {
			[]string{mapping("B", "ReadOnly", "true", `A NEQ "On"`)},
			map[string]any{"A": "On"},
			map[string]any{"A": "Off"},
			"read only", `A is not "On"`,
		},
		"the wish opens it": {
			[]string{mapping("B", "Hidden", "true", `A EQU "Off"`)},
			map[string]any{"A": "Off"},
			map[string]any{"A": "On"},
			"", "",
		},
		"not known": {[]string{mapping("B", "GrayOut", "true", `X EQU "Off"`)}, map[string]any{"A": "Off"}, nil, "", ""},
		"and": {
			[]string{mapping("B", "Immutable", "true", `A EQU "Off"`, `AND B GTR 5`)},
			map[string]any{"A": "Off", "B": json.Number("6")},
			nil, "immutable", `A is "Off" and B is more than "5"`,
		},
		"and, one of them not": {
			[]string{mapping("B", "GrayOut", "true", `A EQU "Off"`, `AND B GTR 5`)},
			map[string]any{"A": "Off", "B": json.Number("5")},
			nil, "", "",
		},
		"or, one of them not known": {
			[]string{mapping("B", "GrayOut", "true", `A EQU "Off"`, `OR X EQU 1`)},
			map[string]any{"A": "Off"},
			nil, "greyed out", `A is "Off" or X is "1"`,
		},
		"the term at the earlier condition": {
			[]string{mapping("B", "GrayOut", "true", `OR A EQU "On"`, `B LEQ 5`)},
			map[string]any{"A": "Off", "B": json.Number("5")},
			nil, "greyed out", `A is "On" or B is at most "5"`,
		},
		"a later dependency wins": {
			[]string{mapping("B", "GrayOut", "true", `A EQU "Off"`), mapping("B", "GrayOut", "false", `B GEQ 1`)},
			map[string]any{"A": "Off", "B": json.Number("1")},
			nil, "", "",
		},
		"a later one that is not known": {
			[]string{mapping("B", "GrayOut", "true", `A EQU "Off"`), mapping("B", "GrayOut", "false", `X GEQ 1`)},
			map[string]any{"A": "Off"},
			nil, "", "",
		},
		"a value that another one sets": {
			[]string{mapping("A", "CurrentValue", `"Off"`, `B LSS 1`), mapping("B", "GrayOut", "true", `A EQU "Off"`)},
			map[string]any{"A": "On"},
			map[string]any{"B": json.Number("0")},
			"greyed out", `A is "Off"`,
		},
		"texts have no order": {[]string{mapping("B", "GrayOut", "true", `A GTR "Off"`)}, map[string]any{"A": "On"}, nil, "", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			what, because := parsed(t, abc, strings.Join(c.dependencies, ",")).Evaluate(c.current, c.wish).Locked("B")
			g.Expect(what).To(Equal(c.what))
			g.Expect(because).To(Equal(c.because))
		})
	}
}

func TestAlwaysLocked(t *testing.T) {
	g := NewWithT(t)
	what, because := parsed(t, abc, "").Evaluate(nil, nil).Locked("C")
	g.Expect(what).To(Equal("greyed out"))
	g.Expect(because).To(BeEmpty())
	what, _ = parsed(t, abc, mapping("C", "GrayOut", "false", `A EQU "On"`)).Evaluate(map[string]any{"A": "On"}, nil).Locked("C")
	g.Expect(what).To(BeEmpty(), "a dependency opens it")
}

func TestForcedAndBounds(t *testing.T) {
	g := NewWithT(t)
	r := parsed(t, abc, mapping("A", "CurrentValue", `"Off"`, `B GTR 50`)+","+mapping("B", "UpperBound", "10", `A EQU "On"`))
	s := r.Evaluate(map[string]any{"A": "On", "B": json.Number("1")}, map[string]any{"A": "On", "B": json.Number("60")})
	v, because, ok := s.Forced("A")
	g.Expect(ok).To(BeTrue())
	g.Expect(v).To(Equal("Off"))
	g.Expect(because).To(Equal(`B is more than "50"`))
	lower, upper := s.Bounds("B")
	g.Expect(lower).To(HaveValue(Equal(0.0)))
	g.Expect(upper).To(HaveValue(Equal(10.0)))

	_, upper = r.Evaluate(nil, nil).Bounds("B")
	g.Expect(upper).To(BeNil(), "whether it is 100 or 10 is not known")
	_, _, ok = r.Evaluate(nil, nil).Forced("A")
	g.Expect(ok).To(BeFalse())
}

func TestEvaluateEnds(t *testing.T) {
	// A and B chase one another.
	r := parsed(t, abc, mapping("A", "CurrentValue", `"Off"`, `B EQU 1`)+","+mapping("A", "CurrentValue", `"On"`, `B EQU 2`)+","+
		mapping("B", "CurrentValue", "2", `A EQU "Off"`)+","+mapping("B", "CurrentValue", "1", `A EQU "On"`))
	_, _, ok := r.Evaluate(map[string]any{"A": "On", "B": json.Number("1")}, nil).Forced("A")
	NewWithT(t).Expect(ok).To(BeTrue())
}

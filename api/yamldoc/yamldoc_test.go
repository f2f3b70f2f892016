package yamldoc_test

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/yamldoc"
)

func TestDecode(t *testing.T) {
	g := NewWithT(t)
	for document, want := range map[string]any{
		"":                                nil,
		"---\n":                           nil,
		"a: 1\n":                          map[string]any{"a": 1.0},
		"--- {}\n":                        map[string]any{},
		"a: yes\n---\n":                   map[string]any{"a": true},
		"a: 1\n...\n":                     map[string]any{"a": 1.0},
		`{"a": [1, "b", null]}`:           map[string]any{"a": []any{1.0, "b", nil}},
		"a: &a {b: 1}\nc: [*a, *a]\n":     map[string]any{"a": map[string]any{"b": 1.0}, "c": []any{map[string]any{"b": 1.0}, map[string]any{"b": 1.0}}},
		"a: &a {b: 1}\nc: {<<: *a, d: 2}": map[string]any{"a": map[string]any{"b": 1.0}, "c": map[string]any{"b": 1.0, "d": 2.0}},
	} {
		value, err := yamldoc.Decode([]byte(document))
		g.Expect(err).NotTo(HaveOccurred(), document)
		if want == nil {
			g.Expect(value).To(BeNil(), document)
		} else {
			g.Expect(value).To(Equal(want), document)
		}
	}
}

func TestWhatIsNotDecoded(t *testing.T) {
	for name, tc := range map[string]struct{ document, want string }{
		"no YAML":            {"a: [", "not valid YAML"},
		"a member twice":     {"a: 1\na: 2\n", `key "a" already set`},
		"twice in JSON":      {`{"a": 1, "a": 2}`, `key "a" already set`},
		"two documents":      {"a: 1\n---\nb: 2\n", "more than one YAML document"},
		"too long":           {strings.Repeat(" ", 1<<20+1), "has 1048577 bytes"},
		"too much":           {"a: &a " + strings.Repeat("x", 50000) + "\nb: [" + strings.Repeat("*a,", 200) + "]", "more than 4194304 bytes once its aliases are replaced"},
		"without an end":     {"a: &a [*a]", "once its aliases are replaced"},
		"an alias of nobody": {"a: *b", "not valid YAML"},
		"deep":               {strings.Repeat("[", 20000), "not valid YAML"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := yamldoc.Decode([]byte(tc.document))
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(tc.want)))
		})
	}
}

func TestAmbiguous(t *testing.T) {
	g := NewWithT(t)
	for document, want := range map[string]string{
		"a: 1\nid: 0100\n":           "line 2: 0100 is 64 to some readers and 100 to others",
		"[1, {a: 1_500}]":            "line 1: 1_500 is 1500 to some readers and a text to others",
		"a: 00":                      "",
		`{"a": 100, "b": "0100"}`:    "",
		"a: '0100'\nb: 0x10\nc: 0":   "",
		"a: 08\nb: 10.0.0.1\nc: 0.5": "",
		"a: |\n  0100\n":             "",
		"":                           "",
	} {
		err := yamldoc.Ambiguous([]byte(document))
		if want == "" {
			g.Expect(err).NotTo(HaveOccurred(), document)
		} else {
			g.Expect(err).To(MatchError(ContainSubstring(want)), document)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("a: &a {b: 1}\nc: [*a, *a]\n---\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if _, err := yamldoc.Decode(raw); err != nil && err.Error() == "" {
			t.Fatal("an error without a word")
		}
	})
}

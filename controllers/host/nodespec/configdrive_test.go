package nodespec

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// TestWhatIsWrongWithASecretIsToldWithoutIt reads what no object can be read from: the
// error ends up in the host's status, in events and in the log.
func TestWhatIsWrongWithASecretIsToldWithoutIt(t *testing.T) {
	for name, c := range map[string]struct{ raw, told string }{
		"a value that looks like an alias": {"user: admin\npassword: *hunter2\n", "neither a YAML nor a JSON object"},
		"a value that looks like a tag":    {"password: !!int hunter2\n", "neither a YAML nor a JSON object"},
		"a key that is there twice":        {"{\"hunter2\": 1, \"hunter2\": 2, \"a\": *b}", "neither a YAML nor a JSON object"},
		"a list":                           {"- hunter2", "neither a YAML nor a JSON object"},
		"a text":                           {"hunter2", "neither a YAML nor a JSON object"},
		"aliases that fill the memory":     {"hunter2: &a " + strings.Repeat("x", 50000) + "\nb: [" + strings.Repeat("*a,", 200) + "]", "more than 4194304 bytes"},
		"a second document":                {"a: hunter2\n---\nb: 1\n", "more than one YAML document"},
		"more than a Secret holds":         {"a: " + strings.Repeat("x", 1<<20), "at most 1048576 are read"},
		"no YAML":                          {"user: admin\n\tpassword: hunter2\n", "see line"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			m, err := ParseObject([]byte(c.raw))
			g.Expect(err).To(MatchError(And(ContainSubstring(c.told), Not(ContainSubstring("hunter2")))), "%v", m)
		})
	}
}

package reconcile

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestDifference(t *testing.T) {
	for _, c := range []struct{ name, before, after, want string }{
		{"nothing", `{"a":1,"b":{"c":[1]}}`, `{"a":1,"b":{"c":[1]}}`, `{}`},
		{"changed", `{"a":1,"b":2}`, `{"a":1,"b":3}`, `{"b":3}`},
		{"new", `{"a":1}`, `{"a":1,"b":{"c":2}}`, `{"b":{"c":2}}`},
		{"gone", `{"a":1,"b":2}`, `{"a":1}`, `{"b":null}`},
		{"changed inside", `{"a":{"x":1,"y":2},"b":1}`, `{"a":{"x":1,"y":3},"b":1}`, `{"a":{"y":3}}`},
		{"gone inside", `{"a":{"x":1,"y":{"z":1}}}`, `{"a":{"x":1}}`, `{"a":{"y":null}}`},
		{"lists are replaced", `{"a":[{"x":1},{"x":2}]}`, `{"a":[{"x":1},{"x":3}]}`, `{"a":[{"x":1},{"x":3}]}`},
		{"an object becomes something else", `{"a":{"x":1}}`, `{"a":"x"}`, `{"a":"x"}`},
		{"something becomes an object", `{"a":"x"}`, `{"a":{"x":1}}`, `{"a":{"x":1}}`},
		{"an object becomes empty", `{"a":{"x":1}}`, `{"a":{}}`, `{"a":{"x":null}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(difference([]byte(c.before), []byte(c.after))).To(MatchJSON(c.want))
		})
	}
}

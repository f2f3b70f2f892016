package rules_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/rules"
	"github.com/ironflow/ironflow/test/hub/door"
)

func TestFirstFittingRuleDecides(t *testing.T) {
	for name, tc := range map[string]struct {
		trigger, from string
		facts         door.Facts
		want          rules.Decision
		err           string
	}{
		"guard holds":              {"walk", "out", door.Facts{Open: true}, rules.Decision{To: "in", Changed: true, Info: "inside", Effects: []string{"light"}}, ""},
		"guard fails, next one":    {"walk", "out", door.Facts{}, rules.Decision{To: "out"}, ""},
		"turned guard":             {"lose", "in", door.Facts{}, rules.Decision{To: "lost-key", Changed: true, Info: "looking for it"}, ""},
		"no rule for this state":   {"walk", "in", door.Facts{}, rules.Decision{}, "not possible in this state"},
		"no rule when guards fail": {"lose", "in", door.Facts{Open: true}, rules.Decision{}, "not possible in this state"},
		"refused":                  {"walk", "lost-key", door.Facts{}, rules.Decision{}, "no key"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := door.New().Decide(tc.trigger, tc.from, tc.facts)
			if tc.err != "" {
				g.Expect(err).To(MatchError(ContainSubstring(tc.err)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(tc.want))
		})
	}
}

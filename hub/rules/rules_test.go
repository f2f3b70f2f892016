package rules_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/rules"
)

type facts struct{ open bool }

var isOpen = rules.Guard[facts]{Name: "open", Holds: func(f facts) bool { return f.open }}

func door() *rules.Machine[facts] {
	return &rules.Machine[facts]{
		Name:   "door",
		States: []string{"in", "out", "lost-key"},
		Rules: []rules.Rule[facts]{
			{Trigger: "walk", From: []string{"out"}, To: "in", When: []rules.Guard[facts]{isOpen}, Info: "inside", Effects: []string{"light"}},
			{Trigger: "walk", From: []string{"out"}, To: rules.Same},
			{Trigger: "walk", From: []string{"lost-key"}, Refuse: "no key"},
			{Trigger: "lose", From: []string{"in", "out"}, To: "lost-key", When: []rules.Guard[facts]{rules.Not(isOpen)}, Info: "looking for it"},
		},
	}
}

func TestFirstFittingRuleDecides(t *testing.T) {
	for name, tc := range map[string]struct {
		trigger, from string
		facts         facts
		want          rules.Decision
		err           string
	}{
		"guard holds":              {"walk", "out", facts{true}, rules.Decision{To: "in", Changed: true, Info: "inside", Effects: []string{"light"}}, ""},
		"guard fails, next one":    {"walk", "out", facts{}, rules.Decision{To: "out"}, ""},
		"turned guard":             {"lose", "in", facts{}, rules.Decision{To: "lost-key", Changed: true, Info: "looking for it"}, ""},
		"no rule for this state":   {"walk", "in", facts{}, rules.Decision{}, "not possible in this state"},
		"no rule when guards fail": {"lose", "in", facts{true}, rules.Decision{}, "not possible in this state"},
		"refused":                  {"walk", "lost-key", facts{}, rules.Decision{}, "no key"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := door().Decide(tc.trigger, tc.from, tc.facts)
			if tc.err != "" {
				g.Expect(err).To(MatchError(ContainSubstring(tc.err)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(tc.want))
		})
	}
}

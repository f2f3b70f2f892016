package tables_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/rules"
	"github.com/ironflow/ironflow/test/hub/tables"
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

func TestCheckFindsBrokenTables(t *testing.T) {
	for name, tc := range map[string]struct {
		breakIt func(*rules.Machine[facts])
		want    string
	}{
		"unknown target":   {func(m *rules.Machine[facts]) { m.Rules[0].To = "roof" }, `unknown state "roof"`},
		"unknown source":   {func(m *rules.Machine[facts]) { m.Rules[0].From = []string{"roof"} }, `unknown state "roof"`},
		"double source":    {func(m *rules.Machine[facts]) { m.Rules[3].From = []string{"in", "in"} }, "twice"},
		"no source":        {func(m *rules.Machine[facts]) { m.Rules[0].From = nil }, "no source"},
		"no text":          {func(m *rules.Machine[facts]) { m.Rules[0].Info = "" }, "no text"},
		"forgotten state":  {func(m *rules.Machine[facts]) { m.States = append(m.States, "attic") }, `no rule mentions state "attic"`},
		"nothing is wrong": {func(*rules.Machine[facts]) {}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			m := door()
			tc.breakIt(m)
			if tc.want == "" {
				g.Expect(tables.Check(m)).To(Succeed())
				return
			}
			g.Expect(tables.Check(m)).To(MatchError(ContainSubstring(tc.want)))
		})
	}
}

func TestDiagramDrawsOneArrowForEachPair(t *testing.T) {
	g := NewWithT(t)
	g.Expect(tables.Diagram(door())).To(Equal("stateDiagram-v2\n" +
		"    out --> in: walk\n" +
		"    in --> lost_key: lose\n" +
		"    out --> lost_key: lose\n" +
		"    lost_key: lost-key\n"))
	g.Expect(tables.Table(door())).To(ContainSubstring("| walk | lost-key | refused: no key |  |  |"))
	g.Expect(tables.Reachable(door(), "out")).To(Equal([]string{"in", "out", "lost-key"}))
	g.Expect(tables.Reachable(door(), "lost-key")).To(Equal([]string{"lost-key"}))
}

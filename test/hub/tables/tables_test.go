package tables_test

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/rules"
	"github.com/ironflow/ironflow/test/hub/door"
	"github.com/ironflow/ironflow/test/hub/tables"
)

func TestCheckFindsBrokenTables(t *testing.T) {
	for name, tc := range map[string]struct {
		breakIt func(*rules.Machine[door.Facts])
		want    string
	}{
		"unknown target":   {func(m *rules.Machine[door.Facts]) { m.Rules[0].To = "roof" }, `unknown state "roof"`},
		"unknown source":   {func(m *rules.Machine[door.Facts]) { m.Rules[0].From = []string{"roof"} }, `unknown state "roof"`},
		"double source":    {func(m *rules.Machine[door.Facts]) { m.Rules[3].From = []string{"in", "in"} }, "twice"},
		"no source":        {func(m *rules.Machine[door.Facts]) { m.Rules[0].From = nil }, "no source"},
		"no text":          {func(m *rules.Machine[door.Facts]) { m.Rules[0].Info = "" }, "no text"},
		"forgotten state":  {func(m *rules.Machine[door.Facts]) { m.States = append(m.States, "attic") }, `no rule mentions state "attic"`},
		"nothing is wrong": {func(*rules.Machine[door.Facts]) {}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			m := door.New()
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
	g.Expect(tables.Diagram(door.New())).To(Equal("stateDiagram-v2\n" +
		"    out --> in: walk\n" +
		"    in --> lost_key: lose\n" +
		"    out --> lost_key: lose\n" +
		"    lost_key: lost-key\n"))
	test := func(rule int) string { return fmt.Sprint("TestDoor", rule) }
	g.Expect(tables.Table(door.New(), test)).To(ContainSubstring("| walk | lost-key | refused: no key |  |  | TestDoor2 |"))
	g.Expect(tables.Reachable(door.New(), "out")).To(Equal([]string{"in", "out", "lost-key"}))
	g.Expect(tables.Reachable(door.New(), "lost-key")).To(Equal([]string{"lost-key"}))
}

func TestRulesThatDecideAreNoted(t *testing.T) {
	g := NewWithT(t)
	m, test := door.New(), ""
	watched := tables.Watch(m, func() string { return test })
	decide := func(trigger, from string, facts door.Facts) { _, _ = m.Decide(trigger, from, facts) }
	decide("walk", "out", door.Facts{Open: true})
	g.Expect(watched.Tests(0)).To(BeEmpty(), "no test runs")
	test = "TestOfADoor/open"
	decide("walk", "out", door.Facts{})
	g.Expect(watched.Tests(0)).To(BeEmpty(), "its guard does not hold")
	g.Expect(watched.Tests(1)).To(Equal([]string{"TestOfADoor"}))
	decide("walk", "out", door.Facts{Open: true})
	decide("walk", "lost-key", door.Facts{})
	g.Expect(watched.Tests(0)).To(Equal([]string{"TestOfADoor"}))
	g.Expect(watched.Tests(2)).To(Equal([]string{"TestOfADoor"}), "a refusal is a decision too")
}

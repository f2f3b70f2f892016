package demo

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/controllers/host/view"
)

// up is how a terminal is told to go to an earlier line and to clear what follows.
const up = "\033["

func TestATerminalShowsOneTableThatStaysAtTheEnd(t *testing.T) {
	g := NewWithT(t)
	var out strings.Builder
	s := newScreen(Options{Out: &out, Terminal: true, Width: 100})
	s.Show([]view.View{{Name: "machine-0", Phase: "inspecting"}})
	g.Expect(out.String()).NotTo(ContainSubstring(up), "nothing to replace yet")
	s.Show([]view.View{{Name: "machine-0", Phase: "provisioned"}})
	g.Expect(strings.Count(out.String(), up)).To(BeNumerically(">", 0), "the first table is replaced")

	s.Keep()
	before := out.Len()
	s.Say("all hosts are installed")
	g.Expect(out.String()[before:]).NotTo(ContainSubstring(up), "the last table is still there")
	g.Expect(out.String()[before:]).To(ContainSubstring("all hosts are installed"))
}

func TestElsewhereEachChangeIsALine(t *testing.T) {
	g := NewWithT(t)
	var out strings.Builder
	s := newScreen(Options{Out: &out})
	for range 3 {
		s.Show([]view.View{{Name: "machine-0", Phase: "inspecting"}})
	}
	s.Show([]view.View{{Name: "machine-0", Phase: "provisioning", Reason: "no power"}})
	g.Expect(strings.Split(strings.TrimSpace(out.String()), "\n")).To(HaveExactElements(
		ContainSubstring("machine-0  inspecting"), ContainSubstring("machine-0  provisioning  ✗ no power")))
}

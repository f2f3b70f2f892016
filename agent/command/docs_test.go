package command_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/test/pages"
)

func TestEveryProgramIsDocumented(t *testing.T) {
	g := NewWithT(t)
	var want []pages.Row
	for _, p := range command.Allowed() {
		want = append(want, pages.Row{"program": "`" + p.Name + "`", "why": p.Why})
	}
	g.Expect(pages.Table(t, pages.Read(t, "../..", "agent-reference.md"), "Programs that the agent starts")).To(Equal(want))
}

package waitfor_test

import (
	"strconv"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/waitfor"
	"github.com/ironflow/ironflow/test/pages"
)

func TestExitCodesAreDocumented(t *testing.T) {
	g := NewWithT(t)
	text := pages.Read(t, "../../..", "agent-based-install.md")
	var rows, want [][]string
	for _, row := range pages.Table(t, text, "Exit codes of wait-for") {
		rows = append(rows, []string{row["code"], row["outcome"], row["meaning"]})
	}
	for _, m := range waitfor.Meanings() {
		want = append(want, []string{strconv.Itoa(m.Outcome.Code()), m.Name, m.Text})
	}
	g.Expect(rows).To(Equal(want))
}

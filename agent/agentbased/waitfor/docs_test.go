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
	const root = "../../.."
	text := pages.Read(t, root, "agent-based-install.md")
	var rows, want [][]string
	for _, row := range pages.Table(t, text, "Exit codes of wait-for") {
		rows = append(rows, []string{row["code"], row["outcome"], row["meaning"]})
	}
	for _, m := range waitfor.Meanings() {
		want = append(want, []string{strconv.Itoa(m.Outcome.Code()), m.Name, m.Text})
	}
	g.Expect(rows).To(Equal(want))
	g.Expect(pages.Tests(t, root, text)).To(BeNumerically(">", 25), "the page names its tests in the form that is looked for")
}

package assisted

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/customdeploy/step"
)

const docsFile = "../../docs/deploy-steps.md"

var update = flag.Bool("update", false, "write the generated parts of docs/deploy-steps.md")

// generated are the parts of the page that come from the tables of the code,
// each between "<!-- NAME -->" and "<!-- end NAME -->".
var generated = map[string]func() string{
	"exit codes": exitCodes,
	"rules":      ruleList,
	"causes":     causeTable,
	"stages":     stageTable,
	"deadlines":  deadlineTable,
}

func TestDocs(t *testing.T) {
	g := NewWithT(t)
	raw, err := os.ReadFile(docsFile)
	g.Expect(err).NotTo(HaveOccurred())
	page := string(raw)
	for name, render := range generated {
		begin, end := "<!-- "+name+" -->\n", "<!-- end "+name+" -->"
		before, rest, ok := strings.Cut(page, begin)
		g.Expect(ok).To(BeTrue(), "%s has no part %q", docsFile, name)
		part, after, ok := strings.Cut(rest, end)
		g.Expect(ok).To(BeTrue(), "the part %q does not end", name)
		if *update {
			page = before + begin + render() + end + after
			continue
		}
		g.Expect(part).To(Equal(render()), "part %q is out of date: go test ./customdeploy/assisted -run TestDocs -update", name)
	}
	if *update {
		g.Expect(os.WriteFile(docsFile, []byte(page), 0o644)).To(Succeed())
	}
}

func exitCodes() string {
	var b strings.Builder
	b.WriteString("| program | code | meaning |\n|---|---|---|\n")
	for _, m := range exitcode.Meanings() {
		fmt.Fprintf(&b, "| %s | %d | %s |\n", m.Program, m.Code, m.Text)
	}
	return b.String()
}

func ruleList() string {
	var b strings.Builder
	for i, r := range rules {
		fmt.Fprintf(&b, "%d. %s\n", i+1, r.name)
	}
	return b.String()
}

func causeTable() string {
	var b strings.Builder
	b.WriteString("| cause | outcome | exit code |\n|---|---|---|\n")
	causes := make([]Cause, 0, len(outcomes))
	for c := range outcomes {
		causes = append(causes, c)
	}
	slices.SortFunc(causes, func(a, b Cause) int {
		if d := a.Outcome().ExitCode() - b.Outcome().ExitCode(); d != 0 {
			return d
		}
		return strings.Compare(string(a), string(b))
	})
	for _, c := range causes {
		fmt.Fprintf(&b, "| %s | %s | %d |\n", c, c.Outcome(), c.Outcome().ExitCode())
	}
	return b.String()
}

func stageTable() string {
	var b strings.Builder
	b.WriteString("| stage | limit |\n|---|---|\n")
	names := make([]string, 0, len(stageLimits))
	for name := range stageLimits {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&b, "| %s | %v |\n", name, stageLimit(name))
	}
	fmt.Fprintf(&b, "| any other | %v |\n", stageLimit(""))
	return b.String()
}

func deadlineTable() string {
	var b strings.Builder
	b.WriteString("| argument | default | meaning |\n|---|---|---|\n")
	for _, row := range []struct {
		arg string
		val time.Duration
	}{{"start_s", Defaults.Start}, {"idle_s", Defaults.Idle}, {"total_s", Defaults.Total}, {"stage_s", Defaults.Stage}} {
		def := row.val.String()
		if row.val == 0 {
			def = "the table below"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", row.arg, def, step.DeadlineArgs[row.arg].Description)
	}
	return b.String()
}

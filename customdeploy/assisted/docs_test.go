package assisted

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/customdeploy/step"
	"github.com/ironflow/ironflow/test/pages"
)

var update = flag.Bool("update", false, "write the generated parts of docs/deploy-steps.md")

// generated are the parts of the page that come from the tables of the code.
var generated = map[string]func() string{
	"exit codes": exitCodes,
	"rules":      ruleList,
	"causes":     causeTable,
	"stages":     stageTable,
	"deadlines":  deadlineTable,
}

func TestDocs(t *testing.T) {
	page := pages.Generated{Root: "../..", Page: "deploy-steps.md", Package: "./customdeploy/assisted", Update: *update}
	for name, render := range generated {
		page.Hold(t, name, render())
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

package meaning

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/ironflow/ironflow/test/pages"
)

var update = flag.Bool("update", false, "write the generated tables of docs/bmc-watch.md")

// TestDocs keeps the tables of docs/bmc-watch.md equal to the code.
func TestDocs(t *testing.T) {
	page := pages.Generated{Root: "../../..", Page: "bmc-watch.md", Package: "./bmc/events/meaning", Update: *update}
	page.Hold(t, "reads", renderReads())
	page.Hold(t, "rules", renderRules())
}

func renderReads() string {
	about := map[Kind]string{
		Power: "the host was switched on or off, or reset", Boot: "the firmware reached a stage of the boot", Task: "a task, job or update went on",
		Health: "a part is worse or better", Log: "something was written into a log", Look: "events may have been missed", Other: "nothing that anybody waits for",
	}
	var b strings.Builder
	b.WriteString("| kind | means | causes a read of |\n|---|---|---|\n")
	for _, kind := range []Kind{Power, Boot, Task, Health, Log, Look, Other} {
		var reads []string
		for _, read := range Reads[kind] {
			reads = append(reads, string(read))
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", kind, about[kind], dash(strings.Join(reads, ", ")))
	}
	return b.String()
}

func renderRules() string {
	var b strings.Builder
	b.WriteString("| registry | keys | else | kind | is |\n|---|---|---|---|---|\n")
	for _, r := range Rules {
		var other []string
		if r.Origin != nil {
			other = append(other, "origin")
		}
		if len(r.Types) > 0 {
			other = append(other, "type "+strings.Join(r.Types, ", "))
		}
		for _, s := range r.Severities {
			other = append(other, string(s))
		}
		keys := ""
		if len(r.Keys) > 0 {
			keys = "`" + strings.Join(r.Keys, "`, `") + "`"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", dash(r.Registry), dash(keys), dash(strings.Join(other, ", ")), r.Kind, r.Because)
	}
	return b.String()
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

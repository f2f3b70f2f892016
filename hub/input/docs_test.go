package input_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/ironflow/ironflow/hub/input"
	"github.com/ironflow/ironflow/test/pages"
)

var update = flag.Bool("update", false, "write the table of docs/hub.md")

func TestDocumentationIsCurrent(t *testing.T) {
	var b strings.Builder
	b.WriteString("| of | field | rule | what to write |\n|---|---|---|---|\n")
	for _, r := range input.Table() {
		var names []string
		for _, f := range r.Fields {
			name := "`" + f.Member + "`"
			if f.Object != "" {
				name += " (" + f.Object + ")"
			}
			names = append(names, name)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.Of, strings.Join(names, ", "), r.Want, r.Write)
	}
	pages.Generated{Root: "../..", Page: "hub.md", Package: "./hub/input", Update: *update}.Hold(t, "input", b.String())
}

package units_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/agentbased/units"
	"github.com/ironflow/ironflow/test/pages"
)

var update = flag.Bool("update", false, "write the generated part of the page anew")

func TestEveryUnitIsDocumented(t *testing.T) {
	var text strings.Builder
	text.WriteString("| unit | does | workflows | hosts | after | other conditions |\n|---|---|---|---|---|---|\n")
	for _, u := range units.Table(units.Options{}) {
		workflows, hosts, conditions := "all", "all", ""
		if len(u.In) > 0 {
			var words []string
			for _, w := range u.In {
				words = append(words, string(w))
			}
			workflows = strings.Join(words, ", ")
		}
		if u.OnNodeZero {
			hosts = "node zero"
		}
		for _, path := range u.Conditions {
			if missing, not := strings.CutPrefix(path, "!"); not {
				conditions += "no `" + missing + "` "
			} else {
				conditions += "`" + path + "` "
			}
		}
		fmt.Fprintf(&text, "| `%s` | %s | %s | %s | %s | %s |\n", u.Name, u.Description, workflows, hosts, strings.ReplaceAll(strings.Join(u.After, " "), ".service", ""), strings.TrimSpace(conditions))
	}
	text.WriteString("\nNode zero is the host with `" + places.NodeZero + "`.\n")
	pages.Generated{Root: "../../..", Page: "agent-based-install-host.md", Package: "./agent/agentbased/units", Update: *update}.Hold(t, "units", text.String())
}

package messages_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/ironflow/ironflow/agent/agentbased/messages"
	"github.com/ironflow/ironflow/test/pages"
)

var update = flag.Bool("update", false, "write the generated part of the page anew")

const page = "agent-based-install-host.md"

// Every message stands in the page for users, with what its arguments are.
func TestEveryMessageIsDocumented(t *testing.T) {
	var text strings.Builder
	text.WriteString("| file | message | severity | text |\n|---|---|---|---|\n")
	for _, m := range messages.Table() {
		args := make([]any, len(m.Args))
		for i, a := range m.Args {
			args[i] = "*" + a + "*"
		}
		fmt.Fprintf(&text, "| `%s` | `%s` | %s | %s |\n", m.Slot, m.ID, m.Severity, fmt.Sprintf(m.Format, args...))
	}
	pages.Generated{Root: "../../..", Page: page, Package: "./agent/agentbased/messages", Update: *update}.Hold(t, "messages", text.String())
}

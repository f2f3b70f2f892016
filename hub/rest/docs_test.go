package rest_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ironflow/ironflow/hub/clustermachine"
	"github.com/ironflow/ironflow/hub/evaluate"
	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/tables"
	"github.com/ironflow/ironflow/test/pages"
)

var update = flag.Bool("update", false, "write the generated parts of the pages")

// flow are the statuses that a host passes from its registration to its end.
var flow = []string{
	hostmachine.New, wire.HostStatusDiscovering, wire.HostStatusKnown, wire.HostStatusInsufficient,
	wire.HostStatusPreparingForInstallation, wire.HostStatusPreparingSuccessful, wire.HostStatusInstalling,
	wire.HostStatusInstallingInProgress, wire.HostStatusInstalled, wire.HostStatusError,
}

// proofs is the page for developers that has the tests of tables on pages for users.
const proofs = "hub-proofs.md"

func TestDocumentationIsCurrent(t *testing.T) {
	shown := map[string]map[string]string{
		"operations.md":  {"operations": operationsTable(t)},
		"events.md":      {"events": eventsTable()},
		"validations.md": {"host validations": hostValidations(t), "cluster validations": clusterValidations(t)},
	}
	for page, parts := range shown {
		for name, text := range parts {
			pages.Generated{Root: "../..", Page: page, Package: "./hub/rest", Update: *update}.Hold(t, name, pages.WithoutTests(text))
			pages.Generated{Root: "../..", Page: proofs, Package: "./hub/rest", Update: *update}.Hold(t, name, pages.OnlyTests(text, 1))
		}
	}
	for page, parts := range map[string]map[string]string{
		"hub.md": {
			"host diagram":    "```mermaid\n" + tables.Diagram(hostmachine.Machine, flow...) + "```\n",
			"limits":          limits(),
			"cluster diagram": "```mermaid\n" + tables.Diagram(clustermachine.Machine) + "```\n",
		},
		"validations.md": {"requirements": requirements()},
	} {
		for name, text := range parts {
			pages.Generated{Root: "../..", Page: page, Package: "./hub/rest", Update: *update}.Hold(t, name, text)
		}
	}
}

// limits are how long stages may take.
func limits() string {
	var b strings.Builder
	b.WriteString("| stage | of | limit | then |\n|---|---|---|---|\n")
	write := func(stage, of string, limit time.Duration, then string) {
		if limit > 0 {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", stage, of, strings.TrimSuffix(limit.String(), "0s"), then)
		}
	}
	timers := evaluate.Timers{}.WithDefaults()
	for _, stage := range hostmachine.AllStages() {
		then := "the host has failed"
		if stage == wire.HostStageRebooting {
			then = "a person has to look at the host, or it is taken for installed where nobody inside its cluster reports; single nodes have twice the time"
		}
		if hostmachine.ReportsProgress(stage) {
			then += "; it counts from the last report"
		}
		write(string(stage), "host", timers.StageLimit(stage, false), then)
	}
	for _, stage := range evaluate.FinalizingStages {
		then := "the cluster has failed"
		if slices.Contains(evaluate.Harmless, stage) {
			then = "it is flagged, and the cluster goes on"
		}
		write(string(stage), "cluster", timers.FinalizingLimit(stage), then)
	}
	return b.String()
}

package service

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/dryrun"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/test/pages"
)

// known are the exit codes that a step may be answered with, 256 aside.
var known = map[string]int64{"0": 0, "-1": steps.ExitBad, "2": steps.ExitPull, "124": steps.ExitTimeout, "125": steps.ExitRunning}

func TestEveryStepIsDocumented(t *testing.T) {
	g := NewWithT(t)
	text := pages.Read(t, "../..", "agent-reference.md")
	documented := map[string]string{}
	for _, row := range pages.Table(t, text, "Steps") {
		kind := strings.Trim(row["step"], "`")
		documented[kind] = row["limit"]
		g.Expect(row["reply"]).NotTo(BeEmpty(), "%s: no reply", kind)
		g.Expect(pages.Tests(t, "../..", row["shown by"])).NotTo(BeZero(), "%s: no test", kind)
		for code := range strings.SplitSeq(row["exit codes"], ", ") {
			g.Expect(known).To(HaveKey(code), "%s: exit code", kind)
		}
	}
	there := map[string]string{}
	for kind, runner := range registryOfAnyHost(t) {
		there[string(kind)] = limit(runner.Deadline)
	}
	for _, kind := range slices.Sorted(maps.Keys(there)) {
		g.Expect(documented[kind]).To(Equal(there[kind]), "docs/agent-reference.md, table of steps: want a row for `%s` with the limit %s", kind, there[kind])
	}
	g.Expect(slices.Sorted(maps.Keys(documented))).To(Equal(slices.Sorted(maps.Keys(there))), "steps of docs/agent-reference.md and those of the agent")
}

// registryOfAnyHost is the agent's table of steps.
func registryOfAnyHost(t *testing.T) steps.Registry {
	t.Helper()
	a, err := newAgent(Config{
		URL: "http://hub.invalid", InfraEnvID: "11111111-1111-4111-8111-111111111111", Interval: time.Second,
		Dir: hostfile.Dir{Root: t.TempDir()}, Dry: dryrun.Settings{Enabled: true}, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return a.registry()
}

// limit writes a duration as the page does.
func limit(d time.Duration) string {
	switch {
	case d%time.Hour == 0:
		return fmt.Sprintf("%d h", d/time.Hour)
	case d%time.Minute == 0:
		return fmt.Sprintf("%d min", d/time.Minute)
	default:
		return fmt.Sprintf("%d s", d/time.Second)
	}
}

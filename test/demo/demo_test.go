package demo_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/demo"
)

// binEnv names the folder with the programs; `make test` sets it.
const binEnv = "IRONFLOW_BIN"

// programs returns the folder of the programs, which have to be built before.
func programs(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("runs the whole flow on a real Ironic; run without -short")
	}
	dir := os.Getenv(binEnv)
	if dir == "" {
		dir = "../../bin"
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "lab", "ironflow-step")); err != nil {
		message := "the lab's programs are not built: run make lab-programs, or make test"
		if os.Getenv("CI") == "true" {
			t.Fatal(message)
		}
		t.Skip(message)
	}
	return dir
}

// run runs the demo to its end and returns its summary and what a person saw.
func run(t *testing.T, o demo.Options) (demo.Summary, string) {
	t.Helper()
	g := NewWithT(t)
	var out strings.Builder
	o.BinDir, o.Once, o.Out, o.StateDir = programs(t), true, &out, t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 45*time.Minute)
	defer cancel()
	err := demo.Run(ctx, o)
	g.Expect(err).NotTo(HaveOccurred(), out.String())
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var summary demo.Summary
	g.Expect(json.Unmarshal([]byte(lines[len(lines)-1]), &summary)).To(Succeed(), "the last line is the summary")
	return summary, out.String()
}

// TestTwoHostsThereAndBack is the short flow on the real Ironic.
func TestTwoHostsThereAndBack(t *testing.T) {
	g := NewWithT(t)
	summary, out := run(t, demo.Options{Hosts: 2})
	g.Expect(summary).To(And(HaveField("Provisioned", 2), HaveField("Returned", 2)))
	g.Expect(strings.SplitN(out, "\n", 3)).To(HaveExactElements(HaveSuffix(demo.Real), HaveSuffix(demo.Proven), Not(BeEmpty())))
}

func TestOptionsAreChecked(t *testing.T) {
	for name, tc := range map[string]struct {
		options demo.Options
		want    string
	}{
		"no hosts":                      {demo.Options{Hosts: 0}, "choose 1 to 200"},
		"too many hosts":                {demo.Options{Hosts: 1000}, "choose 1 to 200"},
		"an unknown fault":              {demo.Options{Hosts: 1, Fault: "fire"}, "choose one of agent-dies"},
		"hosts of their own that break": {demo.Options{Hosts: 3, Edge: true, Fault: "install"}, "leave MACHINE, FAULT and kills out"},
		"a whole machine that breaks":   {demo.Options{Hosts: 1, Machine: true, Fault: "install"}, "leave MACHINE or FAULT out"},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(demo.Run(t.Context(), tc.options)).To(MatchError(ContainSubstring(tc.want)))
		})
	}
}

package upgrade_test

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/agent/probe/upgrade"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/hostexec"
	"github.com/ironflow/ironflow/test/played"
)

func TestPull(t *testing.T) {
	for name, tc := range map[string]struct {
		dry  bool
		err  error
		want string
		text string
		ran  int
	}{
		"pulled":                 {false, nil, "success", "", 1},
		"registry away":          {false, &command.ExitError{Name: "podman", Code: 125, Last: "connection refused"}, "failure", "connection refused", 1},
		"no container engine":    {false, hostexec.ErrMissing, "success", "the image carries the agent", 1},
		"nothing in a dry run":   {true, nil, "success", "stays", 0},
		"the version that stays": {true, nil, "success", "ironflow-agent devel", 0},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			e := &played.Programs{}
			e.On("", func(context.Context, command.Command) error { return tc.err })
			env := probe.Env{DryRun: tc.dry, Dir: hostfile.Dir{Root: t.TempDir()}, Commands: e}
			result := upgrade.Check.Runner(env).Run(t.Context(), []string{`{"agent_image":"quay.example/a/agent:v2"}`})
			g.Expect(result.Exit).To(BeZero(), "whatever came of it")
			g.Expect(result.Output).To(MatchJSON(`{"agent_image":"quay.example/a/agent:v2","result":"` + tc.want + `"}`))
			g.Expect(result.Error).To(ContainSubstring(tc.text))
			g.Expect(e.Lines()).To(HaveLen(tc.ran))
			if tc.ran > 0 {
				g.Expect(e.Lines()[0]).To(Equal("podman pull --quiet quay.example/a/agent:v2"))
			}
		})
	}
}

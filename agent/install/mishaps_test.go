package install_test

import (
	"fmt"
	"log/slog"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/install"
	"github.com/ironflow/ironflow/agent/scenario"
)

func TestMishaps(t *testing.T) {
	for name, tc := range map[string]struct {
		fault scenario.Fault
		want  []string
	}{
		"dies":            {scenario.Fault{Kind: scenario.FaultAgentDies}, []string{"die"}},
		"ends":            {scenario.Fault{Kind: scenario.FaultAgentExits, Code: 91}, []string{"exit 91"}},
		"hangs":           {scenario.Fault{Kind: scenario.FaultAgentHangs}, []string{"hang"}},
		"raw status":      {scenario.Fault{Kind: scenario.FaultAgentStatus, Text: `\xff`}, []string{"STATUS=\xff"}},
		"flood of status": {scenario.Fault{Kind: scenario.FaultAgentStatus, Text: "flood", Count: 2}, []string{"STATUS=flood 1", "STATUS=flood 2"}},
		"not the agent's": {scenario.Fault{Kind: scenario.FaultNoBoot}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			tc.fault.Stage = scenario.StageMarked
			var seen []string
			see := func(format string, args ...any) { seen = append(seen, fmt.Sprintf(format, args...)) }
			m := install.Mishaps{
				Faults: scenario.Faults{Path: t.TempDir() + "/s", List: []scenario.Fault{tc.fault}}, Log: slog.New(slog.DiscardHandler),
				Die: func() { see("die") }, Exit: func(code int) { see("exit %d", code) }, Hang: func() { see("hang") },
				Notify: func(state string) error { see("%s", state); return nil },
			}
			g.Expect(m.At("Installing")).To(Succeed(), "another stage")
			g.Expect(seen).To(BeEmpty())
			g.Expect(m.At(scenario.StageMarked)).To(Succeed())
			g.Expect(m.At(scenario.StageMarked)).To(Succeed(), "once is enough")
			g.Expect(seen).To(Equal(tc.want))
		})
	}
}

func TestMishapWithABrokenText(t *testing.T) {
	g := NewWithT(t)
	m := install.Mishaps{Log: slog.New(slog.DiscardHandler), Faults: scenario.Faults{
		Path: t.TempDir() + "/s", List: []scenario.Fault{{Kind: scenario.FaultAgentStatus, Text: `\x`}},
	}}
	g.Expect(m.At("")).To(MatchError(ContainSubstring("agent-status")))
}

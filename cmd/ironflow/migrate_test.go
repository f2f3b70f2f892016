package main

import (
	"io"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/controllers/migrate"
)

// TestMigrateRefuses holds what cannot be answered apart from what was found.
func TestMigrateRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"no Ironic":            {nil, "set --ironic-endpoint"},
		"an unknown output":    {[]string{"--ironic-endpoint=https://ironic.example", "-o", "xml"}, "neither text nor json"},
		"no cluster":           {[]string{"--ironic-endpoint=https://ironic.example", "--kubeconfig=/nowhere"}, "set --kubeconfig"},
		"unknown devices":      {[]string{"--ironic-endpoint=https://ironic.example", "--live-iso-boot-device=never"}, "none of Default, Always, Never"},
		"a lone kernel":        {[]string{"--ironic-endpoint=https://ironic.example", "--deploy-kernel-url=http://images/kernel"}, "belong together"},
		"a word of no setting": {[]string{"--ironic-endpoint=https://ironic.example", "--live-nmstatectl=true"}, "neither auto, always nor never"},
		"a flag of run alone":  {[]string{"--metrics-addr=0"}, "unknown flag"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := newMigrateCommand()
			cmd.SilenceUsage, cmd.SilenceErrors = true, true
			cmd.SetArgs(append([]string{}, tc.args...))
			cmd.SetOut(io.Discard)
			NewWithT(t).Expect(cmd.ExecuteContext(t.Context())).To(MatchError(ContainSubstring(tc.want)))
		})
	}
}

func TestVerdictIsTheExitCode(t *testing.T) {
	g := NewWithT(t)
	for code, r := range map[int]migrate.Report{
		0: {Verdict: "ready"}, 2: {Verdict: string(migrate.Warning)}, 3: {Verdict: string(migrate.Blocker)},
	} {
		g.Expect(r.ExitCode()).To(Equal(code))
		g.Expect(verdictError{code}.ExitCode()).To(Equal(code))
	}
}

package hosts

import (
	"testing"

	. "github.com/onsi/gomega"
	"github.com/spf13/pflag"

	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/controllers/parts"
)

// TestDeploymentsAreBounded: both programs that run the host controller give it a
// limit, without anybody asking for one.
func TestDeploymentsAreBounded(t *testing.T) {
	for command, alone := range map[string]bool{"run": false, "controllers": true} {
		for name, c := range map[string]struct {
			env  string
			args []string
			want int
		}{
			"by itself":          {want: 5},
			"by the environment": {env: "7", want: 7},
			"by the flag":        {env: "7", args: []string{"--max-provisioning-retries=2"}, want: 2},
			"without end":        {args: []string{"--max-provisioning-retries=0"}, want: 0},
		} {
			t.Run(command+" "+name, func(t *testing.T) {
				g := NewWithT(t)
				if c.env != "" {
					t.Setenv("IRONFLOW_MAX_PROVISIONING_RETRIES", c.env)
				}
				hosts := &Part{Program: new(parts.Program), Alone: alone}
				flags := pflag.NewFlagSet(command, pflag.ContinueOnError)
				settings.Bind(flags, hosts.Flags())
				g.Expect(flags.Parse(c.args)).To(Succeed())
				g.Expect(hosts.Decisions().MaxAttempts).To(Equal(c.want))
			})
		}
	}
}

package commands_test

import (
	"bytes"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/spf13/cobra"

	"github.com/ironflow/ironflow/api/commands"
)

// TestStrict calls commands that are there and others that are not.
func TestStrict(t *testing.T) {
	for name, tc := range map[string]struct {
		args      []string
		want, out string
	}{
		"a command":               {[]string{"get", "hosts"}, "", "two hosts"},
		"a group alone":           {[]string{"get"}, "", "Available Commands"},
		"none alone":              {nil, "", "Available Commands"},
		"help of a group":         {[]string{"get", "--help"}, "", "Available Commands"},
		"a misspelled command":    {[]string{"get", "host"}, `unknown command "host" of "kubectl ironflow get": did you mean hosts? "kubectl ironflow get --help" lists those that there are`, ""},
		"another one":             {[]string{"get", "clouds"}, `unknown command "clouds" of "kubectl ironflow get": "kubectl ironflow get --help"`, ""},
		"a misspelled group":      {[]string{"gte"}, `unknown command "gte" of "kubectl ironflow": did you mean get?`, ""},
		"an argument too many":    {[]string{"get", "hosts", "x"}, `unknown command "x"`, ""},
		"a flag that nobody has":  {[]string{"get", "--all"}, "unknown flag: --all", ""},
		"a name before a command": {[]string{"get", "x", "hosts"}, `unknown command "x"`, ""},
		"help of a command":       {[]string{"help", "get"}, "", "Available Commands"},
		"help of a leaf":          {[]string{"help", "get", "host", "x"}, `unknown command "host"`, ""},
		"help of no command":      {[]string{"help", "clouds"}, `unknown command "clouds" of "kubectl ironflow"`, ""},
		"no argument":             {[]string{"wait", "--for", "x"}, `an argument is missing; usage: kubectl ironflow wait HOST --for PHASE [flags]; "kubectl ironflow wait --help" says more`, ""},
		"too many arguments":      {[]string{"wait", "a", "b", "--for", "x"}, "received 2; usage: kubectl ironflow wait HOST", ""},
		"no flag that must be":    {[]string{"wait", "a"}, "--for must be given; usage: kubectl ironflow wait HOST", ""},
		"no number":               {[]string{"wait", "a", "--count", "many"}, `--count is "many": write a whole number, such as 20; "kubectl ironflow wait --help" says more`, ""},
		"no unit":                 {[]string{"wait", "a", "--timeout", "30"}, `--timeout is "30": write a time with its unit, such as 30s`, ""},
		"all that must be":        {[]string{"wait", "a", "--for", "x"}, "", "waited"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			root := &cobra.Command{Use: "kubectl-ironflow", SilenceUsage: true, SilenceErrors: true, Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl ironflow"}}
			get := &cobra.Command{Use: "get", Short: "List resources"}
			get.AddCommand(&cobra.Command{Use: "hosts", Args: cobra.NoArgs, Run: func(c *cobra.Command, _ []string) { c.Println("two hosts") }})
			wait := &cobra.Command{Use: "wait HOST --for PHASE", Args: cobra.ExactArgs(1), Run: func(c *cobra.Command, _ []string) { c.Println("waited") }}
			wait.Flags().Int("count", 0, "")
			wait.Flags().Duration("timeout", 0, "")
			wait.Flags().String("for", "", "")
			g.Expect(wait.MarkFlagRequired("for")).To(Succeed())
			root.AddCommand(get, wait)
			var out bytes.Buffer
			root.SetOut(&out)
			root.SetErr(&out)
			root.SetArgs(append([]string{}, tc.args...))
			err := commands.Strict(root).Execute()
			if tc.want != "" {
				g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(out.String()).To(ContainSubstring(tc.out))
		})
	}
}

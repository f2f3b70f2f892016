package main

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/api/version"
	"github.com/ironflow/ironflow/controllers/parts"
	"github.com/ironflow/ironflow/test/pages"
)

// TestEveryCommandCanBeCalled: of two commands with one name only the first is ever found.
func TestEveryCommandCanBeCalled(t *testing.T) {
	g := NewWithT(t)
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		seen := map[string]bool{}
		for _, sub := range c.Commands() {
			g.Expect(seen).NotTo(HaveKey(sub.Name()), "%s has two commands %s", c.CommandPath(), sub.Name())
			seen[sub.Name()] = true
			walk(sub)
		}
	}
	walk(newCommand())
}

// TestEveryPartIsACommand: docs/configuration.md names `ironflow hub` and `ironflow images`.
func TestEveryPartIsACommand(t *testing.T) {
	for _, p := range processes {
		g := NewWithT(t)
		c, _, err := newCommand().Find([]string{p.Use})
		g.Expect(err).NotTo(HaveOccurred())
		for _, row := range settings.Rows(p.Flags(new(parts.Program))) {
			g.Expect(c.Flags().Lookup(row.Flag)).NotTo(BeNil(), "ironflow %s --%s", p.Use, row.Flag)
		}
	}
}

// TestUnknownCommandsAreErrors: a script has to see a typing error by the exit code.
func TestUnknownCommandsAreErrors(t *testing.T) {
	for _, args := range [][]string{
		{"nosuch"},
		{"hub", "nosuch"},
		{"images", "nosuch"},
		{"bmc", "nosuch"},
		{"image", "nosuch"},
		{"image", "kargs", "nosuch"},
		{"media", "nosuch"},
		{"release", "nosuch"},
		{"agent-image", "nosuch"},
	} {
		c := newCommand()
		c.SetArgs(args)
		c.SetOut(io.Discard)
		NewWithT(t).Expect(c.ExecuteContext(t.Context())).To(MatchError(ContainSubstring("nosuch")), "%v", args)
	}
}

// TestToolsOfImagesAreNamed: they were below `ironflow images`, which is the image server.
func TestToolsOfImagesAreNamed(t *testing.T) {
	c := newCommand()
	c.SetArgs([]string{"images", "embed"})
	NewWithT(t).Expect(c.ExecuteContext(t.Context())).To(MatchError(ContainSubstring(`the tools for live images are below "ironflow image"`)))
}

// TestVersion is what a bug report is asked for.
func TestVersion(t *testing.T) {
	g := NewWithT(t)
	var out bytes.Buffer
	c := newCommand()
	c.SetOut(&out)
	c.SetArgs([]string{"version"})
	g.Expect(c.ExecuteContext(t.Context())).To(Succeed())
	g.Expect(out.String()).To(And(HavePrefix("ironflow "+version.Release()+"\n"), ContainSubstring("  go: go1.")))
	out.Reset()
	c.SetArgs([]string{"version", "-o", "json"})
	g.Expect(c.ExecuteContext(t.Context())).To(Succeed())
	g.Expect(out.Bytes()).To(MatchJSON(must(json.Marshal(version.Of()))))
	c.SetArgs([]string{"version", "-o", "yaml"})
	g.Expect(c.ExecuteContext(t.Context())).To(MatchError(ContainSubstring("neither text nor json")))
}

func must(raw []byte, err error) []byte {
	if err != nil {
		return []byte(err.Error())
	}
	return raw
}

// TestCommandsOfTheDocumentation: what pages tell people to call is there, with its flags.
func TestCommandsOfTheDocumentation(t *testing.T) {
	g := NewWithT(t)
	calls := pages.Commands(t, "../..", "ironflow")
	g.Expect(len(calls)).To(BeNumerically(">", 10))
	for _, call := range calls {
		g.Expect(pages.Call(newCommand(), call)).To(Succeed())
	}
}

// TestEveryCommandIsInAGroup, so that the help has an order.
func TestEveryCommandIsInAGroup(t *testing.T) {
	g := NewWithT(t)
	root := newCommand()
	listed := 0
	for _, group := range groups {
		listed += len(group.commands)
	}
	g.Expect(root.Commands()).To(HaveLen(listed))
	for _, c := range root.Commands() {
		g.Expect(c.GroupID).NotTo(BeEmpty(), c.Name())
		g.Expect(c.Short).NotTo(BeEmpty(), c.Name())
	}
}

// TestHelpOfFlags: the flag library takes the first word in backquotes for the name of the flag's value.
func TestHelpOfFlags(t *testing.T) {
	g := NewWithT(t)
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			g.Expect(f.Usage).NotTo(ContainSubstring("`"), "%s --%s", c.CommandPath(), f.Name)
			g.Expect(f.Usage).NotTo(BeEmpty(), "%s --%s", c.CommandPath(), f.Name)
		})
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newCommand())
}

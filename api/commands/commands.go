// Package commands has what the command lines of several programs share: a misspelled
// sub-command is an error with an exit code, and what was meant instead is named.
package commands

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// Strict has each command below c that only holds others refuse what is none of them.
// By itself cobra prints the help of such a command and reports success, which a script
// takes for an answer. It returns c.
func Strict(c *cobra.Command) *cobra.Command {
	for _, sub := range c.Commands() {
		Strict(sub)
	}
	if c.HasSubCommands() && !c.Runnable() {
		c.Args = refuse
		c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	}
	return c
}

// refuse takes no argument: it would be the name of a sub-command.
func refuse(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	next := fmt.Sprintf("%q lists those that there are", c.CommandPath()+" --help")
	c.SuggestionsMinimumDistance = 2
	if meant := c.SuggestionsFor(args[0]); len(meant) > 0 {
		next = fmt.Sprintf("did you mean %s? %s", strings.Join(meant, " or "), next)
	}
	return fmt.Errorf("unknown command %q of %q: %s", args[0], c.CommandPath(), next)
}

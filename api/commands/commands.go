// Package commands has what the command lines of several programs share: a misspelled
// sub-command is an error with an exit code, and what was meant instead is named. A call
// with a missing or wrong argument or flag is told how the command is used.
package commands

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Strict has each command below c that only holds others refuse what is none of them.
// By itself cobra prints the help of such a command and reports success, which a script
// takes for an answer. The errors of all commands about their arguments and flags say how
// the command is used. It returns c.
func Strict(c *cobra.Command) *cobra.Command {
	for _, sub := range c.Commands() {
		Strict(sub)
	}
	if c.HasSubCommands() && !c.Runnable() {
		c.Args = refuse
		c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	} else if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error { return arguments(c, args, check) }
	}
	c.SetFlagErrorFunc(FlagError)
	if !c.HasParent() {
		c.SetHelpCommand(help())
	}
	return c
}

// arguments checks the arguments of a call, and the flags that it has to have. Cobra counts
// arguments without saying of what.
func arguments(c *cobra.Command, args []string, check cobra.PositionalArgs) error {
	if err := check(c, args); err != nil {
		if len(args) == 0 {
			err = errors.New("an argument is missing")
		}
		return fmt.Errorf("%w; usage: %s; %s", err, c.UseLine(), more(c))
	}
	var missing []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Changed && len(f.Annotations[cobra.BashCompOneRequiredFlag]) > 0 {
			missing = append(missing, "--"+f.Name)
		}
	})
	if len(missing) > 0 {
		return fmt.Errorf("%s must be given; usage: %s; %s", strings.Join(missing, " and "), c.UseLine(), more(c))
	}
	return nil
}

// FlagError says what is wrong with a flag of a call to c.
func FlagError(c *cobra.Command, err error) error {
	if wrong, is := errors.AsType[*pflag.InvalidValueError](err); is {
		if want := kinds[wrong.GetFlag().Value.Type()]; want != "" {
			return fmt.Errorf("--%s is %q: write %s; %s", wrong.GetFlag().Name, wrong.GetValue(), want, more(c))
		}
	}
	return fmt.Errorf("%w; %s", err, more(c))
}

// kinds say what is written for the types of flags.
var kinds = map[string]string{
	"bool": "true or false", "int": "a whole number, such as 20", "float64": "a number, such as 0.5", "duration": "a time with its unit, such as 30s, 5m or 1h30m",
}

// more says where the help is.
func more(c *cobra.Command) string {
	return fmt.Sprintf("%q says more", c.CommandPath()+" --help")
}

// help is the command of that name. Cobra's own one prints the help of the whole program for a command that is not there, and reports success.
func help() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "Print the help of a command",
		Args: func(c *cobra.Command, args []string) error {
			of, rest, err := c.Root().Find(args)
			if err == nil && of.HasSubCommands() {
				err = refuse(of, rest)
			}
			return err
		},
		RunE: func(c *cobra.Command, args []string) error {
			of, _, err := c.Root().Find(args)
			if err != nil {
				return err
			}
			return of.Help()
		},
	}
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

package settings

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// usage prints how a command is used: its sub-commands, its settings by topic, and its other flags.
func usage(c *cobra.Command) error {
	out := c.OutOrStderr()
	fmt.Fprintf(out, "Usage:\n  %s\n", c.UseLine())
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(out, "  %s [command]\n\nCommands:\n", c.CommandPath())
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				fmt.Fprintf(out, "  %-*s %s\n", sub.NamePadding(), sub.Name(), sub.Short)
			}
		}
	}
	topics(out, c.LocalFlags())
	return nil
}

// topics prints flags below the titles of their groups, in the order in which they were added.
func topics(out io.Writer, flags *pflag.FlagSet) {
	var titles []string
	by := map[string]*pflag.FlagSet{}
	flags.SortFlags = false
	flags.VisitAll(func(f *pflag.Flag) {
		title := strings.Join(f.Annotations[topic], "")
		if by[title] == nil {
			by[title] = pflag.NewFlagSet(title, pflag.ContinueOnError)
			by[title].SortFlags = false
			titles = append(titles, title)
		}
		by[title].AddFlag(f)
	})
	for _, title := range titles {
		if title != "" {
			fmt.Fprintf(out, "\n%s:\n%s", title, by[title].FlagUsages())
		}
	}
	if other := by[""]; other != nil {
		fmt.Fprintf(out, "\nOther flags:\n%s", other.FlagUsages())
	}
}

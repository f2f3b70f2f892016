package promise

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// OfCommand lists a command, those below it and their flags, without what is hidden.
func OfCommand(c *cobra.Command) (names []string) {
	if c.Hidden {
		return nil
	}
	names = append(names, c.CommandPath())
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, c.CommandPath()+" --"+f.Name)
			if f.Shorthand != "" {
				names = append(names, c.CommandPath()+" -"+f.Shorthand)
			}
		}
	})
	for _, sub := range c.Commands() {
		names = append(names, OfCommand(sub)...)
	}
	return names
}

package program

import (
	"errors"
	"flag"
	"fmt"
	"strings"

	"github.com/ironflow/ironflow/agent/dryrun"
	"github.com/ironflow/ironflow/agent/logging"
	"github.com/ironflow/ironflow/api/hostfile"
)

// Common are the flags of every program, and what they say.
type Common struct {
	Set  *flag.FlagSet
	Logs logging.Options
	Dry  dryrun.Settings
}

// NewCommon makes a flag set with the common flags. arguments are those behind the
// flags, for the usage.
func NewCommon(s Streams, name, arguments string) *Common {
	c := &Common{Set: flag.NewFlagSet(name, flag.ContinueOnError), Dry: dryrun.FromEnv(), Logs: logging.Options{Name: name, Dir: hostfile.FromEnv()}}
	c.Set.SetOutput(s.Err)
	c.Set.Usage = func() {
		fmt.Fprintln(c.Set.Output(), strings.TrimSpace("Usage: "+name+" [FLAGS] "+arguments))
		c.Set.PrintDefaults()
	}
	c.Set.BoolVar(&c.Logs.Text, "with-text-logging", true, "also log to "+logging.FileOf(name))
	c.Set.BoolVar(&c.Logs.Journal, "with-journal-logging", true, "log to the journal where there is one")
	c.Set.BoolVar(&c.Logs.Stdout, "with-stdout-logging", false, "log to stderr even beside the journal")
	c.Set.BoolVar(&c.Dry.Enabled, "dry-run", c.Dry.Enabled, "pretend; see also "+dryrun.EnableEnv)
	c.Set.StringVar(&c.Dry.HostID, "force-id", c.Dry.HostID, "dry run: host id")
	c.Set.StringVar(&c.Dry.MAC, "force-mac", c.Dry.MAC, "dry run: MAC of the first interface")
	c.Set.StringVar(&c.Dry.Hostname, "force-hostname", c.Dry.Hostname, "dry run: host name")
	c.Set.StringVar(&c.Dry.IPv4, "forced-ipv4", c.Dry.IPv4, "dry run: address of the first interface, CIDR")
	c.Set.StringVar(&c.Dry.RebootMarker, "fake-reboot-marker-path", c.Dry.RebootMarker, "dry run: file that stands for the reboot")
	c.Set.StringVar(&c.Dry.Scenario, "dry-scenario", c.Dry.Scenario, "dry run: scenario file; see also "+dryrun.ScenarioEnv)
	return c
}

// Parse reads the flags. done is true when the program ends here, with the code.
func (c *Common) Parse(s Streams, args []string) (code int, done bool) {
	if asksForHelp(args) { // help that was asked for is output, not a complaint
		c.Set.SetOutput(s.Out)
	}
	switch err := c.Set.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0, true
	case err != nil:
		return ExitFlags, true
	}
	if c.Dry.Enabled {
		c.Logs.DryID = c.Dry.HostID
	}
	return 0, false
}

// asksForHelp tells whether a flag before the first argument asks for help.
func asksForHelp(args []string) bool {
	for _, arg := range args {
		if arg == "--" || !strings.HasPrefix(arg, "-") {
			continue
		}
		if name := strings.TrimLeft(arg, "-"); name == "help" || name == "h" {
			return true
		}
	}
	return false
}

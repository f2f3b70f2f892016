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
	c.Set.BoolVar(&c.Logs.Stdout, "with-stdout-logging", false, "also log to stderr where there is a journal; without one, stderr is logged to in any case")
	c.Set.BoolVar(&c.Dry.Enabled, "dry-run", c.Dry.Enabled, "dry run: change nothing on this host; also by the variable "+dryrun.EnableEnv)
	c.Set.StringVar(&c.Dry.HostID, "force-id", c.Dry.HostID, "dry run: UUID of this host")
	c.Set.StringVar(&c.Dry.MAC, "force-mac", c.Dry.MAC, "dry run: MAC address of the first interface")
	c.Set.StringVar(&c.Dry.Hostname, "force-hostname", c.Dry.Hostname, "dry run: name of this host")
	c.Set.StringVar(&c.Dry.IPv4, "forced-ipv4", c.Dry.IPv4, "dry run: IPv4 address of the first interface with its prefix length, such as 192.0.2.7/24")
	c.Set.StringVar(&c.Dry.RebootMarker, "fake-reboot-marker-path", c.Dry.RebootMarker, "dry run: file that is created instead of rebooting; the agent ends at once where it exists")
	c.Set.StringVar(&c.Dry.Scenario, "dry-scenario", c.Dry.Scenario, "dry run: scenario file, which says what this host has and what happens; also by the variable "+dryrun.ScenarioEnv)
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

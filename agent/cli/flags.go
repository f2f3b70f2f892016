package cli

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/ironflow/ironflow/agent/dryrun"
	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/agent/install/container"
	"github.com/ironflow/ironflow/agent/logging"
	"github.com/ironflow/ironflow/agent/notify"
	"github.com/ironflow/ironflow/agent/service"
	"github.com/ironflow/ironflow/api/hostfile"
)

// exitFlags is the exit code for flags that cannot be read.
const exitFlags = 2

// common are the flags of every program.
type common struct {
	set  *flag.FlagSet
	logs logging.Options
	dry  dryrun.Settings
}

// newCommon makes a flag set with the common flags.
func newCommon(s Streams, name, arguments string) *common {
	c := &common{set: flag.NewFlagSet(name, flag.ContinueOnError), dry: dryrun.FromEnv(), logs: logging.Options{Name: name, Dir: hostfile.FromEnv()}}
	c.set.SetOutput(s.Err)
	c.set.Usage = func() {
		fmt.Fprintln(c.set.Output(), strings.TrimSpace("Usage: "+name+" [FLAGS] "+arguments))
		c.set.PrintDefaults()
	}
	c.set.BoolVar(&c.logs.Text, "with-text-logging", true, "also log to "+logging.FileOf(name))
	c.set.BoolVar(&c.logs.Journal, "with-journal-logging", true, "log to the journal where there is one")
	c.set.BoolVar(&c.logs.Stdout, "with-stdout-logging", false, "log to stderr even beside the journal")
	c.set.BoolVar(&c.dry.Enabled, "dry-run", c.dry.Enabled, "pretend; see also "+dryrun.EnableEnv)
	c.set.StringVar(&c.dry.HostID, "force-id", c.dry.HostID, "dry run: host id")
	c.set.StringVar(&c.dry.MAC, "force-mac", c.dry.MAC, "dry run: MAC of the first interface")
	c.set.StringVar(&c.dry.Hostname, "force-hostname", c.dry.Hostname, "dry run: host name")
	c.set.StringVar(&c.dry.IPv4, "forced-ipv4", c.dry.IPv4, "dry run: address of the first interface, CIDR")
	c.set.StringVar(&c.dry.RebootMarker, "fake-reboot-marker-path", c.dry.RebootMarker, "dry run: file that stands for the reboot")
	c.set.StringVar(&c.dry.Scenario, "dry-scenario", c.dry.Scenario, "dry run: scenario file; see also "+dryrun.ScenarioEnv)
	return c
}

// parse reads the flags. done is true when the program ends here, with the code.
func (c *common) parse(s Streams, args []string) (code int, done bool) {
	if asksForHelp(args) { // help that was asked for is output, not a complaint
		c.set.SetOutput(s.Out)
	}
	switch err := c.set.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0, true
	case err != nil:
		return exitFlags, true
	}
	if c.dry.Enabled {
		c.logs.DryID = c.dry.HostID
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

// network are the flags of the programs that talk to the hub.
type network struct {
	url, infraEnv, cluster, host, agentVersion, caCert string
	interval                                           int
	insecure                                           bool
}

func (c *common) network() *network {
	n := &network{}
	c.set.StringVar(&n.url, "url", "", "base URL of the hub; a path prefix is kept (required)")
	c.set.StringVar(&n.infraEnv, "infra-env-id", "", "infra-env to register in (required)")
	c.set.StringVar(&n.cluster, "cluster-id", "", "cluster; older images give only this, it then names the infra-env too")
	c.set.StringVar(&n.agentVersion, "agent-version", "", "image reference of this agent")
	c.set.StringVar(&n.host, "host-id", "", "id of the registered host")
	c.set.StringVar(&n.caCert, "cacert", "", "PEM file that is trusted besides the system's certificates")
	c.set.IntVar(&n.interval, "interval", 60, "seconds between failed registrations")
	c.set.BoolVar(&n.insecure, "insecure", false, "do not check the hub's certificate")
	return n
}

// config turns the flags into the agent's configuration.
func (n *network) config(c *common) service.Config {
	infraEnv := n.infraEnv
	if infraEnv == "" { // older hubs gave infra-env and cluster the same id
		infraEnv = n.cluster
	}
	return service.Config{
		Installer: container.Policy(os.Getenv(container.PolicyEnv)),
		URL:       strings.TrimSpace(n.url), InfraEnvID: infraEnv, AgentVersion: n.agentVersion,
		Interval: time.Duration(n.interval) * time.Second, CACert: n.caCert, Insecure: n.insecure,
		Dir: c.logs.Dir, Dry: c.dry, Token: hubclient.NewToken(c.logs.Dir), Notify: notify.Systemd,
	}
}

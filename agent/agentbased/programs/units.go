// Package programs are the programs of an agent-based installation: what its units run,
// and its client. They are a binary of their own, since only hosts of such an
// installation need them: the agent rides in every live image.
package programs

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/ironflow/ironflow/agent/agentbased/configimage"
	"github.com/ironflow/ironflow/agent/agentbased/console"
	"github.com/ironflow/ironflow/agent/agentbased/hostsettings"
	"github.com/ironflow/ironflow/agent/agentbased/installed"
	"github.com/ironflow/ironflow/agent/agentbased/lead"
	"github.com/ironflow/ironflow/agent/agentbased/messages"
	"github.com/ironflow/ironflow/agent/agentbased/nodezero"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/agentbased/reports"
	"github.com/ironflow/ironflow/agent/agentbased/status"
	"github.com/ironflow/ironflow/agent/agentbased/tokens"
	"github.com/ironflow/ironflow/agent/agentbased/units"
	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/agent/hosthttp"
	"github.com/ironflow/ironflow/agent/hostid"
	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/agent/logging"
	"github.com/ironflow/ironflow/agent/notify"
	"github.com/ironflow/ironflow/agent/program"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/api/version"
	"github.com/ironflow/ironflow/customdeploy/hostname"
	"github.com/ironflow/ironflow/customdeploy/systemd/sdbus"
)

// BinaryName is the name of the binary itself, which takes the program as its first argument.
const BinaryName = "ironflow-agent-based"

// exitFailed is the exit code of a program that has failed.
const exitFailed = 1

// Main selects the program by argv and runs it. It returns the exit code.
func Main(ctx context.Context, s program.Streams, argv []string) int {
	return program.Binary{Name: BinaryName, Summary: "the programs that hosts of an agent-based installation run besides the agent", Programs: Programs()}.Main(ctx, s, argv)
}

// Programs lists all names in the order of the documentation.
func Programs() []program.Program {
	return []program.Program{
		{Name: "pre-network-manager-config", Summary: "configure the network of this host, from the folder in /etc/assisted/network that lists its MAC addresses", Run: unitProgram("", 0, pickNetwork)},
		{Name: "set-hostname", Summary: "give this host the name that /etc/assisted/hostnames has for one of its MAC addresses", Run: unitProgram("", 0, setHostname)},
		{Name: "network-status", Summary: "show on the console why this host does not have the network of its settings", Run: unitProgram("", 0, networkStatus)},
		{Name: "node-zero", Summary: "find out whether this host is the rendezvous host, which runs the hub", Run: unitProgram("", 0, nodeZero)},
		{Name: "agent-interactive-console", Summary: "check that this host reaches the registry of the release, and let a person fix its network", Run: runConsole},
		{Name: "install-status", Summary: "show on the console what the installation waits for", Run: unitProgram("", 0, installStatus)},
		{Name: "start-cluster-installation", Summary: "start the installation of the cluster once all hosts are ready", Run: unitProgram("", 0, startCluster)},
		{Name: "start-agent", Summary: "wait until the hub has an infra-env, then run the agent; arguments: flags of agent", Run: runStartAgent},
		{Name: "report-messages", Summary: "send the messages on the console of this host to the hub", Run: unitProgram("", 0, reportMessages)},
		{Name: "load-config-iso", Summary: "load the settings of an appliance from a config image; argument: DEVICE", Run: unitProgram("DEVICE", 1, loadConfig)},
		{Name: "check-config-image", Summary: "ask on the console for a config image, until this host has settings", Run: unitProgram("", 0, checkConfig)},
		{Name: "add-node", Summary: "start the installation of this host, which joins a running cluster", Run: unitProgram("", 0, addNode)},
		{Name: "auth-token-status", Summary: "warn of tokens that expire soon, and wait while they have expired", Run: unitProgram("", 0, tokenStatus)},
		{Name: "agent-installer-client", Summary: "register, configure or import a cluster at the hub of an agent-based installation; settings are environment variables", Run: runInstallerClient},
	}
}

// unit is what the program of a unit has to do with.
type unit struct {
	dir      hostfile.Dir
	log      *slog.Logger
	console  *messages.Console
	commands command.Runner
	args     []string
}

// unitProgram makes a program of what a unit does, with so many arguments.
func unitProgram(arguments string, n int, run func(ctx context.Context, u unit) error) func(context.Context, program.Streams, string, []string) int {
	return func(ctx context.Context, s program.Streams, name string, args []string) int {
		c := program.NewCommon(s, name, arguments)
		if code, done := c.Parse(s, args); done {
			return code
		}
		if c.Set.NArg() != n {
			c.Set.Usage()
			return program.ExitFlags
		}
		if refusesDryRun(s, name, c) {
			return program.ExitFlags
		}
		u, closeLog := newUnit(c)
		defer closeLog()
		err := run(ctx, u)
		switch {
		case err == nil || ctx.Err() != nil: // asked to stop
			return 0
		default:
			u.log.Error("the program has ended", "program", name, "error", err)
			return exitFailed
		}
	}
}

// refusesDryRun tells who asks for a dry run that there is none.
func refusesDryRun(s program.Streams, name string, c *program.Common) bool {
	if c.Dry.Enabled {
		fmt.Fprintf(s.Err, "%s has no dry run\n", name)
	}
	return c.Dry.Enabled
}

func newUnit(c *program.Common) (u unit, closeLog func()) {
	log, _, closeLog := logging.Setup(c.Logs)
	commands := command.Host{Dir: c.Logs.Dir, Log: log}
	return unit{
		dir: c.Logs.Dir, log: log, commands: commands, args: c.Set.Args(),
		console: &messages.Console{Dir: c.Logs.Dir, Commands: commands, Log: log},
	}, closeLog
}

func pickNetwork(ctx context.Context, u unit) error {
	picked, err := hostsettings.PickNetwork(ctx, u.dir, u.commands, u.log)
	switch {
	case ctx.Err() != nil:
		return err
	case err != nil:
		u.console.Fail(ctx, messages.NetworkFailed, err)
		return err
	}
	u.console.Clear(ctx, messages.SlotNetwork)
	if picked.Folder != "" {
		u.log.InfoContext(ctx, "this host has its own network", "network", picked.Folder)
	}
	return hostsettings.TellNetwork(ctx, u.dir, u.console)
}

// networkStatus says on the console what is with the network of this host, once it was set up.
func networkStatus(ctx context.Context, u unit) error {
	return errors.Join(hostsettings.TellNmstate(ctx, u.dir, u.console), hostsettings.TellNetwork(ctx, u.dir, u.console))
}

func setHostname(ctx context.Context, u unit) error {
	name, err := hostsettings.SetHostname(ctx, u.dir, func(ctx context.Context, name string) error {
		return hostname.Set(ctx, sdbus.Address(u.dir), name)
	})
	switch {
	case ctx.Err() != nil:
	case err != nil:
		u.console.Fail(ctx, messages.HostnameFailed, err)
	default:
		u.console.Clear(ctx, messages.SlotHostname)
		if name != "" {
			u.log.InfoContext(ctx, "this host has its name", "name", name)
		}
	}
	return err
}

func nodeZero(ctx context.Context, u unit) error {
	return nodezero.Program{
		Dir: u.dir, Network: nodezero.Kernel{}, Console: u.console, Log: u.log, Ready: func() { u.ready(ctx) }, Installed: u.installed,
		Start: func(ctx context.Context) error {
			return u.commands.Run(ctx, command.Command{Name: "systemctl", Args: []string{"start", "--no-block", units.RunAgain}})
		},
	}.Run(ctx)
}

// installed returns the record that this image has left when it has installed this host.
func (u unit) installed(ctx context.Context) *installed.Record {
	id, err := hostid.Of(hostid.Read(u.dir))
	if err != nil {
		u.log.WarnContext(ctx, "whether this image has installed this host before is not known", "error", err)
		return nil
	}
	record, err := installed.Find(ctx, command.Exec(u.commands, u.log), u.dir, id, u.log)
	if err != nil {
		u.log.WarnContext(ctx, "whether this image has installed this host before is not known", "error", err)
	}
	return record
}

// ready tells systemd that what waits for this unit may start.
func (u unit) ready(ctx context.Context) {
	if err := notify.Systemd("READY=1"); err != nil {
		u.log.WarnContext(ctx, "cannot notify the service manager", "error", err)
	}
}

func installStatus(ctx context.Context, u unit) error {
	units := sdbus.New(sdbus.Address(u.dir), u.dir)
	return status.Program{Dir: u.dir, Units: units, Console: u.console, Log: u.log}.Run(ctx)
}

func (u unit) leader() lead.Leader { return lead.Leader{Dir: u.dir, Console: u.console, Log: u.log} }

func startCluster(ctx context.Context, u unit) error { return u.leader().Cluster(ctx) }

func addNode(ctx context.Context, u unit) error {
	id, err := hostid.Of(hostid.Read(u.dir))
	if err != nil {
		return err
	}
	return u.leader().Node(ctx, id)
}

// runConsole is the dialogue on the terminal that the unit gives it.
func runConsole(ctx context.Context, s program.Streams, name string, args []string) int {
	return unitProgram("", 0, func(ctx context.Context, u unit) error {
		roots, err := hosthttp.Roots(u.dir)
		if err != nil {
			return err
		}
		registry := console.Registry{
			HTTP: &http.Client{Transport: hosthttp.Transport(roots, false)}, Insecure: &http.Client{Transport: hosthttp.Transport(roots, true)}, Resolve: net.DefaultResolver.LookupHost, Dial: (&net.Dialer{}).DialContext,
		}
		return console.Program{
			Dir: u.dir, In: s.In, Out: s.Out, Commands: u.commands, Log: u.log, Messages: u.console, Check: registry.Check, Interfaces: console.Interfaces,
		}.Run(ctx)
	})(ctx, s, name, args)
}

// runStartAgent becomes the agent of the hub's first infra-env: the process stays the
// one that the unit has started.
func runStartAgent(ctx context.Context, s program.Streams, name string, args []string) int {
	c := program.NewCommon(s, name, "[FLAGS OF agent]")
	if code, done := c.Parse(s, args); done {
		return code
	}
	if misplaced := agentFlag(c.Set); misplaced != "" {
		fmt.Fprintf(s.Err, "%s: --%s is a flag of agent: write it behind --\n", name, misplaced)
		return program.ExitFlags
	}
	u, closeLog := newUnit(c)
	id, url, err := u.leader().InfraEnv(ctx)
	closeLog()
	if err != nil {
		return 0 // asked to stop
	}
	if err := errors.Join(noteHub(u.dir, url), giveToken(u.dir)); err != nil {
		fmt.Fprintln(s.Err, err)
		return exitFailed
	}
	agent := u.dir.Path(hostfile.AgentBinary)
	err = syscall.Exec(agent, slices.Concat([]string{agent}, agentWords(u.dir, url, id), u.args), os.Environ())
	fmt.Fprintf(s.Err, "%s: %v\n", agent, err)
	return exitFailed
}

// noteHub has node-zero know that another host is the hub, should this one get the address of
// the rendezvous host after all.
func noteHub(dir hostfile.Dir, url string) error {
	if places.Exists(dir, places.NodeZero) {
		return nil // it is this host
	}
	return places.Write(dir, places.AnotherHub, []byte(url+"\n"), 0o644)
}

// agentFlag is a flag of the agent among start-agent's own, which are those of logs; empty for
// none. A dry run that the agent does not hear of would be none.
func agentFlag(set *flag.FlagSet) (misplaced string) {
	set.Visit(func(f *flag.Flag) {
		if !strings.HasPrefix(f.Name, "with-") {
			misplaced = f.Name
		}
	})
	return misplaced
}

// agentWords is the agent's command line for the hub's infra-env. Agent and hub are of one
// image; an agent without a version would not take the answer to its registration.
func agentWords(dir hostfile.Dir, url, infraEnv string) []string {
	words := []string{"agent", "--url", url, "--infra-env-id", infraEnv, "--agent-version", "ironflow/ironflow-agent:" + version.Release(), "--insecure=false"}
	if places.Exists(dir, hostfile.HubCA) {
		words = append(words, "--cacert", hostfile.HubCA)
	}
	return words
}

// giveToken gives the agent, in its environment, the token that the hub's settings have for
// agents, unless it has one.
func giveToken(dir hostfile.Dir) error {
	settings, err := places.Settings(dir)
	if err != nil || settings[places.AgentToken] == "" || os.Getenv(hubclient.TokenEnv) != "" {
		return err
	}
	return os.Setenv(hubclient.TokenEnv, settings[places.AgentToken])
}

func reportMessages(ctx context.Context, u unit) error {
	return reports.Program{
		Dir: u.dir, Log: u.log,
		HostID: func() string {
			id, err := hostid.Of(hostid.Read(u.dir))
			if err != nil {
				return ""
			}
			return id
		},
		Hostname: func() string {
			name, err := os.Hostname()
			if err != nil || hostname.Nameless(name) {
				return ""
			}
			return name
		},
	}.Run(ctx)
}

func (u unit) loader() (configimage.Loader, error) {
	list, err := configimage.ParseList(os.Getenv(places.ConfigFilesEnv))
	return configimage.Loader{Dir: u.dir, Console: u.console, Commands: u.commands, Log: u.log, List: list}, err
}

func loadConfig(ctx context.Context, u unit) error {
	loader, err := u.loader()
	if err != nil {
		return err
	}
	return loader.Run(ctx, u.args[0])
}

func checkConfig(ctx context.Context, u unit) error {
	loader, err := u.loader()
	if err != nil {
		return err
	}
	return loader.Wait(ctx)
}

func tokenStatus(ctx context.Context, u unit) error {
	return tokens.Program{Dir: u.dir, Console: u.console, Log: u.log, Ready: func() { u.ready(ctx) }}.Run(ctx)
}

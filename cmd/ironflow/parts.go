package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/api/config/topics"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/api/version"
	hubcli "github.com/ironflow/ironflow/hub/cli"
)

// part is a piece of the program that runs until it is stopped. A process has one, or several side by side.
type part interface {
	// Name is what the log calls it.
	Name() string
	// Flags are its settings.
	Flags() []settings.Group
	// Check fills in what follows from other settings, and refuses what cannot work.
	Check() error
	// Setup makes it, and registers it with the manager.
	Setup(ctx context.Context) error
}

// process is a command that runs parts.
type process struct {
	use, short string
	// lease is the lease of its leader: processes beside each other must not wait for one another.
	lease string
	// parts make it up, in the order in which they are set up.
	parts func(*program) []part
}

// processes are the commands that run parts. The first one is their sum.
var processes = []process{
	{"run", "Run controllers, image server and hub in one process", names.ControllersLease, func(p *program) []part {
		hosts := &hostPart{program: p}
		return []part{&imagePart{program: p}, &hubPart{p}, &bmcPart{program: p, hosts: hosts, dataDir: true}, hosts}
	}},
	{"controllers", "Run the BareMetalHost controllers only, instead of baremetal-operator (no hub, no image server)", names.ControllersLease, func(p *program) []part {
		hosts := &hostPart{program: p, alone: true}
		return []part{&bmcPart{program: p, hosts: hosts}, hosts}
	}},
	{"hub", "Run the hub only: its REST API and the controllers of its resources", names.HubLease, func(p *program) []part { return []part{&hubPart{p}} }},
	{"images", "Run the image server only, with the controller that builds live images", names.ImagesLease, func(p *program) []part {
		return []part{&imagePart{program: p, alone: true}}
	}},
}

// processOf is the one of a command.
func processOf(use string) process {
	return processes[slices.IndexFunc(processes, func(p process) bool { return p.use == use })]
}

// flags are the settings of all parts, each once, in the order of the documentation.
func (c process) flags(p *program) []settings.Group {
	own := topics.Process(&p.settings.IronflowConfiguration)
	for _, part := range c.parts(p) {
		own = append(own, part.Flags()...)
	}
	has := map[string]bool{}
	for _, row := range settings.Rows(own) {
		has[row.Flag] = true
	}
	return settings.Where(topics.All(&p.settings.IronflowConfiguration), func(r settings.Row) bool { return has[r.Flag] })
}

// check has parts check their settings, those first that others are beside. What one refuses may be the cause of what another one would.
func check(parts []part) error {
	for _, part := range slices.Backward(parts) {
		if err := part.Check(); err != nil {
			return err
		}
	}
	return nil
}

// check fills in what follows from other settings for a process, and refuses what cannot work there.
func (s *configuration) check(use string) error {
	p := &program{settings: *s}
	err := errors.Join(s.checkValues(), check(processOf(use).parts(p)))
	*s = p.settings
	return err
}

// newProcessCommands makes a command for each process.
func newProcessCommands() []*cobra.Command {
	var commands []*cobra.Command
	for _, c := range processes {
		p := &program{lease: c.lease}
		command := &cobra.Command{
			Use: c.use, Short: c.short, Args: flagsOnly,
			RunE: func(cmd *cobra.Command, _ []string) error {
				return c.run(cmd.Context(), p)
			},
		}
		p.settings.addSettings(command, c.flags(p))
		if c.use == "hub" {
			command.AddCommand(hubcli.NewBackup(), hubcli.NewRestore(), newAgentBasedCommand(), hubcli.NewClusterToken())
		}
		commands = append(commands, command)
	}
	return commands
}

// flagsOnly refuses arguments. The tools for live images were below `ironflow images`
// once, which is the image server.
func flagsOnly(c *cobra.Command, args []string) error {
	if len(args) > 0 && c.Name() == "images" {
		return fmt.Errorf("unknown command %q of %q, which is the image server: the tools for live images are below %q", args[0], c.CommandPath(), "ironflow image")
	}
	return cobra.NoArgs(c, args)
}

// run checks the parts, sets them up, and runs them until ctx ends.
func (c process) run(ctx context.Context, p *program) error {
	parts := c.parts(p)
	if err := p.settings.checkValues(); err != nil {
		return err
	}
	if err := check(parts); err != nil {
		return err
	}
	p.log = newLogger(p.settings.Monitoring.LogLevel)
	ctrl.SetLogger(p.log)
	p.log.Info("ironflow "+c.use, "version", version.Release())
	if has[*hostPart](parts) {
		if err := p.handOver(ctx); err != nil {
			return err
		}
	}
	services := has[*hubPart](parts) || has[*imagePart](parts)
	if services {
		if err := p.alone(p.publish); err != nil {
			return err
		}
	}
	if err := p.makeManager(); err != nil {
		return err
	}
	var running []string
	for _, part := range parts {
		if err := part.Setup(ctx); err != nil {
			return err
		}
		running = append(running, part.Name())
	}
	if err := p.tellSurroundings(strings.Join(running, ", "), services); err != nil {
		return err
	}
	return p.manager.Start(ctx)
}

// has tells whether one of the parts is of that type.
func has[T part](parts []part) bool {
	return slices.ContainsFunc(parts, func(p part) bool {
		_, is := p.(T)
		return is
	})
}

// alone does what makes files in the data folder while no other process does: two
// that start together must not make two CAs.
func (p *program) alone(do func() error) (err error) {
	if err := os.MkdirAll(p.settings.Store.DataDir, 0o700); err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(p.settings.Store.DataDir, ".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("lock the data folder: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }() // which ends the lock
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return fmt.Errorf("lock the data folder: %w", err)
	}
	return do()
}

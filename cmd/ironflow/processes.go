package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/api/config/topics"
	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/parts"
	"github.com/ironflow/ironflow/controllers/parts/bmcs"
	"github.com/ironflow/ironflow/controllers/parts/hosts"
	"github.com/ironflow/ironflow/controllers/parts/hub"
	"github.com/ironflow/ironflow/controllers/parts/images"
	hubcli "github.com/ironflow/ironflow/hub/cli"
)

// processes are the commands that run parts. The first one is their sum.
var processes = []parts.Process{
	{Use: "run", Short: "Run controllers, image server and hub in one process", Lease: names.ControllersLease, Parts: together},
	{Use: "controllers", Short: "Run the BareMetalHost controllers only, instead of baremetal-operator (no hub, no image server)", Lease: names.ControllersLease, Parts: hostsAlone},
	{Use: "hub", Short: "Run the hub only: its REST API and the controllers of its resources", Lease: names.HubLease, Parts: hubAlone},
	{Use: "images", Short: "Run the image server only, with the controller that builds live images", Lease: names.ImagesLease, Parts: imagesAlone},
}

// together are all parts, which know of each other.
func together(p *parts.Program) []parts.Part {
	core := &hub.Part{Program: p}
	served := &images.Part{Program: p, Hub: core}
	core.Images = served.Service
	all := &hosts.Part{Program: p, Hub: core, Images: served}
	all.BMCs = &bmcs.Part{Program: p, Hosts: all, DataDir: true}
	return []parts.Part{served, core, all.BMCs, all}
}

// hostsAlone have neither a hub nor an image server of ours.
func hostsAlone(p *parts.Program) []parts.Part {
	alone := &hosts.Part{Program: p, Alone: true}
	alone.BMCs = &bmcs.Part{Program: p, Hosts: alone}
	return []parts.Part{alone.BMCs, alone}
}

func hubAlone(p *parts.Program) []parts.Part { return []parts.Part{&hub.Part{Program: p}} }

// imagesAlone read the store of a hub that another process has.
func imagesAlone(p *parts.Program) []parts.Part {
	core := &hub.Part{Program: p}
	served := &images.Part{Program: p, Hub: core, Alone: true}
	core.Images = served.Service
	return []parts.Part{served}
}

// processOf is the one of a command.
func processOf(use string) parts.Process {
	return processes[slices.IndexFunc(processes, func(p parts.Process) bool { return p.Use == use })]
}

// newProcessCommands makes a command for each process.
func newProcessCommands() []*cobra.Command {
	var commands []*cobra.Command
	for _, c := range processes {
		p := &parts.Program{Lease: c.Lease}
		command := &cobra.Command{
			Use: c.Use, Short: c.Short, Args: flagsOnly,
			RunE: func(cmd *cobra.Command, _ []string) error {
				return c.Run(cmd.Context(), p)
			},
		}
		addSettings(command, &p.Settings, c.Flags(p))
		if c.Use == "hub" {
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

// addSettings gives a command settings, and a file with them.
func addSettings(cmd *cobra.Command, s *v1alpha1.IronflowConfiguration, groups []settings.Group) {
	settings.Add(cmd, topics.Schema(s), groups)
}

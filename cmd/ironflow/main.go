// Command ironflow is the hub program: controllers, image server and the hub's
// REST API in one process, and the tools for live images and BMCs that need no
// cluster.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ironflow/ironflow/agent/agentbased/waitfor/command"
	"github.com/ironflow/ironflow/api/commands"
	"github.com/ironflow/ironflow/api/garbage"
	"github.com/ironflow/ironflow/api/version"
	bmccli "github.com/ironflow/ironflow/bmc/cli"
	hubcli "github.com/ironflow/ironflow/hub/cli"
	"github.com/ironflow/ironflow/imagecustomization/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	garbage.Collect(ctx)
	if err := newCommand().ExecuteContext(ctx); err != nil {
		code := 1
		if v, ok := errors.AsType[verdictError](err); ok {
			code = v.ExitCode()
		} else if v, ok := errors.AsType[command.ExitError](err); ok {
			code = v.ExitCode()
		} else {
			fmt.Fprintln(os.Stderr, "ironflow:", err)
		}
		os.Exit(code) //nolint:gocritic // nothing is left to clean up here
	}
}

func newCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "ironflow",
		Short:         "Provision bare-metal hosts through OpenStack Ironic, from BMC address to installed system and back",
		Version:       version.String(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(newMigrateCommand(), newCRDsCommand(), cli.NewCommand(), cli.NewMediaCommand(), bmccli.NewCommand(), hubcli.NewRelease(), newAgentImageCommand())
	root.AddCommand(newProcessCommands()...)
	root.AddCommand(newCheckCommand(), commands.Version("ironflow"))
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title + ":"})
		for _, c := range root.Commands() {
			if slices.Contains(g.commands, c.Name()) {
				c.GroupID = g.title
			}
		}
	}
	return commands.Strict(root)
}

// groups are the commands as the help lists them.
var groups = []struct {
	title    string
	commands []string
}{
	{"Run Ironflow, as a whole or in parts", []string{"run", "controllers", "hub", "images"}},
	{"Check its surroundings", []string{"check", "crds", "migrate", "version"}},
	{"Tools that need no cluster", []string{"media", "image", "bmc", "release", "agent-image"}},
}

// Command ironflow-lab runs Ironflow's real surroundings on a developer's
// machine: a Kubernetes API, OpenStack Ironic and BMCs, without root, containers
// or hardware. docs/lab.md describes it.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/ironflow/ironflow/api/version"
	"github.com/ironflow/ironflow/test/lab/crate"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	// The client library logs through a global that complains with a stack trace when nobody has set it. What a user has to know is said by us.
	log.SetLogger(logr.Discard())
	if err := newCommand().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "ironflow-lab:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to clean up here
	}
}

func newCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "ironflow-lab",
		Short:         "A Kubernetes API, a real Ironic and BMCs on this machine, for demo, tests and development",
		Version:       version.String(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(newUpCommand(), newSiteCommand(), newPrepareCommand(), newDemoCommand(),
		newCrateCommand(crate.CoreOSInstaller), newCrateCommand(crate.Nmstatectl), newNodeCommand())
	return root
}

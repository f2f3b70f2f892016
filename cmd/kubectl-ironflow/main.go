// Command kubectl-ironflow shows bare-metal hosts and clusters the way a person asks
// about them: where is each, how far, since when, and what is it waiting for. In PATH
// it works as `kubectl ironflow`.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/ironflow/ironflow/api/commands"
	"github.com/ironflow/ironflow/api/version"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The client library logs through a global that complains with a stack trace when nobody has set it. What a user has to know is said by us.
	log.SetLogger(logr.Discard())
	utilruntime.ErrorHandlers = nil //nolint:reassign // they print each try to reach an API server that does not answer, and there is no other way to silence them
	if err := newCommand().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "kubectl ironflow:", withNext(err))
		os.Exit(int(codeOf(err))) //nolint:gocritic // nothing is left to clean up here
	}
}

func newCommand() *cobra.Command {
	c := newConnection()
	root := &cobra.Command{
		Use:           "kubectl-ironflow",
		Short:         "Look at bare-metal hosts and the clusters that are installed on them, and act on them",
		Long:          "Look at bare-metal hosts and the clusters that are installed on them, and act on them.\n\n" + connectionHelp,
		Version:       version.String(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl ironflow"},
	}
	c.bind(root)
	root.AddCommand(
		newGet(c), newDescribe(c), newWhy(c), newEvents(c),
		newWait(c), retry.command(c), hold.command(c), release.command(c), newReboot(c),
		newKubeconfig(c), newRevokeTokens(c), newBMC(c), commands.Version("kubectl ironflow"),
	)
	addCompletion(root, c)
	commands.Strict(root)
	root.InitDefaultHelpCmd()
	strictUsage(root)
	return root
}

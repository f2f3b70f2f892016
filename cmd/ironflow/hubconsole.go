package main

import (
	"context"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/ironflow/ironflow/agent/agentbased/messages"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/controllers/parts"
)

// hubConsole is the console of the host that an agent-based hub runs on: what the hub has to say
// before it serves, or of its host, nobody could ask the hub itself. It is for one goroutine. A hub
// that somebody runs elsewhere has none.
type hubConsole struct{ *messages.Console }

func newHubConsole(log *slog.Logger) hubConsole {
	dir := hostfile.FromEnv()
	if !places.Exists(dir, places.NodeZero) {
		return hubConsole{}
	}
	return hubConsole{&messages.Console{Dir: dir, Commands: command.Host{Dir: dir, Log: log}, Log: log}}
}

// tell shows the message with its reason in its slot, and clears that without one.
func (c hubConsole) tell(ctx context.Context, slot messages.Slot, id messages.ID, err error) {
	switch {
	case c.Console == nil || ctx.Err() != nil:
	case err == nil:
		c.Clear(ctx, slot)
	default:
		c.Fail(ctx, id, err)
	}
}

// tellingFailures has the command say on the console why it has failed, from its settings on.
func tellingFailures(cmd *cobra.Command) {
	for _, run := range []*func(*cobra.Command, []string) error{&cmd.PreRunE, &cmd.RunE} {
		inner := *run
		*run = func(cmd *cobra.Command, args []string) error {
			err := inner(cmd, args)
			if err != nil {
				newHubConsole(parts.NewSlog("info")).tell(cmd.Context(), messages.SlotHub, messages.HubFailed, err)
			}
			return err
		}
	}
}

package service

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/ironflow/ironflow/agent/handover"
	"github.com/ironflow/ironflow/agent/outcome"
	"github.com/ironflow/ironflow/hub/wire"
)

// running is the image that this agent counts as when it registers.
func (c Config) running() string {
	if c.Image.Running != "" {
		return c.Image.Running
	}
	return c.AgentVersion
}

// handOver looks at the image that the answer to a registration names. True means
// that another agent takes over. Where this one cannot be exchanged it polls under
// that name: from the registration on the answer's image counts, and a hub that
// wants another one would send nothing but upgrade-agent. Where the exchange has
// failed it keeps its own name, so that the hub asks for it again.
func (a *agent) handOver(ctx context.Context, image string) bool {
	if image == a.cfg.running() {
		return false
	}
	a.notifier.Starting("the hub wants the agent of " + image + "; it is looked for")
	next, err := a.cfg.Image.Prepare(ctx, image)
	switch {
	case err == nil:
		// The host is registered. An agent that knows nothing of systemd would never say
		// so, and the unit's limit for its start would end it, maybe in mid installation.
		a.notifier.Ready()
		a.end(ending{End: &outcome.End{Text: "the agent of " + image + " takes over"}, next: next})
		return true
	case errors.Is(err, handover.ErrStays):
		a.log.Info("the hub names another agent", "image", image, "own", a.cfg.running(), "why", err)
		a.client.SetVersion(image)
		if err := a.state.SetAgentVersion(image); err != nil {
			a.log.Warn("the agent's image cannot be kept", "error", err)
		}
	default:
		a.log.Error("the agent that the hub wants cannot take over; this one goes on", "image", image, "error", err)
	}
	return false
}

// upgraded has the host register again after the hub has taken a successful
// upgrade: its answer names the image. A hub that asks for the same image once more
// gets its name in each call instead; registering again and again would only make
// it forget the host's inventory.
func (a *agent) upgraded(reply wire.StepReply) {
	var result wire.UpgradeAgentResponse
	if reply.StepType != wire.StepTypeUpgradeAgent || reply.ExitCode != 0 || json.Unmarshal([]byte(reply.Output), &result) != nil {
		return
	}
	switch {
	case result.Result != wire.UpgradeAgentResultSuccess || a.installer.Busy():
	case a.upgradedTo == result.AgentImage:
		a.client.SetVersion(result.AgentImage)
	default:
		a.upgradedTo = result.AgentImage
		select {
		case a.leave <- "the agent was upgraded; registering again":
		default:
		}
	}
}

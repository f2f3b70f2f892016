// Package upgrade is the step upgrade-agent: it makes another agent ready, or
// says that the image carries the agent. What becomes of it is decided after the
// next registration, see package handover.
package upgrade

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ironflow/ironflow/agent/handover"
	"github.com/ironflow/ironflow/agent/imageref"
	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/api/version"
	"github.com/ironflow/ironflow/customdeploy/hostexec"
	"github.com/ironflow/ironflow/hub/wire"
)

// Check pulls the agent's image.
var Check = probe.Check[wire.UpgradeAgentRequest]{
	Deadline: 15 * time.Minute,
	Validate: func(r wire.UpgradeAgentRequest) error {
		if !imageref.Valid(r.AgentImage) {
			return fmt.Errorf("agent_image %q is not an image reference", r.AgentImage)
		}
		return nil
	},
	Real: pull,
	Dry: func(_ context.Context, _ probe.Env, r wire.UpgradeAgentRequest) steps.Result {
		return carried(r, "a dry run pulls nothing")
	},
}

func pull(ctx context.Context, env probe.Env, r wire.UpgradeAgentRequest) steps.Result {
	if why := handover.Carried(env.Dir); why != "" {
		return carried(r, why)
	}
	err := handover.Engine{Dir: env.Dir, Commands: env.Commands}.Pull(ctx, r.AgentImage)
	switch {
	case errors.Is(err, hostexec.ErrMissing):
		return carried(r, "the image carries the agent; it has no container engine")
	case err != nil:
		result := answer(r, wire.UpgradeAgentResultFailure)
		result.Error = err.Error()
		return result
	}
	return answer(r, wire.UpgradeAgentResultSuccess)
}

// carried answers for an agent that cannot be exchanged, because it comes with the
// live image. The result is "success": a hub sends this step in the place of all
// others until the host polls as the image that the hub wants, so "failure" would
// hold the host up for ever. After "success" the agent registers again and polls
// as the image that the hub's answer names; the reason and the true version stand
// in the reply's error text, which hubs log.
func carried(r wire.UpgradeAgentRequest, why string) steps.Result {
	result := answer(r, wire.UpgradeAgentResultSuccess)
	result.Error = fmt.Sprintf("%s: ironflow-agent %s stays", why, version.Release())
	return result
}

// answer has exit code 0 whatever the result, as the protocol wants it.
func answer(r wire.UpgradeAgentRequest, result wire.UpgradeAgentResult) steps.Result {
	return steps.JSON(wire.UpgradeAgentResponse{AgentImage: r.AgentImage, Result: result})
}

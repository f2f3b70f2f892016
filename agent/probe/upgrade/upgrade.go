// Package upgrade is the step upgrade-agent.
package upgrade

import (
	"context"
	"fmt"
	"time"

	"github.com/ironflow/ironflow/agent/imageref"
	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/hub/wire"
)

// Check would replace this agent by another image. Neither a dry run nor this
// agent can do that; the answer is the protocol's "failure", after which hubs
// leave the agent alone until they ask again.
var Check = probe.Check[wire.UpgradeAgentRequest]{
	Deadline: time.Minute,
	Validate: func(r wire.UpgradeAgentRequest) error {
		if !imageref.Valid(r.AgentImage) {
			return fmt.Errorf("agent_image %q is not an image reference", r.AgentImage)
		}
		return nil
	},
	Real: noUpgrade,
	Dry:  noUpgrade,
}

func noUpgrade(_ context.Context, _ probe.Env, r wire.UpgradeAgentRequest) steps.Result {
	result := steps.JSON(wire.UpgradeAgentResponse{AgentImage: r.AgentImage, Result: wire.UpgradeAgentResultFailure})
	result.Error = "this agent comes with the live image and cannot replace itself"
	return result
}

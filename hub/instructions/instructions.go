package instructions

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/hub/wire"
)

// Input is all that the answer depends on.
type Input struct {
	Host *wire.Host
	// Inventory is the host's, or nil before the first one.
	Inventory *wire.Inventory
	// Cluster is nil for an unbound host.
	Cluster *wire.Cluster
	// Peers are the cluster's other hosts that can be reached, with their addresses.
	Peers wire.ConnectivityCheckParams
	// InfraEnv gives settings that are not the cluster's.
	InfraEnv *wire.InfraEnv
	// Images are what an installation needs.
	Images Images
	// DiskChecked and ImagesChecked tell that these checks have a good result.
	DiskChecked, ImagesChecked bool
	// Hurry tells that something is about to happen to the host.
	Hurry bool
	// Artifacts are the live image's parts, for a host that is reclaimed.
	Artifacts *wire.DownloadBootArtifactsRequest
	// Disabled are step types that are never sent.
	Disabled []wire.StepType
	// DiskCheckTimeout and ImageTimeout bound these checks on the host.
	DiskCheckTimeout, ImageTimeout time.Duration
	// NewID makes the random part of step ids; nil means eight hex digits.
	NewID func() string
}

// Images are the images that an installation needs.
type Images struct {
	// Installer and Controller are required by the install step.
	Installer, Controller string
	// Release, MachineConfig and MustGather are empty for clusters without a release.
	Release, MachineConfig, MustGather string
}

// errNothing tells that a step has nothing to ask and is left out.
var errNothing = errors.New("nothing to ask")

// SkippedStep is a step that could not be built; the others are still sent.
type SkippedStep struct {
	Type wire.StepType
	Err  error
}

// For returns what the agent is told, and which steps could not be built.
func For(in Input) (wire.Steps, []SkippedStep) {
	r := rowFor(in.Host.Status, in.Cluster != nil && IsDayTwo(in.Cluster))
	wait := r.wait
	if in.Hurry {
		wait = r.hurried
	}
	action := wire.StepsPostStepActionContinue
	if r.exit {
		action = wire.StepsPostStepActionExit
	}
	out := wire.Steps{NextInstructionSeconds: int64(wait / time.Second), PostStepAction: &action}
	var skipped []SkippedStep
	for _, stepType := range r.steps {
		if slices.Contains(in.Disabled, stepType) {
			continue
		}
		args, err := builders[stepType](in)
		switch {
		case errors.Is(err, errNothing):
		case err != nil:
			skipped = append(skipped, SkippedStep{stepType, fmt.Errorf("step %s: %w", stepType, err)})
		default:
			out.Instructions = append(out.Instructions, wire.Step{StepType: stepType, StepID: stepID(in, stepType), Args: args})
		}
	}
	return out, skipped
}

// IsDayTwo tells that the cluster is installed and takes more hosts.
func IsDayTwo(c *wire.Cluster) bool { return c.Kind == wire.ClusterKindAddHostsCluster }

func stepID(in Input, stepType wire.StepType) string {
	id := in.NewID
	if id == nil {
		id = func() string { return uuid.NewString()[:8] }
	}
	return string(stepType) + "-" + id()
}

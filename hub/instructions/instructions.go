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
	// HasPeers tells that the host may have others in its cluster. Who they are comes last, see [Complete].
	HasPeers bool
	// InfraEnv gives settings that are not the cluster's.
	InfraEnv *wire.InfraEnv
	// Images are what an installation needs.
	Images Images
	// DiskChecked and ImagesChecked tell that these checks have a good result.
	DiskChecked, ImagesChecked bool
	// Last tells that the host's installation waits for those of others: it is not ordered yet.
	Last bool
	// Hurry tells that something is about to happen to the host.
	Hurry bool
	// AgentImage is the only agent that the hub wants; empty accepts any.
	AgentImage string
	// Endpoint is where a host that joins an installed cluster gets its Ignition from; nil for the API's address.
	Endpoint *wire.IgnitionEndpoint
	// EndpointToken and EndpointHeaders are sent to whoever hands out the Ignition of
	// a host that joins an installed cluster.
	EndpointToken   string
	EndpointHeaders []wire.IgnitionEndpointHTTPHeadersParams
	// APILease and IngressLease are what a DHCP server gave the last time for the
	// cluster's addresses.
	APILease, IngressLease string
	// TellReboots tells that somebody wants to know how often the host restarts.
	TellReboots bool
	// MasterIPs are where a bootstrap host gathers logs, too.
	MasterIPs []string
	// Artifacts are the live image's parts, for a host that is reclaimed.
	Artifacts *wire.DownloadBootArtifactsRequest
	// Disabled are step types that are never sent.
	Disabled []wire.StepType
	// DiskCheckTimeout and ImageTimeout bound these checks on the host.
	DiskCheckTimeout, ImageTimeout time.Duration
}

// IsStep tells that hosts are asked for steps of the type.
func IsStep(t wire.StepType) bool { return builders[t] != nil }

// errNothing tells that a step has nothing to ask and is left out.
var errNothing = errors.New("nothing to ask")

// SkippedStep is a step that could not be built; the others are still sent.
type SkippedStep struct {
	Type wire.StepType
	Err  error
}

// For returns what the agent is told as long as the input stays as it is, and
// which steps could not be built. [Complete] makes an answer of it.
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
	if in.outdated() {
		r.steps = steps(upgrade) // in the place of all others: what they find is asked of the new agent
	}
	var skipped []SkippedStep
	for _, stepType := range r.steps {
		if slices.Contains(in.Disabled, stepType) || in.Last && stepType == install {
			continue
		}
		args, err := builders[stepType](in)
		switch {
		case errors.Is(err, errNothing):
		case err != nil:
			skipped = append(skipped, SkippedStep{stepType, fmt.Errorf("step %s: %w", stepType, err)})
		default:
			out.Instructions = append(out.Instructions, wire.Step{StepType: stepType, Args: args})
		}
	}
	return out, skipped
}

// outdated tells that another agent is wanted, while nothing is done to the host yet.
func (in Input) outdated() bool {
	return in.AgentImage != "" && in.Host.DiscoveryAgentVersion != in.AgentImage && slices.Contains(upgradable, in.Host.Status)
}

// Complete returns the steps with ids of their own, and with the cluster's other
// hosts for a connectivity check: a wire.ConnectivityCheckParams in JSON. Without
// any there is nothing to check. peers is asked only where a step needs it.
func Complete(steps wire.Steps, peers func() (string, error)) (wire.Steps, error) {
	given := steps.Instructions
	steps.Instructions = nil
	for _, step := range given {
		if step.StepType == connectivity {
			others, err := peers()
			if err != nil {
				return wire.Steps{}, err
			}
			if others == "" {
				continue
			}
			step.Args = []string{others}
		}
		step.StepID = stepID(step.StepType)
		steps.Instructions = append(steps.Instructions, step)
	}
	return steps, nil
}

// IsDayTwo tells that the cluster is installed and takes more hosts.
func IsDayTwo(c *wire.Cluster) bool { return c.Kind == wire.ClusterKindAddHostsCluster }

// stepID is the step's type and eight random hex digits.
func stepID(stepType wire.StepType) string { return string(stepType) + "-" + uuid.NewString()[:8] }

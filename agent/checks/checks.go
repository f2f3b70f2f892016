// Package checks holds the steps that look at the host's surroundings: other
// hosts, name servers, clocks, addresses, images, disk speed. Each check first
// validates what the hub sent; then either does it for real or, in a dry run,
// answers what a sound host would. Checks that this agent cannot do for real
// yet say so with exit code -1, which hubs take for "no result".
package checks

import (
	"context"
	"time"

	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/hub/wire"
)

// Env is what checks know of the host.
type Env struct {
	// DryRun makes every check answer as a sound host would, without touching anything.
	DryRun bool
	// Interfaces returns the host's own interfaces.
	Interfaces func(ctx context.Context) ([]wire.Interface, error)
	// Device finds the device behind a path below /dev.
	Device func(path string) (string, error)
}

// kind is one check: its time limit, its validation, its real and its dry form.
type kind[Request any] struct {
	deadline time.Duration
	decode   func(args []string) (Request, error)
	validate func(Request) error
	// real is nil when this agent cannot do it yet.
	real func(ctx context.Context, env Env, r Request) steps.Result
	dry  func(ctx context.Context, env Env, r Request) steps.Result
}

// runner makes the check a step.
func (k kind[Request]) runner(env Env) steps.Runner {
	return steps.Runner{Deadline: k.deadline, Run: func(ctx context.Context, args []string) steps.Result {
		decode := k.decode
		if decode == nil {
			decode = steps.Decode[Request]
		}
		request, err := decode(args)
		if err != nil {
			return steps.Failed(steps.ExitBad, "%v", err)
		}
		if err := k.validate(request); err != nil {
			return steps.Failed(steps.ExitBad, "%v", err)
		}
		switch {
		case env.DryRun:
			return k.dry(ctx, env, request)
		case k.real == nil:
			return steps.Failed(steps.ExitBad, "this check is not supported by this agent yet")
		default:
			return k.real(ctx, env, request)
		}
	}}
}

// Registry returns all checks.
func Registry(env Env) steps.Registry {
	return steps.Registry{
		wire.StepTypeConnectivityCheck:          connectivity.runner(env),
		wire.StepTypeNTPSynchronizer:            ntp.runner(env),
		wire.StepTypeDomainResolution:           domains.runner(env),
		wire.StepTypeFreeNetworkAddresses:       freeAddresses.runner(env),
		wire.StepTypeVerifyVIPs:                 vips.runner(env),
		wire.StepTypeContainerImageAvailability: images.runner(env),
		wire.StepTypeInstallationDiskSpeedCheck: diskSpeed.runner(env),
		wire.StepTypeUpgradeAgent:               upgrade.runner(env),
		wire.StepTypeAPIVIPConnectivityCheck:    apiVIP.runner(env),
		wire.StepTypeTangConnectivityCheck:      tang.runner(env),
	}
}

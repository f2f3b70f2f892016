// Package probe is what all checks of the host's surroundings have in common:
// the seams that they look through, and the order in which a check works. Each
// check has a package of its own below; package table lists them. A check first
// validates what the hub sent; then it either looks for real or, in a dry run,
// answers what a sound host would.
package probe

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
)

// Env is what checks know of the host.
type Env struct {
	// DryRun makes every check answer as a sound host would, without touching anything.
	DryRun bool
	// Dir is the host's root directory.
	Dir hostfile.Dir
	// Interfaces returns the host's own interfaces.
	Interfaces func(ctx context.Context) ([]wire.Interface, error)
	// Device finds the device behind a path below /dev.
	Device func(path string) (string, error)
	// Commands starts programs.
	Commands command.Runner
	// HTTP goes through the proxies of the environment; checks bound their requests by contexts.
	HTTP *http.Client
	// Resolver resolves names; nil is the host's own, by its /etc/resolv.conf and /etc/hosts.
	Resolver *net.Resolver
	Log      *slog.Logger
}

// Check is one check: its time limit, its validation, its real and its dry form.
type Check[Request any] struct {
	Deadline time.Duration
	// Decode reads the arguments; nil decodes the one JSON argument.
	Decode func(args []string) (Request, error)
	// Validate refuses what is unsafe or out of bounds, before anything runs.
	Validate func(Request) error
	Real     func(ctx context.Context, env Env, r Request) steps.Result
	Dry      func(ctx context.Context, env Env, r Request) steps.Result
}

// Runner makes the check a step.
func (c Check[Request]) Runner(env Env) steps.Runner {
	return steps.Runner{Deadline: c.Deadline, Run: func(ctx context.Context, args []string) steps.Result {
		decode := c.Decode
		if decode == nil {
			decode = steps.Decode[Request]
		}
		request, err := decode(args)
		if err != nil {
			return steps.Failed(steps.ExitBad, "%v", err)
		}
		if err := c.Validate(request); err != nil {
			return steps.Failed(steps.ExitBad, "%v", err)
		}
		if env.DryRun {
			return c.Dry(ctx, env, request)
		}
		result := c.Real(ctx, env, request)
		// A check that was cancelled has looked at a part only: what it did not
		// find would be told as not there.
		if errors.Is(ctx.Err(), context.Canceled) {
			return steps.Failed(steps.ExitBad, "%v", context.Cause(ctx))
		}
		return result
	}}
}

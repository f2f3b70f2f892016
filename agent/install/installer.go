// Package install carries out the hub's order to install a host. [Manager] is
// the state machine: it walks through the stages of the host's role, reports
// stage and percent to the hub and to systemd, survives a crash of the process,
// and ends the agent with a meaning. What happens inside a stage is an
// [Installer]: [DryRun] pretends, following a scenario.
package install

import (
	"context"
	"errors"

	"github.com/ironflow/ironflow/hub/wire"
)

// Report tells how far a stage is: percent 0 to 100, or -1 when there is no
// figure, and a short text for people. It does not block.
type Report func(percent int, text string)

// Installer does the work of the stages. Each call is for one stage and blocks
// until it is done, failed for good, or the context ends; after a crash the
// stages are done again from the first, so each must be repeatable.
type Installer interface {
	Stage(ctx context.Context, job Job, stage wire.HostStage, report Report) error
}

// ErrUnsupported means that this agent cannot install the machine.
var ErrUnsupported = errors.New("this agent cannot write disks yet; use the dry run, or the deploy step install_coreos")

// Unsupported is the installer of an agent that cannot install.
type Unsupported struct{}

// Stage implements [Installer].
func (Unsupported) Stage(context.Context, Job, wire.HostStage, Report) error { return ErrUnsupported }

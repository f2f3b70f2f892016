// Package install carries out the hub's order to install a host. [Manager] is
// the state machine: it runs the tasks of the order, reports stage and percent
// to the hub and to systemd, survives a crash of the process, and ends the agent
// with an exit code that says how it went. An [Installer] gives the tasks:
// [DryRun] pretends, following a scenario; the packages below change the machine.
package install

import "context"

// Report tells how far a task is: percent 0 to 100 of its stage, or -1 when there
// is no figure, and a short text for people. It does not block.
type Report func(percent int, text string)

// Installer knows what has to be done for an order. After a crash all tasks are
// done again, so each must be repeatable.
type Installer interface {
	// Tasks returns the graph of the job. It may look at the host, but changes nothing.
	Tasks(ctx context.Context, job Job) ([]Task, error)
}

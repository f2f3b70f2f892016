// Package step is the frame of every deploy step on the host: what goes in on
// stdin, what comes out on stdout, and how the program ends. The IPA plugin is
// on the other side.
//
// A step reads one JSON object {"node", "ports", "args"}, writes progress as
// JSON lines {"t", "stage", "percent", "text"}, at most one a second, and as
// its last line {"outcome", "reason", "detail", "result"}; the process exit
// code repeats the outcome (package exitcode). Steps register as values of
// [Step] in a [Registry]; nothing here knows what a step does.
package step

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/api/hostfile"
)

// Outcome is how a step ended, in the last line.
type Outcome string

// Outcomes, in the order of the exit codes 0 to 5.
const (
	Done       Outcome = "done"
	Failed     Outcome = "failed"
	BadInput   Outcome = "bad-input"
	ImageUnfit Outcome = "image-unfit"
	Deadline   Outcome = "deadline"
	Cancelled  Outcome = "cancelled"
)

// ExitCode is the process exit code of the outcome.
func (o Outcome) ExitCode() int {
	switch o {
	case Done:
		return exitcode.StepDone
	case BadInput:
		return exitcode.StepBadInput
	case ImageUnfit:
		return exitcode.StepImageUnfit
	case Deadline:
		return exitcode.StepDeadline
	case Cancelled:
		return exitcode.StepCancelled
	default:
		return exitcode.StepFailed
	}
}

// Report is the last line of a step.
type Report struct {
	Outcome Outcome `json:"outcome"`
	// Reason says in one short line what happened; empty when done without a warning.
	Reason string `json:"reason,omitempty"`
	// Detail adds lines for whoever looks closer: systemd's result, the agent's last words, its journal.
	Detail []string `json:"detail,omitempty"`
	// Result is what the step returns to Ironic when it is done.
	Result map[string]any `json:"result,omitempty"`
}

// Request is what a step gets to work with.
type Request struct {
	Input
	// Host resolves the files of the live image.
	Host hostfile.Dir
	// Log goes to stderr; stdout belongs to the protocol.
	Log *slog.Logger
	// Progress reports where the step is; it never blocks.
	Progress func(stage string, percent int, text string)
}

// Func runs a step to its end. The end of the context is a cancellation, its
// cause says by whom; the step then undoes what it started and returns.
type Func func(ctx context.Context, req *Request) Report

// Argument describes one argument of a step, for the plugin's argsinfo.
type Argument struct {
	Description string `json:"description"`
	Required    bool   `json:"required"`
}

// Step is one deploy step with what IPA wants to know of it (get_deploy_steps).
type Step struct {
	Name string `json:"step"`
	// Interface is always "deploy".
	Interface string `json:"interface"`
	// Priority is where Ironic runs the step unasked, high first; 0 is only on request.
	Priority int `json:"priority"`
	// RebootRequested tells Ironic that the step ends with a reboot.
	RebootRequested bool                `json:"reboot_requested"`
	Args            map[string]Argument `json:"argsinfo"`
	// Run does the step.
	Run Func `json:"-"`
}

// Registry is the list of steps of a program, in the order of its listing.
type Registry []Step

// Find returns the step of that name.
func (r Registry) Find(name string) (Step, bool) {
	for _, s := range r {
		if s.Name == name {
			return s, true
		}
	}
	return Step{}, false
}

// List is the JSON array that `ironflow-step list` prints.
func (r Registry) List() ([]byte, error) { return json.MarshalIndent(r, "", "  ") }

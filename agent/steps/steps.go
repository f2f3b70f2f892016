// Package steps runs the steps that the hub asks for: a table from step type to
// its runner. Each type runs at most once at a time, within its deadline; a
// repeated request is answered by the run that is under way; a panic is one
// failed reply and nothing more. A bounded number of steps runs at once, the
// others wait in the order in which they came. What a step does is not known here.
package steps

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/ironflow/ironflow/hub/wire"
)

// Exit codes inside step replies, as hubs read them.
const (
	// ExitBad is for bad arguments, unknown types and internal failures.
	ExitBad = -1
	// ExitPull means that an image could not be pulled.
	ExitPull = 2
	// ExitTimeout means that the step's own time limit ran out.
	ExitTimeout = 124
	// ExitRunning means that an installation is already under way.
	ExitRunning = 125
	// ExitMedia means that the installation media cannot be read any more.
	ExitMedia = 256
)

// Result is what a step answers.
type Result struct {
	// Exit is one of the Exit constants, or 0.
	Exit int64
	// Output is the JSON of the type's model, or text.
	Output string
	// Error is the reason, its first line short and without log text.
	Error string
	// Silent results are not sent to the hub.
	Silent bool
}

// Silent is the result of a step that has nothing to say now.
var Silent = Result{Silent: true}

// JSON is a successful result with the model as output.
func JSON(model any) Result {
	raw, err := json.Marshal(model)
	if err != nil {
		return Failed(ExitBad, "encode the result: %v", err)
	}
	return Result{Output: string(raw)}
}

// Text is a successful result with free text.
func Text(text string) Result { return Result{Output: text} }

// Failed is a failed result with its reason.
func Failed(exit int64, format string, args ...any) Result {
	return Result{Exit: exit, Error: fmt.Sprintf(format, args...)}
}

// Runner runs one type of step.
type Runner struct {
	// Deadline bounds a run. A runner that does not heed its context is
	// answered for with 124 and stays the one run of its type.
	Deadline time.Duration
	// HandsOver marks a step that only passes something on: it never waits for
	// others to end.
	HandsOver bool
	// Run validates the arguments and does the step.
	Run func(ctx context.Context, args []string) Result
}

// Registry maps step types to runners.
type Registry map[wire.StepType]Runner

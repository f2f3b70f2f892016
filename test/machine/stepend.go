package machine

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"github.com/ironflow/ironflow/customdeploy/step"
	"github.com/ironflow/ironflow/test/machine/ipa"
)

// Bounds of a failed step's text, in bytes, and how many last lines of standard
// error make up for a missing report. They are the plugin's.
const (
	maxReason    = 2048
	maxFirstLine = 300
	lastLines    = 20
)

// stepResult is what the plugin makes of the program's end: the result for
// Ironic, or a DeploymentError with the reason.
func stepResult(name string, last step.Report, err error, stderr []string) (any, error) {
	if err == nil && last.Outcome == step.Done {
		if last.Result == nil {
			return map[string]any{}, nil
		}
		return last.Result, nil
	}
	lines := append([]string{last.Reason}, last.Detail...)
	if last.Reason == "" {
		lines = append([]string{crash(name, err)}, stderr[max(0, len(stderr)-lastLines):]...)
	}
	return nil, ipa.ErrDeployment(reason(lines))
}

// crash says how a program ended that gave no reason.
func crash(name string, err error) string {
	exit, exited := errors.AsType[*exec.ExitError](err)
	if !exited && err != nil {
		return fmt.Sprintf("the program of step %s cannot be started: %v", name, err)
	}
	code := 0
	if exited {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return fmt.Sprintf("the program of step %s was killed by signal %d", name, status.Signal())
		}
		code = exit.ExitCode()
	}
	return fmt.Sprintf("the program of step %s ended with exit code %d and no result", name, code)
}

// reason joins the lines to a text that is not too long: of the journal's lines
// the oldest go first, and only then is the rest cut.
func reason(lines []string) string {
	lines[0] = cut(lines[0], maxFirstLine)
	for {
		text := strings.Join(lines, "\n")
		oldest := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "journal: ") })
		if len(text) <= maxReason || oldest < 0 {
			return cut(text, maxReason)
		}
		lines = slices.Delete(lines, oldest, oldest+1)
	}
}

// cut shortens the text to so many bytes, at the border of a letter.
func cut(text string, size int) string {
	if len(text) <= size {
		return text
	}
	return strings.ToValidUTF8(text[:size-len("…")], "") + "…"
}

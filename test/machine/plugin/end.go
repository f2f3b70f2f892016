package plugin

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

// result is what the plugin makes of the program's end: the result for
// Ironic, or a DeploymentError with the reason.
func result(name string, report step.Report, err error, stderr []string) (any, error) {
	if err == nil && report.Outcome == step.Done {
		if report.Result == nil {
			return map[string]any{}, nil
		}
		return report.Result, nil
	}
	lines := append([]string{report.Reason}, report.Detail...)
	if report.Reason == "" {
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

// maxTail is how much of a program's log is kept for its failure, in bytes.
const maxTail = 64 << 10

// tail keeps the end of what is written to it.
type tail struct{ raw []byte }

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.raw = append(t.raw, p...)
	t.raw = t.raw[max(0, len(t.raw)-maxTail):]
	return len(p), nil
}

// lines are those that hold something.
func (t *tail) lines() []string {
	lines := strings.Split(strings.ToValidUTF8(string(t.raw), "\uFFFD"), "\n")
	return slices.DeleteFunc(lines, func(line string) bool { return strings.TrimSpace(line) == "" })
}

package step

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/ironflow/ironflow/api/hostfile"
)

// maxReason bounds the report's first line, in bytes; Ironic shows it in lists.
const maxReason = 512

// Streams are the standard streams of a step's process.
type Streams struct {
	In  io.Reader
	Out io.Writer
	Log *slog.Logger
}

// Run runs one step of the registry over the streams and returns the process
// exit code. It always writes a last line, whatever goes wrong before the step.
func Run(ctx context.Context, steps Registry, name string, host hostfile.Dir, io Streams) int {
	out := newProgress(io.Out)
	report := run(ctx, steps, name, host, io, out)
	report.Reason = oneLine(report.Reason)
	for i, line := range report.Detail {
		report.Detail[i] = strings.ToValidUTF8(line, "\uFFFD")
	}
	io.Log.Info("step ended", "step", name, "outcome", report.Outcome, "reason", report.Reason)
	if err := out.Close(report); err != nil {
		io.Log.Error("the last line could not be written", "error", err)
	}
	return report.Outcome.ExitCode()
}

func run(ctx context.Context, steps Registry, name string, host hostfile.Dir, io Streams, out *progress) Report {
	s, ok := steps.Find(name)
	if !ok {
		return Report{Outcome: BadInput, Reason: fmt.Sprintf("unknown step %q; `ironflow-step list` names the known ones", name)}
	}
	in, err := ReadInput(io.In)
	if err != nil {
		return Report{Outcome: BadInput, Reason: err.Error()}
	}
	if err := s.Check(in.Args); err != nil {
		return Report{Outcome: BadInput, Reason: err.Error()}
	}
	io.Log.Info("step starts", "step", name, "node", in.Node.UUID)
	return s.Run(ctx, &Request{Input: in, Host: host, Log: io.Log, Progress: out.Report})
}

// oneLine makes any text fit for a list: valid UTF-8, one line, bounded.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	if len(text) <= maxReason {
		return text
	}
	return strings.ToValidUTF8(text[:maxReason-len("…")], "") + "…"
}

package step

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/api/hostfile"
)

const (
	// maxReason bounds the report's first line, in bytes; Ironic shows it in lists.
	maxReason = 512
	// maxDetail bounds each further line, maxDetails their number, of which the last
	// count: IPA's plugin leaves out a line of its protocol that has more than a mebibyte,
	// and gives 2 KiB to Ironic.
	maxDetail, maxDetails = 1024, 50
)

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
	report.Detail = slices.Clone(report.Detail[max(0, len(report.Detail)-maxDetails):])
	for i, line := range report.Detail {
		report.Detail[i] = cut(strings.ToValidUTF8(line, "\uFFFD"), maxDetail)
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
	return cut(strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " "), maxReason)
}

// cut leaves at most size bytes of a text that is valid UTF-8.
func cut(text string, size int) string {
	if len(text) <= size {
		return text
	}
	return strings.ToValidUTF8(text[:size-len("…")], "") + "…"
}

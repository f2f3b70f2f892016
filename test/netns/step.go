package netns

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/agent/probe/table"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
)

// stepProgram runs a step of the agent. Its argument is the step's type; the step's
// own arguments come as a JSON list on stdin, because they may be large.
const stepProgram = "step"

// Step runs a step of the agent inside the host, for real, and returns its
// result as it would go to the hub. The test fails where the step did not run.
func (h *Host) Step(o Options, kind wire.StepType, args ...string) steps.Result {
	h.t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		h.t.Fatal(err)
	}
	o.Stdin = bytes.NewReader(raw)
	out, err := h.Run(o, stepProgram, string(kind))
	if err != nil {
		h.t.Fatal(err)
	}
	var result steps.Result
	if err := json.Unmarshal([]byte(out), &result); err != nil {
		h.t.Fatalf("the result of %s in host %s cannot be read: %v: %s", kind, h.Name, err, out)
	}
	return result
}

func step(ctx context.Context, args []string, stdout io.Writer) error {
	if len(args) != 1 {
		return fmt.Errorf("program %s: want the step type", stepProgram)
	}
	var arguments []string
	if err := json.NewDecoder(os.Stdin).Decode(&arguments); err != nil {
		return err
	}
	dir, log := hostfile.Dir{Root: os.Getenv(envRoot)}, slog.New(slog.NewTextHandler(os.Stderr, nil))
	runner, ok := table.Checks(probe.Env{
		Dir: dir, Interfaces: Interfaces, Log: log, Commands: command.Host{Dir: dir, Log: log}, HTTP: http.DefaultClient,
		Device: func(path string) (string, error) { return path, nil },
	})[wire.StepType(args[0])]
	if !ok {
		return fmt.Errorf("the agent has no step %q", args[0])
	}
	ctx, cancel := context.WithTimeout(ctx, runner.Deadline)
	defer cancel()
	return json.NewEncoder(stdout).Encode(runner.Run(ctx, arguments))
}

// signalled is a context that ends at SIGTERM.
func signalled() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), syscall.SIGTERM)
}

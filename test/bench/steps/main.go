// Command steps measures the deploy steps on a booted real systemd: it runs the
// table of cases in test/steps and its measurements, shows what it sees, and
// ends with one JSON line. It needs root and mmdebstrap (package systemdtest).
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// event is one line of `go test -json`.
type event struct {
	Action  string
	Test    string
	Output  string
	Elapsed float64
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench-steps:", err)
		os.Exit(1)
	}
}

func run() error {
	cmd := exec.CommandContext(context.Background(), "go", "test", "-count=1", "-timeout=30m", "-tags=e2e", "-json", "github.com/ironflow/ironflow/test/steps")
	cmd.Env = append(os.Environ(), "IRONFLOW_BENCH=1", "CI=true") // nothing may be skipped silently
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	figures, cases, failed := map[string]any{}, 0, 0
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			continue
		}
		if raw, ok := strings.CutPrefix(e.Output, "figures: "); ok {
			if err := json.Unmarshal([]byte(raw), &figures); err != nil {
				return err
			}
		}
		name, isCase := strings.CutPrefix(e.Test, "TestOnRealSystemd/")
		if !isCase || e.Action != "pass" && e.Action != "fail" && e.Action != "skip" {
			continue
		}
		fmt.Printf("%-5s %6.2f s  %s\n", e.Action, e.Elapsed, strings.ReplaceAll(name, "_", " "))
		if e.Action != "skip" {
			cases++
		}
		if e.Action == "fail" {
			failed++
		}
	}
	testErr := cmd.Wait()
	figures["cases"], figures["failed"] = cases, failed
	raw, err := json.Marshal(figures)
	if err != nil {
		return err
	}
	fmt.Println(string(raw))
	if testErr != nil && failed == 0 {
		return fmt.Errorf("the measurements failed: %w; run go test -v ./test/steps", testErr)
	}
	return nil
}

// Command steps measures the deploy steps on a booted real systemd: it runs the
// table of cases in test/steps and its measurements, then two deployments of
// test/joint, which tell when Ironic notices the end of a step, shows what it
// sees, and ends with one JSON line. It needs root and mmdebstrap (package
// systemdtest).
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
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
	b := bench{figures: map[string]any{}}
	onSystemd := b.test("github.com/ironflow/ironflow/test/steps", ".")
	b.figures["cases"], b.figures["failed"] = b.cases, b.failed
	// What Ironic makes of it, with the real IPA in between.
	joint := b.test("github.com/ironflow/ironflow/test/joint", "^TestJoint$/^(inspected_and_installed|failed_installation)$")
	raw, err := json.Marshal(b.figures)
	if err != nil {
		return err
	}
	fmt.Println(string(raw))
	return b.verdict(onSystemd, joint)
}

// limits are those of the figures; test/joint holds its own.
var limits = []struct {
	figure string
	limit  float64
}{
	{"exit_to_result_p99_s", 0.2},
	{"binary_mib", 10},
	{"rss_mib", 15},
	// Near zero: one wake-up in a few seconds would be a poll.
	{"voluntary_switches_60s", 20},
}

// verdict is everything for which the bench has failed.
func (b *bench) verdict(onSystemd, joint error) error {
	var errs []error
	if b.failed > 0 {
		errs = append(errs, fmt.Errorf("%d of %d cases failed", b.failed, b.cases))
	}
	if onSystemd != nil {
		errs = append(errs, fmt.Errorf("on systemd: %w; run go test -v -tags e2e ./test/steps", onSystemd))
	}
	if joint != nil {
		errs = append(errs, fmt.Errorf("with Ironic: %w; run go test -v -tags e2e ./test/joint", joint))
	}
	for _, l := range limits {
		switch value, ok := b.figures[l.figure].(float64); {
		case !ok:
			errs = append(errs, fmt.Errorf("%s was not measured", l.figure))
		case value > l.limit:
			errs = append(errs, fmt.Errorf("%s is %v, more than %v", l.figure, value, l.limit))
		}
	}
	return errors.Join(errs...)
}

// bench collects what the tests print.
type bench struct {
	figures       map[string]any
	said          map[string]string // by test, until its end
	cases, failed int
}

// test runs the tests of a package, shows each case of a table, and keeps the figures.
func (b *bench) test(pkg, pattern string) error {
	cmd := exec.CommandContext(context.Background(), "go", "test", "-count=1", "-timeout=30m", "-tags=e2e", "-json", "-run", pattern, pkg)
	cmd.Env = append(os.Environ(), "IRONFLOW_BENCH=1", "CI=true") // nothing may be skipped silently
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			continue
		}
		// A line of figures may come with the place in the test in front.
		if _, raw, ok := strings.Cut(e.Output, "figures: "); ok {
			if err := json.Unmarshal([]byte(raw), &b.figures); err != nil {
				return err
			}
		}
		b.hear(e)
		b.see(e)
	}
	return cmd.Wait()
}

// hear keeps what a test says, and shows it if it fails.
func (b *bench) hear(e event) {
	switch e.Action {
	case "output":
		if b.said == nil {
			b.said = map[string]string{}
		}
		b.said[e.Test] += e.Output
	case "fail":
		fmt.Print(b.said[e.Test])
		delete(b.said, e.Test)
	case "pass", "skip":
		delete(b.said, e.Test)
	}
}

// see shows and counts the end of a case; those without a systemd are no part of it.
func (b *bench) see(e event) {
	table, name, isCase := strings.Cut(e.Test, "/")
	if !isCase || table == "TestOnTheStandin" || e.Action != "pass" && e.Action != "fail" && e.Action != "skip" {
		return
	}
	fmt.Printf("%-5s %6.2f s  %s\n", e.Action, e.Elapsed, strings.ReplaceAll(name, "_", " "))
	if e.Action != "skip" {
		b.cases++
	}
	if e.Action == "fail" {
		b.failed++
	}
}

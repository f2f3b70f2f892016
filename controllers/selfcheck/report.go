package selfcheck

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Report is what was found, in the order of the checks.
type Report []Finding

// Exit codes of a report.
const (
	ExitOK       = 0
	ExitWarnings = 2
	ExitErrors   = 3
)

// Worst is the level of the worst finding.
func (r Report) Worst() Level {
	worst := OK
	for _, f := range r {
		if f.Level == Error {
			return Error
		}
		if f.Level == Warning {
			worst = Warning
		}
	}
	return worst
}

// ExitCode is what a program ends with that prints the report.
func (r Report) ExitCode() int {
	switch r.Worst() {
	case Error:
		return ExitErrors
	case Warning:
		return ExitWarnings
	default:
		return ExitOK
	}
}

// Text prints the report for people: a line for each finding, and below it what to do next.
func (r Report) Text(w io.Writer) error {
	var out strings.Builder
	counts := map[Level]int{}
	for _, f := range r {
		counts[f.Level]++
		fmt.Fprintf(&out, "%-8s %-13s %s\n", f.Level, f.Check, f.Text)
		if f.Next != "" {
			fmt.Fprintf(&out, "%-22s next: %s\n", "", f.Next)
		}
	}
	fmt.Fprintf(&out, "%d in order, %d warnings, %d errors\n", counts[OK], counts[Warning], counts[Error])
	_, err := io.WriteString(w, out.String())
	return err
}

// JSON prints the report for programs: one object with the worst level and the findings.
func (r Report) JSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(struct {
		Level    Level  `json:"level"`
		Findings Report `json:"findings"`
	}{r.Worst(), r})
}

// New are the findings of r that are not in another report, such as an earlier one.
func (r Report) New(earlier Report) Report {
	known := map[Finding]bool{}
	for _, f := range earlier {
		known[f] = true
	}
	var fresh Report
	for _, f := range r {
		if !known[f] {
			fresh = append(fresh, f)
		}
	}
	return fresh
}

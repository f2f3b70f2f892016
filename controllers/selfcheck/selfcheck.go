// Package selfcheck looks at what Ironflow needs around it: the Kubernetes API with its rights
// and kinds, Ironic, base images, addresses, certificates, the clock. `ironflow check` prints
// what it finds, the program logs it at its start, and /readyz asks the same checks.
//
// It stops nothing, and writes nothing but what [Outside] says: each [Check] ends in findings, each of which says
// what is wrong and what to do next. The main function is [Run].
package selfcheck

import (
	"context"
	"sync"
)

// Level is how bad a finding is.
type Level string

// Levels, the best first.
const (
	OK      Level = "ok"
	Warning Level = "warning"
	Error   Level = "error"
)

// Finding is one thing that was looked at.
type Finding struct {
	// Check is the name of the check that has found it.
	Check string `json:"check"`
	Level Level  `json:"level"`
	// Text says what is so.
	Text string `json:"text"`
	// Next says what to do; empty for what is in order.
	Next string `json:"next,omitempty"`
}

// Check is one question, by its name.
type Check struct {
	Name string
	// Ask answers it. Findings need no name.
	Ask func(context.Context) []Finding
}

// Run asks all checks at once, and returns their findings in the order of the checks.
func Run(ctx context.Context, checks []Check) Report {
	answers := make([][]Finding, len(checks))
	var all sync.WaitGroup
	for i, check := range checks {
		all.Go(func() { answers[i] = check.Ask(ctx) })
	}
	all.Wait()
	var report Report
	for i, check := range checks {
		for _, f := range answers[i] {
			f.Check = check.Name
			report = append(report, f)
		}
	}
	return report
}

// good is a check that found nothing wrong.
func good(text string) []Finding { return []Finding{{Level: OK, Text: text}} }

// wrong is one error.
func wrong(text, next string) []Finding { return []Finding{{Level: Error, Text: text, Next: next}} }

// doubtful is one warning.
func doubtful(text, next string) []Finding {
	return []Finding{{Level: Warning, Text: text, Next: next}}
}

// Say is a check whose answer is known already.
func Say(name string, level Level, text, next string) Check {
	return Check{Name: name, Ask: func(context.Context) []Finding { return []Finding{{Level: level, Text: text, Next: next}} }}
}

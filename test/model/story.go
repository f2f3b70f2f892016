package model

import (
	"fmt"
	"slices"
	"strings"
)

// covers reports whether another counterexample is of the same kind and has all that is
// unusual in this one: it says nothing new.
func (c Counterexample) covers(other Counterexample) bool {
	kind, _, _ := strings.Cut(c.Broken, ":")
	theirs := other.unusual()
	return strings.HasPrefix(other.Broken, kind+":") && !slices.ContainsFunc(c.unusual(), func(s string) bool { return !slices.Contains(theirs, s) })
}

// unusual are the steps that do not go by themselves.
func (c Counterexample) unusual() []string {
	list := []string{"scenario: " + c.Scenario}
	for _, s := range c.Steps {
		name, upset, _ := strings.Cut(s, ";")
		byItself := strings.HasPrefix(s, "Ironic goes on") || s == "time goes by" || strings.HasPrefix(s, "the agent calls") || s == "the controller is back"
		upset = strings.TrimFunc(upset, func(r rune) bool { return r == ' ' || r >= '0' && r <= '9' })
		switch {
		case !byItself:
			list = append(list, name)
		case upset != "":
			list = append(list, upset)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// String is the counterexample's short form, which [Replay] reads.
func (c Counterexample) String() string {
	return c.Broken + "\nscenario: " + c.Scenario + "\n" + strings.Join(c.Steps, "\n") + "\n"
}

// ParseCounterexample reads what String has written.
func ParseCounterexample(text string) Counterexample {
	broken, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	lines := strings.Split(rest, "\n")
	return Counterexample{Broken: broken, Scenario: strings.TrimPrefix(lines[0], "scenario: "), Steps: lines[1:]}
}

// Replay makes the steps of a counterexample again, and tells what the controller did.
func Replay(scenarios []Scenario, text string) (story string, broken string, err error) {
	r, err := newRun()
	if err != nil {
		return "", "", err
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for len(lines) > 0 && !strings.HasPrefix(lines[0], "scenario: ") {
		lines = lines[1:]
	}
	if len(lines) == 0 {
		return "", "", fmt.Errorf("no line names the scenario")
	}
	var w *World
	for _, s := range scenarios {
		if s.Name == strings.TrimPrefix(lines[0], "scenario: ") {
			w = s.begin(r, len(lines), 2*len(lines))
		}
	}
	if w == nil {
		return "", "", fmt.Errorf("%s is not known", lines[0])
	}
	var b strings.Builder
	r.telling = true
	for i, line := range lines[1:] {
		s, err := w.stepOf(line)
		if err != nil {
			return b.String(), "", err
		}
		w = w.copy()
		r.make(w, s)
		fmt.Fprintf(&b, "%d. %s\n", i+1, line)
		for _, told := range w.told {
			fmt.Fprintf(&b, "      %s\n", told)
		}
		for _, key := range w.hosts() {
			h := w.host(key)
			fmt.Fprintf(&b, "   %s: %q %s %s; node %s; machine %+v\n", key.Name, h.Status.Provisioning.State, h.Status.OperationalStatus, h.Status.ErrorMessage,
				stateOf(w.nodes[h.Status.Provisioning.ID]), w.machineOf(h))
		}
	}
	r.telling = false
	if w.broken == "" {
		_, w.broken = r.comesToRest(w, func(uint64) bool { return false })
	}
	return b.String(), w.broken, nil
}

// stepOf reads a step.
func (w *World) stepOf(line string) (step, error) {
	name, rest, _ := strings.Cut(line, "; ")
	var s step
	if n, _ := fmt.Sscanf(rest, "crash after write %d", &s.Crash); n < 1 {
		s.Crash = 0
	}
	if n, _ := fmt.Sscanf(rest, "request %d is %s", &s.Request, &s.Answer); n < 2 {
		s.Request = 0
	}
	if n, _ := fmt.Sscanf(rest, "look %d fails", &s.Read); n < 1 {
		s.Read = 0
	}
	if n, _ := fmt.Sscanf(rest, "write %d is %s", &s.Write, &s.Answer); n < 2 {
		s.Write = 0
	}
	s.Stale = rest == "stale cache"
	for _, m := range w.moves() {
		if m.String() == name {
			s.move = m
			return s, nil
		}
	}
	return s, fmt.Errorf("%q is no move of this world", name)
}

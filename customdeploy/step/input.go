package step

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ironflow/ironflow/api/hostfile"
)

// maxInput bounds stdin: a node with its inventory is tens of KiB, a config
// drive with an Ignition some MiB.
const maxInput = 64 << 20

// Input is what the plugin writes to stdin: Ironic's node and ports as IPA got
// them, and the step's arguments.
type Input struct {
	Node  Node              `json:"node"`
	Ports []json.RawMessage `json:"ports"`
	Args  Args              `json:"args"`
	// RootDevice is IPA's own answer to which disk is the one to install to; nil when
	// it was not asked.
	RootDevice *RootDevice `json:"root_device"`
}

// RootDevice is what IPA answers: a device, or why there is none.
type RootDevice struct {
	Name  string `json:"name"`
	Error string `json:"error"`
}

// Node is the part of an Ironic node that steps look at.
type Node struct {
	UUID               string         `json:"uuid"`
	Name               string         `json:"name"`
	Properties         map[string]any `json:"properties"`
	InstanceInfo       map[string]any `json:"instance_info"`
	DriverInternalInfo map[string]any `json:"driver_internal_info"`
	// AutomatedClean is nil when the node leaves it to Ironic's configuration.
	AutomatedClean *bool `json:"automated_clean"`
}

// Args holds a step's arguments by name, still as JSON.
type Args map[string]json.RawMessage

// ReadInput decodes stdin. Members that no step needs are allowed: newer Ironic
// adds some.
func ReadInput(r io.Reader) (Input, error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	if err != nil {
		return Input{}, fmt.Errorf("read stdin: %w", err)
	}
	if len(raw) > maxInput {
		return Input{}, fmt.Errorf("stdin holds more than %d MiB", maxInput>>20)
	}
	if len(strings.TrimSpace(string(raw))) == 0 {
		return Input{}, errors.New(`stdin is empty; it must hold {"node": {…}, "ports": […], "args": {…}}`)
	}
	var in Input
	if err := json.Unmarshal(raw, &in); err != nil {
		return Input{}, fmt.Errorf(`stdin is not {"node": {…}, "ports": […], "args": {…}}: %w`, err)
	}
	return in, nil
}

// Check refuses arguments that the step does not list, and misses required ones.
func (s Step) Check(args Args) error {
	for name := range args {
		if _, ok := s.Args[name]; !ok {
			return fmt.Errorf("step %s has no argument %q; it takes: %s", s.Name, name, s.argNames())
		}
	}
	for name, info := range s.Args {
		if _, ok := args[name]; info.Required && !ok {
			return fmt.Errorf("step %s needs the argument %q: %s", s.Name, name, info.Description)
		}
	}
	return nil
}

func (s Step) argNames() string {
	names := make([]string, 0, len(s.Args))
	for name := range s.Args {
		names = append(names, name)
	}
	slices.Sort(names)
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// Deadlines bounds the parts of a step; zero means not set.
type Deadlines struct {
	// Start bounds the time from the open gate to the agent's READY.
	Start time.Duration
	// Idle bounds the time without a sign of life.
	Idle time.Duration
	// Total bounds the installation itself.
	Total time.Duration
	// Stage bounds each stage of it, in the place of the step's own limits.
	Stage time.Duration
}

// With returns the deadlines with those that are set in s in the place of d's own.
func (d Deadlines) With(s hostfile.StepDeadlines) Deadlines {
	for to, seconds := range map[*time.Duration]int{&d.Start: s.StartSeconds, &d.Idle: s.IdleSeconds, &d.Total: s.TotalSeconds, &d.Stage: s.StageSeconds} {
		if seconds > 0 {
			*to = time.Duration(seconds) * time.Second
		}
	}
	return d
}

// InSeconds is the reverse of With.
func (d Deadlines) InSeconds() hostfile.StepDeadlines {
	return hostfile.StepDeadlines{
		StartSeconds: int(d.Start / time.Second), IdleSeconds: int(d.Idle / time.Second),
		TotalSeconds: int(d.Total / time.Second), StageSeconds: int(d.Stage / time.Second),
	}
}

// DeadlineArgs are the arguments that steps with deadlines take.
var DeadlineArgs = map[string]Argument{
	"start_s": {Description: "seconds until the started program must be ready"},
	"idle_s":  {Description: "seconds that may pass without a sign of life"},
	"total_s": {Description: "seconds that the installation itself may take"},
	"stage_s": {Description: "seconds that each stage of it may take, unless it waits for other machines"},
}

// Deadlines starts with the step's defaults, lets the live image's
// deadlines.json change them, and then the step's arguments.
func (r *Request) Deadlines(defaults Deadlines) (Deadlines, error) {
	d := defaults
	var file hostfile.StepDeadlines
	err := r.Host.Read(hostfile.Deadlines, &file)
	if err != nil && !errors.Is(err, hostfile.ErrNoState) {
		return d, err
	}
	for _, f := range []struct {
		arg  string
		file int
		to   *time.Duration
	}{
		{"start_s", file.StartSeconds, &d.Start},
		{"idle_s", file.IdleSeconds, &d.Idle},
		{"total_s", file.TotalSeconds, &d.Total},
		{"stage_s", file.StageSeconds, &d.Stage},
	} {
		seconds := f.file
		if raw, ok := r.Args[f.arg]; ok {
			if err := json.Unmarshal(raw, &seconds); err != nil || seconds <= 0 {
				return d, fmt.Errorf("argument %s must be a whole number of seconds above 0, not %s", f.arg, raw)
			}
		}
		if seconds < 0 {
			return d, fmt.Errorf("%s: %s is %d; it must not be negative", hostfile.Deadlines, f.arg, seconds)
		}
		if seconds > 0 {
			*f.to = time.Duration(seconds) * time.Second
		}
	}
	return d, nil
}

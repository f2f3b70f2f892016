package ipa

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Kind is the kind of a step: the extension that lists and runs it.
type Kind string

// The kinds of steps.
const (
	Clean   Kind = "clean"
	Deploy  Kind = "deploy"
	Service Kind = "service"
)

// fail wraps a reason in the kind's own error.
func (k Kind) fail(reason string) *Error {
	switch k {
	case Clean:
		return ErrCleaning(reason)
	case Service:
		return ErrServicing(reason)
	default:
		return ErrDeployment(reason)
	}
}

// Step is one step as a hardware manager lists it.
type Step struct {
	Name            string              `json:"step"`
	Interface       string              `json:"interface"`
	Priority        int                 `json:"priority"`
	RebootRequested bool                `json:"reboot_requested"`
	Abortable       *bool               `json:"abortable,omitempty"`
	Args            map[string]Argument `json:"argsinfo,omitempty"`
}

// Argument describes one argument of a step.
type Argument struct {
	Description string `json:"description"`
	Required    bool   `json:"required"`
}

// Call is a step that Ironic wants run.
type Call struct {
	// Kind and Step name it.
	Kind Kind
	Step string
	// Node and Ports are Ironic's objects as they came.
	Node  json.RawMessage
	Ports json.RawMessage
	// Args are the step's arguments.
	Args map[string]json.RawMessage
	// Beat sends a heartbeat with a status message now. Ironic drops it while it
	// works on the node, and refuses more than one in two seconds.
	Beat func(ctx context.Context, message string) error
	// BeatAtEnd asks for a heartbeat right after the step's end, so that Ironic
	// goes on in a moment instead of within seconds.
	BeatAtEnd func()
}

// Manager is one hardware manager. A manager earlier in the agent's list is
// asked first, as one with a higher level of support.
type Manager interface {
	// Name and Version must not change within a deployment.
	Name() string
	Version() string
	// Steps lists the steps of the kind; nil when there are none.
	Steps(ctx context.Context, kind Kind) ([]Step, error)
	// Run runs the step to its end and returns its result for Ironic. An
	// [errors.ErrUnsupported] passes the step to the next manager. An [*Error]
	// reaches Ironic as it is, any other error as an unexpected one.
	Run(ctx context.Context, call Call) (any, error)
}

// managers dispatches to the hardware managers in order of support.
type managers []Manager

func (ms managers) versions() map[string]string {
	out := map[string]string{}
	for _, m := range ms {
		out[m.Name()] = m.Version()
	}
	return out
}

// list returns the steps by manager; of several with one name the first
// manager's stays.
func (ms managers) list(ctx context.Context, kind Kind) (map[string][]Step, error) {
	seen := map[string]bool{}
	out := map[string][]Step{}
	for _, m := range ms {
		steps, err := m.Steps(ctx, kind)
		if err != nil {
			return nil, fmt.Errorf("hardware manager %s: %w", m.Name(), err)
		}
		for _, s := range steps {
			if !seen[s.Name] {
				seen[s.Name] = true
				out[m.Name()] = append(out[m.Name()], s)
			}
		}
	}
	return out, nil
}

func (ms managers) run(ctx context.Context, call Call) (any, error) {
	for _, m := range ms {
		result, err := m.Run(ctx, call)
		if errors.Is(err, errors.ErrUnsupported) {
			continue
		}
		return result, err
	}
	return nil, errNoMethod(call.Step)
}

// getSteps is the command KIND.get_KIND_steps.
func getSteps(kind Kind) func(context.Context, *agent, Params) (any, error) {
	return func(ctx context.Context, a *agent, _ Params) (any, error) {
		steps, err := a.managers.list(ctx, kind)
		if err != nil {
			return nil, err
		}
		return map[string]any{string(kind) + "_steps": steps, "hardware_manager_version": a.managers.versions()}, nil
	}
}

// executeStep is the command KIND.execute_KIND_step.
func executeStep(kind Kind) func(context.Context, *agent, Params) (any, error) {
	return func(ctx context.Context, a *agent, p Params) (any, error) {
		call := Call{
			Kind: kind, Node: p["node"], Ports: p["ports"], Args: map[string]json.RawMessage{},
			Beat: a.beat, BeatAtEnd: func() { a.prompt.Store(true) },
		}
		var used map[string]string
		var step struct {
			Step string                     `json:"step"`
			Args map[string]json.RawMessage `json:"args"`
		}
		if err := errors.Join(p.get(string(kind)+"_version", &used), p.get("step", &step)); err != nil {
			return nil, err
		}
		if current := a.managers.versions(); used != nil && !maps.Equal(used, current) {
			return nil, errVersions(current, used)
		}
		if step.Step == "" {
			return nil, fmt.Errorf("malformed %s_step, no \"step\" key: %s", kind, p["step"])
		}
		reserved := []string{"step", "node", "ports", string(kind) + "_version"}
		for name, value := range p {
			if !slices.Contains(reserved, name) {
				call.Args[name] = value
			}
		}
		maps.Copy(call.Args, step.Args)
		call.Step = step.Step
		result, err := a.managers.run(ctx, call)
		if err != nil {
			return nil, stepError(kind, step.Step, err)
		}
		return map[string]any{string(kind) + "_result": result, string(kind) + "_step": p["step"]}, nil
	}
}

// stepError passes an error object on and wraps everything else, with the
// words of the real agent.
func stepError(kind Kind, step string, err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return kind.fail(fmt.Sprintf("Unexpected exception performing %s step %s. %T: %v", kind, step, err, err))
}

package machine

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/test/machine/ipa"
)

// genericManager plays the real agent's generic hardware manager: it lists the
// steps that Ironic's automatic and manual cleaning may ask for. Each takes the
// scenario's time; those that erase disks empty the machine's.
type genericManager struct{ m *Machine }

// genericSteps are the steps of ironic-python-agent 13.0.0 that make sense
// without hardware, with their interfaces and priorities.
var genericSteps = map[ipa.Kind][]ipa.Step{
	ipa.Clean: {
		{Name: "erase_devices", Interface: "deploy", Priority: 10, Abortable: new(true)},
		{Name: "erase_devices_metadata", Interface: "deploy", Priority: 99, Abortable: new(true)},
		{Name: "erase_devices_express", Interface: "deploy", Abortable: new(true)},
		{Name: "erase_pstore", Interface: "deploy", Abortable: new(true)},
		{Name: "clean_uefi_nvram", Interface: "deploy", Abortable: new(true)},
		{Name: "delete_configuration", Interface: "raid", Abortable: new(true)},
		{Name: "create_configuration", Interface: "raid", Abortable: new(true)},
		{Name: "burnin_cpu", Interface: "deploy", Abortable: new(true)},
		{Name: "burnin_disk", Interface: "deploy", Abortable: new(true)},
		{Name: "burnin_memory", Interface: "deploy", Abortable: new(true)},
	},
	ipa.Deploy: {
		{Name: "erase_devices_metadata", Interface: "deploy"},
		{Name: "clean_uefi_nvram", Interface: "deploy"},
	},
	ipa.Service: {
		{Name: "burnin_cpu", Interface: "deploy", Abortable: new(true)},
		{Name: "burnin_memory", Interface: "deploy", Abortable: new(true)},
	},
}

// erasing are the steps after which nothing is installed any more.
var erasing = map[string]bool{"erase_devices": true, "erase_devices_metadata": true, "erase_devices_express": true}

// Name and Version are the real manager's.
func (genericManager) Name() string    { return "GenericHardwareManager" }
func (genericManager) Version() string { return "1.2" }

// Steps implements ipa.Manager.
func (genericManager) Steps(_ context.Context, kind ipa.Kind) ([]ipa.Step, error) {
	return genericSteps[kind], nil
}

// Run implements ipa.Manager.
func (g genericManager) Run(ctx context.Context, call ipa.Call) (any, error) {
	if !lists(genericSteps[call.Kind], call.Step) {
		return nil, fmt.Errorf("step %s: %w", call.Step, errors.ErrUnsupported)
	}
	g.m.update(func(s *Status) { s.Step = call.Step })
	defer g.m.update(func(s *Status) { s.Step = "" })
	pause(ctx, g.m.scenario.Timing.CleanStep.Duration)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if call.Kind == ipa.Clean {
		if err := g.m.cleanFault(call.Step); err != nil {
			return nil, err
		}
	}
	if erasing[call.Step] {
		return nil, g.m.eraseDisk()
	}
	return nil, nil
}

func lists(steps []ipa.Step, name string) bool {
	for _, s := range steps {
		if s.Name == name {
			return true
		}
	}
	return false
}

// cleanFault is the scenario's fault for this step, or for any step.
func (m *Machine) cleanFault(step string) error {
	for _, stage := range []string{step, ""} {
		fault, ok, err := m.faults.Take(scenario.FaultCleanStep, stage)
		if err != nil {
			return err
		}
		if ok {
			return ipa.ErrCleaning(cmp.Or(fault.Text, "the hardware refuses the step"))
		}
	}
	return nil
}

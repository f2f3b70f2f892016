package ipa

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
)

// handler is one command of the table.
type handler struct {
	// short is the name within its extension, as records show it.
	short string
	// async commands run in the background, and a heartbeat follows their end.
	async bool
	// check refuses bad parameters before anything is recorded.
	check func(Params) error
	run   func(ctx context.Context, a *agent, p Params) (any, error)
}

// extensions are all commands by extension and name. What the real agent has
// beyond them Ironic does not send to a node with deploy interface
// custom-agent or ramdisk; it is refused with a text that says so.
var extensions = map[string]map[string]handler{
	"clean": {
		"get_clean_steps":    {run: getSteps(Clean)},
		"execute_clean_step": {async: true, run: executeStep(Clean)},
	},
	"deploy": {
		"get_deploy_steps":    {run: getSteps(Deploy)},
		"execute_deploy_step": {async: true, run: executeStep(Deploy)},
	},
	"service": {
		"get_service_steps":    {run: getSteps(Service)},
		"execute_service_step": {async: true, run: executeStep(Service)},
	},
	"standby": {
		"sync":                  {run: nothing},
		"power_off":             {async: true, run: powerOff},
		"run_image":             {async: true, run: reboot},
		"get_partition_uuids":   {run: func(context.Context, *agent, Params) (any, error) { return map[string]string{}, nil }},
		"prepare_image":         {async: true, check: checkImage, run: prepareImage},
		"execute_bootc_install": {async: true, run: unsupported("standby.execute_bootc_install")},
	},
	"image":  {"install_bootloader": {async: true, run: installBootloader}},
	"rescue": {"finalize_rescue": {run: unsupported("rescue.finalize_rescue")}},
	"log":    {"collect_system_logs": {run: collectLogs}},
	"poll":   {"get_hardware_info": {run: hardwareInfo}, "set_node_info": {run: notStandalone}},
	"system": {"lockdown": {run: lockdown}},
}

// lookupCommand finds EXTENSION.NAME with the real agent's refusals.
func lookupCommand(name string) (handler, error) {
	extension, command, ok := strings.Cut(name, ".")
	if !ok {
		return handler{}, errInvalidCommand("Command name must be of the form <extension>.<name>")
	}
	commands, ok := extensions[extension]
	if !ok {
		return handler{}, errNotFound("Extension", extension)
	}
	h, ok := commands[command]
	if !ok {
		return handler{}, errInvalidCommand("Unknown command: " + command)
	}
	h.short = command
	return h, nil
}

func nothing(context.Context, *agent, Params) (any, error) { return nil, nil }

func unsupported(command string) func(context.Context, *agent, Params) (any, error) {
	return func(context.Context, *agent, Params) (any, error) { return nil, ErrUnsupported(command) }
}

func notStandalone(context.Context, *agent, Params) (any, error) {
	return nil, errInvalidCommand("Node lookup data can only be set when the Ironic Python Agent is running in standalone mode.")
}

func powerOff(ctx context.Context, a *agent, _ Params) (any, error) {
	a.log.Info("powering off, as Ironic asked")
	a.leaves.Store(true)
	return nil, a.Power.Off(ctx)
}

func reboot(ctx context.Context, a *agent, _ Params) (any, error) {
	a.log.Info("rebooting, as Ironic asked")
	a.leaves.Store(true)
	return nil, a.Power.Reboot(ctx)
}

func collectLogs(ctx context.Context, a *agent, _ Params) (any, error) {
	if a.Logs == nil {
		return nil, fmt.Errorf("this machine keeps no logs")
	}
	archive, err := a.Logs(ctx)
	if err != nil {
		return nil, err
	}
	return map[string]string{"system_logs": base64.StdEncoding.EncodeToString(archive)}, nil
}

func hardwareInfo(_ context.Context, a *agent, _ Params) (any, error) { return a.Inventory, nil }

// lockdown stops the API after the answer is out, as the real agent does; the
// agent then idles until the machine goes down.
func lockdown(_ context.Context, a *agent, _ Params) (any, error) {
	a.lockdown()
	return nil, nil
}

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/agent/hosthttp"
	"github.com/ironflow/ironflow/agent/inventory"
	"github.com/ironflow/ironflow/agent/logging"
	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/agent/probe/table"
	"github.com/ironflow/ironflow/agent/program"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/hub/wire"
)

// input is how a program is given the step's arguments.
type input int

const (
	// positional: the arguments are the step's.
	positional input = iota
	// request: one JSON text, flag --request.
	request
)

// stepRow is a step that older images also have as a program of its own.
type stepRow struct {
	name    string
	step    wire.StepType
	input   input
	summary string
}

// stepRows are the stand-alone checks: each runs the step of the same kind.
var stepRows = []stepRow{
	{"free_addresses", wire.StepTypeFreeNetworkAddresses, positional, "list IP addresses that are not in use; argument: JSON list of networks"},
	{"disk_speed_check", wire.StepTypeInstallationDiskSpeedCheck, positional, "measure the speed of a disk, OVERWRITING its beginning; argument: JSON with path"},
	{"connectivity_check", wire.StepTypeConnectivityCheck, positional, "check the connectivity to other hosts; argument: the step's JSON"},
	{"apivip_check", wire.StepTypeAPIVIPConnectivityCheck, positional, "check the connectivity to a cluster's API; argument: the step's JSON"},
	{"dhcp_lease_allocate", wire.StepTypeDHCPLeaseAllocate, positional, "get DHCP leases for virtual IP addresses; argument: the step's JSON"},
	{"ntp_synchronizer", wire.StepTypeNTPSynchronizer, positional, "add NTP servers and list all with their state; argument: the step's JSON"},
	{"container_image_availability", wire.StepTypeContainerImageAvailability, request, "pull container images and measure how long it takes; --request JSON"},
	{"domain_resolution", wire.StepTypeDomainResolution, request, "resolve domain names; --request JSON"},
}

func stepPrograms() []program.Program {
	programs := make([]program.Program, 0, len(stepRows))
	for _, row := range stepRows {
		programs = append(programs, program.Program{Name: row.name, Summary: row.summary, Run: row.run})
	}
	return programs
}

// run does the step and prints its output; the exit code is the step's.
func (r stepRow) run(ctx context.Context, s program.Streams, name string, args []string) int {
	c := program.NewCommon(s, name, "[ARGUMENT]")
	text := ""
	if r.input == request {
		c.Set.StringVar(&text, "request", "", "the step's JSON (required)")
	}
	if code, done := c.Parse(s, args); done {
		return code
	}
	if r.step == wire.StepTypeNTPSynchronizer && c.Set.NArg() != 1 {
		fmt.Fprintln(s.Err, "want one argument: the step's JSON")
		return exitConfig // the one program that says so with 1
	}
	log, _, closeLog := logging.Setup(c.Logs)
	defer closeLog()
	arguments := c.Set.Args()
	if r.input == request {
		if text == "" {
			log.Error("--request is required")
			return exitConfig
		}
		arguments = []string{text}
	}
	machine, err := c.Dry.Machine()
	if err != nil {
		log.Error("the dry run cannot be set up", "error", err)
		return exitConfig
	}
	collectors := inventory.Host(c.Logs.Dir)
	if machine != nil {
		collectors = inventory.Scenario(machine)
	}
	roots, err := hosthttp.Roots(c.Logs.Dir)
	if err != nil {
		log.Error("the host's certificates cannot be read", "error", err)
		return exitConfig
	}
	runner, ok := table.Checks(probe.Env{
		DryRun: c.Dry.Enabled, Dir: c.Logs.Dir, Log: log,
		Commands: command.Host{Dir: c.Logs.Dir, Log: log}, HTTP: &http.Client{Transport: hosthttp.Transport(roots, false)},
		Interfaces: func(ctx context.Context) ([]wire.Interface, error) {
			inv, err := inventory.Gather(ctx, inventory.Network(collectors), log)
			return inv.Interfaces, err
		},
		Device: func(path string) (string, error) { return filepath.EvalSymlinks(c.Logs.Dir.Path(path)) },
	})[r.step]
	if !ok {
		log.Error("not supported by this agent yet", "step", r.step)
		return exitFailed
	}
	ctx, cancel := context.WithTimeoutCause(ctx, runner.Deadline, errors.New("the time limit of the check ran out"))
	defer cancel()
	result := runner.Run(ctx, arguments)
	return printResult(s, result)
}

func printResult(s program.Streams, result steps.Result) int {
	if result.Error != "" {
		fmt.Fprintln(s.Err, result.Error)
	}
	if json.Valid([]byte(result.Output)) {
		fmt.Fprintln(s.Out, result.Output)
	}
	if result.Exit < 0 || result.Exit > exitFailed {
		return exitFailed
	}
	return int(result.Exit)
}

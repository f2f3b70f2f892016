package service

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"sync/atomic"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/agent/hosthttp"
	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/agent/install"
	"github.com/ironflow/ironflow/agent/install/coreos"
	"github.com/ironflow/ironflow/agent/install/effect"
	"github.com/ironflow/ironflow/agent/inventory"
	"github.com/ironflow/ironflow/agent/logs"
	"github.com/ironflow/ironflow/agent/media"
	"github.com/ironflow/ironflow/agent/notify"
	"github.com/ironflow/ironflow/agent/outbox"
	"github.com/ironflow/ironflow/agent/outcome"
	"github.com/ironflow/ironflow/agent/poll"
	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/agent/probe/table"
	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/agent/state"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/hub/wire"
)

// agent is one running agent with its parts.
type agent struct {
	cfg     Config
	log     *slog.Logger
	machine *scenario.Scenario // nil on real hardware
	mishaps install.Mishaps    // none on real hardware

	client     *hubclient.Client
	checks     *http.Client // of the checks
	state      *state.File
	notifier   *notify.Notifier
	outbox     *outbox.Outbox
	dispatcher *steps.Dispatcher
	installer  *install.Manager
	effects    *effect.Recorder
	real       *coreos.Installer // nil in a dry run
	commands   command.Runner
	foreign    foreign
	collectors []inventory.Collector
	hostID     func() (string, error)
	resolve    install.Resolve

	changed chan struct{}                  // the hub took a new reply
	leave   chan string                    // why the host is to register again
	host    atomic.Pointer[hubclient.Host] // who we are for the hub, nil before the registration
	seen    atomic.Pointer[poll.Situation] // the last situation before a stop
	last    atomic.Pointer[[]byte]         // the last inventory
	ends    chan ending                    // the first one counts
	work    context.Context                // registration, polling, installation

	// upgradedTo is the image of the last upgrade; only [agent.reply] uses it.
	upgradedTo string

	endOnce sync.Once
}

// newAgent makes the parts; it starts nothing.
func newAgent(cfg Config) (*agent, error) {
	machine, err := cfg.Dry.Machine()
	if err != nil {
		return nil, err
	}
	a := &agent{
		cfg: cfg, log: cfg.Log, machine: machine,
		state: state.Open(cfg.Dir), notifier: newNotifier(cfg),
		hostID:  identify(cfg, machine),
		mishaps: install.Mishaps{Faults: cfg.Dry.Faults(machine), Notify: cfg.Notify, Log: cfg.Log},
		changed: make(chan struct{}, 1), leave: make(chan string, 1), ends: make(chan ending, 1),
	}
	if cfg.Token == nil || !cfg.Token.Set() {
		a.log.Warn("no token: " + hubclient.TokenEnv + " is empty; a hub with authentication will refuse this agent")
	}
	if err := a.setClients(); err != nil {
		return nil, err
	}
	a.commands = cfg.Commands
	if a.commands == nil {
		a.commands = command.Host{Dir: cfg.Dir, Log: cfg.Log, Started: cfg.Started}
	}
	a.setHardware()
	a.outbox = outbox.New(a.reply, a.nudge, a.log)
	a.setInstaller()
	a.dispatcher = steps.NewDispatcher(a.registry(), a.outbox.Put, a.log)
	if !cfg.Dry.Enabled {
		a.dispatcher.Media = a.mediaCheck
	}
	return a, nil
}

// newNotifier keeps the status in a file where there is somebody to read it: what
// follows the unit of this process.
func newNotifier(cfg Config) *notify.Notifier {
	invocation := os.Getenv(outcome.InvocationEnv)
	if cfg.Notify == nil || invocation == "" {
		return notify.New(cfg.Log, cfg.Notify, nil)
	}
	return notify.New(cfg.Log, cfg.Notify, notify.File(cfg.Dir, invocation))
}

// mediaCheck tells whether the boot medium can be read. While an installer runs
// nobody is told: hubs take that answer to a repeated order for its failure.
func (a *agent) mediaCheck() error {
	if a.installing() {
		return nil
	}
	return media.Check(a.cfg.Dir, a.log)
}

// setClients makes the hub's client and the one of the checks, which neither
// sends the hub's token nor heeds --insecure.
func (a *agent) setClients() (err error) {
	a.client, err = hubclient.New(hubclient.Options{
		URL: a.cfg.URL, AgentVersion: a.cfg.running(), Attempt: a.state.Attempt(),
		Dir: a.cfg.Dir, CAFile: a.cfg.CACert, Insecure: a.cfg.Insecure, Token: a.cfg.Token,
	})
	if err != nil {
		return err
	}
	roots, err := hosthttp.Roots(a.cfg.Dir, a.cfg.CACert)
	if err != nil {
		return err
	}
	a.checks = &http.Client{Transport: hosthttp.Transport(roots, false)}
	return nil
}

// setHardware chooses where the inventory comes from and which devices exist.
func (a *agent) setHardware() {
	a.collectors, a.resolve = inventory.Host(a.cfg.Dir), resolveDevice(a.cfg.Dir)
	if a.machine != nil {
		a.collectors, a.resolve = inventory.Scenario(a.machine), a.pretendedDevice
	}
	a.collectors = append(a.collectors, inventory.Forced(a.cfg.Dry)...)
}

func (a *agent) setInstaller() {
	a.effects = &effect.Recorder{Begin: a.state.BeginEffect, Done: a.state.EndEffect, Point: a.cfg.FaultPoint, Log: a.log}
	var installer install.Installer
	if a.cfg.Dry.Enabled {
		installer = &install.DryRun{Scenario: a.machine, Mishaps: a.mishaps}
	} else {
		a.real = a.realInstaller()
		installer = a.real
	}
	a.installer = &install.Manager{
		Installer: installer, State: a.state, Status: a.notifier.Status, Effects: a.effects, Log: a.log,
		Put: a.tell,
		SendLogs: func(ctx context.Context, r wire.InstallCmdRequest) error {
			return a.logSender().Send(ctx, logsOfInstallation(*a.host.Load(), r))
		},
		Finish: a.finish,
	}
}

// registry is the table of steps.
func (a *agent) registry() steps.Registry {
	registry := table.Checks(probe.Env{
		DryRun: a.cfg.Dry.Enabled, Dir: a.cfg.Dir, Interfaces: a.interfaces, Device: a.resolve,
		Commands: a.commands, HTTP: a.checks, Log: a.log,
	})
	registry[wire.StepTypeInventory] = steps.Runner{Deadline: 2 * inventory.Deadline, Run: a.inventoryStep}
	registry[wire.StepTypeInstall] = steps.Runner{Deadline: stepDeadline, HandsOver: true, Run: a.installStep}
	registry[wire.StepTypeStopInstallation] = steps.Runner{Deadline: stepDeadline, HandsOver: true, Run: a.stopStep}
	registry[wire.StepTypeLogsGather] = logs.Step(a.logSender)
	return registry
}

// reply posts a step's result. Only the outbox calls it, one after the other.
func (a *agent) reply(ctx context.Context, reply wire.StepReply) error {
	host := a.host.Load()
	if host == nil {
		return fmt.Errorf("reply to %s before the registration", reply.StepType)
	}
	if err := a.client.Reply(ctx, *host, reply); err != nil {
		return err
	}
	a.upgraded(reply)
	return nil
}

// nudge wakes the poll loop.
func (a *agent) nudge() {
	select {
	case a.changed <- struct{}{}:
	default:
	}
}

func (a *agent) interfaces(ctx context.Context) ([]wire.Interface, error) {
	inv, err := inventory.Gather(ctx, inventory.Network(a.collectors), a.log)
	return inv.Interfaces, err
}

// pretendedDevice finds a disk of the scenario by any of its names.
func (a *agent) pretendedDevice(path string) (string, error) {
	inv, err := inventory.Gather(a.work, a.collectors, a.log)
	if err != nil {
		return "", err
	}
	for _, disk := range inv.Disks {
		if path == disk.Path || path == disk.ByID || path == disk.ByPath {
			return disk.Path, nil
		}
	}
	return "", fmt.Errorf("%s does not exist on this host", path)
}

// inventoryStep is the step inventory.
func (a *agent) inventoryStep(ctx context.Context, args []string) steps.Result {
	options, err := inventory.ParseStep(args)
	if err != nil {
		return steps.Failed(steps.ExitBad, "%v", err)
	}
	inv, err := inventory.Gather(ctx, a.collectors, a.log)
	if err != nil {
		return steps.Failed(steps.ExitBad, "%v", err)
	}
	raw, err := inventory.Print(inv, options)
	if err != nil {
		return steps.Failed(steps.ExitBad, "print the inventory: %v", err)
	}
	a.last.Store(&raw)
	return steps.Text(string(raw))
}

// parseOrder checks an install order against this host.
func (a *agent) parseOrder(args []string) (install.Job, error) {
	job, err := install.Parse(args, a.orderDevice)
	if err != nil {
		return job, err
	}
	if host := a.host.Load(); host != nil && job.Request.HostID != host.HostID {
		return job, fmt.Errorf("host_id %s is not this host, %s", job.Request.HostID, host.HostID)
	}
	return job, nil
}

// parseKept checks an order that an earlier process had accepted.
func (a *agent) parseKept(request wire.InstallCmdRequest) (install.Job, error) {
	raw, err := json.Marshal(request)
	if err != nil {
		return install.Job{}, err
	}
	return a.parseOrder([]string{string(raw)})
}

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/ironflow/ironflow/hub/wire"
)

// agent is the agent of one machine.
type agent struct {
	machine
	load  *load
	calls *client
	// inventorySent tells that the hub has its inventory, installed that it has left the live image.
	inventorySent, installed bool
}

func (a *agent) path() string {
	return "/infra-envs/" + a.group.InfraEnv + "/hosts/" + hostID(a.number)
}

// run registers and does what the hub says until ctx ends or the machine is written.
// judged is called once when its inventory is stored.
func (a *agent) run(ctx context.Context, judged func()) {
	for !a.register(ctx) {
		if !wait(ctx, 2*time.Second) {
			return
		}
	}
	for !a.installed {
		steps, err := a.poll(ctx)
		pause := 2 * time.Second
		if err == nil {
			err = a.obey(ctx, steps.Instructions)
			pause = time.Duration(steps.NextInstructionSeconds) * time.Second
		}
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			a.load.failed(err)
		} else if a.inventorySent && judged != nil {
			judged()
			judged = nil
		}
		if !a.installed && !wait(ctx, pause) {
			return
		}
	}
}

func (a *agent) register(ctx context.Context) bool {
	err := a.calls.do(ctx, a.group.Token, http.MethodPost, "/infra-envs/"+a.group.InfraEnv+"/hosts",
		wire.HostCreateParams{HostID: hostID(a.number), DiscoveryAgentVersion: "bench"}, nil)
	if err != nil && ctx.Err() == nil {
		a.load.failed(err)
	}
	if err == nil && a.calls.own == "" {
		err = errors.New("the hub gave a host no token of its own")
		a.load.failed(err)
	}
	if err == nil {
		a.load.keepToken(a.machine, a.calls.own)
	}
	return err == nil
}

func (a *agent) poll(ctx context.Context) (wire.Steps, error) {
	var out wire.Steps
	begin := time.Now()
	err := a.calls.do(ctx, a.load.token(a.machine), http.MethodGet, a.path()+"/instructions", nil, &out)
	if err == nil {
		a.load.polled(time.Since(begin))
	}
	return out, err
}

func (a *agent) obey(ctx context.Context, steps []wire.Step) error {
	for _, step := range steps {
		if step.StepType == wire.StepTypeInstall {
			return a.install(ctx, step)
		}
		output, ok := a.answer(step)
		if !ok {
			continue
		}
		if err := a.reply(ctx, step, output); err != nil {
			return err
		}
		a.inventorySent = a.inventorySent || step.StepType == wire.StepTypeInventory
	}
	return nil
}

func (a *agent) reply(ctx context.Context, step wire.Step, output string) error {
	return a.calls.do(ctx, a.load.token(a.machine), http.MethodPost, a.path()+"/instructions",
		wire.StepReply{StepType: step.StepType, StepID: step.StepID, Output: output}, nil)
}

// lose lets the machine report that its disks are gone, and returns how long
// it took until the hub had stored that and judged the host, which is before it
// answers; a look at the host proves it.
func (a *agent) lose(ctx context.Context) (time.Duration, error) {
	text := a.inventory(false)
	begin := time.Now()
	err := a.reply(ctx, wire.Step{StepType: wire.StepTypeInventory, StepID: "inventory-bench"}, text)
	took := time.Since(begin)
	if err != nil {
		return 0, err
	}
	var host wire.Host
	if err := a.calls.do(ctx, userToken, http.MethodGet, a.path(), nil, &host); err != nil {
		return 0, err
	}
	if host.Status != wire.HostStatusInsufficient && host.Status != wire.HostStatusInsufficientUnbound {
		return 0, fmt.Errorf("host %d has no disk and is %s: %s", a.number, host.Status, host.StatusInfo)
	}
	return took, nil
}

// install plays the installation: it tells its stages, and leaves the live image.
func (a *agent) install(ctx context.Context, step wire.Step) error {
	role := asked[wire.InstallCmdRequest](step).Role
	stages := []wire.HostStage{wire.HostStageStartingInstallation, wire.HostStageInstalling, wire.HostStageWritingImageToDisk}
	if role == wire.HostRoleBootstrap {
		stages = append(stages, wire.HostStageWaitingForControlPlane, wire.HostStageWaitingForBootkube, wire.HostStageWaitingForController)
	}
	for _, stage := range append(stages, wire.HostStageRebooting) {
		if err := a.tell(ctx, stage, ""); err != nil {
			return err
		}
		for percent := 20; stage == wire.HostStageWritingImageToDisk && percent <= 100; percent += 20 {
			if err := a.tell(ctx, stage, fmt.Sprintf("%d%%", percent)); err != nil {
				return err
			}
		}
	}
	a.installed = true
	return nil
}

func (a *agent) tell(ctx context.Context, stage wire.HostStage, info string) error {
	return a.calls.do(ctx, a.load.token(a.machine), http.MethodPut, a.path()+"/progress", wire.HostProgress{CurrentStage: stage, ProgressInfo: info}, nil)
}

// installCluster boots the hosts of a cluster, asks for its installation when it is
// ready, and lets its nodes join.
func (l *load) installCluster(ctx context.Context, g group) error {
	var written sync.WaitGroup
	var agents []*agent
	for place := range g.Size {
		a := &agent{machine: machine{g, g.First + place, place}, load: l, calls: l.newClient()}
		defer a.calls.close()
		agents = append(agents, a)
		written.Go(func() { a.run(ctx, nil) })
	}
	user := l.newClient()
	defer user.close()
	if err := l.until(ctx, user, g.Cluster, wire.ClusterStatusReady, 0); err != nil {
		return err
	}
	if err := user.do(ctx, userToken, http.MethodPost, "/clusters/"+g.Cluster+"/actions/install", nil, nil); err != nil {
		return err
	}
	written.Wait()
	for _, a := range agents {
		for _, stage := range []wire.HostStage{wire.HostStageConfiguring, wire.HostStageJoined, wire.HostStageDone} {
			if err := a.tell(ctx, stage, ""); err != nil {
				return err
			}
		}
	}
	return l.until(ctx, user, g.Cluster, wire.ClusterStatusInstalled, 0)
}

// until waits for a cluster's status, and for so many hosts of it that are ready.
func (l *load) until(ctx context.Context, user *client, id, status string, hosts int64) error {
	for {
		var c wire.Cluster
		if err := user.do(ctx, userToken, http.MethodGet, "/clusters/"+id+"?exclude-hosts=true", nil, &c); err != nil {
			return err
		}
		switch {
		case c.Status == status && c.ReadyHostCount >= hosts:
			return nil
		case c.Status == wire.ClusterStatusError, c.Status == wire.ClusterStatusCancelled:
			return fmt.Errorf("cluster %s is %s: %s", id, c.Status, c.StatusInfo)
		}
		if !wait(ctx, 2*time.Second) {
			return fmt.Errorf("cluster %s is %s and not %s: %s", id, c.Status, status, c.StatusInfo)
		}
	}
}

// summary is the number of times, their median, and that which 99 % are within.
func summary(times []time.Duration) map[string]float64 {
	if len(times) == 0 {
		return map[string]float64{"count": 0}
	}
	sorted := slices.Sorted(slices.Values(times))
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	return map[string]float64{
		"count": float64(len(sorted)), "p50_ms": ms(sorted[len(sorted)/2]), "p99_ms": ms(sorted[len(sorted)*99/100]), "max_ms": ms(sorted[len(sorted)-1]),
	}
}

func backwards(all []machine) []machine {
	out := slices.Clone(all)
	slices.Reverse(out)
	return out
}

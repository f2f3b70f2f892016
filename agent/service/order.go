package service

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/agent/outcome"
	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/systemd"
)

// carryOut installs by the order of the command line. How it ends reaches the hub
// as progress, as after an order of the hub.
func (a *agent) carryOut(ctx context.Context) {
	a.host.Store(&hubclient.Host{InfraEnvID: a.cfg.InfraEnvID, HostID: a.cfg.HostID})
	a.notifier.Ready()
	job, err := a.parseKept(*a.cfg.Order)
	if err == nil {
		err = a.installer.Start(ctx, job)
	}
	if err != nil {
		a.finish(&outcome.End{Exit: exitcode.AgentFailed, Text: "the install order cannot be carried out: " + err.Error()})
	}
}

// stopper ends units.
type stopper interface {
	Stop(ctx context.Context, unit string) (result string, err error)
}

// ownStop is how long the stop of a unit is waited for whose process this is: it
// ends with this process, so that only the order has to arrive.
const ownStop = 2 * time.Second

// ownUnit tells whether this process is the agent's unit, and returns the unit.
func (a *agent) ownUnit(ctx context.Context) (unit systemd.Properties, own bool) {
	id := os.Getenv(outcome.InvocationEnv)
	unit, err := a.real.Units.Unit(ctx, hostfile.AgentUnit)
	return unit, err == nil && id != "" && unit.InvocationID == id
}

// startedForEver tells whether systemd would start this process again after its
// good end, as units of existing hubs have it. Who waits for the unit's end would
// wait in vain.
func (a *agent) startedForEver(ctx context.Context) bool {
	unit, own := a.ownUnit(ctx)
	return own && unit.RestartsAfterSuccess()
}

// stopUnit ends the agent's unit, which is how an installer says that it has
// succeeded: one beside the agent, or an agent whose end alone is none.
func (a *agent) stopUnit(ctx context.Context) {
	units, ok := a.real.Units.(stopper)
	if !ok {
		return
	}
	_, own := a.ownUnit(ctx)
	if own {
		bounded, cancel := context.WithTimeout(ctx, ownStop)
		defer cancel()
		ctx = bounded
	}
	_, err := units.Stop(ctx, hostfile.AgentUnit)
	if own && errors.Is(err, context.DeadlineExceeded) {
		return
	}
	if err != nil {
		a.log.Error("installed, but the agent's unit was not stopped; stop it by hand", "unit", hostfile.AgentUnit, "error", err)
	}
}

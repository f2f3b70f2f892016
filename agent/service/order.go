package service

import (
	"context"

	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/agent/outcome"
	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/api/hostfile"
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

// stopUnit ends the agent's unit, which is how an installer beside the agent says
// that it has succeeded.
func (a *agent) stopUnit(ctx context.Context) {
	units, ok := a.real.Units.(stopper)
	if !ok {
		return
	}
	if _, err := units.Stop(ctx, hostfile.AgentUnit); err != nil {
		a.log.Error("installed, but the agent's unit was not stopped; stop it by hand", "unit", hostfile.AgentUnit, "error", err)
	}
}

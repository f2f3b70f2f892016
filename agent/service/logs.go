package service

import (
	"context"
	"os"

	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/agent/logs"
	"github.com/ironflow/ironflow/hub/wire"
)

// logSender collects the logs of this host.
func (a *agent) logSender() logs.Sender {
	sources := logs.Sources{
		Dir: a.cfg.Dir, Own: a.cfg.OwnLog, Inventory: a.lastInventory, Secrets: logs.HostSecrets(a.cfg.Dir, a.cfg.Token, os.Getenv),
	}
	if !a.cfg.Dry.Enabled {
		sources.Commands = a.commands
	}
	return logs.Sender{Hub: a.client, Sources: sources, Log: a.log}
}

// lastInventory is the inventory that the hub was told last.
func (a *agent) lastInventory(context.Context) ([]byte, error) {
	if last := a.last.Load(); last != nil {
		return *last, nil
	}
	return nil, nil
}

// logsOfInstallation is what is sent at the end of an installation. The logs of
// a whole control plane take too long for that: the hub asks for them by a step.
func logsOfInstallation(host hubclient.Host, r wire.InstallCmdRequest) logs.Order {
	bootstrap := r.Role == wire.HostRoleBootstrap
	return logs.Order{ClusterID: r.ClusterID, Host: host, Bootstrap: bootstrap, InstallerGather: !bootstrap}
}

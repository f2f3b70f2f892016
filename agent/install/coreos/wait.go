package coreos

import (
	"context"
	"fmt"
	"time"

	"github.com/ironflow/ironflow/agent/install"
	"github.com/ironflow/ironflow/hub/wire"
)

const (
	// askEvery is how often the hub is asked for the other hosts.
	askEvery = 20 * time.Second
	// enough control-plane nodes form a quorum that a worker can join.
	enough = 2
)

// waitControlPlane waits until enough nodes of the control plane are Ready, as the hub
// has heard it from the cluster. A cluster without a control plane of its own has
// nothing to wait for. The hub's limit for the stage ends an endless wait; an
// outage of the hub does not.
func (i *Installer) waitControlPlane(ctx context.Context, job install.Job, report install.Report) error {
	for {
		var hosts []wire.Host
		err := install.Persist(ctx, i.Log, "ask the hub for the control plane", func() (err error) {
			hosts, err = i.Hub.ClusterHosts(ctx, job.Request.ClusterID)
			return err
		})
		if err != nil {
			return err
		}
		ready, want := controlPlane(hosts)
		if ready >= want {
			return nil
		}
		report(-1, fmt.Sprintf("%d of %d control-plane nodes are ready", ready, want))
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(askEvery):
		}
	}
}

// controlPlane counts the nodes of the control plane that are ready, and how many
// must be. The bootstrap host becomes a node last: it may wait for this one.
func controlPlane(hosts []wire.Host) (ready, want int) {
	for _, h := range hosts {
		if h.Role != wire.HostRoleMaster && h.Role != wire.HostRoleBootstrap {
			continue
		}
		if !h.Bootstrap {
			want++
		}
		done := h.Progress != nil && h.Progress.CurrentStage == wire.HostStageDone // a node that has joined alone is not Ready
		if done || h.Status == wire.HostStatusInstalled {
			ready++
		}
	}
	return ready, min(want, enough)
}

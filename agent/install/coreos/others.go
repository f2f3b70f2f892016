package coreos

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/install"
	"github.com/ironflow/ironflow/hub/wire"
)

// hasHub tells that the cluster's hub runs on this host, and ends with its live system.
func (i *Installer) hasHub() bool { return places.Exists(i.Dir, places.NodeZero) }

// waitOthers waits until no other host of the cluster needs the hub of this host any more.
func (i *Installer) waitOthers(ctx context.Context, job install.Job, report install.Report) error {
	for {
		var hosts []wire.Host
		err := install.Persist(ctx, i.Log, "ask the hub for the other hosts", func() (err error) {
			hosts, err = i.Hub.ClusterHosts(ctx, job.Request.ClusterID)
			return err
		})
		if err != nil {
			return err
		}
		left := slices.DeleteFunc(hosts, func(h wire.Host) bool { return h.ID == job.Request.HostID || isAway(h) })
		if len(left) == 0 {
			return nil
		}
		report(-1, fmt.Sprintf("the hub runs on this host, and %d other hosts still need it", len(left)))
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(askEvery):
		}
	}
}

// isAway tells that the host has left its live system, or has failed.
func isAway(h wire.Host) bool {
	over := []string{wire.HostStatusInstalled, wire.HostStatusAddedToExistingCluster, wire.HostStatusError, wire.HostStatusCancelled}
	away := []wire.HostStage{wire.HostStageRebooting, wire.HostStageWaitingForIgnition, wire.HostStageConfiguring, wire.HostStageJoined, wire.HostStageDone}
	return slices.Contains(over, h.Status) || h.Progress != nil && slices.Contains(away, h.Progress.CurrentStage)
}

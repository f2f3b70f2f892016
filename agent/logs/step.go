package logs

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/hub/wire"
)

// stepDeadline is the protocol's limit for the logs-gather step.
const stepDeadline = time.Hour

// maxMasters bounds the hosts of a control plane.
const maxMasters = 16

// Step is the logs-gather step; sender makes the sender for a run.
func Step(sender func() Sender) steps.Runner {
	return steps.Runner{Deadline: stepDeadline, Run: func(ctx context.Context, args []string) steps.Result {
		request, err := steps.Decode[wire.LogsGatherCmdRequest](args)
		if err != nil {
			return steps.Failed(steps.ExitBad, "%v", err)
		}
		order, err := orderOf(request)
		if err != nil {
			return steps.Failed(steps.ExitBad, "%v", err)
		}
		if err := sender().Send(ctx, order); err != nil {
			return steps.Failed(steps.ExitBad, "%v", err)
		}
		return steps.Text(fmt.Sprintf("logs of host %s were sent", request.HostID))
	}}
}

func orderOf(r wire.LogsGatherCmdRequest) (Order, error) {
	var errs []error
	for _, member := range []struct{ name, id string }{{"cluster_id", r.ClusterID}, {"infra_env_id", r.InfraEnvID}, {"host_id", r.HostID}} {
		if _, err := uuid.Parse(member.id); err != nil {
			errs = append(errs, fmt.Errorf("%s %q is not a UUID", member.name, member.id))
		}
	}
	errs = append(errs, CheckMasters(r.MasterIPs))
	return Order{
		ClusterID: r.ClusterID, Host: hubclient.Host{InfraEnvID: r.InfraEnvID, HostID: r.HostID},
		Bootstrap: r.Bootstrap, InstallerGather: r.InstallerGather, Masters: r.MasterIPs,
	}, errors.Join(errs...)
}

// CheckMasters refuses what is no list of addresses: it becomes arguments of a program.
func CheckMasters(masters []string) error {
	if len(masters) > maxMasters {
		return fmt.Errorf("%d addresses of masters are more than %d", len(masters), maxMasters)
	}
	for _, master := range masters {
		if _, err := netip.ParseAddr(master); err != nil || strings.Contains(master, "%") {
			return fmt.Errorf("master %q is not an address", master)
		}
	}
	return nil
}

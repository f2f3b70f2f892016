package logs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/hub/wire"
)

// stepDeadline is the protocol's limit for the logs-gather step.
const stepDeadline = time.Hour

// archiveName is the name that the archive is uploaded under.
const archiveName = "logs.tar.gz"

// Hub is the part of the hub that takes logs.
type Hub interface {
	LogsProgress(ctx context.Context, h hubclient.Host, state wire.LogsState) error
	UploadLogs(ctx context.Context, h hubclient.Host, clusterID, name string, write func(io.Writer) error) error
}

// Send collects the pieces and uploads them for the host of the cluster. A hub
// that does not take the progress of it still gets the logs.
func Send(ctx context.Context, hub Hub, host hubclient.Host, clusterID string, pieces []Piece) error {
	var progress []error
	for _, state := range []wire.LogsState{wire.LogsStateRequested, wire.LogsStateCollecting} {
		progress = append(progress, hub.LogsProgress(ctx, host, state))
	}
	err := hub.UploadLogs(ctx, host, clusterID, archiveName, func(w io.Writer) error {
		return Write(ctx, w, host.HostID, pieces)
	})
	if err != nil {
		return errors.Join(append(progress, err)...)
	}
	return hub.LogsProgress(ctx, host, wire.LogsStateCompleted)
}

// Step is the logs-gather step.
func Step(hub Hub, pieces func() []Piece) steps.Runner {
	return steps.Runner{Deadline: stepDeadline, Run: func(ctx context.Context, args []string) steps.Result {
		request, err := steps.Decode[wire.LogsGatherCmdRequest](args)
		if err != nil {
			return steps.Failed(steps.ExitBad, "%v", err)
		}
		for name, id := range map[string]string{"cluster_id": request.ClusterID, "infra_env_id": request.InfraEnvID, "host_id": request.HostID} {
			if _, err := uuid.Parse(id); err != nil {
				return steps.Failed(steps.ExitBad, "%s %q is not a UUID", name, id)
			}
		}
		host := hubclient.Host{InfraEnvID: request.InfraEnvID, HostID: request.HostID}
		if err := Send(ctx, hub, host, request.ClusterID, pieces()); err != nil {
			return steps.Failed(steps.ExitBad, "%v", err)
		}
		return steps.Text(fmt.Sprintf("logs of host %s were sent", request.HostID))
	}}
}

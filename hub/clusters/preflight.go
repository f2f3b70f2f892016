package clusters

import (
	"context"

	"github.com/ironflow/ironflow/hub/judge"
	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/wire"
)

// PreflightRequirements returns what hosts of the cluster need, by role.
func (r *Registry) PreflightRequirements(ctx context.Context, clusterID string) (wire.PreflightHardwareRequirements, error) {
	var out wire.PreflightHardwareRequirements
	err := r.units.View(ctx, func(w *settle.Work) error {
		c, err := w.Cluster(clusterID)
		if err != nil {
			return err
		}
		of := func(role wire.HostRole) *wire.HostTypeHardwareRequirements {
			needs := r.units.Rules.Needs.For(c.API.OpenshiftVersion, role, judge.SingleNode(c))
			return &wire.HostTypeHardwareRequirements{Qualitative: []string{}, Quantitative: &wire.ClusterHostRequirementsDetails{
				CPUCores: needs.CPUs, RAMMib: needs.MemoryMiB, DiskSizeGb: needs.DiskGB, InstallationDiskSpeedThresholdMs: needs.DiskSpeedMs,
				NetworkLatencyThresholdMs: needs.LatencyMs, PacketLossPercentage: needs.LossPercent,
			}}
		}
		out = wire.PreflightHardwareRequirements{
			Ocp:       &wire.HostTypeHardwareRequirementsWrapper{Master: of(wire.HostRoleMaster), Worker: of(wire.HostRoleWorker)},
			Operators: []wire.OperatorHardwareRequirements{},
		}
		return nil
	})
	return out, err
}

package clusters

import (
	"context"
	"fmt"

	"github.com/ironflow/ironflow/hub/evaluate"
	"github.com/ironflow/ironflow/hub/operators"
	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// PreflightRequirements returns what hosts of the cluster need, by role: for the release,
// and for each operator that can be chosen beside it.
func (r *Registry) PreflightRequirements(ctx context.Context, clusterID string) (wire.PreflightHardwareRequirements, error) {
	var out wire.PreflightHardwareRequirements
	err := r.units.View(ctx, func(w *settle.Work) error {
		c, err := w.Cluster(clusterID)
		if err != nil {
			return err
		}
		of := func(role wire.HostRole) *wire.HostTypeHardwareRequirements {
			needs := r.units.Rules.Needs.For(c.API.OpenshiftVersion, role, evaluate.SingleNode(c))
			return &wire.HostTypeHardwareRequirements{Qualitative: []string{}, Quantitative: &wire.ClusterHostRequirementsDetails{
				CPUCores: needs.CPUs, RAMMib: needs.MemoryMiB, DiskSizeGb: needs.DiskGB, InstallationDiskSpeedThresholdMs: needs.DiskSpeedMs,
				NetworkLatencyThresholdMs: needs.LatencyMs, PacketLossPercentage: needs.LossPercent,
			}}
		}
		out = wire.PreflightHardwareRequirements{
			Ocp:       &wire.HostTypeHardwareRequirementsWrapper{Master: of(wire.HostRoleMaster), Worker: of(wire.HostRoleWorker)},
			Operators: r.operatorRequirements(c),
		}
		return nil
	})
	return out, err
}

// operatorRequirements are those of all operators that the cluster could get.
func (r *Registry) operatorRequirements(c *store.Cluster) []wire.OperatorHardwareRequirements {
	out := []wire.OperatorHardwareRequirements{}
	if r.cannotGetOperators(c) != "" {
		return out
	}
	table, single := r.units.Offered(), evaluate.SingleNode(c)
	for _, name := range table.Names() {
		o := table.Find(name)
		of := func(role wire.HostRole) *wire.HostTypeHardwareRequirements {
			amount := o.Hosts.Amount(role, single)
			return &wire.HostTypeHardwareRequirements{
				Qualitative:  inWords(o.Hosts),
				Quantitative: &wire.ClusterHostRequirementsDetails{CPUCores: amount.CPUs, RAMMib: amount.MemoryMiB},
			}
		}
		out = append(out, wire.OperatorHardwareRequirements{
			OperatorName: name, Dependencies: append([]string{}, o.Dependencies(single)...),
			Requirements: &wire.HostTypeHardwareRequirementsWrapper{Master: of(wire.HostRoleMaster), Worker: of(wire.HostRoleWorker)},
		})
	}
	return out
}

// inWords is what an operator asks of hosts beside CPUs and memory.
func inWords(h operators.Hosts) []string {
	out := []string{}
	add := func(applies bool, format string, args ...any) {
		if applies {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	add(h.Workload, "Only hosts that take workloads: workers, or the control plane where there are none")
	if d := h.Disks; d != nil {
		add(d.Each, "A disk of at least %d GB beside the installation disk", d.MinGB)
		add(d.Hosts > 0, "%d hosts with a disk of at least %d GB beside the installation disk", d.Hosts, d.MinGB)
	}
	add(h.PerDisk != operators.Amount{}, "For each such disk %d CPUs and %d MiB of memory more", h.PerDisk.CPUs, h.PerDisk.MemoryMiB)
	add(h.Virtualization, "A CPU that runs virtual machines (vmx or svm)")
	add(len(h.GPUs) > 0, "In the cluster, a GPU of PCI vendor %v; no secure boot on hosts that have one", h.GPUs)
	add(h.Workers > 0, "%d workers", h.Workers)
	return out
}

package validations

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/hub/operators"
	"github.com/ironflow/ironflow/hub/wire"
)

// operatorSuffix ends the ids of all checks of operators.
const operatorSuffix = "-requirements-satisfied"

// operatorIDs are those of the protocol. A site's own operators have checks, too, which
// only the clusters that get them show.
var operatorIDs = []wire.HostValidationID{
	wire.HostValidationIDLsoRequirementsSatisfied, wire.HostValidationIDOcsRequirementsSatisfied, wire.HostValidationIDOdfRequirementsSatisfied,
	wire.HostValidationIDLvmRequirementsSatisfied, wire.HostValidationIDMceRequirementsSatisfied, wire.HostValidationIDMtvRequirementsSatisfied,
	wire.HostValidationIDOscRequirementsSatisfied, wire.HostValidationIDCnvRequirementsSatisfied,
	wire.HostValidationIDNodeFeatureDiscoveryRequirementsSatisfied, wire.HostValidationIDNvidiaGpuRequirementsSatisfied,
	wire.HostValidationIDPipelinesRequirementsSatisfied, wire.HostValidationIDServicemeshRequirementsSatisfied,
	wire.HostValidationIDServerlessRequirementsSatisfied, wire.HostValidationIDOpenshiftAiRequirementsSatisfied,
	wire.HostValidationIDAuthorinoRequirementsSatisfied, wire.HostValidationIDNmstateRequirementsSatisfied,
	wire.HostValidationIDAmdGpuRequirementsSatisfied, wire.HostValidationIDKmmRequirementsSatisfied,
	wire.HostValidationIDNodeHealthcheckRequirementsSatisfied, wire.HostValidationIDSelfNodeRemediationRequirementsSatisfied,
	wire.HostValidationIDFenceAgentsRemediationRequirementsSatisfied, wire.HostValidationIDNodeMaintenanceRequirementsSatisfied,
	wire.HostValidationIDKubeDeschedulerRequirementsSatisfied, wire.HostValidationIDClusterObservabilityRequirementsSatisfied,
	wire.HostValidationIDNumaResourcesRequirementsSatisfied, wire.HostValidationIDOadpRequirementsSatisfied,
	wire.HostValidationIDMetallbRequirementsSatisfied, wire.HostValidationIDLokiRequirementsSatisfied,
	wire.HostValidationIDOpenshiftLoggingRequirementsSatisfied,
}

// gpuID is the one check of operators that clusters have and hosts have not.
const gpuID = wire.ClusterValidationIDOpenshiftAiGpuRequirementsSatisfied

// withGPUs is the operator that gpuID is about.
const withGPUs = "openshift-ai"

// What is checked of operators, for the documentation.
const (
	hostOperatorChecks    = "the host has what the operator needs beyond the release: CPUs and memory of its role, disks, virtualization, no secure boot with its GPUs; always passes where it is not selected"
	clusterOperatorChecks = "release, architecture and platform have the operator; it is not beside one that it excludes; enough hosts have its disks, a GPU, or are workers; always passes where it is not selected"
	operatorDo            = "see the message; or do not select the operator"
)

func hostOperatorRows() []HostRow {
	var rows []HostRow
	for _, id := range operatorIDs {
		rows = append(rows, hostOperatorRow(string(id)))
	}
	return rows
}

func hostOperatorRow(id string) HostRow {
	return HostRow{
		ID: wire.HostValidationID(id), Category: operatorChecks, Group: Other, When: withRelease, Checks: hostOperatorChecks, Do: operatorDo,
		check: func(in HostInput) verdict {
			o := in.Cluster.operator(id)
			if o == nil {
				return notSelected(id)
			}
			return operatorOnHost(in, o.Operator)
		},
	}
}

func clusterOperatorRows() []ClusterRow {
	var rows []ClusterRow
	for _, id := range operatorIDs {
		rows = append(rows, clusterOperatorRow(string(id)))
	}
	return append(rows, ClusterRow{
		ID: gpuID, Category: operatorChecks, When: anyCluster, check: gpuForAI,
		Checks: "OpenShift AI has a GPU that one of the selected operators drives; always passes where it is not selected", Do: "add a host with such a GPU, or select the operator of the GPUs that are there",
	})
}

func clusterOperatorRow(id string) ClusterRow {
	return ClusterRow{
		ID: wire.ClusterValidationID(id), Category: operatorChecks, When: anyCluster, Checks: clusterOperatorChecks, Do: operatorDo,
		check: func(in ClusterInput) verdict {
			o := in.operator(id)
			switch {
			case o == nil && in.lost(id) && !in.DayTwo():
				return fail("This hub does not offer operator %s any more; put it back into the file of --hub-operators-file, or set olm_operators and operator_bundles anew", strings.TrimSuffix(id, operatorSuffix))
			case o == nil:
				return notSelected(id)
			}
			return operatorInCluster(in, o)
		},
	}
}

func notSelected(id string) verdict {
	return pass("Operator %s is not selected", strings.TrimSuffix(id, operatorSuffix))
}

// operator is the one that a check is about; nil where the cluster does not get it.
func (s Settings) operator(id string) *operators.Choice {
	i := slices.IndexFunc(s.Operators, func(c operators.Choice) bool { return c.ValidationID() == id })
	if i < 0 {
		return nil
	}
	return &s.Operators[i]
}

// lost tells that the check is about an operator that the hub does not offer any more.
func (s Settings) lost(id string) bool {
	return slices.Contains(s.LostOperators, strings.TrimSuffix(id, operatorSuffix))
}

// ownOperators are the ids of operators of the cluster that the protocol does not know.
func (s Settings) ownOperators() []string {
	var out []string
	add := func(id string) {
		if !slices.Contains(operatorIDs, wire.HostValidationID(id)) && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	for _, c := range s.Operators {
		add(c.ValidationID())
	}
	for _, name := range s.LostOperators {
		add(name + operatorSuffix)
	}
	return out
}

// target is what operators are to be installed into.
func (s Settings) target() operators.Target {
	return operators.Target{Version: s.Cluster.OpenshiftVersion, Architecture: s.Cluster.CPUArchitecture, Platform: s.Platform(), SingleNode: s.SingleNode()}
}

// operatorOnHost checks what the host has.
func operatorOnHost(in HostInput, o *operators.Operator) verdict {
	if in.Inventory == nil {
		if in.unread(theInventory) {
			return unreadable(theInventory)
		}
		return wait("Waiting for the host's inventory")
	}
	if in.Cluster.DayTwo() {
		return pass("The cluster is installed, and %s with it", o.Title)
	}
	if o.Hosts.Virtualization && !virtualizes(in.Inventory) {
		return fail("%s needs a CPU that runs virtual machines, and this one has neither vmx nor svm; switch virtualization on in the firmware, or use another machine", o.Title)
	}
	if len(o.Hosts.GPUs) > 0 && in.Inventory.Boot != nil && in.Inventory.Boot.SecureBootState == wire.SecureBootStateEnabled && drives(o, gpusOf(in.Inventory)) {
		return fail("Secure boot is enabled, and the drivers of %s do not load with it; switch it off in the firmware", o.Title)
	}
	if !in.carries(o) {
		return pass("The host carries nothing of %s in its role", o.Title)
	}
	if d := o.Hosts.Disks; d != nil && d.Each && fitting(in.spareDisks(), d.MinGB) == 0 {
		return fail("%s needs a disk%s beside the installation disk, and the host has none; add one, or choose another installation disk", o.Title, atLeast(d.MinGB))
	}
	more := in.amountOf(o)
	role := roleText(in) + " with " + o.Title
	for _, v := range []verdict{enoughCPUs(in, in.Release.CPUs+more.CPUs, role), enoughMemory(in, in.Release.MemoryMiB+more.MemoryMiB, role)} {
		if v.status != Success {
			return v
		}
	}
	return pass("The host meets the requirements of %s", o.Title)
}

// carries tells that the host's role is one that the operator puts something on.
func (in HostInput) carries(o *operators.Operator) bool {
	return !o.Hosts.Workload || in.Cluster.takesWork(in.Role())
}

// amountOf is what the operator needs of the host.
func (in HostInput) amountOf(o *operators.Operator) operators.Amount {
	if !in.carries(o) {
		return operators.Amount{}
	}
	out := o.Hosts.Amount(in.Role(), in.Cluster.SingleNode())
	if d := o.Hosts.Disks; d != nil {
		n := int64(fitting(in.spareDisks(), d.MinGB))
		out.CPUs, out.MemoryMiB = out.CPUs+n*o.Hosts.PerDisk.CPUs, out.MemoryMiB+n*o.Hosts.PerDisk.MemoryMiB
	}
	return out
}

// WithOperators has the host need what the operators of its cluster need as well.
func (in HostInput) WithOperators() HostInput {
	in.Release = in.Needs
	if in.Cluster == nil || in.Inventory == nil || in.Cluster.DayTwo() {
		return in
	}
	for _, c := range in.Cluster.Operators {
		more := in.amountOf(c.Operator)
		in.Needs.CPUs, in.Needs.MemoryMiB = in.Needs.CPUs+more.CPUs, in.Needs.MemoryMiB+more.MemoryMiB
	}
	return in
}

// operatorInCluster checks what the cluster is, and what its hosts have together.
func operatorInCluster(in ClusterInput, o *operators.Choice) verdict {
	if in.DayTwo() {
		return pass("The cluster is installed, and %s with it", o.Title)
	}
	if _, why := o.Unfit(in.target()); why != "" {
		return fail("%s; do not select operator %s, or change the cluster", why, o.Name)
	}
	if other := o.Beside(in.Operators); other != "" {
		return fail("%s cannot be beside operator %s; select one of them", o.Title, other)
	}
	if n := in.roleCount(wire.HostRoleWorker); n < o.Hosts.Workers {
		return in.lacking("%s needs %d workers, and the cluster has %d; add some", o.Title, o.Hosts.Workers, n)
	}
	if len(o.Hosts.GPUs) > 0 && !in.hasGPU(o.Operator) {
		return in.lacking("%s needs a host with one of its GPUs that takes workloads, and there is none; add one, or do not select the operator", o.Title)
	}
	if d := o.Hosts.Disks; d != nil && d.Hosts > 0 {
		return in.disksOf(o.Operator)
	}
	return pass("The cluster meets the requirements of %s", o.Title)
}

// disksOf checks that enough hosts have a disk for the operator. Workers that are too few
// for it are none that it could do without: they would take its place from the control plane.
func (in ClusterInput) disksOf(o *operators.Operator) verdict {
	d, with := o.Hosts.Disks, 0
	for _, m := range in.Members {
		if in.takesWork(m.Role) && fitting(m.Spare, d.MinGB) > 0 {
			with++
		}
	}
	if n := in.roleCount(wire.HostRoleWorker); o.Hosts.Workload && n > 0 && n < d.Hosts {
		return in.lacking("%s runs on workers where there are any, and needs %d or none; the cluster has %d", o.Title, d.Hosts, n)
	}
	if with < d.Hosts {
		return in.lacking("%s needs %d hosts with a disk%s beside the installation disk, and %d have one; add disks or hosts", o.Title, d.Hosts, atLeast(d.MinGB), with)
	}
	return pass("The cluster meets the requirements of %s", o.Title)
}

// gpuForAI checks that some operator drives a GPU that is there.
func gpuForAI(in ClusterInput) verdict {
	ai := in.operator(withGPUs + operatorSuffix)
	if ai == nil || in.DayTwo() {
		return notSelected(string(gpuID))
	}
	for _, c := range in.Operators {
		if in.hasGPU(c.Operator) {
			return pass("%s has a GPU, by %s", ai.Title, c.Title)
		}
	}
	return in.lacking("%s needs a GPU, and no operator that is selected drives one of the hosts; add a host with one, or select nvidia-gpu or amd-gpu", ai.Title)
}

// lacking fails, or waits for hosts that have not said yet what they have.
func (in ClusterInput) lacking(format string, args ...any) verdict {
	unknown := slices.ContainsFunc(in.Members, func(m Member) bool { return !m.HasInventory })
	if unknown || len(in.Members) < in.Total() {
		return wait("Waiting for the inventories of all hosts: %s", fmt.Sprintf(format, args...))
	}
	return fail(format, args...)
}

func (f *ClusterFacts) roleCount(role wire.HostRole) int {
	n := 0
	for _, m := range f.Members {
		if m.Role == role {
			n++
		}
	}
	return n
}

// HasWorkers tells that the cluster has hosts of its own for what it is for.
func (f *ClusterFacts) HasWorkers() bool {
	return f.Workers > 0 || f.roleCount(wire.HostRoleWorker) > 0
}

// takesWork tells that hosts of the role run what the cluster is for: workers, and the
// control plane where there are none, or where it is told to.
func (f *ClusterFacts) takesWork(role wire.HostRole) bool {
	switch role {
	case wire.HostRoleArbiter:
		return false
	case wire.HostRoleMaster, wire.HostRoleBootstrap:
		return f.SingleNode() || !f.HasWorkers()
	case wire.HostRoleWorker, wire.HostRoleAutoAssign:
	}
	return true
}

// hasGPU tells that a host that takes workloads has a GPU of the operator's.
func (f *ClusterFacts) hasGPU(o *operators.Operator) bool {
	schedulable := f.Cluster.SchedulableMasters != nil && *f.Cluster.SchedulableMasters
	return slices.ContainsFunc(f.Members, func(m Member) bool {
		return (f.takesWork(m.Role) || schedulable && m.Role != wire.HostRoleArbiter) && drives(o, m.GPUs)
	})
}

func drives(o *operators.Operator, vendors []string) bool {
	return slices.ContainsFunc(vendors, func(v string) bool { return slices.Contains(o.Hosts.GPUs, v) })
}

func virtualizes(i *wire.Inventory) bool {
	return i.CPU != nil && (slices.Contains(i.CPU.Flags, "vmx") || slices.Contains(i.CPU.Flags, "svm"))
}

// gpusOf are the PCI vendor ids of the GPUs.
func gpusOf(i *wire.Inventory) []string {
	var out []string
	for _, gpu := range i.GPUs {
		if v := strings.TrimPrefix(strings.ToLower(gpu.VendorID), "0x"); v != "" && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// spareDisks are the sizes in GB of the disks that an operator may take: those that are
// fixed, and that neither the system nor the boot medium is on.
func (f *HostFacts) spareDisks() []int64 {
	if f.Inventory == nil {
		return nil
	}
	system := FindDisk(f.Inventory, f.Host.InstallationDiskID)
	var out []int64
	for i := range f.Inventory.Disks {
		d := &f.Inventory.Disks[i]
		kind := d.DriveType == wire.DriveTypeSsd || d.DriveType == wire.DriveTypeHdd || d.DriveType == wire.DriveTypeMultipath
		if d == system || !kind || d.IsInstallationMedia || d.Removable || d.SizeBytes == 0 {
			continue
		}
		out = append(out, d.SizeBytes/gigabyte)
	}
	return out
}

func fitting(sizes []int64, least int64) int {
	n := 0
	for _, size := range sizes {
		if size >= least {
			n++
		}
	}
	return n
}

func atLeast(gb int64) string {
	if gb == 0 {
		return ""
	}
	return fmt.Sprintf(" of at least %d GB", gb)
}

package link

import (
	"cmp"
	"slices"
	"strings"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/wire"
)

// rebooting is the last stage that the agent itself can report.
const rebooting = string(wire.HostStageRebooting)

// dress copies what the user said about the host to its Agent; nil when nothing
// changes.
func dress(agent *agentv1.Agent, host *metal3v1.BareMetalHost) *agentv1.Agent {
	want := agent.DeepCopy()
	want.Spec.Approved = agent.Spec.Approved || disksKnown(agent, host)
	metav1.SetMetaDataLabel(&want.ObjectMeta, names.AgentHostLabel, names.HostLabel(host.Name))
	if names.HostLabel(host.Name) != host.Name {
		metav1.SetMetaDataAnnotation(&want.ObjectMeta, names.AgentHostLabel, host.Name)
	}
	if role := host.Annotations[names.BMACRole]; role != "" {
		want.Spec.Role = role
	}
	if name := host.Annotations[names.BMACHostname]; name != "" {
		want.Spec.Hostname = name
	}
	if pool := host.Annotations[names.BMACMachineConfigPool]; pool != "" {
		want.Spec.MachineConfigPool = pool
	}
	if args, ok := host.Annotations[names.BMACInstallerArgs]; ok {
		want.Spec.InstallerArgs = args
	}
	keepNetwork(agent, want, host)
	label(want, host)
	if config, ok := host.Annotations[names.BMACIgnitionOverrides]; ok {
		want.Spec.IgnitionConfigOverrides = config
	}
	if ref, ok := clusterReference(host); ok && ref != nil && !late(agent, ref) {
		want.Spec.ClusterDeploymentName = ref
		if ref.Name == "" {
			want.Spec.ClusterDeploymentName = nil
		}
	}
	if id, ok := InstallationDisk(agent.Status.Inventory.Disks, host.Spec.RootDeviceHints); ok {
		want.Spec.InstallationDiskID, want.Spec.InstallationDiskPath = id, "" // which exclude each other
	} else if !hinted(host) && want.Spec.InstallationDiskID == NoSuchDisk {
		want.Spec.InstallationDiskID = "" // it was for hints that are gone
	}
	if sameAgent(agent, want) {
		return nil
	}
	return want
}

// disksKnown reports whether the disk to install can be told before the Agent is approved,
// which may start the installation: with hints, once the machine has told its disks.
func disksKnown(agent *agentv1.Agent, host *metal3v1.BareMetalHost) bool {
	_, told := InstallationDisk(agent.Status.Inventory.Disks, host.Spec.RootDeviceHints)
	return told || !hinted(host)
}

// hinted reports whether the host says which disk is to be installed to.
func hinted(host *metal3v1.BareMetalHost) bool {
	hints := host.Spec.RootDeviceHints
	return hints != nil && *hints != (metal3v1.RootDeviceHints{})
}

// linkedTo says that the host's Agent is linked, and what of the host cannot reach it.
func linkedTo(agent *agentv1.Agent, host *metal3v1.BareMetalHost) Word {
	if _, ok := clusterReference(host); !ok {
		return no(ReasonBadClusterReference, "annotation "+names.BMACCluster+" is neither namespace/name nor empty, so the Agent keeps its cluster. Next: correct the annotation")
	}
	if ref, _ := clusterReference(host); ref != nil && late(agent, ref) {
		return no(ReasonClusterReferenceLate, "annotation "+names.BMACCluster+" names another cluster than the one that the host of Agent "+agent.Name+" is being installed for, "+
			"which does not change on the way. Next: put the annotation back; else the Agent gets that cluster when the installation has ended")
	}
	if wrong := badAnnotation(host); wrong != "" {
		return no(ReasonBadAnnotation, wrong)
	}
	if !agent.Spec.Approved && !disksKnown(agent, host) {
		return no(ReasonWaitingForAgent, "Agent "+agent.Name+" has not told the disks of the machine yet, among which spec.rootDeviceHints choose: it is approved then")
	}
	return Word{True: true, Reason: ReasonLinked, Message: "Agent " + agent.Name + " is the host's machine"}
}

// hostNamed is the name of the host that an Agent is linked to, empty for none.
func hostNamed(agent metav1.Object) string {
	return cmp.Or(agent.GetAnnotations()[names.AgentHostLabel], agent.GetLabels()[names.AgentHostLabel])
}

// clusterReference reads the annotation "namespace/name". It returns nil without
// the annotation, an empty reference when its text is empty, which unbinds, and
// false for any other text: a typing error must not take a host out of its cluster.
func clusterReference(host *metal3v1.BareMetalHost) (ref *agentv1.ClusterReference, ok bool) {
	text, given := host.Annotations[names.BMACCluster]
	if !given {
		return nil, true
	}
	if text == "" {
		return &agentv1.ClusterReference{}, true
	}
	namespace, name, found := strings.Cut(text, "/")
	if !found || namespace == "" || name == "" || strings.Contains(name, "/") {
		return nil, false
	}
	return &agentv1.ClusterReference{Namespace: namespace, Name: name}, true
}

// late reports whether the Agent may not be given the cluster: the API server refuses another one, and none, for a host
// that is being prepared or installed (config/admission), along with all else that the Agent would be given.
// A host that is added to a running cluster may be taken out, and an Agent that has no cluster may be given one.
func late(agent *agentv1.Agent, ref *agentv1.ClusterReference) bool {
	have := agent.Spec.ClusterDeploymentName
	if have == nil || have.Name == "" {
		return false
	}
	state := agent.Status.DebugInfo.State
	busy := slices.Contains(hostmachine.Preparing, state) || state == wire.HostStatusPreparingFailed || slices.Contains(hostmachine.Installing, state)
	return busy && *have != *ref && (ref.Name != "" || agent.Status.Kind != wire.HostKindAddToExistingClusterHost)
}

// completed reports that Ironic has booted the machine from its disk while the
// hub still counts it as installing.
func completed(in Input) bool {
	p := in.Agent.Status.Progress
	return in.Host.Status.Provisioning.State == metal3v1.StateProvisioned && p != nil && p.CurrentStage == rebooting
}

// failed returns why Ironic gave the deployment up while the hub still counts
// the host as installing; empty when it did not. An error of deprovisioning has
// the same type, but nothing is being installed then.
func failed(in Input) string {
	s := in.Host.Status
	if s.ErrorType != metal3v1.ProvisioningError || s.Provisioning.State != metal3v1.StateProvisioning ||
		!slices.Contains(hostmachine.Installing, in.Agent.Status.DebugInfo.State) {
		return ""
	}
	return cmp.Or(s.ErrorMessage, "the deployment failed; see the BareMetalHost")
}

package link

import (
	"fmt"
	"slices"
	"strings"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/deployowner"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/wire"
)

// untilReleased is the value of the annotation detached of a host whose machine is to be
// cleaned when the host is deleted: the deletion waits for this controller. It names who has
// set it, which nobody else reads, so that a person's delay is not taken for it. Before, it was
// that of a person.
const (
	untilReleased = `{"deleteAction":"delay","by":"` + Owner + `"}`
	delayed       = `{"deleteAction":"delay"}`
)

// lend has a host installed by the agent of the InfraEnv that its label names, and
// copies to its Agent what the user said about it.
func lend(in Input, host *metal3v1.BareMetalHost) Plan {
	if !slices.Contains(host.Finalizers, names.BMACFinalizer) {
		host.Finalizers = append(host.Finalizers, names.BMACFinalizer)
	}
	metav1.SetMetaDataLabel(&host.ObjectMeta, names.BackupLabel, "true")
	if !inUse(host) && host.Annotations[names.GiveBack] == host.Name {
		delete(host.Annotations, names.GiveBack) // there is nothing to give back, and it is not to be meant for what comes
	}
	if len(in.Claims) > 0 {
		return Plan{Says: inDoubt(in)}
	}
	if stale(in) {
		return Plan{DeleteAgent: true, Says: no(ReasonGivingBack, "the Agent of the earlier installation is being deleted")}
	}
	switch deployowner.Of(host) {
	case deployowner.User, deployowner.Consumer:
		delete(host.Annotations, names.DeployOwner)
		return Plan{Says: notTakenOver(host)}
	case deployowner.Nobody, deployowner.InfraEnv:
	}
	annotate(host, names.DeployOwner, deployowner.InfraEnvValue)
	handOver(in, host)
	plan := Plan{Says: ask(in, host)}
	if in.Agent == nil || !in.Agent.DeletionTimestamp.IsZero() || !started(host) {
		return plan
	}
	switch {
	case linkedAgent(in):
	case !takesPart(in):
		plan.Says = bootedOtherwise(in)
		return plan
	case in.Agent.Annotations[names.ImageOf] == names.ImageOfAll:
		plan.Says = fromSharedImage(in)
		return plan
	}
	plan.Agent = dress(in.Agent, host)
	plan.Says = linkedTo(in.Agent, host)
	plan.Completed = completed(in)
	plan.Failed = failed(in)
	return plan
}

// started reports whether the host's machine was started by this controller.
func started(host *metal3v1.BareMetalHost) bool {
	state := host.Status.Provisioning.State
	return method(host) == names.StartAssistedInstall && (state == metal3v1.StateProvisioning || state == metal3v1.StateProvisioned)
}

// takesPart reports whether the machine of an Agent that was not linked yet may be the host's:
// it is being deployed; or it was, and the hub knows of the installation, which this controller
// did not see because somebody kept it off the host.
func takesPart(in Input) bool {
	state := in.Agent.Status.DebugInfo.State
	return in.Host.Status.Provisioning.State == metal3v1.StateProvisioning || slices.Contains(hostmachine.Installing, state) ||
		state == wire.HostStatusInstalled || state == wire.HostStatusAddedToExistingCluster
}

// bootedOtherwise leaves an Agent alone that registers under the address of a host whose
// deployment has ended: nobody has asked for its machine to be installed.
func bootedOtherwise(in Input) Word {
	return no(EventAgentInDoubt, fmt.Sprintf("Agent %s says that it has this host's boot MAC address %s, and registered after the host was installed: it is another machine, or somebody has booted this one. "+
		"It is not approved. Next: if the machine is to be installed anew, kubectl annotate bmh -n %s %s %s=%s; else kubectl delete agent -n %s %s",
		in.Agent.Name, in.Host.Spec.BootMACAddress, in.Host.Namespace, in.Host.Name, names.GiveBack, in.Host.Name, in.Host.Namespace, in.Agent.Name))
}

// fromSharedImage leaves an Agent alone that has not booted the host's own image, which alone is handed out for its machine:
// every machine that has the image of the InfraEnv could say that it has the host's address, and would get what the
// host is told.
func fromSharedImage(in Input) Word {
	return no(EventAgentInDoubt, fmt.Sprintf("Agent %s says that it has this host's boot MAC address %s, but has registered from the image of InfraEnv %s, "+
		"not from that of this host: it is another machine, or somebody has booted this one by hand. "+
		"It is not approved. Next: nothing, if the host's machine is still to boot its own image; else kubectl delete agent -n %s %s",
		in.Agent.Name, in.Host.Spec.BootMACAddress, in.Host.Labels[names.InfraEnvLabel], in.Agent.Namespace, in.Agent.Name))
}

// inDoubt asks a person which of the machines is the host.
func inDoubt(in Input) Word {
	var list []string
	for _, a := range in.Claims {
		list = append(list, a.Name)
	}
	slices.Sort(list)
	return no(EventAgentInDoubt, fmt.Sprintf("several machines of InfraEnv %s say that they have this host's boot MAC address %s: Agents %s. None of them is approved, completed or removed. "+
		"Next: look at their inventories, and kubectl delete agent -n %s those that are not this host",
		in.Host.Labels[names.InfraEnvLabel], in.Host.Spec.BootMACAddress, strings.Join(list, ", "), in.Host.Namespace))
}

// notTakenOver leaves a host alone, and its Agent, whose deployment is another's.
func notTakenOver(host *metal3v1.BareMetalHost) Word {
	field, because := "spec.image", "the host is deployed from an image"
	switch ref := host.Spec.ConsumerRef; {
	case deployowner.Of(host) == deployowner.Consumer:
		field, because = "spec.consumerRef by deleting what it names", fmt.Sprintf("the host is given to %s %s/%s", ref.Kind, ref.Namespace, ref.Name)
	case method(host) != "":
		field, because = "spec.customDeploy", fmt.Sprintf("the host is deployed by %q", method(host))
	case host.Spec.Image == nil:
		field, because = "spec.externallyProvisioned", "somebody else has installed the host"
	}
	return no(EventNotTakenOver, fmt.Sprintf("%s, and stays so although it has the label %s; no Agent of it is approved. Next: to keep it, kubectl label bmh -n %s %s %s-; "+
		"to have the agent install it, remove %s, which wipes what it runs",
		because, names.InfraEnvLabel, host.Namespace, host.Name, names.InfraEnvLabel, field))
}

// handOver detaches and pauses an installed host, unless the user keeps managing it. One whose
// Node is to go first when the host is deleted is detached all the same: nothing else holds its
// cleaning up until then.
func handOver(in Input, host *metal3v1.BareMetalHost) {
	_, managed := host.Annotations[names.BMACManage]
	_, remove := host.Annotations[names.BMACRemove]
	if managed && !remove {
		removeOwned(host, names.Detached)
		unpause(host)
		return
	}
	switch host.Status.Provisioning.State {
	case "":
		return // nobody knows yet what it runs
	case metal3v1.StateProvisioned:
	default:
		unpause(host)
		return
	}
	if method(host) != names.StartAssistedInstall {
		unpause(host)
		return
	}
	value := Owner
	if remove {
		value = untilReleased
	}
	if _, there := host.Annotations[names.Detached]; !there || ours(host, names.Detached) {
		annotate(host, names.Detached, value)
	}
	pause(in, host)
}

// ask requests the deploy step once the image with the agent is Ready, and returns what
// the host waits for. A method that a person takes away from a machine that is installed, or
// is being installed, is not asked for again before the machine is clean: taking it away is
// how that is ended.
func ask(in Input, host *metal3v1.BareMetalHost) Word {
	switch {
	case host.Spec.BootMACAddress == "":
		return no(ReasonNoBootMACAddress, "nothing could tell which Agent is this host's, so it is not started. Next: set spec.bootMACAddress to the address of a network card of the machine")
	case method(host) == names.StartAssistedInstall:
		return no(ReasonWaitingForAgent, "the deploy step "+names.StartAssistedInstall+" is asked for; the machine has not registered")
	case ending(host):
		return no(ReasonGivingBack, "spec.customDeploy was taken away: the machine is asked for again once it is clean")
	}
	if _, detached := host.Annotations[names.Detached]; detached {
		return no(ReasonWaitingForImage, "the host is detached. Next: remove the annotation "+names.Detached)
	}
	if !agentReady(in) {
		return no(ReasonWaitingForImage, "the live image with the agent of InfraEnv "+host.Labels[names.InfraEnvLabel]+" is not ready. Next: see the PreprovisioningImage of the same name")
	}
	host.Spec.CustomDeploy = &metal3v1.CustomDeploy{Method: names.StartAssistedInstall}
	return no(ReasonWaitingForAgent, "the deploy step "+names.StartAssistedInstall+" is asked for; the machine has not registered")
}

// ending reports whether a machine that was started is to be clean before it is asked for
// again. What is being deployed is not in the status yet.
func ending(host *metal3v1.BareMetalHost) bool {
	switch host.Status.Provisioning.State {
	case metal3v1.StateProvisioning, metal3v1.StateDeprovisioning:
		return true
	case metal3v1.StateProvisioned:
		return runs(host) == names.StartAssistedInstall
	default:
		return false
	}
}

// agentReady reports whether the host's live image holds the agent of its InfraEnv.
func agentReady(in Input) bool {
	if in.Image == nil || !nodespec.ForItsInfraEnv(in.Host, in.Image) {
		return false
	}
	ready := meta.FindStatusCondition(in.Image.Status.Conditions, string(metal3v1.ConditionImageReady))
	return ready != nil && ready.Status == metav1.ConditionTrue && ready.Reason == agentv1.ReasonInfraEnvAvailable
}

package link

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/wire"
)

// Owner is the value of annotations that this controller sets; other tools of
// the field look for it.
const Owner = "assisted-service-controller"

// rebooting is the last stage that the agent itself can report.
const rebooting = string(wire.HostStageRebooting)

// Input is everything a decision needs.
type Input struct {
	// Host is the BareMetalHost; never nil.
	Host *metal3v1.BareMetalHost
	// Image is the PreprovisioningImage of the same name, nil when there is none.
	Image *metal3v1.PreprovisioningImage
	// Agent is the Agent of the machine, nil when there is none.
	Agent *agentv1.Agent
	// Claims are several Agents that all say they are the machine. Nobody knows
	// which of them is: Agent is nil, and none of them is touched.
	Claims []agentv1.Agent
}

// Plan is what to change. The zero value changes nothing.
type Plan struct {
	// Host is the wanted BareMetalHost (metadata and spec), nil for no change.
	Host *metal3v1.BareMetalHost
	// Agent is the wanted Agent, nil for no change.
	Agent *agentv1.Agent
	// DeleteAgent takes the Agent away: its machine has nothing of it any more.
	DeleteAgent bool
	// Completed tells that the machine runs from its disk: where nobody inside the
	// cluster reports it, this ends the installation in the hub.
	Completed bool
	// Failed, when not empty, is why the deployment ended while the hub still
	// counts the host as installing: the agent may not have lived to tell.
	Failed string
	// Waiting says what has to happen before the next change; for logs.
	Waiting string
	// Event is what a person is to know about the host; nil for nothing.
	Event *reconcile.Event
}

// EventNotTakenOver is the reason of the event that a labelled host is deployed
// otherwise, which is left as it is.
const EventNotTakenOver = "NotTakenOver"

// EventAgentInDoubt is the reason of the event that several Agents say they are the
// host's machine.
const EventAgentInDoubt = "AgentInDoubt"

// Decide returns what to change for one host.
func Decide(in Input) Plan {
	if key := reconcile.KeptOff(in.Host); key != "" && in.Host.Annotations[key] != Owner {
		return Plan{Waiting: "annotation " + key + " to be removed"}
	}
	host := in.Host.DeepCopy()
	plan := decide(in, host)
	if len(in.Claims) > 0 {
		plan.Event, plan.Waiting = inDoubt(in), "one Agent with the host's boot MAC address"
	}
	if !sameHost(in.Host, host) {
		plan.Host = host
	}
	return plan
}

// inDoubt asks a person which of the machines is the host.
func inDoubt(in Input) *reconcile.Event {
	var list []string
	for _, a := range in.Claims {
		list = append(list, a.Name)
	}
	slices.Sort(list)
	return &reconcile.Event{
		Warning: true, Reason: EventAgentInDoubt,
		Message: fmt.Sprintf("several machines of InfraEnv %s say that they have this host's boot MAC address %s: Agents %s. None of them is approved, completed or removed. "+
			"Next: look at their inventories, and kubectl delete agent -n %s those that are not this host",
			in.Host.Labels[names.InfraEnvLabel], in.Host.Spec.BootMACAddress, strings.Join(list, ", "), in.Host.Namespace),
	}
}

func decide(in Input, host *metal3v1.BareMetalHost) Plan {
	linked := slices.Contains(host.Finalizers, names.BMACFinalizer)
	labelled := host.Labels[names.InfraEnvLabel] != ""
	switch {
	case !host.DeletionTimestamp.IsZero():
		return release(in, host, linked)
	case !labelled && !linked:
		return Plan{}
	case !labelled:
		return unlink(in, host)
	case !linked:
		host.Finalizers = append(host.Finalizers, names.BMACFinalizer)
	}
	if len(in.Claims) > 0 {
		return Plan{}
	}
	if stale(in) {
		return Plan{DeleteAgent: true, Waiting: "the Agent of the earlier installation to be deleted"}
	}
	handOver(host)
	plan := ask(in, host)
	if in.Agent == nil || !in.Agent.DeletionTimestamp.IsZero() {
		return plan
	}
	if _, ok := clusterReference(host); !ok {
		plan.Waiting = "annotation " + names.BMACCluster + " to be namespace/name, or empty for no cluster"
	}
	plan.Agent = dress(in.Agent, host)
	plan.Completed = completed(in)
	plan.Failed = failed(in)
	return plan
}

// release lets a BareMetalHost go that is being deleted. A detached machine
// keeps running and keeps its Agent; any other is about to be wiped.
func release(in Input, host *metal3v1.BareMetalHost, linked bool) Plan {
	if !linked {
		return Plan{}
	}
	_, detached := host.Annotations[names.Detached]
	removeOwned(host, names.Paused)
	dropFinalizer(host)
	return Plan{DeleteAgent: in.Agent != nil && !detached}
}

// unlink gives back a host whose label was removed: the method that this
// controller had set goes, which deprovisions the host.
func unlink(in Input, host *metal3v1.BareMetalHost) Plan {
	if method(host) == names.StartAssistedInstall {
		host.Spec.CustomDeploy = nil
	}
	removeOwned(host, names.Paused)
	removeOwned(host, names.Detached)
	dropFinalizer(host)
	return Plan{DeleteAgent: in.Agent != nil}
}

// stale reports an Agent whose installation no longer exists, because the
// machine under it is being, or has been, deprovisioned.
func stale(in Input) bool {
	if in.Agent == nil {
		return false
	}
	switch in.Host.Status.Provisioning.State {
	case metal3v1.StateDeprovisioning, metal3v1.StateAvailable, metal3v1.StateReady:
		return true
	default:
		return false
	}
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

// handOver detaches an installed host, unless the user keeps managing it.
func handOver(host *metal3v1.BareMetalHost) {
	if _, managed := host.Annotations[names.BMACManage]; managed {
		removeOwned(host, names.Detached)
		removeOwned(host, names.Paused)
		return
	}
	if host.Status.Provisioning.State != metal3v1.StateProvisioned || method(host) != names.StartAssistedInstall {
		return
	}
	if _, ok := host.Annotations[names.Detached]; !ok {
		annotate(host, names.Detached, Owner)
	}
}

// ask requests the deploy step once the image with the agent is Ready. What a person
// wants on the host is never replaced: a change of it wipes what runs there.
func ask(in Input, host *metal3v1.BareMetalHost) Plan {
	if _, detached := host.Annotations[names.Detached]; detached || method(host) == names.StartAssistedInstall {
		return Plan{}
	}
	switch {
	case method(host) != "":
		return notTakenOver(host, "spec.customDeploy", fmt.Sprintf("the host is deployed by %q", method(host)))
	case host.Spec.Image != nil:
		return notTakenOver(host, "spec.image", "the host is deployed from an image")
	case in.Image == nil:
		return Plan{Waiting: "the host's PreprovisioningImage"}
	}
	ready := meta.FindStatusCondition(in.Image.Status.Conditions, string(metal3v1.ConditionImageReady))
	if ready == nil || ready.Status != metav1.ConditionTrue || ready.Reason != agentv1.ReasonInfraEnvAvailable {
		return Plan{Waiting: "the live image with the agent"}
	}
	host.Spec.CustomDeploy = &metal3v1.CustomDeploy{Method: names.StartAssistedInstall}
	return Plan{}
}

// notTakenOver leaves a host alone that asks for another deployment.
func notTakenOver(host *metal3v1.BareMetalHost, field, because string) Plan {
	return Plan{
		Waiting: field + " to be removed: " + because,
		Event: &reconcile.Event{
			Warning: true, Reason: EventNotTakenOver,
			Message: fmt.Sprintf("%s, and stays so although it has the label %s. Next: to keep it, kubectl label bmh -n %s %s %s-; "+
				"to have the agent install it, remove %s, which wipes what it runs",
				because, names.InfraEnvLabel, host.Namespace, host.Name, names.InfraEnvLabel, field),
		},
	}
}

// dress copies what the user said about the host to its Agent; nil when nothing
// changes.
func dress(agent *agentv1.Agent, host *metal3v1.BareMetalHost) *agentv1.Agent {
	want := agent.DeepCopy()
	want.Spec.Approved = true
	if want.Labels == nil {
		want.Labels = map[string]string{}
	}
	want.Labels[names.AgentHostLabel] = host.Name
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
	if config, ok := host.Annotations[names.BMACIgnitionOverrides]; ok {
		want.Spec.IgnitionConfigOverrides = config
	}
	if ref, ok := clusterReference(host); ok && ref != nil {
		want.Spec.ClusterDeploymentName = ref
		if ref.Name == "" {
			want.Spec.ClusterDeploymentName = nil
		}
	}
	if id, ok := InstallationDisk(agent.Status.Inventory.Disks, host.Spec.RootDeviceHints); ok {
		want.Spec.InstallationDiskID = id
	}
	if sameAgent(agent, want) {
		return nil
	}
	return want
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

func method(host *metal3v1.BareMetalHost) string {
	if host.Spec.CustomDeploy == nil {
		return ""
	}
	return host.Spec.CustomDeploy.Method
}

func annotate(host *metal3v1.BareMetalHost, key, value string) {
	if host.Annotations == nil {
		host.Annotations = map[string]string{}
	}
	host.Annotations[key] = value
}

// removeOwned removes an annotation that this controller has set; a person's stays.
func removeOwned(host *metal3v1.BareMetalHost, key string) {
	if host.Annotations[key] == Owner {
		delete(host.Annotations, key)
	}
}

func dropFinalizer(host *metal3v1.BareMetalHost) {
	host.Finalizers = slices.DeleteFunc(host.Finalizers, func(f string) bool { return f == names.BMACFinalizer })
}

func sameHost(a, b *metal3v1.BareMetalHost) bool {
	return slices.Equal(a.Finalizers, b.Finalizers) && maps.Equal(a.Annotations, b.Annotations) && method(a) == method(b)
}

func sameAgent(a, b *agentv1.Agent) bool {
	return equality.Semantic.DeepEqual(a.Spec, b.Spec) && maps.Equal(a.Labels, b.Labels)
}

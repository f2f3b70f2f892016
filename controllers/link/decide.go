package link

import (
	"maps"
	"slices"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/equality"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/deployowner"
	"github.com/ironflow/ironflow/controllers/link/drain"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// Owner is the value of annotations that this controller sets; other tools of
// the field look for it.
const Owner = "assisted-service-controller"

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
	// AgentDeleted tells that a person deletes, or has deleted, the host's Agent alone: not
	// along with its InfraEnv or its namespace.
	AgentDeleted bool
	// Now is the time of the pass.
	Now time.Time
	// Pause tells that detached hosts are paused, too.
	Pause bool
	// Node is what became of the Node of a host that is being deleted, so far; nil for nothing
	// yet. Nobody looks after Nodes where Nodes is not set.
	Node  *drain.Progress
	Nodes bool
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
	// Says is what the condition Linked of the host is to say; the zero value removes it.
	Says Word
	// Untouched tells that nothing is written, the condition included.
	Untouched bool
	// Drain asks for the Node of the Agent's machine to be drained and removed, by force where
	// Force is set.
	Drain, Force bool
	// Deprovision is what the Agent is to show of the Node of its machine.
	Deprovision Deprovision
	// After is when to look again without being woken; zero for never.
	After time.Duration
}

// Decide returns what to change for one host.
func Decide(in Input) Plan {
	if keptOff(in.Host) || reconcile.Moved(in.Host) {
		return Plan{Untouched: true}
	}
	host := in.Host.DeepCopy()
	plan := decide(in, host)
	plan.Deprovision = deprovision(in, host)
	if !sameHost(in.Host, host) {
		plan.Host = host
	}
	return plan
}

// keptOff reports whether somebody keeps everybody off the host. A pause in this
// controller's name does not; a hold beside it does.
func keptOff(host *metal3v1.BareMetalHost) bool {
	key := reconcile.KeptOff(host)
	if key == names.Paused && ours(host, key) {
		_, held := host.Annotations[names.Hold]
		return held
	}
	return key != ""
}

// decide chooses the verb: forget, give back or lend.
func decide(in Input, host *metal3v1.BareMetalHost) Plan {
	linked := slices.Contains(host.Finalizers, names.BMACFinalizer)
	labelled := host.Labels[names.InfraEnvLabel] != ""
	switch {
	case !host.DeletionTimestamp.IsZero():
		return release(in, host, linked)
	case arrived(host):
		delete(host.Annotations, names.Paused) // for the host controller to take the status over
		return Plan{}
	case !labelled && !linked && !recorded(host):
		return Plan{}
	case givingBack(host):
		return goOnGivingBack(in, host) // asked for, and recorded: it ends although the label goes
	case !labelled && host.Annotations[names.GiveBack] != host.Name:
		return forget(host)
	}
	if why := askedBack(in); why != "" {
		return giveBack(in, host, why)
	}
	if !labelled {
		return forget(host)
	}
	return lend(in, host)
}

// recorded reports whether this controller has written about the host, whatever became of
// its finalizer: what it wrote keeps others off.
func recorded(host *metal3v1.BareMetalHost) bool {
	_, owned := host.Annotations[names.DeployOwner]
	return owned || givingBack(host)
}

// annotate sets an annotation.
func annotate(host *metal3v1.BareMetalHost, key, value string) {
	if host.Annotations == nil {
		host.Annotations = map[string]string{}
	}
	host.Annotations[key] = value
}

// removeOwned removes an annotation that this controller has set; a person's stays.
func removeOwned(host *metal3v1.BareMetalHost, key string) {
	if ours(host, key) {
		delete(host.Annotations, key)
	}
}

// ours reports whether this controller has set an annotation.
func ours(host *metal3v1.BareMetalHost, key string) bool {
	value := host.Annotations[key]
	_, remove := host.Annotations[names.BMACRemove]
	return value == Owner || key == names.Detached && (value == untilReleased || remove && value == delayed)
}

// method is the one that the host's spec asks to be deployed by, empty for none.
func method(host *metal3v1.BareMetalHost) string { return deployowner.Method(host) }

// runs is the method that the machine was, or is being, deployed by.
func runs(host *metal3v1.BareMetalHost) string {
	if host.Status.Provisioning.CustomDeploy == nil {
		return ""
	}
	return host.Status.Provisioning.CustomDeploy.Method
}

// linkedAgent reports whether the Agent was linked to the host, which is done once its
// machine was started for it. One of a machine that a person has booted was not.
func linkedAgent(in Input) bool {
	return in.Agent != nil && in.Agent.Labels[names.AgentHostLabel] == names.HostLabel(in.Host.Name)
}

func dropFinalizer(host *metal3v1.BareMetalHost) {
	host.Finalizers = slices.DeleteFunc(host.Finalizers, func(f string) bool { return f == names.BMACFinalizer })
}

func sameHost(a, b *metal3v1.BareMetalHost) bool {
	return slices.Equal(a.Finalizers, b.Finalizers) && maps.Equal(a.Annotations, b.Annotations) && maps.Equal(a.Labels, b.Labels) && method(a) == method(b)
}

func sameAgent(a, b *agentv1.Agent) bool {
	return equality.Semantic.DeepEqual(a.Spec, b.Spec) && maps.Equal(a.Labels, b.Labels) && maps.Equal(a.Annotations, b.Annotations)
}

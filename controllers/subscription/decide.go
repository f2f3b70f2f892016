package subscription

import (
	"slices"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/ironic"
)

// Input is everything that decides about one subscription: plain values, never changed.
type Input struct {
	// Object is the resource with its stored status.
	Object *metal3.BMCEventSubscription
	// Host is the BareMetalHost that it names; nil when there is none.
	Host *metal3.BareMetalHost
	// Twin is the name of an older resource that asks for the same, empty for none.
	Twin string
	// Problem is what is wrong with the headers' Secret, empty for nothing.
	Problem string
	// Node is the id of the node that the subscription in the status was last
	// proven on, empty for none since this program started.
	Node string
	// There lists the BMC's subscriptions; nil until asked for.
	There *[]ironic.Subscription
	// Gone means that Ironic does not have the host's node.
	Gone bool
	// Removed means that the removal was asked for in this pass.
	Removed bool
}

// Action is the one call that a decision asks for.
type Action int

// The actions. Each is idempotent.
const (
	// Nothing is left to do.
	Nothing Action = iota
	// List reads the BMC's subscriptions.
	List
	// Create subscribes, or finds what is there with this destination and context.
	Create
	// Remove ends the subscription Verdict.ID.
	Remove
)

var actionNames = [...]string{"nothing", "list subscriptions", "subscribe", "unsubscribe"}

// String returns the action in words.
func (a Action) String() string { return actionNames[a] }

// Verdict is what to do about a subscription.
type Verdict struct {
	// Do is the next call, ID what it is about.
	Do Action
	ID string
	// Drop lets the object go, when it is being deleted.
	Drop bool
	// Lost takes the id out of the status: the BMC does not know it any more.
	Lost bool
	// Error is what a person has to mend, empty for nothing.
	Error string
	// Wait says what is waited for, After is when to look again without being woken.
	Wait  string
	After time.Duration
	// Event is told with it; nil for none.
	Event *reconcile.Event
}

// lookForHost bounds the wait for a host; a watch tells earlier.
const lookForHost = 10 * time.Minute

// Reasons of events on subscriptions.
const (
	EventCreated  = "SubscriptionCreated"
	EventLost     = "SubscriptionLost"
	EventFailed   = "SubscriptionFailed"
	EventReleased = "SubscriptionForceReleased"
)

// Decide returns the next thing to do for a subscription.
func Decide(in Input) Verdict {
	for _, rule := range []func(Input) (Verdict, bool){released, hostAbsent, hostNotReady} {
		if v, found := rule(in); found {
			return v
		}
	}
	if deleting(in) {
		return end(in)
	}
	return begin(in)
}

func deleting(in Input) bool { return !in.Object.DeletionTimestamp.IsZero() }

// released lets an object go on request, whatever the BMC says.
func released(in Input) (Verdict, bool) {
	asked := toBeReleased(in.Object)
	return Verdict{Drop: asked, Event: &reconcile.Event{
		Warning: true, Reason: EventReleased,
		Message: "Released on request of the annotation " + names.ForceDelete + "; the BMC was not asked",
	}}, asked
}

// toBeReleased reports a subscription that is to go without asking its BMC.
func toBeReleased(obj *metal3.BMCEventSubscription) bool {
	return !obj.DeletionTimestamp.IsZero() && obj.Annotations[names.ForceDelete] == obj.Name
}

// hostAbsent ends what nobody can end any more: without a host or a node there is
// no way to its BMC.
func hostAbsent(in Input) (Verdict, bool) {
	switch {
	case in.Host == nil && deleting(in), in.Gone && deleting(in):
		return Verdict{Drop: true}, true
	case in.Host == nil:
		return Verdict{
			Error: "BareMetalHost " + in.Object.Namespace + "/" + in.Object.Spec.HostName + " does not exist: create it, or correct spec.hostName",
			Wait:  "the host", After: lookForHost,
		}, true
	case in.Gone:
		return Verdict{Wait: "the host's node to be in Ironic again", After: lookForHost}, true
	}
	return Verdict{}, false
}

// hostNotReady waits until Ironic can talk to the BMC.
func hostNotReady(in Input) (Verdict, bool) {
	detached := in.Host.Status.OperationalStatus == metal3.OperationalStatusDetached
	verified := in.Host.Status.Provisioning.ID != "" && in.Host.Status.GoodCredentials.Reference != nil
	switch {
	case !detached && verified:
		return Verdict{}, false
	case deleting(in) && (detached || in.Object.Status.SubscriptionID == ""):
		return Verdict{Drop: true}, true
	case detached:
		return Verdict{Wait: "somebody to attach the host again"}, true
	}
	return Verdict{Wait: "the host to be registered"}, true
}

// begin makes the subscription, or proves it.
func begin(in Input) Verdict {
	id := in.Object.Status.SubscriptionID
	switch {
	case in.Twin != "":
		return Verdict{Error: "BMCEventSubscription " + in.Twin + " asks for the same destination and context on this host: delete one of them"}
	case id != "" && in.Node == in.Host.Status.Provisioning.ID:
		return Verdict{}
	case in.Problem != "":
		return Verdict{Error: in.Problem, Wait: "the Secret with the HTTP headers"}
	case id == "":
		return Verdict{Do: Create}
	case in.There == nil:
		return Verdict{Do: List}
	case slices.ContainsFunc(*in.There, func(s ironic.Subscription) bool { return s.ID == id }):
		return Verdict{}
	}
	return Verdict{Lost: true, Do: Create, Event: &reconcile.Event{
		Warning: true, Reason: EventLost, Message: "The BMC has lost subscription " + id + "; it is made again",
	}}
}

// end removes the subscription and proves that it is gone: the answer to a
// removal does not tell a BMC without it from a BMC that cannot be reached.
func end(in Input) Verdict {
	if in.There == nil {
		return Verdict{Do: List}
	}
	id := in.Object.Status.SubscriptionID
	for _, s := range *in.There {
		// Without an id, this program may have ended right after it subscribed.
		same := id == "" && in.Twin == "" && s.Destination == in.Object.Spec.Destination && s.Context == in.Object.Spec.Context
		if s.ID != id && !same {
			continue
		}
		if in.Removed {
			return Verdict{Error: "the BMC still has subscription " + s.ID + " after its removal was accepted", Wait: "the BMC to remove it", After: time.Minute}
		}
		return Verdict{Do: Remove, ID: s.ID}
	}
	return Verdict{Drop: true}
}

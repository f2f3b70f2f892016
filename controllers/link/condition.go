package link

import (
	"context"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/controllers/reconcile"
)

// ConditionLinked is the condition of a BareMetalHost by which this controller says
// what it comes to. The host controller keeps it, and writes none of this type.
const ConditionLinked = "Linked"

// Reasons of the condition; test/catalog says what each means.
const (
	ReasonLinked               = "Linked"
	ReasonWaitingForImage      = "WaitingForImage"
	ReasonWaitingForAgent      = "WaitingForAgent"
	ReasonNoBootMACAddress     = "NoBootMACAddress"
	ReasonBadClusterReference  = "BadClusterReference"
	ReasonClusterReferenceLate = "ClusterReferenceLate"
	ReasonBadAnnotation        = "BadAnnotation"
	ReasonGivingBack           = "GivingBack"
	ReasonGivenBack            = "GivenBack"
	ReasonGiveBackLate         = "GiveBackLate"
	ReasonGiveBackRefused      = "GiveBackRefused"
	ReasonRemoving             = "Removing"
	ReasonDraining             = "Draining"
)

// EventNotTakenOver is the reason of the condition, and of an event, that a labelled
// host is deployed otherwise, which is left as it is.
const EventNotTakenOver = "NotTakenOver"

// EventAgentInDoubt is the reason of the condition, and of an event, that several Agents
// say they are the host's machine.
const EventAgentInDoubt = "AgentInDoubt"

// Word is what a condition says.
type Word struct {
	True            bool
	Reason, Message string
}

func no(reason, message string) Word { return Word{Reason: reason, Message: message} }

// say writes the condition of a host, as the host was last read or written, if it is
// another one than before. A refusal that is new is told by an event, too.
func (r *Reconciler) say(ctx context.Context, host *metal3v1.BareMetalHost, word Word) error {
	if host.Status.Provisioning.State == "" {
		return nil // the host controller has written no status yet
	}
	saver := reconcile.NewSaver[*metal3v1.BareMetalHost](r.Client, host)
	was := meta.FindStatusCondition(host.Status.Conditions, ConditionLinked)
	if word.Reason == "" {
		reconcile.DropCondition(host, ConditionLinked)
	} else {
		status := metav1.ConditionFalse
		if word.True {
			status = metav1.ConditionTrue
		}
		reconcile.SetCondition(host, ConditionLinked, status, word.Reason, word.Message)
	}
	written, err := saver.Status(ctx, host)
	if err != nil || !written || was != nil && was.Reason == word.Reason && was.Message == word.Message {
		return err
	}
	switch word.Reason {
	case EventNotTakenOver:
		r.Recorder.Record(host, nil, reconcile.Event{Warning: true, Reason: EventNotTakenOver, Message: word.Message})
	case EventAgentInDoubt:
		r.Recorder.Record(host, nil, reconcile.Event{Warning: true, Reason: EventAgentInDoubt, Message: word.Message})
	}
	return nil
}

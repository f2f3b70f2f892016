package claim

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/deployowner"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// Input is everything that decides about one claim: plain values, never changed.
type Input struct {
	// Claim is the object with its stored status.
	Claim *metal3.HostClaim
	// Host is the host whose consumerRef names the claim; else the one that the
	// status names; nil when there is none.
	Host *metal3.BareMetalHost
	// Hardware tells that the host has HardwareData.
	Hardware bool
	// Candidates are the hosts that the claim may be given, best first.
	Candidates []*metal3.BareMetalHost
	// Admitted are the namespaces whose policies serve the claim.
	Admitted []string
	// Unreadable is why the selector cannot be used, empty for nothing.
	Unreadable string
	// Secrets are those that the claim refers to, ready to be handed over.
	Secrets Secrets
}

// Action is the one thing that a decision asks for.
type Action int

// The actions. Each is idempotent.
const (
	// Nothing is left to do.
	Nothing Action = iota
	// Bind makes the claim the consumer of Verdict.Host.
	Bind
	// HandOver copies the claim's Secrets to the host's namespace.
	HandOver
	// Write brings the host's spec to Verdict.Spec.
	Write
	// Withdraw deletes the copied Secrets.
	Withdraw
	// Release takes the claim off the host.
	Release
)

// Condition is what a condition shall say.
type Condition struct {
	True    bool
	Reason  string
	Message string
}

// Verdict is what to do about a claim.
type Verdict struct {
	// Do is the next action, Host what it is about.
	Do   Action
	Host *metal3.BareMetalHost
	// Spec is what Write brings the host's spec to.
	Spec *metal3.BareMetalHostSpec
	// Associated and Synchronized are the conditions of these names.
	Associated, Synchronized Condition
	// Drop lets the object go, when it is being deleted.
	Drop bool
	// Wait says what is waited for, After is when to look again without being woken.
	Wait  string
	After time.Duration
}

// lookForHost bounds the wait for a host; watches tell earlier.
const lookForHost = 5 * time.Minute

// Reasons of ours on upstream conditions.
const (
	reasonHostTaken     = "BareMetalHostTaken"
	reasonBadSelector   = "BadHostSelector"
	reasonNotAssociated = "NotAssociated"
	reasonOfInfraEnv    = "HostOfInfraEnv"
)

// Decide returns the next thing to do for a claim.
func Decide(in Input) Verdict {
	switch {
	case !in.Claim.DeletionTimestamp.IsZero():
		return giveBack(in)
	case in.Host == nil && hostOf(in.Claim) != nil:
		return lost(in)
	case in.Host == nil:
		return choose(in)
	case !consumes(in.Claim, in.Host):
		return taken(in)
	}
	return keep(in)
}

// consumes reports whether the host's consumerRef names the claim.
func consumes(c *metal3.HostClaim, h *metal3.BareMetalHost) bool {
	ref := h.Spec.ConsumerRef
	return ref != nil && ref.Kind == "HostClaim" && ref.Name == c.Name && ref.Namespace == c.Namespace
}

// consumerRef is what binds a host to a claim.
func consumerRef(c *metal3.HostClaim) *corev1.ObjectReference {
	return &corev1.ObjectReference{APIVersion: metal3.GroupVersion.String(), Kind: "HostClaim", Namespace: c.Namespace, Name: c.Name}
}

// hostOf is the host that a claim says that it has, in its status; else, as after a restore or a move without
// status, in its annotation. nil for none.
func hostOf(c *metal3.HostClaim) *metal3.ObjectReference {
	noted := c.Annotations[names.BoundHost]
	if c.Status.BareMetalHost != nil || noted == "" {
		return c.Status.BareMetalHost
	}
	namespace, name, _ := strings.Cut(noted, "/")
	return &metal3.ObjectReference{Namespace: namespace, Name: name}
}

func nameOf(h *metal3.BareMetalHost) string { return h.Namespace + "/" + h.Name }

// unassociated is the other condition while there is no host.
var unassociated = Condition{Reason: reasonNotAssociated}

// choose binds the best candidate.
func choose(in Input) Verdict {
	v := Verdict{Synchronized: unassociated}
	switch {
	case in.Unreadable != "":
		v.Associated = Condition{Reason: reasonBadSelector, Message: in.Unreadable}
		v.Wait = "a selector that can be read"
	case len(in.Admitted) == 0:
		v.Associated = Condition{Reason: metal3.NoBareMetalHostReason, Message: "no HostDeployPolicy admits claims of namespace " + in.Claim.Namespace}
		v.Wait, v.After = "a HostDeployPolicy", lookForHost
	case len(in.Candidates) == 0:
		v.Associated = Condition{Reason: metal3.NoBareMetalHostReason, Message: fmt.Sprintf("no available host matches the selector in %v", in.Admitted)}
		v.Wait, v.After = "an available host", lookForHost
	default:
		v.Do, v.Host = Bind, in.Candidates[0]
		v.Associated = Condition{Reason: metal3.NoBareMetalHostReason, Message: "binding " + nameOf(v.Host)}
	}
	return v
}

// lost keeps a claim whose host was deleted as it is: what ran there is gone, and
// nobody wants it to start anew somewhere else unasked. Without a status the host
// may still be on its way here.
func lost(in Input) Verdict {
	ref := hostOf(in.Claim)
	v := Verdict{
		Associated: Condition{
			Reason:  metal3.MissingBareMetalHostReason,
			Message: fmt.Sprintf("BareMetalHost %s/%s does not exist any more: delete the claim and create another to be given a new host", ref.Namespace, ref.Name),
		},
		Synchronized: unassociated, Wait: "somebody to delete the claim",
	}
	if in.Claim.Status.BareMetalHost == nil {
		v.Associated.Message = fmt.Sprintf("BareMetalHost %s/%s, which the claim's annotation %s names, is not here, or its consumerRef does not name this claim. "+
			"Next: restore or move it here, too, or correct its consumerRef, or take the annotation away if the claim shall be given another host", ref.Namespace, ref.Name, names.BoundHost)
		v.Wait = "the claim's host to arrive"
	}
	return v
}

// taken reports a host whose consumerRef somebody has changed.
func taken(in Input) Verdict {
	by := "nobody"
	if ref := in.Host.Spec.ConsumerRef; ref != nil {
		by = ref.Kind + " " + ref.Namespace + "/" + ref.Name
	}
	return Verdict{
		Associated: Condition{
			Reason:  reasonHostTaken,
			Message: "the consumerRef of host " + nameOf(in.Host) + " names " + by + ", not this claim: correct it, or delete the claim",
		},
		Synchronized: unassociated, Wait: "somebody to settle whose host it is",
	}
}

// keep has the host do what the claim says.
func keep(in Input) Verdict {
	v := Verdict{
		Host:       in.Host,
		Associated: Condition{True: true, Reason: metal3.BareMetalHostAssociatedReason, Message: "bound to host " + nameOf(in.Host)},
	}
	if key := reconcile.KeptOff(in.Host); key != "" {
		v.Synchronized = Condition{Reason: metal3.HostPausedReason, Message: "the host has the annotation " + key + ", so nothing is written to it"}
		v.Wait = "somebody to remove the annotation " + key + " of the host"
		return v
	}
	if deployowner.Of(in.Host) == deployowner.InfraEnv {
		v.Synchronized = Condition{Reason: reasonOfInfraEnv, Message: "the host is being, or was, installed for the InfraEnv that its label " + names.InfraEnvLabel +
			" names, so nothing is written to it. Next: take the label away, and then what it is deployed with (spec.customDeploy), or the consumerRef"}
		v.Wait = "somebody to settle whose host it is"
		return v
	}
	if p := in.Secrets.Problem; p != nil {
		v.Synchronized = *p
		v.Wait = "the Secret"
		return v
	}
	v.Synchronized = Condition{Reason: metal3.BareMetalHostNotSynchronizedReason, Message: "the host's spec is being written"}
	v.Spec = specFor(in.Claim, in.Host, in.Secrets)
	switch {
	case in.Claim.Annotations[names.BoundHost] != nameOf(in.Host): // nothing is installed before the claim's metadata says where
		v.Wait, v.After = "the claim's annotation "+names.BoundHost, lookForHost
	case in.Secrets.Stale:
		v.Do = HandOver
	case !equality.Semantic.DeepEqual(*v.Spec, in.Host.Spec):
		v.Do = Write
	default:
		v.Synchronized = Condition{True: true, Reason: metal3.ConfigurationSyncedReason}
	}
	return v
}

// specFor is the host's spec with what the claim asks for.
func specFor(c *metal3.HostClaim, h *metal3.BareMetalHost, s Secrets) *metal3.BareMetalHostSpec {
	spec := h.Spec.DeepCopy()
	spec.Online = c.Spec.PoweredOn
	spec.Image = c.Spec.Image.DeepCopy()
	if spec.Image != nil && spec.Image.OCIAuthSecretName != nil {
		spec.Image.OCIAuthSecretName = &s.Pull
	}
	spec.CustomDeploy = c.Spec.CustomDeploy.DeepCopy()
	spec.UserData, spec.NetworkData, spec.MetaData = s.UserData, s.NetworkData, s.MetaData
	return spec
}

// giveBack has a bound host cleaned before it is released, so that the claim goes
// when nothing of it is left.
func giveBack(in Input) Verdict {
	v := Verdict{
		Host:         in.Host,
		Associated:   Condition{Reason: metal3.HostClaimDeletingReason, Message: "the claim is being deleted"},
		Synchronized: Condition{Reason: metal3.HostClaimDeletingReason},
	}
	switch {
	case in.Host == nil, !consumes(in.Claim, in.Host), reconcile.Moved(in.Claim):
		v.Drop = true
		return v
	case reconcile.KeptOff(in.Host) != "":
		key := reconcile.KeptOff(in.Host)
		v.Associated.Message = "the host has the annotation " + key + ", so nothing is written to it: remove it to have the host cleaned and released"
		v.Wait = "somebody to remove the annotation " + key + " of the host"
		return v
	case deployowner.Of(in.Host) == deployowner.InfraEnv: // what runs there is not the claim's
		return v.release(in)
	case in.Claim.Annotations[names.ForceDelete] == in.Claim.Name, !in.Host.DeletionTimestamp.IsZero():
		return v.release(in)
	case keptOff(in.Host) != "":
		v.Associated.Message = "the host has the annotation " + names.Detached + ", so it cannot be cleaned: remove it, or annotate the claim with " +
			names.ForceDelete + "=" + in.Claim.Name + " to release the host as it is"
		v.Wait = "somebody to remove the annotation " + names.Detached + " of the host"
		return v
	}
	v.Spec = in.Host.Spec.DeepCopy()
	v.Spec.Image, v.Spec.CustomDeploy, v.Spec.UserData, v.Spec.NetworkData, v.Spec.MetaData = nil, nil, nil, nil, nil
	switch {
	case !equality.Semantic.DeepEqual(*v.Spec, in.Host.Spec):
		v.Do = Write
	case !clean(in.Host):
		v.Associated.Message = "the host is being deprovisioned, it is " + cmp.Or(string(in.Host.Status.Provisioning.State), "without a status yet")
		if in.Host.Status.ErrorMessage != "" {
			v.Associated.Reason = metal3.HostClaimDeletionFailedReason
			v.Associated.Message = "the host cannot be deprovisioned: " + in.Host.Status.ErrorMessage
		}
		v.Wait = "the host to be available again"
	default:
		return v.release(in)
	}
	return v
}

// release lets the host go, the copied Secrets first.
func (v Verdict) release(in Input) Verdict {
	v.Do = Release
	if in.Secrets.Copied {
		v.Do = Withdraw
	}
	return v
}

// clean reports whether nothing of a claim is on the host, nor on its way there. A host that
// has no status, knows of no node yet, or finds something on the machine that it knows nothing
// of, as after a restore from a backup, cannot tell.
func clean(h *metal3.BareMetalHost) bool {
	p := h.Status.Provisioning
	if p.State == metal3.StateNone || p.State == metal3.StateRegistering && p.ID == "" || h.Status.ErrorType == metal3.RegistrationError {
		return false
	}
	switch p.State {
	case metal3.StateProvisioning, metal3.StateProvisioned, metal3.StateDeprovisioning:
		return false
	default:
		return p.Image.URL == "" && p.CustomDeploy == nil
	}
}

package link

import (
	"fmt"
	"strings"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/deployowner"
)

// giveBackLimit is how long a host may take to be attached, deprovisioned and cleaned
// before its condition says that it is late. Nothing is done about it: a cleaning that
// erases disks in full may take longer.
const giveBackLimit = time.Hour

// Why a host is given back: each is an explicit wish of a person.
const (
	becauseUnbound = "its Agent was taken out of its cluster"
	becauseDeleted = "its Agent was deleted"
	becauseAsked   = "the annotation " + names.GiveBack + " asks for it"
)

// askedBack returns why a host whose machine was started by this controller is to be
// given back; empty for a host that nobody wants back.
func askedBack(in Input) string {
	host := in.Host
	state := host.Status.Provisioning.State
	if state != metal3v1.StateProvisioned && state != metal3v1.StateProvisioning {
		return ""
	}
	switch {
	case host.Annotations[names.GiveBack] == host.Name:
		return becauseAsked
	case method(host) != names.StartAssistedInstall:
		return "" // a person has taken it away, or runs something else
	case state == metal3v1.StateProvisioned && linkedAgent(in) && in.Agent.DeletionTimestamp.IsZero() && unbound(in.Agent):
		return becauseUnbound // while it is deployed, it is on its way into its live image
	case in.AgentDeleted && state == metal3v1.StateProvisioned:
		return becauseDeleted // while it is installed, its machine registers again
	}
	return ""
}

// unbound reports an installed machine that was taken out of its cluster and waits for
// somebody to boot it from its live image.
func unbound(agent *agentv1.Agent) bool {
	bound := agentv1.FindCondition(agent.Status.Conditions, agentv1.ConditionBound)
	return bound != nil && bound.Status != "True" && bound.Reason == agentv1.ReasonUnbindingPendingUserAction
}

// giveBack has a host attached, deprovisioned and cleaned, in one write with the record
// that it is under way. What a person holds is not taken: it says what to do instead.
func giveBack(in Input, host *metal3v1.BareMetalHost, why string) Plan {
	if deployowner.Of(host) != deployowner.InfraEnv {
		return Plan{Says: no(ReasonGiveBackRefused, why+", but what the host is deployed with is not its InfraEnv's. "+
			"Next: remove what its owner has written (spec.image, spec.customDeploy or the claim) to have it cleaned, or take the annotation "+names.GiveBack+" away")}
	}
	if _, detached := host.Annotations[names.Detached]; detached && !ours(host, names.Detached) {
		return Plan{Says: no(ReasonGiveBackRefused, fmt.Sprintf("%s, but a person has detached the host, so it cannot be cleaned. Next: kubectl annotate bmh -n %s %s %s-",
			why, host.Namespace, host.Name, names.Detached))}
	}
	removeOwned(host, names.Detached)
	unpause(host)
	host.Spec.CustomDeploy = nil
	annotate(host, names.GivingBack, in.Now.UTC().Format(time.RFC3339)+" "+why)
	return underWay(in, host)
}

// givingBack reports whether a host is being given back.
func givingBack(host *metal3v1.BareMetalHost) bool {
	_, recorded := host.Annotations[names.GivingBack]
	return recorded
}

// goOnGivingBack waits until nothing of the deployment is on the machine, and removes
// the Agent that tells of it.
func goOnGivingBack(in Input, host *metal3v1.BareMetalHost) Plan {
	plan := Plan{DeleteAgent: stale(in), Says: no(ReasonGivenBack, "the machine was given back and is clean")}
	switch state := host.Status.Provisioning.State; {
	case state == metal3v1.StateExternallyProvisioned, state == metal3v1.StateProvisioned && host.Spec.ExternallyProvisioned:
		plan.Says = no(ReasonGiveBackRefused, "the host was to be given back, and somebody has set spec.externallyProvisioned: its machine is not cleaned. Next: nothing, or remove that field")
	case !cleaned(state):
		going := underWay(in, host)
		going.DeleteAgent = plan.DeleteAgent
		return going
	}
	delete(host.Annotations, names.GivingBack)
	if host.Annotations[names.GiveBack] == host.Name {
		delete(host.Annotations, names.GiveBack)
	}
	return plan
}

// cleaned reports whether a host that was deprovisioned has got through with it. One whose
// state was lost, or that is registered anew, has not.
func cleaned(state metal3v1.ProvisioningState) bool {
	switch state {
	case metal3v1.StateAvailable, metal3v1.StateReady, metal3v1.StatePreparing, metal3v1.StateInspecting, metal3v1.StateMatchProfile:
		return true
	default:
		return false
	}
}

// underWay says what a host that is being given back waits for, and since when.
func underWay(in Input, host *metal3v1.BareMetalHost) Plan {
	text, why, _ := strings.Cut(host.Annotations[names.GivingBack], " ")
	since, err := time.Parse(time.RFC3339, text)
	if err != nil {
		since = in.Now
	}
	due := since.Add(giveBackLimit)
	state := string(in.Host.Status.Provisioning.State)
	switch {
	case method(host) == names.StartAssistedInstall:
		return Plan{Says: no(ReasonGiveBackRefused, fmt.Sprintf("the host is being given back, because %s, and somebody has written spec.customDeploy again. "+
			"Next: remove spec.customDeploy where it comes from, or, to keep what runs, kubectl annotate bmh -n %s %s %s-", why, host.Namespace, host.Name, names.GivingBack))}
	case in.Now.Before(due):
		return Plan{After: due.Sub(in.Now), Says: no(ReasonGivingBack, fmt.Sprintf("the host is being given back since %s, because %s: it is to be attached, deprovisioned and cleaned by %s",
			since.UTC().Format(time.RFC3339), why, due.UTC().Format(time.RFC3339)))}
	}
	trouble := in.Host.Status.ErrorMessage
	if trouble == "" {
		trouble = "it shows no error"
	}
	return Plan{Says: no(ReasonGiveBackLate, fmt.Sprintf("the host is being given back since %s, because %s, and is still %s: %s. "+
		"Next: see its conditions Progressing and Stalled; a cleaning that erases disks in full may take longer", since.UTC().Format(time.RFC3339), why, state, trouble))}
}

// stale reports an Agent whose installation no longer exists, because the machine under
// it, which this controller had started, is being, or has been, deprovisioned.
func stale(in Input) bool {
	if in.Agent == nil {
		return false
	}
	started := method(in.Host) == names.StartAssistedInstall || runs(in.Host) == names.StartAssistedInstall
	switch in.Host.Status.Provisioning.State {
	case metal3v1.StateDeprovisioning:
		// One that was not linked in time is the host's, unless it has booted the image that is for all hosts.
		return linkedAgent(in) || started && in.Agent.Annotations[names.ImageOf] != names.ImageOfAll
	case metal3v1.StateAvailable, metal3v1.StateReady:
		// One that registered after the host was deprovisioned last tells that the status is older
		// than the machine's installation, as after a restore from a backup.
		return linkedAgent(in) && !in.Agent.CreationTimestamp.After(in.Host.Status.OperationHistory.Deprovision.End.Time)
	default:
		return false
	}
}

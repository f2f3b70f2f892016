package link

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/api/names"
)

const (
	// drainLimit is how long a Node may be drained where nobody says otherwise: a cluster that is
	// gone must not keep its machines for ever.
	drainLimit = 30 * time.Minute
	// nextDrain is when a cluster is asked again.
	nextDrain = 10 * time.Second
)

// How far the Node is, as the annotation says it; another text says why it is not further.
const (
	draining   = "draining in progress"
	drained    = "drain succeeded"
	timedOut   = "drain timed out"
	notDrained = "not drained: "
)

// leave has the Node of a host's machine drained and removed from its cluster before the machine
// is cleaned. It is false once that is done, or its time is over, or there is no such Node.
func leave(in Input, host *metal3v1.BareMetalHost) (Plan, bool) {
	if !in.Nodes || !joined(in, host) || left(host) {
		return Plan{}, false
	}
	since, err := time.Parse(time.RFC3339, host.Annotations[names.BMACDrainStarted])
	if err != nil {
		since = in.Now
		annotate(host, names.BMACDrainStarted, in.Now.UTC().Format(time.RFC3339))
	}
	limit, wrong := drainTimeout(host)
	due, why := since.Add(limit), draining
	switch p := in.Node; {
	case p == nil:
	case p.Done && p.Forced, p.Forced && !in.Now.Before(due):
		annotate(host, names.BMACDrainStatus, strings.TrimSuffix(timedOut+": "+p.Says, ": "))
		return Plan{}, false
	case p.Done:
		annotate(host, names.BMACDrainStatus, cmp.Or(p.Says, drained))
		return Plan{}, false
	default:
		why = cmp.Or(p.Says, draining)
	}
	annotate(host, names.BMACDrainStatus, why)
	ref := in.Agent.Spec.ClusterDeploymentName
	return Plan{Drain: true, Force: !in.Now.Before(due), After: nextDrain, Says: no(ReasonDraining, fmt.Sprintf(
		"the host is being deleted and has the annotation %s: its Node is drained and removed from cluster %s/%s before the machine is cleaned, by %s at the latest (%s)%s. "+
			"Next: nothing; or, to end it sooner, a shorter %s", names.BMACRemove, ref.Namespace, ref.Name, due.UTC().Format(time.RFC3339), why, wrong, names.BMACDrainTimeout))}, true
}

// joined reports a machine that runs as part of a cluster, and is held detached until its Node has left it.
func joined(in Input, host *metal3v1.BareMetalHost) bool {
	return linkedAgent(in) && in.Agent.Spec.ClusterDeploymentName != nil && in.Agent.Spec.ClusterDeploymentName.Name != "" &&
		host.Status.Provisioning.State == metal3v1.StateProvisioned && ours(host, names.Detached)
}

// left reports a host whose Node was seen to.
func left(host *metal3v1.BareMetalHost) bool {
	said := host.Annotations[names.BMACDrainStatus]
	return said == drained || strings.HasPrefix(said, timedOut) || strings.HasPrefix(said, notDrained)
}

// drainTimeout is how long the Node may be drained, and what is wrong with what a person says of it.
func drainTimeout(host *metal3v1.BareMetalHost) (limit time.Duration, wrong string) {
	text, given := host.Annotations[names.BMACDrainTimeout]
	limit, err := time.ParseDuration(text)
	if given && (err != nil || limit < 0) {
		wrong = fmt.Sprintf("; annotation %s %.40q is no duration such as 10m, so %s counts", names.BMACDrainTimeout, text, drainLimit)
	}
	if err != nil || limit < 0 {
		limit = drainLimit
	}
	return limit, wrong
}

// ofItsNode says what became of the Node of a machine that is being cleaned.
func ofItsNode(host *metal3v1.BareMetalHost) string {
	switch said := host.Annotations[names.BMACDrainStatus]; said {
	case "":
		return "The Node in its cluster does not go by itself. Next: kubectl delete node, in that cluster"
	case drained:
		return "Its Node was drained and removed from its cluster"
	default:
		return "Of its Node: " + said + ". Next: if its cluster has that Node still, kubectl delete node, in that cluster"
	}
}

package cluster

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/controllers/cluster/view"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/hub/wire"
)

// standing is where the cluster is in the words of kstatus: the one of Ready, Reconciling and Stalled that is
// True, with its reason and message. Stalled is said only of what is over: a tool that waits ends with it, and
// an installation that waits for a person goes on with them.
type standing struct{ kind, reason, message string }

// again is how a person has a cluster installed that failed or was cancelled.
const again = "Next: give back all of its hosts, by deleting them or by removing spec.customDeploy, and it begins anew once they are available; or reset it over the hub's REST API"

// stand tells where the cluster of a record is.
func stand(c *wire.Cluster, also known) standing {
	going := func(reason, waitsFor, whoEnds string) standing {
		return standing{hiveextv1.ConditionReconciling, reason, view.Wait{For: waitsFor, Ends: whoEnds}.String()}
	}
	switch c.Status {
	case wire.ClusterStatusInstalled, wire.ClusterStatusAddingHosts:
		if !also.runs {
			return standing{hiveextv1.ConditionReady, hiveextv1.ReasonHostsInstalled, hostsOnly}
		}
		return standing{hiveextv1.ConditionReady, hiveextv1.ReasonInstallationCompleted, c.StatusInfo}
	case wire.ClusterStatusError:
		return standing{hiveextv1.ConditionStalled, hiveextv1.ReasonInstallationFailed, c.StatusInfo + ". " + again}
	case wire.ClusterStatusCancelled:
		return standing{hiveextv1.ConditionStalled, hiveextv1.ReasonInstallationCancelled, c.StatusInfo + ". " + again}
	case wire.ClusterStatusInsufficient:
		return going(hiveextv1.ReasonValidationsFailing, "the checks of the cluster to pass: "+c.StatusInfo, "a person; status.validationsInfo says of each check what to do")
	case wire.ClusterStatusPendingForInput:
		return going(hiveextv1.ReasonValidationsUserPending, "settings that are missing: "+c.StatusInfo, "a person, who sets them")
	case wire.ClusterStatusReady:
		return standReady(c, also, going)
	case wire.ClusterStatusPreparingForInstallation:
		return going(hiveextv1.ReasonInstallationInProgress, "the Ignition of its hosts to be made, and for the hosts to be checked once more", "the hub and the hosts")
	case wire.ClusterStatusInstalling:
		return going(hiveextv1.ReasonInstallationInProgress, installing(c), "the hosts")
	case wire.ClusterStatusInstallingPendingUserAction:
		return going(hiveextv1.ReasonWaitingForUser, "a person: "+usersHosts(c), "a person, at these machines")
	case wire.ClusterStatusFinalizing:
		return going(hiveextv1.ReasonFinalizing, finalizing(c), "what runs inside the cluster")
	}
	return going(hiveextv1.ReasonUnknownStatus, "news of the cluster, whose status "+c.Status+" tells nothing", "nobody that the hub knows")
}

// standReady tells why a cluster that is ready is not being installed.
func standReady(c *wire.Cluster, also known, going func(reason, waitsFor, whoEnds string) standing) standing {
	switch last := c.LastInstallationPreparation; {
	case also.hold:
		return going(hiveextv1.ReasonInstallationOnHold, "the hold on its installation to be released", "a person, by spec.holdInstallation or the pause of the ClusterDeployment")
	case last.Status == wire.LastInstallationPreparationStatusNotStarted && last.Reason != "":
		return going(hiveextv1.ReasonInstallationNotStarted, "its installation to be started again: "+last.Reason, "a person, over the hub's REST API, or by spec.holdInstallation, set and removed")
	case last.Status == wire.LastInstallationPreparationStatusFailed:
		return going(hiveextv1.ReasonPreparationFailed, "an installation that can be prepared; the last time: "+last.Reason, "the hub, which tries again, or a person who removes the cause")
	}
	return going(hiveextv1.ReasonInstallationNotStarted, "its installation to begin", "the hub, once all of its hosts are approved; a person approves them by spec.approved of their Agents")
}

// installing tells how many hosts are still on their way.
func installing(c *wire.Cluster) string {
	there := 0
	for i := range c.Hosts {
		if c.Hosts[i].Status == wire.HostStatusInstalled {
			there++
		}
	}
	return fmt.Sprintf("%d of %d hosts to be installed", len(c.Hosts)-there, len(c.Hosts))
}

// usersHosts tells which hosts wait for a person, and for what.
func usersHosts(c *wire.Cluster) string {
	var all []string
	for i := range c.Hosts {
		if h := &c.Hosts[i]; h.Status == wire.HostStatusInstallingPendingUserAction {
			all = append(all, hostName(h)+" ("+plainText(h.StatusInfo)+")")
		}
	}
	if len(all) == 0 {
		return c.StatusInfo
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// hostName is what people call the host.
func hostName(h *wire.Host) string {
	if h.RequestedHostname != "" {
		return plainText(h.RequestedHostname)
	}
	return "host " + h.ID
}

// finalizing tells which stage the cluster is at, and which operators keep it there.
func finalizing(c *wire.Cluster) string {
	text := "the cluster to come up"
	if p := c.Progress; p != nil && p.FinalizingStage != "" {
		text += ", stage " + string(p.FinalizingStage)
		if p.FinalizingStageTimedOut {
			text += " (it takes longer than usual)"
		}
	}
	if left := unavailable(c); len(left) > 0 {
		text += fmt.Sprintf("; %d of %d operators are available", len(c.MonitoredOperators)-len(left), len(c.MonitoredOperators))
	}
	return text
}

// unavailable are the operators that are not available yet.
func unavailable(c *wire.Cluster) []wire.MonitoredOperator {
	return slices.DeleteFunc(slices.Clone(c.MonitoredOperators), func(o wire.MonitoredOperator) bool { return o.Status == wire.OperatorStatusAvailable })
}

// operators tells of those that are followed, one that is not available per line; nil where none are.
func operators(c *wire.Cluster) *hiveextv1.Condition {
	if len(c.MonitoredOperators) == 0 {
		return nil
	}
	left := unavailable(c)
	out := &hiveextv1.Condition{
		Type: hiveextv1.ConditionOperatorsAvailable, Status: corev1.ConditionTrue, Reason: hiveextv1.ReasonOperatorsAvailable,
		Message: fmt.Sprintf("%d of %d operators are available", len(c.MonitoredOperators)-len(left), len(c.MonitoredOperators)),
	}
	for _, o := range left {
		if out.Reason != hiveextv1.ReasonOperatorFailed {
			out.Reason = hiveextv1.ReasonOperatorsNotAvailable
		}
		word := string(o.Status)
		if o.Status == wire.OperatorStatusFailed {
			out.Reason = hiveextv1.ReasonOperatorFailed
		}
		if word == "" {
			word = "not reported yet"
		}
		line := plainText(o.Name) + ": " + word
		if o.StatusInfo != "" {
			line += ": " + plainText(o.StatusInfo)
		}
		out.Status, out.Message = corev1.ConditionFalse, out.Message+"\n"+line
	}
	return out
}

// longest bounds what hosts and operators say of themselves, in bytes.
const longest = 400

// plainText is one line of what a host or a program in the cluster has said.
func plainText(text string) string {
	return reconcile.Cut(strings.Join(strings.Fields(text), " "), longest)
}

// put shows the standing in the three conditions.
func (s standing) put(status *hiveextv1.AgentClusterInstallStatus, now metav1.Time) {
	for _, kind := range []string{hiveextv1.ConditionReady, hiveextv1.ConditionReconciling, hiveextv1.ConditionStalled} {
		c := hiveextv1.Condition{Type: kind, Status: corev1.ConditionFalse, Reason: s.reason, Message: reconcile.Cut(s.message, reconcile.MaxMessage)}
		if kind == s.kind {
			c.Status = corev1.ConditionTrue
		}
		hiveextv1.SetCondition(&status.Conditions, c, now)
	}
}

// standWith is where a cluster is whose pass ended with an error: a person is needed, or it goes on by itself.
func standWith(err error) standing {
	if stalled, is := errors.AsType[*reconcile.Stalled](err); is {
		return standing{hiveextv1.ConditionStalled, stalled.Reason, err.Error()}
	}
	return standing{hiveextv1.ConditionReconciling, reason(err), err.Error()}
}

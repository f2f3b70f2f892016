package cluster

import (
	"errors"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/hub/wire"
)

// verdict is one condition's value.
type verdict struct {
	status corev1.ConditionStatus
	reason string
}

// row is what the conditions say of a cluster in one status.
type row struct{ requirements, validated, completed, failed, stopped verdict }

// The values that rows are made of.
var (
	isReady     = verdict{corev1.ConditionTrue, hiveextv1.ReasonClusterIsReady}
	notReady    = verdict{corev1.ConditionFalse, hiveextv1.ReasonClusterNotReady}
	already     = verdict{corev1.ConditionTrue, hiveextv1.ReasonClusterAlreadyInstalling}
	over        = verdict{corev1.ConditionTrue, hiveextv1.ReasonClusterInstallationStopped}
	passing     = verdict{corev1.ConditionTrue, hiveextv1.ReasonValidationsPassing}
	failing     = verdict{corev1.ConditionFalse, hiveextv1.ReasonValidationsFailing}
	userPending = verdict{corev1.ConditionFalse, hiveextv1.ReasonValidationsUserPending}
	notStarted  = verdict{corev1.ConditionFalse, hiveextv1.ReasonInstallationNotStarted}
	onHold      = verdict{corev1.ConditionFalse, hiveextv1.ReasonInstallationOnHold}
	inProgress  = verdict{corev1.ConditionFalse, hiveextv1.ReasonInstallationInProgress}
	completed   = verdict{corev1.ConditionTrue, hiveextv1.ReasonInstallationCompleted}
	// hostsInstalled is in no row: it is said of a completed cluster that nobody can log in to.
	hostsInstalled = verdict{corev1.ConditionFalse, hiveextv1.ReasonHostsInstalled}

	notDone   = verdict{corev1.ConditionFalse, hiveextv1.ReasonInstallationFailed}
	calledOff = verdict{corev1.ConditionFalse, hiveextv1.ReasonInstallationCancelled}
	good      = verdict{corev1.ConditionFalse, hiveextv1.ReasonInstallationNotFailed}
	bad       = verdict{corev1.ConditionTrue, hiveextv1.ReasonInstallationFailed}
	running   = verdict{corev1.ConditionFalse, hiveextv1.ReasonInstallationNotStopped}
	cancelled = verdict{corev1.ConditionTrue, hiveextv1.ReasonInstallationCancelled}
	unknown   = verdict{corev1.ConditionUnknown, hiveextv1.ReasonUnknownStatus}
	// notComputed is in no row: a cluster that somebody else installed has no checks.
	notComputed = verdict{corev1.ConditionUnknown, hiveextv1.ReasonValidationsUnknown}
)

// rows has every status of the protocol.
var rows = map[string]row{
	wire.ClusterStatusInsufficient:                {notReady, failing, notStarted, good, running},
	wire.ClusterStatusPendingForInput:             {notReady, userPending, notStarted, good, running},
	wire.ClusterStatusReady:                       {isReady, passing, notStarted, good, running},
	wire.ClusterStatusPreparingForInstallation:    {already, passing, inProgress, good, running},
	wire.ClusterStatusInstalling:                  {already, passing, inProgress, good, running},
	wire.ClusterStatusInstallingPendingUserAction: {already, passing, inProgress, good, running},
	wire.ClusterStatusFinalizing:                  {already, passing, inProgress, good, running},
	wire.ClusterStatusInstalled:                   {over, passing, completed, good, completed},
	wire.ClusterStatusAddingHosts:                 {already, passing, completed, good, completed},
	wire.ClusterStatusError:                       {over, passing, notDone, bad, bad},
	wire.ClusterStatusCancelled:                   {over, passing, calledOff, good, cancelled},
	wire.ClusterStatusUnmonitored:                 {unknown, unknown, unknown, unknown, unknown},
}

// known is what the conditions say beyond the record.
type known struct {
	// hold tells that a ready cluster is not to be installed.
	hold bool
	// runs tells that there are credentials of the cluster, where Hive looks for them.
	runs bool
	// agents is what the Agents of the cluster's hosts tell; nil says nothing.
	agents *headcount
	// publicURL is where people reach the hub; empty shows no addresses.
	publicURL string
}

// hostsOnly is what is said when all hosts are installed, and nothing tells of a cluster.
const hostsOnly = "The hosts are installed; the hub has no credentials of a cluster that runs on them"

// project shows the record's state on the resource. An unchanged record means
// an unchanged status.
func project(status *hiveextv1.AgentClusterInstallStatus, c *wire.Cluster, also known, now metav1.Time) {
	status.DebugInfo = debugInfo(c, also.publicURL)
	status.Progress = nil
	if c.Progress != nil {
		status.Progress = &hiveextv1.ClusterProgressInfo{TotalPercentage: c.Progress.TotalPercentage}
	}
	r, there := rows[c.Status]
	if !there {
		r = rows[wire.ClusterStatusUnmonitored]
	}
	if c.ValidationsInfo == "" && r.validated == passing {
		r.validated = notComputed
	}
	requirements := c.StatusInfo
	if c.Status == wire.ClusterStatusReady && also.agents != nil {
		r.requirements, requirements = also.agents.verdict(c.StatusInfo)
	}
	if also.hold && c.Status == wire.ClusterStatusReady {
		r.completed = onHold
	}
	ends := c.StatusInfo
	if r.completed == completed && !also.runs {
		r.completed, ends = hostsInstalled, hostsOnly
	}
	for _, v := range []struct {
		kind string
		verdict
		message string
	}{
		{hiveextv1.ConditionRequirementsMet, r.requirements, requirements},
		{hiveextv1.ConditionValidated, r.validated, c.StatusInfo},
		{hiveextv1.ConditionCompleted, r.completed, ends},
		{hiveextv1.ConditionFailed, r.failed, c.StatusInfo},
		{hiveextv1.ConditionStopped, r.stopped, c.StatusInfo},
	} {
		hiveextv1.SetCondition(&status.Conditions, hiveextv1.Condition{
			Type: v.kind, Status: v.status, Reason: v.reason, Message: v.message,
		}, now)
	}
	found(status, c, now)
	stand(c, also).put(status, now)
}

// specSynced says that the hub has all that the objects ask for, and which settings nobody acts on.
func specSynced(status *hiveextv1.AgentClusterInstallStatus, ignored []string) {
	c := hiveextv1.Condition{
		Type: hiveextv1.ConditionSpecSynced, Status: corev1.ConditionTrue, Reason: hiveextv1.ReasonSyncOK, Message: "the hub has what the spec says",
	}
	if len(ignored) > 0 {
		c.Message += "; these settings change nothing: " + strings.Join(ignored, ", ")
	}
	hiveextv1.SetCondition(&status.Conditions, c, metav1.Now())
}

// summarise sets SpecSynced where a pass has not come to its end: what the hub has not
// got yet is told here, never in the log alone, and by the conditions that tools
// read which do not know the kind.
func summarise(aci *hiveextv1.AgentClusterInstall, err error) {
	if err == nil {
		return
	}
	standWith(err).put(&aci.Status, metav1.Now())
	hiveextv1.SetCondition(&aci.Status.Conditions, hiveextv1.Condition{
		Type: hiveextv1.ConditionSpecSynced, Status: corev1.ConditionFalse, Reason: reason(err), Message: err.Error(),
	}, metav1.Now())
}

// reason tells what the user has to see to from what the hub tries again.
func reason(err error) string {
	if stalled, ok := errors.AsType[*reconcile.Stalled](err); ok {
		return stalled.Reason
	}
	if _, waits := errors.AsType[*reconcile.Waiting](err); waits {
		return hiveextv1.ReasonInputError
	}
	return hiveextv1.ReasonBackendError
}

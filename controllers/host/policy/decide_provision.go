package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy/nodeaction"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/ironic"
)

// hasInstance are Ironic's states of a node whose deployment has ended. One that is serviced comes into this phase
// by a status of when it was deployed, as a backup has it.
var hasInstance = []ironic.ProvisionState{ironic.StateActive, ironic.StateServicing, ironic.StateServiceWait, ironic.StateServiceFailed}

// stepProvisioning deploys: automated cleaning first if the node has not had it,
// then the deployment with its steps. What was deployed stays, whatever else went
// wrong meanwhile (the BMC's Secret, the next live image); only a deployment that
// has failed itself is torn down.
func stepProvisioning(o *Observed, d *Decision) {
	switch {
	case !nodespec.WantsInstance(o.Host):
		startDeprovisioning(o, d)
		return
	case slices.Contains(hasInstance, o.Node.ProvisionState):
		deployed(o, d)
		return
	case o.Host.Status.ErrorType == metal3.ProvisioningError:
		startDeprovisioning(o, d)
		return
	}
	switch o.Node.ProvisionState {
	case ironic.StateManageable, ironic.StateAvailable:
		begin(o, d)
	case ironic.StateInspectFailed, ironic.StateAdoptFailed:
		manage(o, d)
	case ironic.StateCleaning, ironic.StateCleanWait:
		d.wait(lookAgain, cleaningNote(o))
	case ironic.StateCleanFailed:
		afterFailure(o, d, metal3.ProvisioningError, func() { leaveCleanFailed(o, d) })
	case ironic.StateDeploying:
		d.wait(lookAgain, deployNote(o))
	case ironic.StateDeployWait:
		watchDeploy(o, d)
	case ironic.StateDeployFailed, ironic.StateError:
		deployFailed(o, d)
	default:
		unexpected(o, d)
	}
}

// begin goes on to a deployment that was not asked for yet, unless the machine is to be off by now.
func begin(o *Observed, d *Decision) {
	switch {
	case !o.Host.Spec.Online:
		enter(o, d, metal3.StateAvailable)
	case o.Node.ProvisionState == ironic.StateManageable:
		target(o, d, ironic.TargetProvide)
	default:
		deploy(o, d)
	}
}

// deploy starts the deployment of a node that has its fields as wanted: the
// config drive is read, Ironic validates, and is asked.
func deploy(o *Observed, d *Decision) {
	switch {
	case MarkOf(o.Host) != nil:
		dropMark(d) // of the deployment before
	case notBefore(o, d):
	case nodespec.NeedsConfigDrive(o.Host) && o.ConfigDrive == nil:
		d.do(ReadConfigDrive{})
	case nodespec.NeedsConfigDrive(o.Host) && o.ConfigDrive.Problem != "":
		fail(o, d, metal3.ProvisioningError, causeSpec, o.ConfigDrive.Problem)
		d.count(Count{MetricHostConfigError, []string{"instance"}})
	case o.Unfit == nil:
		if n, ok := o.readNode(d); ok {
			d.do(n.Validate())
		}
	case unfitText(*o.Unfit) != "":
		fail(o, d, metal3.ProvisioningError, "", "host validation error: "+unfitText(*o.Unfit))
	case recordsDeployed(o, d, nodespec.Wanted(o.Host).Digest()):
	default:
		transition(o, d, deployment(o))
	}
}

// unfitText joins what Ironic said about the interfaces that a deployment needs.
func unfitText(failures []ironic.ValidationFailure) string {
	var parts []string
	for _, f := range failures {
		if f.Interface == "boot" || f.Interface == "deploy" {
			parts = append(parts, f.Interface+": "+f.Reason)
		}
	}
	return strings.Join(parts, "; ")
}

// deployPriority is where a custom deploy method runs: before confirm_install,
// which the live image lists with priority 79.
const deployPriority = 80

// deployment is the request that starts the deployment.
func deployment(o *Observed) ironic.Transition {
	t := ironic.Transition{Target: ironic.TargetActive}
	if method := nodespec.MethodOf(o.Host.Spec.CustomDeploy); method != "" {
		priority := deployPriority
		t.DeploySteps = []ironic.Step{{Interface: "deploy", Name: method, Args: map[string]any{}, Priority: &priority}}
	}
	if nodespec.NeedsConfigDrive(o.Host) && o.ConfigDrive != nil {
		t.ConfigDrive = o.ConfigDrive.Value()
	}
	return t
}

// watchDeploy follows a deployment in which the live image is at work.
func watchDeploy(o *Observed, d *Decision) {
	if startOver(o, d) {
		return
	}
	if restartCutOff(o, d) {
		return
	}
	switch {
	case whyCutOff(o) != "" && (restartedInStep(o) || !hubFailed(o)):
		d.wait(lookAgain, cutOffNote(o))
		return
	case !hubFailed(o) || o.Node.DeployStep.Name != names.StartAssistedInstall:
		d.wait(lookAgain, deployNote(o))
		return
	}
	if left := o.Progress.FailedAt.Add(waitVerdict).Sub(o.Now); left > 0 {
		note := deployNote(o)
		note.WaitingFor = "the deploy step to report the failure itself"
		d.wait(left, note)
		return
	}
	if o.Failure == nil {
		readFailure(o, d)
		return
	}
	reason := names.StartAssistedInstall + " failed: " + o.Progress.Failure
	if *o.Failure != "" { // the step has failed, and Ironic is still at its clean-up
		reason = deployFailure(o, *o.Failure)
	}
	fail(o, d, metal3.ProvisioningError, "", reason)
	if !cleaningToBeDisabled(o, d) {
		target(o, d, ironic.TargetDeleted)
	}
}

// hubFailed reports whether the hub has declared this deployment's installation
// failed; its word on an earlier one does not count.
func hubFailed(o *Observed) bool {
	return o.Progress.Failure != "" && o.Progress.FailedAt.After(deploymentBegan(o))
}

// deploymentBegan is when the present deployment began. Its recorded beginning follows that of the node's
// last one, and so may be yet to come where a clock was ahead then: instead it is when Ironic began what it is at.
func deploymentBegan(o *Observed) time.Time {
	began := o.Host.Status.OperationHistory.Provision.Start.Time
	if began.After(o.Now) && o.Node != nil {
		return o.Node.ProvisionUpdatedAt
	}
	return began
}

// deployNote says how far the deployment is.
func deployNote(o *Observed) view.Note {
	step := o.Node.DeployStep
	switch {
	case step.IsZero():
		return withProgress(view.Note{Step: "starting the deployment"}, told(o))
	case step.Name == bootStep:
		return withProgress(view.Note{Step: "booting the live image", WaitingFor: "the machine to report to Ironic"}, told(o))
	}
	note := withProgress(view.Note{Step: step.Name}, told(o))
	if told(o).Stage == "" {
		note.Text = o.Node.Agent.StatusMessage
	}
	return note
}

// withProgress adds what the hub or the image server knows.
func withProgress(n view.Note, p Progress) view.Note {
	if p.Stage == "" {
		return n
	}
	n.Percent = p.Percent
	n.Text = p.Stage
	if p.Text != "" {
		n.Text += " - " + p.Text
	}
	n.WaitingFor = p.WaitingFor
	return n
}

// deployFailed records why a deployment failed. One that a restart of Ironic cut
// off is started again at once, but only one in a row: an image that Ironic cannot
// handle may be what ends it. What was being taken down is taken down: its node
// keeps nothing of what it was to be deployed with. So is a machine that is to be off by now.
func deployFailed(o *Observed, d *Decision) {
	n, ok := o.readNode(d)
	switch {
	case !ok:
		return
	case otherWish(o, n):
		d.event("WishChanged", "the deployment that failed is no longer what the spec asks for; the present wish is carried out")
		startDeprovisioning(o, d)
		return
	}
	reason, known := ironicReason(o, d)
	switch {
	case !known:
	case ironic.FailedByRestart(reason) && o.Node.ProvisionState == ironic.StateError:
		d.warn("IronicRestarted", "Ironic cut the operation off, the machine is given back before it is deployed again: "+reason)
		startDeprovisioning(o, d)
	case ironic.FailedByRestart(reason) && !o.Host.Spec.Online:
		d.warn("IronicRestarted", "Ironic cut the deployment off, and the machine is to be off by now: it is given back, and deployed when it is to be on: "+reason)
		startDeprovisioning(o, d)
	case ironic.FailedByRestart(reason) && failedDeployments(o.Host, &d.Status) == 0:
		d.warn("IronicRestarted", "Ironic cut the deployment off, it is started again: "+reason)
		d.count(Count{Metric: MetricRetries, Labels: []string{"ironic restarted"}})
		if deploy(o, d); attempts(d.Do) {
			countFailedDeployment(o, d)
		}
	default:
		fail(o, d, metal3.ProvisioningError, "", deployFailure(o, reason))
	}
}

// otherWish reports whether the node was asked to deploy something else than the
// spec asks for now. What it was asked for is not known of every node: then it is
// taken for what the spec asks for.
func otherWish(o *Observed, n nodeaction.Read) bool {
	asked, known := nodespec.RecordedWish(n.Node())
	return known && !asked.Same(nodespec.Wanted(o.Host))
}

// deployFailure words a failed deployment: for an image as baremetal-operator
// does, for a custom method by the step's name and its own text.
func deployFailure(o *Observed, reason string) string {
	wish := nodespec.Wanted(o.Host)
	switch {
	case wish.Method != "" || wish.Image == nil:
		return stepFailure(o.Node.UUID, reason)
	case wish.Image.Checksum == "":
		return fmt.Sprintf("Image provisioning failed (url: %s): %s", wish, reason)
	}
	return fmt.Sprintf("Image provisioning failed (url: %s, checksum: %s): %s", wish, ironic.Redact(wish.Image.Checksum), reason)
}

// stepFailure shortens "Deploy step deploy.X failed on node UUID. TEXT" to
// "X failed: TEXT": the node is known from where the text stands.
func stepFailure(uuid, reason string) string {
	rest, found := strings.CutPrefix(reason, "Deploy step deploy.")
	if !found {
		return reason
	}
	step, text, found := strings.Cut(rest, " failed on node "+uuid+". ")
	if !found {
		return reason
	}
	return step + " failed: " + text
}

// deployed records what is on the machine now: what Ironic was asked to deploy,
// which may differ from what the spec says by now. Where that is not known, the
// spec is believed.
func deployed(o *Observed, d *Decision) {
	n, ok := o.readNode(d)
	if !ok {
		return
	}
	if outdated := ours(rebootAnnotations(o.Host)); len(outdated) > 0 {
		// Not meant for the system that is there from now on: it goes before the phase is
		// another one, in which it would restart the machine.
		d.DropAnnotations, d.Again = outdated, true
		return
	}
	wish, known := nodespec.RecordedWish(n.Node())
	if !known {
		wish = nodespec.Wanted(o.Host)
	}
	wish.ToStatus(&d.Status.Provisioning)
	complete(d)
	forgetFailedDeployments(d)
	d.event("ProvisioningComplete", "Provisioning completed: "+wish.String())
	enter(o, d, metal3.StateProvisioned)
}

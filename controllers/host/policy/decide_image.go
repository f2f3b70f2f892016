package policy

import (
	"slices"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/plan"
	"github.com/ironflow/ironflow/controllers/host/policy/nodeaction"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/ironic"
)

// wantsImage reports whether a live image is to be ready before the host goes on.
func wantsImage(o *Observed, n nodeaction.Known) bool {
	return o.Settings.BuildImages && bootsImage(o, n)
}

// namesImage reports whether the node is to name the newest live image: on the way
// to being used, and before it boots one. Any other keeps what it names, so that
// taking a fleet over, or building its images anew, touches nothing.
func namesImage(o *Observed, n nodeaction.Known) bool {
	switch o.State() {
	case metal3.StateRegistering, metal3.StateInspecting, metal3.StateProvisioning:
		return true
	default:
		return bootsImage(o, n)
	}
}

// bootsImage reports whether what comes next boots the live image.
func bootsImage(o *Observed, n nodeaction.Known) bool {
	switch o.State() {
	case metal3.StateInspecting:
		return nodespec.BootsForInspection(o.Host) && o.Inventory == nil
	case metal3.StatePreparing:
		return n.ProvisionState == ironic.StateManageable && o.plan(n).Is == plan.ToDo
	case metal3.StateProvisioning:
		return o.Node.ProvisionState != ironic.StateActive && o.Host.Status.ErrorType != metal3.ProvisioningError
	case metal3.StateProvisioned, metal3.StateExternallyProvisioned:
		// Ironic does not adopt a node that names no live image.
		return n.ProvisionState == ironic.StateManageable && !nodespec.HasImage(n.Node()) || toBeServiced(o, n)
	case metal3.StateDeprovisioning:
		return nodespec.AutomatedClean(o.Host) && o.Node.ProvisionState != ironic.StateAvailable
	default:
		return false
	}
}

// liveImage asks for the host's live image and reports whether it can be used.
func liveImage(o *Observed, d *Decision, n nodeaction.Known) bool {
	switch {
	case o.Image.Ready:
		return true
	case o.Deleting() && !imageMayCome(o):
		return true // the one that the node names has to do
	case !o.Image.Asked:
		d.do(AskImage{nodespec.ImageSpec(o.NodeInput())})
	case o.Image.Error != "":
		if stalledBy(o, causeImage) && o.Host.Status.ErrorMessage == o.Image.Error {
			d.waitNextAttempt(waitImage)
			return false
		}
		fail(o, d, metal3.RegistrationError, causeImage, o.Image.Error)
	case deploysAlready(o, n):
		return true // the one from before will do
	default:
		d.count(Count{Metric: MetricWaitImage})
		after := waitImage
		if o.Deleting() {
			after = min(after, imageDue(o).Sub(o.Now))
		}
		d.wait(after, view.Note{Step: "building the live image", Text: o.Image.Note, WaitingFor: "the PreprovisioningImage to become ready"})
	}
	return false
}

// deploysAlready reports whether a host that is being provisioned can do with the live
// image that its node names: it has been booted, or is of the host's InfraEnv.
func deploysAlready(o *Observed, n nodeaction.Known) bool {
	return o.State() == metal3.StateProvisioning && nodespec.HasImage(n.Node()) &&
		(slices.Contains(o.phase().running, o.Node.ProvisionState) || !o.Image.Relabelled && !o.Image.Unlike)
}

// imageMayCome reports whether the live image of a host that is being deleted is worth
// waiting for: it is being built, and its host was deleted a short while ago. None is
// asked for any more, and what it is made of, such as its InfraEnv, may be going too.
func imageMayCome(o *Observed) bool {
	return o.Image.Asked && o.Image.Error == "" && o.Now.Before(imageDue(o))
}

// imageDue is until when a host that is being deleted waits for its live image.
func imageDue(o *Observed) time.Time { return o.Host.DeletionTimestamp.Add(waitImage) }

// wantsPullSecret reports whether credentials must be read before the node is
// told what to deploy.
func wantsPullSecret(o *Observed) bool {
	return o.State() == metal3.StateProvisioning && nodespec.Deployable(o.Node.ProvisionState) && nodespec.PullSecretName(o.Host.Spec.Image) != ""
}

// pullSecretRead has the credentials read and reports whether they can be used.
func pullSecretRead(o *Observed, d *Decision) bool {
	switch {
	case o.PullSecret == nil:
		d.do(ReadPullSecret{})
	case o.PullSecret.Problem != "":
		fail(o, d, metal3.ProvisioningError, causeSpec, o.PullSecret.Problem)
		if o.PullSecret.Reason != "" {
			d.warn(o.PullSecret.Reason, o.PullSecret.Problem)
		}
		d.count(Count{MetricHostConfigError, []string{"image pull secret"}})
	default:
		return true
	}
	return false
}

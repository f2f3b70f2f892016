package policy

import (
	"fmt"
	"strings"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/ironic"
)

// ImageRead is how far a BMC has read a host's live image.
type ImageRead struct {
	// Known is false when nobody serves the image or nobody looked.
	Known bool
	// Percent of the image that was read at least once, 0 to 100.
	Percent int
	// Last is the time of the last read, zero before the first.
	Last time.Time
}

// told is what others say of the host's work. A live system never reads all of its
// image, so how far that is says nothing more as soon as the live system has called.
func told(o *Observed) Progress {
	if o.Progress.Reading && liveSystemCalled(o) {
		return Progress{}
	}
	return o.Progress
}

// liveSystemCalled reports whether Ironic has heard the live system of this boot: by
// a heartbeat, or because a step runs that only the live system can do.
func liveSystemCalled(o *Observed) bool {
	step := o.Node.DeployStep
	booting := step.IsZero() || step.Name == bootStep
	return o.Node.Agent.URL != "" || !booting || !runningStep(o).IsZero()
}

// runningStep is the clean or service step that runs, as far as that is known: the watch
// does not tell.
func runningStep(o *Observed) ironic.Step {
	n, known := o.InFull()
	switch {
	case !known:
		return ironic.Step{}
	case !n.CleanStep.IsZero():
		return n.CleanStep
	default:
		return n.ServiceStep
	}
}

// bootStep is Ironic's deploy step that boots the live image.
const bootStep = "deploy"

// hintStart begins what completes Ironic's reason of a failure.
const hintStart = " The BMC has "

// bootHint completes Ironic's "timeout" with what the image server saw, because
// Ironic cannot tell a machine that never booted from one whose agent is mute.
// It is empty when the reason is no timeout or nothing is known.
func bootHint(o *Observed, reason string) string {
	if !o.Read.Known || !strings.Contains(strings.ToLower(reason), "timeout") {
		return ""
	}
	switch {
	case o.Read.Last.IsZero() || o.Read.Last.Before(attemptStart(o)):
		return hintStart + "not read the live image: check that virtual media work, and the boot order."
	case o.Read.Percent < 100:
		return fmt.Sprintf(hintStart+"read %d %% of the live image, the last time at %s: check the connection between BMC and image server.",
			o.Read.Percent, o.Read.Last.UTC().Format(time.TimeOnly))
	default:
		return hintStart + "read the whole live image: look at the machine's console, and whether it reaches Ironic."
	}
}

// attemptStart is when the present operation began; zero when unknown.
func attemptStart(o *Observed) time.Time {
	history := o.Host.Status.OperationHistory
	switch o.State() {
	case metal3.StateInspecting:
		return history.Inspect.Start.Time
	case metal3.StateProvisioning:
		return deploymentBegan(o)
	case metal3.StateDeprovisioning:
		return history.Deprovision.Start.Time
	default:
		return time.Time{}
	}
}

package bmchealth

import (
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
)

const (
	// lookAgain is how soon what looks different is confirmed.
	lookAgain = time.Minute
	// askedAgain is between two readings that BMCs ask for: what one says in a row, and
	// one that goes mad, costs no more.
	askedAgain = 30 * time.Second
	// getReady is how long a host may take to get ready, before its parts are read for
	// the first time all the same. Its BMC has more to do with Ironic's requests until
	// then, and the parts come and go with each boot.
	getReady = 5 * time.Minute
)

// due is when the next reading is.
func (r *reconciler) due(h *metal3.BareMetalHost, b *v1alpha1.BMC, last kept) time.Time {
	switch {
	case !last.read.IsZero():
		return last.read.Add(r.interval(b, last))
	case getsReady(h) && !r.wasAsked(kclient.ObjectKeyFromObject(h)):
		return b.Status.Report.Time.Add(getReady)
	default:
		return time.Time{}
	}
}

// getsReady reports a host that Ironic gets to know and prepares.
func getsReady(h *metal3.BareMetalHost) bool {
	switch h.Status.Provisioning.State {
	case metal3.StateRegistering, metal3.StateMatchProfile, metal3.StateInspecting, metal3.StatePreparing:
		return true
	default:
		return false
	}
}

// interval is the time until the next reading.
func (r *reconciler) interval(b *v1alpha1.BMC, k kept) time.Duration {
	every := r.options.Interval
	switch {
	case r.wasAsked(kclient.ObjectKeyFromObject(b)):
		return min(askedAgain, every)
	case k.past.Pending():
		return min(lookAgain, every)
	case r.options.WithEvents > 0 && tells(b) && !k.past.Touring && !k.silent: // a BMC tells of changes, not of what was there before
		return max(every, r.options.WithEvents)
	default:
		return every
	}
}

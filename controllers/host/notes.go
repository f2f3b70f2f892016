package host

import (
	"time"

	"github.com/ironflow/ironflow/controllers/host/policy"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
)

// Writes that say nothing but how far a host is: at most so many a second for all
// hosts together, and a burst of the first, so that a rack at work is shown at once
// and a fleet at work does not wait for its own reports; still fewer while some
// have not begun.
const (
	notesPerSecond = 10
	notesBurst     = 50
	// noteInCrowd is for how many a note counts while hosts stand before the entrance: it
	// costs the API server as much as to begin with one of them.
	noteInCrowd = 5
)

const (
	// noteSoon is how soon a host is looked at of which there is at most something to
	// tell: by then the cache shows what was written of it last, for which the pass
	// would hold a worker, and often there is something better to tell.
	noteSoon = 2 * time.Second
	// noteLater is how soon a note that was put off is looked at again.
	noteLater = 10 * time.Second
)

func newNotes() *rate.Limiter { return rate.NewLimiter(notesPerSecond, notesBurst) }

// onlyNote reports whether nothing but the text of the Progressing condition
// differs.
func onlyNote(before, after *metal3.BareMetalHost) bool {
	was := meta.FindStatusCondition(before.Status.Conditions, metal3.ProgressingCondition)
	is := meta.FindStatusCondition(after.Status.Conditions, metal3.ProgressingCondition)
	if was == nil || is == nil || was.Message == is.Message {
		return false
	}
	same := policy.CopyStatus(after.Status)
	same.LastUpdated = before.Status.LastUpdated
	if c := meta.FindStatusCondition(same.Conditions, metal3.ProgressingCondition); c != nil {
		c.Message = was.Message
	}
	return equality.Semantic.DeepEqualWithNilDifferentFromEmpty(&before.Status, &same)
}

// putOff reports whether a difference may wait.
func (p *pass) putOff() bool {
	p.later = onlyNote(p.saver.Before(), p.o.Host) && !p.notes.AllowN(time.Now(), p.noteCosts())
	return p.later
}

// noteCosts is how many of the notes that are allowed one takes now.
func (r *Reconciler) noteCosts() int {
	if r.entrance.crowded() {
		return noteInCrowd
	}
	return 1
}

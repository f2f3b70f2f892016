package unit

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/ironflow/ironflow/hub/store"
)

// jobChange is a job as it was read, and what is to become of it.
type jobChange struct {
	// job is nil where there is none.
	job *store.Job
	// changed tells that it is stored, or removed when job is nil; before is what is removed.
	changed bool
	before  store.Ref
}

// jobID names work; there is one of a kind for a subject at a time.
func jobID(kind, subject string) string { return kind + "/" + subject }

func (w *Work) job(id string) (*jobChange, error) {
	if c, ok := w.jobs[id]; ok {
		return c, nil
	}
	j, err := w.Reader.Job(id)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	c := &jobChange{before: store.Ref{Kind: store.KindJob, ID: id}}
	if err == nil {
		c.job, c.before = j, j.Ref()
	}
	w.jobs[id] = c
	return c, nil
}

// Want has slow work done once the unit is stored, outside of all transactions
// (hub/jobs). Earlier work of the kind for the subject is called off.
func (w *Work) Want(kind, subject string) error {
	c, err := w.job(jobID(kind, subject))
	if err != nil {
		return err
	}
	c.changed = true
	c.job = &store.Job{Version: c.before.Version, ID: c.before.ID, Kind: kind, Subject: subject, NotBefore: w.Now}
	w.Announce(store.Change{What: store.ChangedJob})
	return nil
}

// IsWanted reports whether there is work of the kind for the subject.
func (w *Work) IsWanted(kind, subject string) (bool, error) {
	c, err := w.job(jobID(kind, subject))
	return err == nil && c.job != nil, err
}

// WantAgain has work done again whose outcome the unit applies, not before a moment.
func (w *Work) WantAgain(kind, subject string, at time.Time) error {
	if err := w.Want(kind, subject); err != nil {
		return err
	}
	w.jobs[jobID(kind, subject)].job.NotBefore = at
	return nil
}

// CallOff calls work off, if there is some.
func (w *Work) CallOff(kind, subject string) error {
	c, err := w.job(jobID(kind, subject))
	if err != nil || c.job == nil {
		return err
	}
	c.changed, c.job = true, nil
	w.Announce(store.Change{What: store.ChangedJob})
	return nil
}

// Ended removes a job whose outcome the unit applies. It reports false where the work
// was called off or is done by somebody else: its outcome counts for nothing.
func (w *Work) Ended(j store.Job) (bool, error) {
	c, err := w.job(j.ID)
	if err != nil || c.job == nil || c.job.Version != j.Version {
		return false, err
	}
	c.changed, c.job = true, nil
	return true, nil
}

// finishJobs fills the unit with what has become of jobs.
func (w *Work) finishJobs() {
	for _, id := range slices.Sorted(maps.Keys(w.jobs)) {
		switch c := w.jobs[id]; {
		case !c.changed:
		case c.job != nil:
			w.unit.Jobs = append(w.unit.Jobs, c.job)
		default:
			w.Remove(c.before)
		}
	}
}

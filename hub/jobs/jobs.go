// Package jobs does slow work outside of transactions and requests.
//
// A unit of work that wants something slow stores a [store.Job] with its other
// records. A program claims it, does it, and hands the outcome to [Kind.End], which
// applies it in a unit that also removes the job at the version that was claimed. So
// work may be done more than once, by a program that was killed and by the next one,
// and its outcome is applied once. Who removes a job calls the work off. A claim
// counts as long as the program's lease does (hub/leases). [Run] does all of it.
package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/ironflow/ironflow/hub/store"
)

// MaxAttempts is how often a job is begun before it is given up.
const MaxAttempts = 8

const (
	// firstPause is the pause before the second attempt; it doubles up to longestPause.
	firstPause, longestPause = time.Second, time.Minute
	// longest is how long one attempt may take.
	longest = 15 * time.Minute
	// workers is how many jobs a program does at a time.
	workers = 4
	// again is when jobs are looked for that nobody announced.
	again = 10 * time.Second
)

// ErrGivenUp is the failure of a job whose attempts were all cut short: the programs
// that did it ended.
var ErrGivenUp = errors.New("the hub was ended each time while it did this")

// Kind is work of one kind.
type Kind struct {
	// Do does the slow part. It changes no record, may be done more than once, and
	// ends with its context. An error that the next attempt may not meet is returned
	// as failure; anything else is an outcome.
	Do func(context.Context, store.Job) (outcome any, failure error)
	// End applies what came of it: the outcome, or the failure of the last attempt. It
	// does so in one unit of work that also removes the job at its version, and does
	// nothing when there is no such job any more.
	End func(ctx context.Context, j store.Job, outcome any, failure error) error
}

// Options say what is done. All members are required.
type Options struct {
	// Store has the jobs.
	Store store.Store
	// Holder is the name of this program's lease.
	Holder string
	// Kinds are the jobs that this program can do, by [store.Job.Kind].
	Kinds map[string]Kind
	// Now is the clock.
	Now func() time.Time
	// Log is told what failed.
	Log *slog.Logger
}

// Run does jobs until ctx ends. It returns when all of its workers have ended.
func Run(ctx context.Context, o Options) {
	r := &runner{Options: o, wake: make(chan struct{}, 1), running: map[string]*claim{}}
	defer r.all.Wait()
	defer o.Store.Watch(r.hear)()
	timer := time.NewTimer(again)
	defer timer.Stop()
	for ctx.Err() == nil {
		pause, err := r.pass(ctx)
		if err != nil && ctx.Err() == nil {
			o.Log.Error("jobs could not be claimed; the hub tries again", "error", err)
		}
		timer.Reset(pause)
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-r.wake:
		}
	}
}

// runner is one program that does jobs.
type runner struct {
	Options
	wake chan struct{}
	all  sync.WaitGroup

	mu sync.Mutex
	// running are this program's claims by the job's id.
	running map[string]*claim
}

// claim is a job that this program does.
type claim struct {
	version int64
	callOff context.CancelFunc
}

// hear wakes the runner when jobs may have changed.
func (r *runner) hear(changes []store.Change) {
	for _, c := range changes {
		if c.What == store.ChangedJob || c.What == store.ChangedAll {
			r.again()
			return
		}
	}
}

// again has the runner look at the jobs once more.
func (r *runner) again() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// pass ends what was called off and begins what waits, and returns when there may be
// something to do even if nobody says so.
func (r *runner) pass(ctx context.Context) (time.Duration, error) {
	free := workers - r.count()
	var held, waiting []*store.Job
	err := r.Store.View(ctx, func(read *store.Reader) (err error) {
		if held, err = read.JobsOf(r.Holder); err != nil || free == 0 {
			return err
		}
		waiting, err = read.WaitingJobs(free)
		return err
	})
	if err != nil {
		return again, err
	}
	for _, j := range r.callOff(held) {
		if err := r.begin(ctx, j); err != nil {
			return again, err
		}
	}
	for _, j := range waiting {
		if wait := j.NotBefore.Sub(r.Now()); wait > 0 {
			return min(wait, again), nil // those behind it are not due either
		}
		if err := r.begin(ctx, j); err != nil {
			return again, err
		}
	}
	return again, nil
}

// count is how many jobs are being done.
func (r *runner) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.running)
}

// callOff ends the work on jobs that are not this program's any more. It returns
// those that it holds and does not do: they could not be put back.
func (r *runner) callOff(held []*store.Job) (left []*store.Job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	versions := map[string]int64{}
	for _, j := range held {
		versions[j.ID] = j.Version
		if r.running[j.ID] == nil {
			left = append(left, j)
		}
	}
	for id, c := range r.running {
		if versions[id] != c.version {
			c.callOff()
		}
	}
	return left
}

// begin claims a job and starts to do it. Where somebody else was faster, nothing happens.
func (r *runner) begin(ctx context.Context, j *store.Job) error {
	j.Holder = r.Holder
	j.Attempts++
	if err := r.Store.Commit(ctx, &store.Unit{Jobs: []*store.Job{j}}); err != nil {
		if errors.Is(err, store.ErrConflict) {
			return nil
		}
		return err
	}
	work, callOff := context.WithCancel(ctx)
	r.mu.Lock()
	r.running[j.ID] = &claim{j.Version, callOff}
	r.mu.Unlock()
	r.all.Go(func() {
		defer r.again()
		r.do(work, j)
		callOff()
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.running, j.ID)
	})
	return nil
}

// do does a job once.
func (r *runner) do(ctx context.Context, j *store.Job) {
	kind, known := r.Kinds[j.Kind]
	if !known {
		j.Attempts--
		r.postpone(ctx, j, fmt.Errorf("this version of the hub knows no job %q; another replica has to do it", j.Kind))
		return
	}
	var outcome any
	failure := ErrGivenUp
	if j.Attempts <= MaxAttempts {
		limited, cancel := context.WithTimeoutCause(ctx, longest, errors.New("it took longer than "+longest.String()))
		outcome, failure = kind.Do(limited, *j)
		cancel()
	}
	if ctx.Err() != nil {
		return // called off, or done by the next program
	}
	if failure != nil && j.Attempts < MaxAttempts {
		r.postpone(ctx, j, failure)
		return
	}
	if err := kind.End(ctx, *j, outcome, failure); err != nil && ctx.Err() == nil {
		r.postpone(ctx, j, fmt.Errorf("its outcome could not be stored: %w", err))
	}
}

// postpone puts a job back, to be begun again after a pause.
func (r *runner) postpone(ctx context.Context, j *store.Job, why error) {
	pause := longestPause
	if j.Attempts < 7 {
		pause = min(firstPause<<max(j.Attempts-1, 0), longestPause)
	}
	r.Log.Warn("a job failed; the hub does it again", "job", j.ID, "attempt", j.Attempts, "pause", pause, "error", why)
	j.Holder, j.NotBefore, j.Reason = "", r.Now().Add(pause), why.Error()
	err := r.Store.Commit(ctx, &store.Unit{Jobs: []*store.Job{j}, Changes: []store.Change{{What: store.ChangedJob}}})
	if err != nil && !errors.Is(err, store.ErrConflict) && ctx.Err() == nil {
		r.Log.Error("a job could not be put back; the hub does it again soon", "job", j.ID, "error", err)
	}
}

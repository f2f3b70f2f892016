// Package poll asks the hub for instructions, starts the steps and says when to
// ask again. The hub's next_instruction_seconds is the longest delay. After a
// change (a reply that the hub took, another set of steps) the loop asks again
// soon, and then ever more slowly: states that follow each other in seconds cost
// no minutes. The hub says the shortest delay, see [wire.HeaderPollGap].
package poll

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/ironflow/ironflow/agent/backoff"
	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/hub/wire"
)

const (
	// minGap is the shortest time between two polls, whatever a hub says.
	minGap = 2 * time.Second
	// silentGap is the same for a hub that says nothing: nobody knows how many
	// others ask it.
	silentGap = 5 * time.Second
	// slowness is how many times longer than the hub's last answer has taken it
	// is left alone: a hub that is slow has enough to do.
	slowness = 5
	// later and earlier spread the polls of agents that were started together:
	// soon polls come up to a quarter later, slow ones up to a tenth earlier.
	later, earlier = 0.25, 0.1
	// defaultDelay is taken when the hub names none: existing hubs answer an
	// empty object when they could not build the steps.
	defaultDelay = time.Minute
	// maxDelay bounds what a hub can ask for.
	maxDelay = time.Hour
	// giveUp is how long polls may fail before the agent registers again.
	giveUp = 15 * time.Minute
	// goneDelay is waited after a 404 before registering again.
	goneDelay = time.Minute
	// dateJump is a change of the hub's clock against ours that means another hub.
	dateJump = 5 * time.Minute
)

// failed polls are repeated with these delays.
var retry = backoff.Policy{First: 500 * time.Millisecond, Factor: 1.5, Max: time.Minute, Jitter: 0.5}

// Hub is the part of the hub that polling needs.
type Hub interface {
	Instructions(ctx context.Context, h hubclient.Host, now time.Time) (hubclient.Instructions, error)
	ReloadToken() bool
}

// Again tells why the host must register again, and how long to wait before.
type Again struct {
	After  time.Duration
	Reason string
	// Exit is true when the hub said so: what runs is to end before.
	Exit bool
}

// Loop polls for one registered host.
type Loop struct {
	Hub  Hub
	Host hubclient.Host
	// Dispatch starts a step; it must not block.
	Dispatch func(step wire.Step)
	// Forget is called when the hub may have lost what it was told.
	Forget func()
	// Changed wakes the loop after a reply that the hub did not know.
	Changed <-chan struct{}
	// Busy tells whether an installation runs: then the loop never gives up.
	Busy func() bool
	// Status tells people what is waited for; it is not called while Busy.
	Status func(text string)
	// Entered is told each new situation, before its steps are dispatched.
	Entered func(Situation)
	// Answered, if set, is told of each good answer and how long it took.
	Answered func(took time.Duration)
	// Leave ends the loop with the reason that it carries; nil never does.
	Leave <-chan string
	// Random spreads the polls, [0, 1); nil is chance.
	Random func() float64
	Log    *slog.Logger

	gap       time.Duration
	situation Situation
	changedAt time.Time
	skew      time.Duration
	skewKnown bool
}

// Run polls until the host has to register again (nil error) or the context ends.
func (l *Loop) Run(ctx context.Context) (Again, error) {
	if l.Random == nil {
		l.Random = backoff.Random
	}
	failures, failingSince := 0, time.Time{}
	l.changedAt = time.Now()
	for {
		started := time.Now()
		answer, err := l.Hub.Instructions(ctx, l.Host, started)
		if ctx.Err() != nil {
			return Again{}, context.Cause(ctx)
		}
		if err != nil {
			if failures++; failures == 1 {
				failingSince = started
			}
			if again, end := l.failed(err, time.Since(failingSince)); end {
				return again, nil
			}
			// A hub that has kept us waiting in vain has enough to do.
			delay := hubclient.Delay(err, max(retry.Delay(failures, l.Random()), min(time.Since(started), time.Minute)))
			if err := sleep(ctx, delay); err != nil {
				return Again{}, err
			}
			continue
		}
		failures = 0
		took := time.Since(started)
		if l.Answered != nil {
			l.Answered(took)
		}
		l.gap = gapOf(answer, took)
		l.took(answer)
		if exits(answer.Steps) {
			return Again{After: delayOf(answer.Steps, 0), Reason: Moving.Text(), Exit: true}, nil
		}
		reason, err := l.wait(ctx, started, delayOf(answer.Steps, defaultDelay))
		if err != nil || reason != "" {
			return Again{Reason: reason}, err
		}
	}
}

// failed handles a failed poll; true means that the host registers again.
func (l *Loop) failed(err error, since time.Duration) (Again, bool) {
	l.Forget()
	l.skewKnown = false
	l.Log.Warn("poll failed", "error", err, "since", since.Round(time.Second))
	busy := l.Busy()
	if !busy {
		l.Status(fmt.Sprintf("registered, but polling fails: %v", err))
	}
	switch code := hubclient.Code(err); {
	case code == http.StatusUnauthorized:
		l.Hub.ReloadToken()
	case code == http.StatusNotFound && !busy:
		return Again{After: goneDelay, Reason: "the hub does not know this host any more; registering again"}, true
	}
	if since >= giveUp && !busy {
		return Again{Reason: "the hub could not be polled for 15 minutes; registering again"}, true
	}
	return Again{}, false
}

// took handles a good answer.
func (l *Loop) took(answer hubclient.Instructions) {
	if !answer.Date.IsZero() {
		skew := time.Until(answer.Date)
		if l.skewKnown && (skew-l.skew).Abs() > dateJump {
			l.Log.Warn("the hub's clock jumped; everything is reported again")
			l.Forget()
		}
		l.skew, l.skewKnown = skew, true
	}
	if now := SituationOf(answer.Steps); now != l.situation {
		l.Log.Info("the hub sees the host in another situation", "was", l.situation, "is", now)
		l.situation, l.changedAt = now, time.Now()
		l.Entered(now)
	}
	if !l.Busy() {
		l.Status(l.situation.Text())
	}
	for _, step := range answer.Instructions {
		l.Dispatch(step)
	}
}

// wait sleeps until the next poll; a text is the reason to register again. The
// longer nothing has changed, the longer the delay, up to the hub's own.
func (l *Loop) wait(ctx context.Context, started time.Time, bound time.Duration) (string, error) {
	random := l.Random()
	timer := time.NewTimer(time.Until(started.Add(l.delay(bound, random))))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-timer.C:
			return "", nil
		case reason := <-l.Leave:
			if l.Busy() { // to register now would fail the installation
				continue
			}
			return reason, nil
		case <-l.Changed:
			l.changedAt = time.Now()
			timer.Reset(time.Until(started.Add(l.delay(bound, random))))
		}
	}
}

func (l *Loop) delay(bound time.Duration, random float64) time.Duration {
	soon := scale(max(time.Since(l.changedAt), l.gap), 1+later*random)
	return max(min(soon, scale(bound, 1-earlier*random)), l.gap)
}

func scale(d time.Duration, factor float64) time.Duration { return time.Duration(float64(d) * factor) }

// gapOf is the least time to the next poll after an answer that took so long.
func gapOf(answer hubclient.Instructions, took time.Duration) time.Duration {
	gap := answer.Gap
	if gap <= 0 {
		gap = silentGap
	}
	return min(max(gap, minGap, slowness*took), time.Minute)
}

// delayOf is the hub's delay, within bounds; absent is for a member left out.
func delayOf(steps wire.Steps, absent time.Duration) time.Duration {
	if steps.NextInstructionSeconds <= 0 {
		return absent
	}
	return min(time.Duration(min(steps.NextInstructionSeconds, int64(maxDelay/time.Second)))*time.Second, maxDelay)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

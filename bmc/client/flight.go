package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// flight is a login that is under way; all who need one wait for it.
type flight struct {
	done   chan struct{}
	logins int
	err    error
}

// takeOff starts a login with at most so many tries; the lock is held. It counts as its
// caller's, and goes on when that gives up: a session whose answer nobody hears would be lost.
func (a *auth) takeOff(ctx context.Context, tries int) {
	old := a.session
	a.session = nil
	if old != nil && a.now().Sub(old.used) >= idleTime {
		old = nil // it has ended by itself, and BMCs bear few requests
	}
	known := a.proven
	f := &flight{done: make(chan struct{})}
	a.flight = f
	ctx = context.WithoutCancel(ctx) // each request has a deadline of its own
	go func() {
		if old != nil && old.path != "" {
			// By its own token: it works only if the session is alive, and still ours.
			_ = a.logout(ctx, old)
		}
		opened, presented, err := a.attempt(ctx, f, max(tries, 1), known)
		if a.land(f, opened, presented, err) {
			_ = a.logout(ctx, opened)
		}
	}()
}

// attempt logs in, twice at most, and only once with a password that was not right before, as
// far as one refusal of it proves something.
func (a *auth) attempt(ctx context.Context, f *flight, tries int, known bool) (opened *session, presented bool, err error) {
	for {
		opened, presented, err = a.login(ctx)
		if presented {
			f.logins++
		}
		if !known && !a.fickle.Load() {
			tries = 1
		}
		if KindOf(err) != Credentials || f.logins >= tries || pause(ctx, chancePause) != nil {
			return opened, presented, err
		}
	}
}

// land takes the result of a login. It reports whether the new session is nobody's,
// because the client was closed meanwhile.
func (a *auth) land(f *flight, opened *session, presented bool, err error) (unwanted bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	defer close(f.done)
	a.flight = nil
	if a.left {
		return err == nil
	}
	e, is := errors.AsType[*Error](err)
	switch {
	case err == nil:
		a.session, a.proven, a.denied, a.hold, a.mustPath = opened, true, 0, nil, opened.account
		opened.used = a.now()
		a.log.Debug("session opened")
	case !is || !presented && !errors.Is(e, errNoSessions):
		f.err = err
	case e.Kind == Credentials, e.Kind == LockedOut:
		f.err = a.final(e)
	case withoutSession(e) > 0:
		a.basic = a.now().Add(withoutSession(e))
		a.log.Info("BMC gives no session; basic authentication is used for a while", "err", e)
	case e.Status != 0: // whatever it means, the BMC may count it
		e.RetryAfter = max(e.RetryAfter, holdTime)
		a.hold, a.holdEnd, f.err = e, a.now().Add(holdTime), e
	default:
		f.err = e
	}
	return false
}

// withoutSession is for how long a refused login means to go without a session; 0:
// it means something else.
func withoutSession(e *Error) time.Duration {
	switch {
	case e.Kind == NotSupported:
		return noSessionsTime
	case e.Kind != Busy || e.Status == 0 || e.Status == http.StatusTooManyRequests:
		return 0
	case shortID(e.MessageID) == "ServiceTemporarilyUnavailable":
		return busySessionsTime
	}
	return fullTime
}

// final makes a refusal the last one, that of a lock for an hour; the lock is held.
func (a *auth) final(e *Error) *Error {
	own := *e
	if own.Kind == LockedOut {
		a.lockEnd = a.now().Add(lockTime)
		own.RetryAfter = lockTime
		own.Message = fmt.Sprintf("the BMC has locked the user out, and no login is tried for %s or until the credentials change: see who logs in with a wrong password", lockTime)
	} else {
		own.Message = "the BMC refuses the user name or the password, and no login is tried until they change: correct them"
	}
	if e.Message != "" {
		own.Message += " (it says: " + e.Message + ")"
	}
	a.verdict = &own
	a.log.Warn("BMC refuses the login; it is not tried again", "err", &own)
	return &own
}

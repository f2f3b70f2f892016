package client

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// credential is what a request proves its right with; the zero value is nothing.
type credential struct {
	token              string
	username, password string
	basic              bool
}

func (as credential) apply(header http.Header) {
	switch {
	case as.token != "":
		header.Set(tokenHeader, as.token)
	case as.basic:
		r := http.Request{Header: header}
		r.SetBasicAuth(as.username, as.password)
	}
}

const tokenHeader = "X-Auth-Token" //nolint:gosec // a header's name

// auth holds what a client knows of its session and its credentials. It sees to it
// that a wrong password is tried once, and one that was right before twice: more
// would lock the account. Whoever refuses right ones now and then is asked twice, too.
type auth struct {
	target Target
	now    func() time.Time
	log    *slog.Logger
	// login opens a session; logout ends one that was ours.
	// presented says that the BMC was shown the password.
	login  func(ctx context.Context) (opened *session, presented bool, err error)
	logout func(ctx context.Context, s *session) error

	// gate lets requests with the password through one by one.
	gate chan struct{}
	// fickle says that one refusal of a password proves nothing.
	fickle atomic.Bool

	mu       sync.Mutex
	closed   bool
	left     bool // whoever closed did not wait for the login
	session  *session
	basic    time.Time // until then without sessions
	proven   bool      // the password was right at some time
	denied   int       // refusals of the password in a row
	verdict  *Error    // no login until the target changes, or until then
	lockEnd  time.Time // when a verdict of a lock ends; zero for others
	hold     *Error    // no login until holdEnd
	holdEnd  time.Time
	flight   *flight
	mustPath string // of the account whose password must be changed
}

// session is a session of ours.
type session struct {
	token, path string
	// account is set when the BMC wants the password changed first.
	account string
	// used is when the BMC last took the token.
	used time.Time
}

const (
	// maxLogins is how often a call may present the password.
	maxLogins = 2
	// lockTime is how long nothing is tried after the BMC has locked the user out: longer
	// than the locks that are known, so that the next login prolongs none.
	lockTime = time.Hour
	// holdTime is how long a login that was refused for another reason than the
	// password is not repeated.
	holdTime = time.Minute
	// chancePause is the pause before a request is repeated that was refused by chance.
	chancePause = time.Second
	// idleTime is how long a session is not used before a refusal of its token means that
	// it has ended: no known BMC ends them sooner.
	idleTime = 25 * time.Second
	// How long sessions are not tried again: where there are none, where the table is
	// full, and where the service was busy.
	noSessionsTime   = time.Hour
	fullTime         = 5 * time.Minute
	busySessionsTime = 30 * time.Second
)

// pass is what one call has used of its chances.
type pass struct {
	logins    int    // passwords presented on its behalf, over all its tries
	anonymous bool   // try without credentials first
	stale     string // the token that was refused
	renewed   bool   // a login was waited for
	repeats   int    // of requests with a good token
	wait      time.Duration
}

// again is the pass of another try of the same call.
func (p pass) again(k call) pass { return pass{logins: p.logins, anonymous: open(k.path)} }

// credential waits for what a request may use. The returned function is called
// after the request.
func (a *auth) credential(ctx context.Context, p *pass) (credential, func(), error) {
	for {
		as, running, err := a.look(ctx, p)
		if err != nil {
			return credential{}, nil, err
		}
		if running == nil {
			if !as.basic {
				return as, func() {}, nil
			}
			done, ok, err := a.guard(ctx)
			if err != nil || ok {
				return as, done, err
			}
			continue // it turned out while waiting
		}
		select {
		case <-running.done:
		case <-ctx.Done():
			return credential{}, nil, context.Cause(ctx)
		}
		p.logins, p.renewed = p.logins+running.logins, true
		if running.err != nil {
			return credential{}, nil, running.err
		}
	}
}

// look decides what a request may use now, or which login it has to wait for.
func (a *auth) look(ctx context.Context, p *pass) (credential, *flight, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	held := a.session != nil && (p.renewed || a.session.token != p.stale)
	switch {
	case a.closed:
		return credential{}, nil, errClosed()
	case a.target.Username == "":
		return credential{}, nil, nil
	case p.anonymous && held:
		return credential{token: a.session.token}, nil, nil
	case p.anonymous:
		return credential{}, nil, nil
	case a.refused(now) != nil:
		return credential{}, nil, a.refused(now)
	case a.target.Basic || now.Before(a.basic):
		return a.password(), nil, nil
	case held:
		return credential{token: a.session.token}, nil, nil
	case a.hold != nil && now.Before(a.holdEnd):
		return credential{}, nil, a.hold
	case a.flight == nil && p.logins >= maxLogins:
		return credential{}, nil, &Error{Kind: Refused, Status: http.StatusUnauthorized, Message: "the BMC does not accept the session that it has just opened"}
	case a.flight == nil:
		a.takeOff(ctx, maxLogins-p.logins)
	}
	return credential{}, a.flight, nil
}

// refused is why no login is tried, if so; the lock is held. A lock ends, and whose
// password was right before has to prove it anew.
func (a *auth) refused(now time.Time) *Error {
	switch {
	case a.verdict == nil || a.lockEnd.IsZero():
		return a.verdict
	case now.Before(a.lockEnd):
		own := *a.verdict
		own.RetryAfter = a.lockEnd.Sub(now)
		return &own
	}
	a.verdict, a.lockEnd, a.denied, a.proven = nil, time.Time{}, 0, false
	return nil
}

func (a *auth) password() credential {
	return credential{basic: true, username: a.target.Username, password: string(a.target.Password)}
}

// guard lets one request at a time show the password: were it wrong, many at once
// would lock the account. ok is false when the state has changed while it waited.
func (a *auth) guard(ctx context.Context) (done func(), ok bool, err error) {
	if done, err = acquire(ctx, a.gate); err != nil {
		return nil, false, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.refused(a.now()) != nil || a.closed {
		done()
		return nil, false, nil
	}
	return done, true, nil
}

// judge looks at what came of a request. again means: once more, after p.wait. A
// verdict replaces the answer.
func (a *auth) judge(p *pass, k call, as credential, err error) (again bool, verdict error) {
	p.wait = 0
	e, is := errors.AsType[*Error](err)
	if !is || e.Status != http.StatusUnauthorized && !e.noSession(as) {
		if err == nil || is && e.Status != 0 {
			a.used(as)
		}
		if err == nil && as.basic && !open(k.path) {
			a.mu.Lock()
			a.proven, a.denied = true, 0
			a.mu.Unlock()
		}
		return false, nil
	}
	switch {
	case a.target.Username == "":
		return false, &Error{Kind: Credentials, Status: e.Status, Message: "the BMC asks for credentials: give a user name and a password", Messages: e.Messages, cause: e}
	case as == credential{}:
		p.anonymous = false
		return true, nil
	case as.basic:
		return a.denyBasic(p, e)
	case p.stale == "":
		p.stale, p.anonymous = as.token, false
		return true, nil
	case p.repeats == 0:
		p.repeats++
		p.wait = chancePause
		return true, nil
	}
	e.Kind = Refused // the login worked: it is not the password
	e.Message = "the login works, but the BMC does not let this user do it: " + e.Message
	return false, nil
}

// noSession reports a refusal that is not of the right to do something, but of a session that
// is none any more: bmcweb says so with a status of 403.
func (e *Error) noSession(as credential) bool {
	return !as.basic && e.Status == http.StatusForbidden && strings.EqualFold(shortID(e.MessageID), "NoValidSession")
}

// used notes that the BMC has taken a token.
func (a *auth) used(as credential) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.session != nil && as.token == a.session.token {
		a.session.used = a.now()
	}
}

// denyBasic counts a refused password.
func (a *auth) denyBasic(p *pass, e *Error) (bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	p.logins++
	a.denied++
	if e.Kind != LockedOut {
		e.Kind = Credentials
	}
	if !a.proven && !a.fickle.Load() || a.denied >= maxLogins || e.Kind == LockedOut {
		return false, a.final(e)
	}
	p.wait = chancePause
	return p.logins < maxLogins, nil
}

// troubled reports that something is remembered against the credentials.
func (a *auth) troubled() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.verdict != nil || a.hold != nil
}

// account is the path of the account whose password must be changed first.
func (a *auth) account() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.mustPath
}

// close forbids further logins, waits for the one under way, and hands out the
// session.
func (a *auth) close(ctx context.Context) (*session, error) {
	for {
		a.mu.Lock()
		a.closed = true
		running := a.flight
		if running == nil {
			held := a.session
			a.session = nil
			a.mu.Unlock()
			return held, nil
		}
		a.mu.Unlock()
		select {
		case <-running.done:
		case <-ctx.Done():
			a.mu.Lock()
			a.left = true
			a.mu.Unlock()
			return nil, context.Cause(ctx)
		}
	}
}

package client

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// call is one thing that a BMC is asked for.
type call struct {
	method, path string
	body         []byte
	header       http.Header // beyond those that every request has
	secrets      []string    // of the body
	// login says that credentials are the point of the call.
	login bool
	// turns are whose turn it takes; nil: that of logins.
	turns *turns
}

// ErrClosed is what a call of a closed client wraps.
var ErrClosed = errors.New("the client is closed: ask the pool for the one of now")

func errClosed() *Error {
	return &Error{Kind: Unreachable, Message: ErrClosed.Error(), cause: ErrClosed}
}

// run makes a call, again where a rule says so.
func (c *Client) run(ctx context.Context, k call) (*Answer, error) {
	t, p := tried{}, pass{}
	if k.method == http.MethodDelete {
		c.fresh.forget(k.path) // it is missing for another reason from now on
	}
	for {
		p = p.again(k)
		answer, err := c.authorized(ctx, k, &p)
		if err == nil {
			c.learn(k, answer)
			return answer, nil
		}
		e, is := errors.AsType[*Error](err)
		if !is {
			return nil, err
		}
		wait, again := t.next(k, e, c.fresh.has(k.path, c.options.Now()))
		if !again || pause(ctx, wait) != nil {
			return nil, err
		}
	}
}

// learn keeps what later calls need of an answer.
func (c *channel) learn(k call, answer *Answer) {
	if k.method == http.MethodGet {
		if answer.Status == http.StatusOK {
			c.tags.put(k.path, tagOf(answer.Header, func() string { return bodyTag(answer.Body) }))
			c.learnSessions(k, answer)
		}
		return
	}
	if k.method == http.MethodPatch || k.method == http.MethodDelete || k.method == http.MethodPut {
		tag := ""
		if answer.Status == http.StatusOK {
			tag = tagOf(answer.Header, nil)
		}
		c.tags.put(k.path, tag)
	}
	if to := answer.Location(); to != "" {
		c.fresh.add(to, c.options.Now())
	}
}

// settling is how long a new resource may be missing.
const settling = time.Minute

// authorized makes a call with credentials. A session that is gone is renewed once;
// a 401 that follows is asked again once, for some BMCs send it by chance.
func (c *Client) authorized(ctx context.Context, k call, p *pass) (*Answer, error) {
	for {
		if err := c.closed(k); err != nil {
			return nil, err
		}
		as, done, err := c.auth.credential(ctx, p)
		if err != nil {
			return nil, c.about(k, err)
		}
		answer, err := c.exchange(ctx, k, as)
		again, verdict := c.auth.judge(p, k, as, err)
		done()
		switch {
		case verdict != nil:
			return nil, c.about(k, verdict)
		case !again:
			return answer, c.mustChange(err)
		case pause(ctx, p.wait) != nil:
			return nil, err
		}
	}
}

// mustChange turns a refusal into the demand that the login came with.
func (c *channel) mustChange(err error) error {
	e, is := errors.AsType[*Error](err)
	if !is || e.Status != http.StatusForbidden {
		return err
	}
	account := c.auth.account()
	switch {
	case account == "":
	case e.Kind == PasswordChange && len(e.Args) == 0, e.Kind == Refused:
		e.Kind, e.Args = PasswordChange, []string{account}
	}
	return err
}

// about gives an error of the client's own the call that met it.
func (c *channel) about(k call, err error) error {
	e, is := errors.AsType[*Error](err)
	if !is {
		return c.ended(k, err, "waiting for a session")
	}
	own := *e
	own.Method, own.Path = k.method, c.secrets.clean(k.path)
	return &own
}

// ended is a caller that gave up before the BMC was asked.
func (c *channel) ended(k call, err error, doing string) error {
	return &Error{Kind: Busy, Method: k.method, Path: c.secrets.clean(k.path), Message: doing + ": " + err.Error(), cause: err}
}

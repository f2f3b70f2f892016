package client

import (
	"context"
	"errors"
	"net/http"
)

// Verify proves a password of the target's user: it opens a new session with it,
// reads with that, and ends it. Where there are no sessions it reads with the
// password itself. The password is presented once, whatever comes of it, and also
// when the target's own was refused; the client's session and its verdict on the
// target's password stay as they are.
func (c *Client) Verify(ctx context.Context, password Secret) error {
	if err := c.closed(call{method: http.MethodPost, path: standardSessions}); err != nil {
		return err
	}
	c.secrets.add(string(password))
	opened, presented, err := c.login(ctx, password)
	e, is := errors.AsType[*Error](err)
	switch {
	case err == nil:
		return c.tryOut(ctx, opened)
	case is && withoutSession(e) > 0 && (presented || errors.Is(e, errNoSessions)):
		return c.verifyBasic(ctx, password)
	}
	return err
}

// tryOut reads with a session, and ends it.
func (c *channel) tryOut(ctx context.Context, opened *session) error {
	defer func() {
		// The caller's time may be over: a session that stays takes a place of few.
		_ = c.logout(context.WithoutCancel(ctx), opened)
	}()
	if opened.account != "" {
		return &Error{
			Kind: PasswordChange, Method: http.MethodPost, Path: standardSessions, Args: []string{opened.account},
			Message: "the password is right, and must be changed first",
		}
	}
	as := credential{token: opened.token}
	_, err := c.exchange(ctx, call{method: http.MethodGet, path: probePath, login: true}, as)
	return passable(err)
}

func (c *channel) verifyBasic(ctx context.Context, password Secret) error {
	as := credential{basic: true, username: c.target.Username, password: string(password)}
	k := call{method: http.MethodGet, path: probePath, secrets: []string{string(password), basicForm(c.target.Username, string(password))}, login: true}
	_, err := c.exchange(ctx, k, as)
	return passable(err)
}

// probePath is what every service has, and shows only to its users.
const probePath = rootPath + "Systems"

// passable forgives refusals that say nothing of the password.
func passable(err error) error {
	e, is := errors.AsType[*Error](err)
	if is && e.Status != 0 && (e.Kind == Licence || e.Kind == NotSupported && e.Status != http.StatusNotFound) {
		return nil
	}
	return err
}

package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/ironflow/ironflow/bmc/lenient"
)

// A service without sessions that can be used.
var (
	errNoSessions = errors.New("the service has no sessions")
	errNoToken    = errors.New("the new session has no token")
)

const standardSessions = rootPath + "SessionService/Sessions"

// serviceRoot is the part of the root that a login needs.
type serviceRoot struct {
	Type           lenient.String `json:"@odata.type"`
	RedfishVersion lenient.String `json:"RedfishVersion"`
	SessionService lenient.Link   `json:"SessionService"`
	Links          struct {
		Sessions lenient.Link `json:"Sessions"`
	} `json:"Links"`
	Vendor lenient.String `json:"Vendor"`
	Oem    struct {
		Hpe lenient.Present `json:"Hpe"`
		Hp  lenient.Present `json:"Hp"`
	} `json:"Oem"`
}

// fickle reports a service that refuses right passwords now and then, and locks nobody out for
// wrong ones: an iLO (row hpe-passing-401 of bmc/quirks).
func (r *serviceRoot) fickle() bool {
	return strings.EqualFold(string(r.Vendor), "HPE") || bool(r.Oem.Hpe || r.Oem.Hp)
}

// sessionsAt is where sessions are opened; no path: nowhere.
type sessionsAt struct {
	path string
	// guessed says that the service did not say so: then its 401 may mean that there
	// is no such thing.
	guessed bool
}

// findSessions asks the root once where sessions are opened.
func (c *channel) findSessions(ctx context.Context) (sessionsAt, error) {
	if known := c.sessions.Load(); known != nil {
		return *known, nil
	}
	k := call{method: http.MethodGet, path: rootPath}
	answer, err := c.exchange(ctx, k, credential{})
	e, is := errors.AsType[*Error](err)
	switch {
	case is && (e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden && e.Kind == Refused):
		return sessionsAt{standardSessions, true}, nil // a root behind authentication
	case is && e.Status == http.StatusNotFound:
		return sessionsAt{}, c.failure(k, NotRedfish, e.Status, "there is no Redfish service root: is this the address of a BMC?")
	case err != nil:
		return sessionsAt{}, err
	}
	at, err := c.sessionsOf(k, answer)
	if err != nil {
		return sessionsAt{}, err
	}
	c.sessions.Store(&at)
	return at, nil
}

// learnSessions finds where sessions are opened in a root that somebody else has asked for,
// such as a probe, which begins there.
func (c *channel) learnSessions(k call, answer *Answer) {
	if strings.TrimRight(k.path, "/") != strings.TrimRight(rootPath, "/") || c.sessions.Load() != nil {
		return
	}
	// One that names none says nothing to those that are behind authentication: there,
	// sessions were opened at the standard's place.
	if at, err := c.sessionsOf(k, answer); err == nil && at.path != "" {
		c.sessions.Store(&at)
	}
}

// sessionsOf reads the root.
func (c *channel) sessionsOf(k call, answer *Answer) (sessionsAt, error) {
	var root serviceRoot
	if err := json.Unmarshal(answer.Body, &root); err != nil && !lenient.OnlyTypes(err) {
		return sessionsAt{}, c.failure(k, NotRedfish, answer.Status, "the service root is no JSON: is this the address of a BMC?")
	}
	if root.RedfishVersion == "" && !strings.Contains(string(root.Type), "ServiceRoot") {
		return sessionsAt{}, c.failure(k, NotRedfish, answer.Status, "the service root is not that of a Redfish service: is this the address of a BMC?")
	}
	if root.fickle() {
		c.auth.fickle.Store(true)
	}
	link := root.Links.Sessions.Path
	if link == "" && root.SessionService.Path != "" {
		link = strings.TrimRight(root.SessionService.Path, "/") + "/Sessions"
	}
	if link == "" {
		return sessionsAt{}, nil
	}
	path, err := c.at.path(link)
	if err != nil {
		return sessionsAt{}, c.failure(k, Broken, answer.Status, err.Error())
	}
	return sessionsAt{path: path}, nil
}

// login opens a session with a password of the target's user.
func (c *channel) login(ctx context.Context, password Secret) (opened *session, presented bool, err error) {
	at, err := c.findSessions(ctx)
	if err != nil {
		return nil, false, err
	}
	if at.path == "" {
		e := c.failure(call{method: http.MethodPost, path: standardSessions}, NotSupported, 0, errNoSessions.Error())
		e.cause = errNoSessions
		return nil, false, e
	}
	body, err := encode(map[string]string{"UserName": c.target.Username, "Password": string(password)})
	if err != nil {
		return nil, false, err
	}
	k := call{method: http.MethodPost, path: at.path, body: body, secrets: []string{string(password)}, login: true}
	answer, err := c.exchange(ctx, k, credential{})
	if err != nil {
		e, is := errors.AsType[*Error](err)
		if is && e.Kind == Credentials && at.guessed {
			e.Kind = NotSupported
		}
		return nil, is && e.Status != 0, err
	}
	token := answer.Header.Get(tokenHeader)
	if token == "" {
		e := c.failure(k, NotSupported, answer.Status, errNoToken.Error())
		e.cause = errNoToken
		return nil, true, e
	}
	c.secrets.addToken(token)
	return &session{token: token, path: c.sessionPath(answer), account: c.accountToChange(answer)}, true, nil
}

// sessionPath is where a new session is: by its Location, which some BMCs write
// with another name of theirs, or by its body. What is asked there is asked of our
// own BMC in any case.
func (c *channel) sessionPath(answer *Answer) string {
	location := answer.Location()
	if path, err := c.at.path(location); err == nil && location != "" {
		return path
	}
	var body sessionBody
	if json.Unmarshal(answer.Body, &body) == nil && body.ID != "" {
		if path, err := c.at.path(string(body.ID)); err == nil {
			return path
		}
	}
	if _, after, ok := strings.Cut(location, "://"); ok {
		if slash := strings.IndexByte(after, '/'); slash >= 0 {
			if path, err := c.at.path(after[slash:]); err == nil {
				return path
			}
		}
	}
	return ""
}

// accountToChange is the path of the account when a login says that its password
// must be changed.
func (c *channel) accountToChange(answer *Answer) string {
	for _, message := range messagesOf(answer.Body) {
		if !strings.EqualFold(shortID(message.ID), "PasswordChangeRequired") || len(message.Args) == 0 {
			continue
		}
		if path, err := c.at.path(message.Args[0]); err == nil {
			return path
		}
	}
	return ""
}

// logout ends a session by its own token. One that is gone is as good.
func (c *channel) logout(ctx context.Context, s *session) error {
	if s.path == "" {
		return nil
	}
	_, err := c.exchange(ctx, call{method: http.MethodDelete, path: s.path}, credential{token: s.token})
	if e, is := errors.AsType[*Error](err); is && (e.Status == http.StatusUnauthorized || e.Status == http.StatusNotFound) {
		return nil
	}
	return err
}

package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/ironflow/ironflow/bmc/lenient"
)

// errNoToken is a login without a session: this service has none that can be used.
var errNoToken = errors.New("the new session has no token")

const standardSessions = rootPath + "SessionService/Sessions"

// serviceRoot is the part of the root that a login needs.
type serviceRoot struct {
	Type           lenient.String `json:"@odata.type"`
	RedfishVersion lenient.String `json:"RedfishVersion"`
	SessionService lenient.Link   `json:"SessionService"`
	Links          struct {
		Sessions lenient.Link `json:"Sessions"`
	} `json:"Links"`
}

// sessionsPath is where sessions are opened. It is asked for once.
func (c *Client) sessionsPath(ctx context.Context) (string, error) {
	if known := c.sessions.Load(); known != nil {
		return *known, nil
	}
	k := call{method: http.MethodGet, path: rootPath}
	answer, err := c.exchange(ctx, k, credential{})
	e, is := errors.AsType[*Error](err)
	switch {
	case is && (e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden && e.Kind == Refused):
		return standardSessions, nil // a root behind authentication
	case is && e.Status == http.StatusNotFound:
		return "", c.failure(k, NotRedfish, e.Status, "there is no Redfish service root: is this the address of a BMC?")
	case err != nil:
		return "", err
	}
	path, err := c.sessionsOf(k, answer)
	if err != nil {
		return "", err
	}
	c.sessions.Store(&path)
	return path, nil
}

// sessionsOf reads the root.
func (c *Client) sessionsOf(k call, answer *Answer) (string, error) {
	var root serviceRoot
	if err := json.Unmarshal(answer.Body, &root); err != nil && !lenient.OnlyTypes(err) {
		return "", c.failure(k, NotRedfish, answer.Status, "the service root is no JSON: is this the address of a BMC?")
	}
	if root.RedfishVersion == "" && !strings.Contains(string(root.Type), "ServiceRoot") {
		return "", c.failure(k, NotRedfish, answer.Status, "the service root is not that of a Redfish service: is this the address of a BMC?")
	}
	link := root.Links.Sessions.Path
	if link == "" && root.SessionService.Path != "" {
		link = strings.TrimRight(root.SessionService.Path, "/") + "/Sessions"
	}
	if link == "" {
		return standardSessions, nil
	}
	path, err := c.at.path(link)
	if err != nil {
		return "", c.failure(k, Broken, answer.Status, err.Error())
	}
	return path, nil
}

// login opens a session with a password of the target's user.
func (c *Client) login(ctx context.Context, password Secret) (opened *session, presented bool, err error) {
	path, err := c.sessionsPath(ctx)
	if err != nil {
		return nil, false, err
	}
	body, err := json.Marshal(map[string]string{"UserName": c.target.Username, "Password": string(password)})
	if err != nil {
		return nil, false, err
	}
	k := call{method: http.MethodPost, path: path, body: body, secrets: []string{string(password)}, login: true}
	answer, err := c.exchange(ctx, k, credential{})
	if err != nil {
		e, is := errors.AsType[*Error](err)
		return nil, is && e.Status != 0, err
	}
	token := answer.Header.Get(tokenHeader)
	if token == "" {
		e := c.failure(k, NotSupported, answer.Status, errNoToken.Error())
		e.cause = errNoToken
		return nil, true, e
	}
	c.secrets.add(token)
	return &session{token: token, path: c.sessionPath(answer), account: c.accountToChange(answer)}, true, nil
}

// sessionPath is where a new session is: by its Location, which some BMCs write
// with another name of theirs, or by its body. What is asked there is asked of our
// own BMC in any case.
func (c *Client) sessionPath(answer *Answer) string {
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
func (c *Client) accountToChange(answer *Answer) string {
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
func (c *Client) logout(ctx context.Context, s *session) error {
	if s.path == "" {
		return nil
	}
	_, err := c.exchange(ctx, call{method: http.MethodDelete, path: s.path}, credential{token: s.token})
	if e, is := errors.AsType[*Error](err); is && (e.Status == http.StatusUnauthorized || e.Status == http.StatusNotFound) {
		return nil
	}
	return err
}

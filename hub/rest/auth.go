package rest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/ironflow/ironflow/hub/auth"
	"github.com/ironflow/ironflow/hub/protocol"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/users"
	"github.com/ironflow/ironflow/hub/wire"
)

// Auth says who may call.
type Auth struct {
	// None lets everybody do everything: for labs.
	None bool
	// UserToken opens the operations of users, as "Authorization: Bearer TOKEN".
	// Empty refuses them: Kubernetes is then the users' API.
	UserToken string
	// Users are those that have a token and a role of their own; nil for none.
	Users users.Directory
	// Key signs and checks URLs, and checks tokens of clusters; the zero key does neither.
	Key auth.Key
	// Local takes tokens that were signed before the hub ran, in the place of the hub's own
	// for users and agents; nil for a hub outside of what it installs.
	Local *Local
}

// caller is who a request comes from.
type caller struct {
	// infraEnvID limits an agent to one infra-env, and clusterID the program inside a
	// cluster to that; empty for users and without authentication.
	infraEnvID, clusterID string
	// user is whose request it is, for the log; empty for others. name is the same of a
	// user who is known by name, and owner of one who has what it has made alone.
	user, name, owner string
	// readOnly tells that the user changes nothing, and gets nothing that opens a cluster.
	readOnly bool
	// agent is what an agent's token says; the zero value for all others.
	agent auth.Claims
}

// Users as the log names them: whoever has the one token, and all in a hub without tokens.
const (
	theUser = "user"
	anybody = "anybody"
)

// scope is what the caller is limited to; empty for users.
func (c caller) scope() string { return cmp.Or(c.infraEnvID, c.clusterID) }

// checker finds the infra-env that an agent's token opens. Only [auth.ErrInvalid]
// and [auth.ErrMissing] are about the token; any other error means that it could
// not be looked up.
type checker interface {
	CheckAgentToken(ctx context.Context, token string) (auth.Claims, error)
	// CheckImageToken does the same with a token of images, or of agents.
	CheckImageToken(ctx context.Context, token string) (string, error)
	// TokenGeneration is that of the tokens which open the cluster.
	TokenGeneration(ctx context.Context, clusterID string) (int64, error)
}

// check returns the caller, or a refusal, or the error that kept it from finding
// out. An operation is opened by the first of its schemes that the request has a
// good token for.
func (a Auth) check(r *http.Request, op protocol.Operation, tokens checker) (caller, *wire.InfraError, error) {
	if a.None {
		return caller{user: anybody}, nil, nil
	}
	if op.Accepts(protocol.UserAuth) {
		if who, refused, err := a.checkUser(r, op); err != nil || refused != nil || who.user != "" {
			return who, refused, err
		}
	}
	if a.isSigned(r, op) {
		return caller{}, nil, nil
	}
	if who, opens, err := a.byURL(r, op, tokens); err != nil || opens {
		return who, nil, err
	}
	if token := imageToken(r, op); token != "" {
		env, err := tokens.CheckImageToken(r.Context(), token)
		who, refused, err := toCaller(auth.Claims{InfraEnvID: env}, err)
		who.agent = auth.Claims{} // it opens images and their files, whoever brings it
		return who, refused, err
	}
	if op.Accepts(protocol.AgentAuth) && a.Key.OfCluster(r.Header.Get(wire.HeaderAgentToken)) {
		return a.checkProgram(r, op, tokens)
	}
	if a.Local != nil {
		who, refused := a.Local.check(r, op)
		return who, refused, nil
	}
	if op.Accepts(protocol.AgentAuth) {
		return checkAgent(r, tokens)
	}
	if a.UserToken == "" && a.Users == nil {
		return caller{}, unauthorized("this operation is for users, and this hub takes users' requests through Kubernetes"), nil
	}
	return caller{}, unauthorized("a user's token is needed in the header Authorization"), nil
}

// checkAgent looks the agent's token up. An agent takes 401 for the end, so only
// a token that is missing or wrong gets it.
func checkAgent(r *http.Request, tokens checker) (caller, *wire.InfraError, error) {
	return toCaller(tokens.CheckAgentToken(r.Context(), r.Header.Get(wire.HeaderAgentToken)))
}

func toCaller(claims auth.Claims, err error) (caller, *wire.InfraError, error) {
	switch {
	case err == nil:
		return caller{infraEnvID: claims.InfraEnvID, agent: claims}, nil, nil
	case errors.Is(err, auth.ErrMissing):
		return caller{}, unauthorized("an agent's token is needed in the header " + wire.HeaderAgentToken), nil
	case errors.Is(err, auth.ErrEnded):
		return caller{}, unauthorized("the time of the agent's token is over; boot the host from a current image"), nil
	case errors.Is(err, auth.ErrInvalid):
		return caller{}, unauthorized("the agent's token is not valid for this hub; boot the host from a current image"), nil
	}
	return caller{}, nil, fmt.Errorf("%w: check the agent's token: %w", service.ErrUnavailable, err)
}

func unauthorized(message string) *wire.InfraError {
	return &wire.InfraError{Code: http.StatusUnauthorized, Message: message}
}

// checkUser finds the user whose token the request brings; a caller without a user for none.
func (a Auth) checkUser(r *http.Request, op protocol.Operation) (caller, *wire.InfraError, error) {
	if a.isUser(r) {
		return caller{user: theUser}, nil, nil
	}
	token, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !bearer || token == "" || a.Users == nil {
		return caller{}, nil, nil
	}
	u, err := a.Users.User(r.Context(), token)
	switch {
	case errors.Is(err, users.ErrUnknown):
		return caller{}, nil, nil
	case err != nil:
		return caller{}, nil, fmt.Errorf("%w: find out whose token it is: %w", service.ErrUnavailable, err)
	}
	who := caller{user: u.Name, name: u.Name, readOnly: u.Role == users.ReadOnly}
	if u.Role == users.Owner {
		who.owner = u.Name
	}
	if !u.Role.May(op.Roles(protocol.UserAuth)) {
		return who, &wire.InfraError{Code: http.StatusForbidden, Message: fmt.Sprintf("user %s has the role %s, which does not open this operation", u.Name, u.Role)}, nil
	}
	return who, nil, nil
}

// isUser compares digests, so that neither content nor length of the token
// shows in the time.
func (a Auth) isUser(r *http.Request) bool {
	given, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if a.UserToken == "" || !bearer {
		return false
	}
	want, have := sha256.Sum256([]byte(a.UserToken)), sha256.Sum256([]byte(given))
	return subtle.ConstantTimeCompare(want[:], have[:]) == 1
}

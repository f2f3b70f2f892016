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
	"github.com/ironflow/ironflow/hub/wire"
)

// Auth says who may call.
type Auth struct {
	// None lets everybody do everything: for labs.
	None bool
	// UserToken opens the operations of users, as "Authorization: Bearer TOKEN".
	// Empty refuses them: Kubernetes is then the users' API.
	UserToken string
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
}

// scope is what the caller is limited to; empty for users.
func (c caller) scope() string { return cmp.Or(c.infraEnvID, c.clusterID) }

// checker finds the infra-env that an agent's token opens. Only [auth.ErrInvalid]
// and [auth.ErrMissing] are about the token; any other error means that it could
// not be looked up.
type checker interface {
	CheckAgentToken(ctx context.Context, token string) (string, error)
	// CheckImageToken does the same with a token of images, or of agents.
	CheckImageToken(ctx context.Context, token string) (string, error)
}

// check returns the caller, or a refusal, or the error that kept it from finding
// out. An operation is opened by the first of its schemes that the request has a
// good token for.
func (a Auth) check(r *http.Request, op protocol.Operation, tokens checker) (caller, *wire.InfraError, error) {
	if a.None {
		return caller{}, nil, nil
	}
	if op.Accepts(protocol.UserAuth) && a.isUser(r) {
		return caller{}, nil, nil
	}
	if a.isSigned(r, op) {
		return caller{}, nil, nil
	}
	if token := imageToken(r, op); token != "" {
		return toCaller(tokens.CheckImageToken(r.Context(), token))
	}
	if op.Accepts(protocol.AgentAuth) && auth.OfCluster(r.Header.Get(wire.HeaderAgentToken)) {
		who, refused := a.checkProgram(r, op)
		return who, refused, nil
	}
	if a.Local != nil {
		who, refused := a.Local.check(r, op)
		return who, refused, nil
	}
	if op.Accepts(protocol.AgentAuth) {
		return checkAgent(r, tokens)
	}
	if a.UserToken == "" {
		return caller{}, unauthorized("this operation is for users, and this hub takes users' requests through Kubernetes"), nil
	}
	return caller{}, unauthorized("a user's token is needed in the header Authorization"), nil
}

// checkAgent looks the agent's token up. An agent takes 401 for the end, so only
// a token that is missing or wrong gets it.
func checkAgent(r *http.Request, tokens checker) (caller, *wire.InfraError, error) {
	return toCaller(tokens.CheckAgentToken(r.Context(), r.Header.Get(wire.HeaderAgentToken)))
}

func toCaller(env string, err error) (caller, *wire.InfraError, error) {
	switch {
	case err == nil:
		return caller{infraEnvID: env}, nil, nil
	case errors.Is(err, auth.ErrMissing):
		return caller{}, unauthorized("an agent's token is needed in the header " + wire.HeaderAgentToken), nil
	case errors.Is(err, auth.ErrInvalid):
		return caller{}, unauthorized("the agent's token is not valid for this hub; boot the host from a current image"), nil
	}
	return caller{}, nil, fmt.Errorf("%w: check the agent's token: %w", service.ErrUnavailable, err)
}

func unauthorized(message string) *wire.InfraError {
	return &wire.InfraError{Code: http.StatusUnauthorized, Message: message}
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

package rest

import (
	"cmp"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/ironflow/ironflow/api/localtoken"
	"github.com/ironflow/ironflow/hub/auth"
	"github.com/ironflow/ironflow/hub/protocol"
	"github.com/ironflow/ironflow/hub/wire"
)

// headerWatcher carries the token of those who wait for the end of an installation.
const headerWatcher = "Watcher-Authorization"

// Local is the authentication agent-installer-local, of the hub on one of the hosts of an
// installation: one token for users, one for agents, and one for those who only look.
type Local struct {
	Tokens auth.Local
	// InfraEnvID is the only infra-env that agents reach; required.
	InfraEnvID string
}

// localWays are the ways to be let in, by the scheme of an operation.
var localWays = []struct {
	scheme protocol.Scheme
	token  localtoken.Scheme
	header string
}{
	{protocol.UserAuth, localtoken.User, "Authorization"},
	{protocol.AgentAuth, localtoken.Agent, wire.HeaderAgentToken},
	{protocol.WatcherAuth, localtoken.Watcher, headerWatcher},
}

// check returns the caller, or a refusal that says which tokens open the operation. Users
// and watchers are not limited to a part of the hub: the operations of watchers change nothing.
func (l *Local) check(r *http.Request, op protocol.Operation) (caller, *wire.InfraError) {
	var wrong error
	var headers []string
	for _, way := range localWays {
		if !op.Accepts(way.scheme) {
			continue
		}
		headers = append(headers, way.header)
		err := l.Tokens.Check(bare(r.Header.Get(way.header)), way.token, time.Now())
		switch {
		case err == nil && way.scheme == protocol.AgentAuth:
			return caller{infraEnvID: l.InfraEnvID}, nil
		case err == nil && way.scheme == protocol.WatcherAuth:
			return caller{readOnly: true}, nil
		case err == nil:
			return caller{user: theUser}, nil
		case !errors.Is(err, auth.ErrMissing):
			wrong = cmp.Or(wrong, err)
		}
	}
	switch {
	case errors.Is(wrong, auth.ErrEnded):
		return caller{}, unauthorized("the token's time is over; make a new image, and boot the host from it")
	case errors.Is(wrong, auth.ErrScheme):
		return caller{}, &wire.InfraError{Code: http.StatusForbidden, Message: "the token is of this installation, and not for the header " + strings.Join(headers, " or ") + "; take the one that was made for it with the image"}
	case wrong != nil:
		return caller{}, unauthorized("the token is not of this installation; take those that were made with the image")
	}
	return caller{}, unauthorized("a token of this installation is needed in the header " + strings.Join(headers, " or "))
}

// bare is the token without the word that some clients put before it.
func bare(header string) string { return strings.TrimPrefix(header, "Bearer ") }

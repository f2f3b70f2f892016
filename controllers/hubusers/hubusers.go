// Package hubusers makes users of Kubernetes users of the hub's REST API: the API server
// says whose a token is (TokenReview), by its own means, such as service accounts or an
// identity provider (OIDC), and which role that user has (SubjectAccessReview). Its main
// type is [Reviews].
package hubusers

import (
	"context"
	"crypto/sha256"
	"net/http"
	"time"

	"k8s.io/client-go/rest"

	"github.com/ironflow/ironflow/controllers/reviews"
	"github.com/ironflow/ironflow/hub/users"
)

// RolePath begins the path that a role stands for: who may get it has the role. A ClusterRole
// grants it by nonResourceURLs.
const RolePath = "/ironflow/hub/roles/"

// Reviews implements [users.Directory]. It is safe for concurrent use.
type Reviews struct {
	api   *reviews.Client
	now   func() time.Time
	known reviews.Memory[[sha256.Size]byte, users.User] // no name for nobody's token
}

// New makes the reviews, which the API server of config is asked for.
func New(config *rest.Config, client *http.Client, now func() time.Time) (*Reviews, error) {
	api, err := reviews.New(config, client)
	return &Reviews{api: api, now: now}, err
}

// User implements [users.Directory]. It answers from memory, or asks.
func (r *Reviews) User(ctx context.Context, token string) (users.User, error) {
	digest, now := reviews.Digest(token), r.now()
	user, known := r.known.Get(digest, now)
	if !known {
		ctx, cancel := reviews.Limit(ctx)
		defer cancel()
		var err error
		if user, err = r.ask(ctx, token); err != nil {
			return users.User{}, err
		}
		lasts := reviews.GrantedFor
		if user.Name == "" {
			lasts = reviews.DeniedFor
		}
		r.known.Put(digest, user, now, lasts)
	}
	if user.Name == "" {
		return users.User{}, users.ErrUnknown
	}
	return user, nil
}

// ask makes the reviews. A user without any role is nobody here.
func (r *Reviews) ask(ctx context.Context, token string) (users.User, error) {
	user, known, err := r.api.User(ctx, token)
	if err != nil || !known {
		return users.User{}, err
	}
	for _, role := range users.Roles { // the widest first
		may, err := r.api.May(ctx, user, "get", RolePath+string(role))
		if err != nil {
			return users.User{}, err
		}
		if may {
			return users.User{Name: user.Username, Role: role}, nil
		}
	}
	return users.User{}, nil
}

// Package hubusers makes users of Kubernetes users of the hub's REST API: the API server
// says whose a token is (TokenReview), by its own means, such as service accounts or an
// identity provider (OIDC), and which role that user has (SubjectAccessReview). Its main
// type is [Reviews].
package hubusers

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"

	"github.com/ironflow/ironflow/hub/users"
)

// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create

// RolePath begins the path that a role stands for: who may get it has the role. A ClusterRole
// grants it by nonResourceURLs.
const RolePath = "/ironflow/hub/roles/"

const (
	// knownFor is how long a user is remembered, unknownFor that a token is nobody's.
	knownFor   = time.Minute
	unknownFor = 10 * time.Second
	// patience is how long the API server may take for all reviews.
	patience = 10 * time.Second
	// remembered bounds the memory that made-up tokens can take.
	remembered = 1000
)

// Reviews implements [users.Directory]. It is safe for concurrent use.
type Reviews struct {
	tokens authenticationclient.TokenReviewInterface
	access authorizationclient.SubjectAccessReviewInterface
	now    func() time.Time

	mu    sync.Mutex
	known map[[sha256.Size]byte]verdict
}

// verdict is an answer, good until then; no name for nobody's token.
type verdict struct {
	user  users.User
	until time.Time
}

// New makes the reviews, which the API server of config is asked for.
func New(config *rest.Config, client *http.Client, now func() time.Time) (*Reviews, error) {
	authentication, err := authenticationclient.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("client of token reviews: %w", err)
	}
	authorization, err := authorizationclient.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("client of access reviews: %w", err)
	}
	return &Reviews{
		tokens: authentication.TokenReviews(), access: authorization.SubjectAccessReviews(), now: now, known: map[[sha256.Size]byte]verdict{},
	}, nil
}

// User implements [users.Directory]. It answers from memory, or asks.
func (r *Reviews) User(ctx context.Context, token string) (users.User, error) {
	digest, now := sha256.Sum256([]byte(token)), r.now()
	r.mu.Lock()
	v, there := r.known[digest]
	r.mu.Unlock()
	if !there || now.After(v.until) {
		ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("no answer within %s", patience))
		defer cancel()
		user, err := r.ask(ctx, token)
		if err != nil {
			return users.User{}, err
		}
		v = verdict{user, now.Add(knownFor)}
		if user.Name == "" {
			v.until = now.Add(unknownFor)
		}
		r.remember(digest, v, now)
	}
	if v.user.Name == "" {
		return users.User{}, users.ErrUnknown
	}
	return v.user, nil
}

// ask makes the reviews. A user without any role is nobody here.
func (r *Reviews) ask(ctx context.Context, token string) (users.User, error) {
	who, err := r.tokens.Create(ctx, &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}, metav1.CreateOptions{})
	if err != nil {
		return users.User{}, fmt.Errorf("token review: %w", err)
	}
	if !who.Status.Authenticated {
		return users.User{}, nil
	}
	user := who.Status.User
	extra := map[string]authorizationv1.ExtraValue{}
	for key, values := range user.Extra {
		extra[key] = authorizationv1.ExtraValue(values)
	}
	for _, role := range users.Roles { // the widest first
		may, err := r.access.Create(ctx, &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: user.Username, UID: user.UID, Groups: user.Groups, Extra: extra,
			NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: RolePath + string(role), Verb: "get"},
		}}, metav1.CreateOptions{})
		if err != nil {
			return users.User{}, fmt.Errorf("access review of user %q: %w", user.Username, err)
		}
		if may.Status.Allowed {
			return users.User{Name: user.Username, Role: role}, nil
		}
	}
	return users.User{}, nil
}

// remember keeps a verdict, and drops what is over when there are many.
func (r *Reviews) remember(digest [sha256.Size]byte, v verdict, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.known) >= remembered {
		for old, kept := range r.known {
			if now.After(kept.until) {
				delete(r.known, old)
			}
		}
	}
	if len(r.known) >= remembered {
		clear(r.known)
	}
	r.known[digest] = v
}

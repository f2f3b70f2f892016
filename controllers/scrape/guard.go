package scrape

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create

const (
	// allowedFor is how long an answer "yes" is remembered, as in the API server's own filter.
	allowedFor = time.Minute
	// deniedFor is how long a "no" is: a right that was just given counts soon.
	deniedFor = 10 * time.Second
	// patience is how long the API server may take for both reviews.
	patience = 10 * time.Second
	// remembered bounds the memory that made-up tokens can take.
	remembered = 1000
)

// Guard decides who may read. It is safe for use by several requests at once.
type Guard struct {
	tokens authenticationclient.TokenReviewInterface
	access authorizationclient.SubjectAccessReviewInterface

	mu       sync.Mutex
	verdicts map[question]verdict
}

// question is who asks for what, without the token itself.
type question struct {
	token        [sha256.Size]byte
	method, path string
}

// verdict is an answer, good until then.
type verdict struct {
	status int
	until  time.Time
}

// Filter is the guard as controller-runtime's metrics server takes it.
func Filter(config *rest.Config, client *http.Client) (metricsserver.Filter, error) {
	g, err := NewGuard(config, client)
	if err != nil {
		return nil, err
	}
	return func(log logr.Logger, next http.Handler) (http.Handler, error) { return g.Protect(log, next), nil }, nil
}

// NewGuard makes a guard that asks the API server of config.
func NewGuard(config *rest.Config, client *http.Client) (*Guard, error) {
	authentication, err := authenticationclient.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("client of token reviews: %w", err)
	}
	authorization, err := authorizationclient.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("client of access reviews: %w", err)
	}
	return &Guard{tokens: authentication.TokenReviews(), access: authorization.SubjectAccessReviews(), verdicts: map[question]verdict{}}, nil
}

// Protect lets requests through to next that carry the token of somebody who may
// make them: 401 without one, 403 without the right, 503 when nobody can tell.
func (g *Guard) Protect(log logr.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !bearer || token == "" {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "a bearer token is needed", http.StatusUnauthorized)
			return
		}
		status, err := g.judge(r.Context(), token, strings.ToLower(r.Method), r.URL.Path)
		if err != nil {
			log.Error(err, "cannot tell who reads the metrics")
			http.Error(w, "the Kubernetes API cannot be asked", http.StatusServiceUnavailable)
			return
		}
		if status != http.StatusOK {
			http.Error(w, http.StatusText(status), status)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// judge answers from memory, or asks.
func (g *Guard) judge(ctx context.Context, token, method, path string) (int, error) {
	q, now := question{sha256.Sum256([]byte(token)), method, path}, time.Now()
	g.mu.Lock()
	known, there := g.verdicts[q]
	g.mu.Unlock()
	if there && now.Before(known.until) {
		return known.status, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("no answer within %s", patience))
	defer cancel()
	status, err := g.ask(ctx, token, method, path)
	if err != nil {
		return 0, err
	}
	lasts := allowedFor
	if status != http.StatusOK {
		lasts = deniedFor
	}
	g.remember(q, verdict{status, now.Add(lasts)}, now)
	return status, nil
}

// ask makes the two reviews.
func (g *Guard) ask(ctx context.Context, token, method, path string) (int, error) {
	who, err := g.tokens.Create(ctx, &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}, metav1.CreateOptions{})
	if err != nil {
		return 0, fmt.Errorf("token review: %w", err)
	}
	if !who.Status.Authenticated {
		return http.StatusUnauthorized, nil
	}
	user := who.Status.User
	extra := map[string]authorizationv1.ExtraValue{}
	for key, values := range user.Extra {
		extra[key] = authorizationv1.ExtraValue(values)
	}
	may, err := g.access.Create(ctx, &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user.Username, UID: user.UID, Groups: user.Groups, Extra: extra,
		NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: path, Verb: method},
	}}, metav1.CreateOptions{})
	if err != nil {
		return 0, fmt.Errorf("access review of user %q: %w", user.Username, err)
	}
	if !may.Status.Allowed {
		return http.StatusForbidden, nil
	}
	return http.StatusOK, nil
}

// remember keeps a verdict, and drops what is over when there are many.
func (g *Guard) remember(q question, v verdict, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.verdicts) >= remembered {
		for old, kept := range g.verdicts {
			if now.After(kept.until) {
				delete(g.verdicts, old)
			}
		}
	}
	if len(g.verdicts) >= remembered {
		clear(g.verdicts)
	}
	g.verdicts[q] = v
}

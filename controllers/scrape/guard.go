package scrape

import (
	"context"
	"crypto/sha256"
	"net/http"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/ironflow/ironflow/controllers/reviews"
)

// Guard decides who may read. It is safe for use by several requests at once.
type Guard struct {
	api      *reviews.Client
	verdicts reviews.Memory[question, int] // statuses of HTTP
}

// question is who asks for what, without the token itself.
type question struct {
	token        [sha256.Size]byte
	method, path string
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
	api, err := reviews.New(config, client)
	return &Guard{api: api}, err
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
	q, now := question{reviews.Digest(token), method, path}, time.Now()
	if status, known := g.verdicts.Get(q, now); known {
		return status, nil
	}
	ctx, cancel := reviews.Limit(ctx)
	defer cancel()
	status, err := g.ask(ctx, token, method, path)
	if err != nil {
		return 0, err
	}
	lasts := reviews.GrantedFor
	if status != http.StatusOK {
		lasts = reviews.DeniedFor
	}
	g.verdicts.Put(q, status, now, lasts)
	return status, nil
}

// ask makes the two reviews.
func (g *Guard) ask(ctx context.Context, token, method, path string) (int, error) {
	user, known, err := g.api.User(ctx, token)
	if err != nil {
		return 0, err
	}
	if !known {
		return http.StatusUnauthorized, nil
	}
	may, err := g.api.May(ctx, user, method, path)
	if err != nil {
		return 0, err
	}
	if !may {
		return http.StatusForbidden, nil
	}
	return http.StatusOK, nil
}

package hubpaths

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/ironflow/ironflow/imagecustomization/base"
	"github.com/ironflow/ironflow/imagecustomization/images"
)

// ErrNoInfraEnv is what a [Hub] answers for an infra-env that is not there.
var ErrNoInfraEnv = errors.New("no such infra-env")

// ErrBadToken is what a [Hub] answers for a token that opens nothing.
var ErrBadToken = errors.New("the token opens no infra-env")

// Hub is what is known about infra-envs.
type Hub interface {
	// Open tells whether the id of an infra-env alone opens its images, as in a hub
	// without authentication.
	Open() bool
	// Opens returns the infra-env that a token opens, or [ErrBadToken]; any other
	// error means that it cannot be told at the moment.
	Opens(ctx context.Context, token string) (infraEnv string, err error)
	// Spec describes the image for the hosts of an infra-env; format, architecture
	// and key are filled in by the caller.
	Spec(ctx context.Context, infraEnv string) (images.Spec, error)
	// Failed is told why there is no image for the hosts of an infra-env; once for
	// each reason, however often a BMC asks.
	Failed(ctx context.Context, infraEnv string, err error)
}

// Store makes the images; *images.Store implements it.
type Store interface {
	Put(ctx context.Context, spec images.Spec) (images.Built, error)
	Artifact(ctx context.Context, arch, version, file string) (url string, err error)
	// InUse tells whether somebody reads the image at path, or did so lately.
	InUse(path string) bool
	// Remove lets go of an image.
	Remove(key string) error
}

// remembered is how long an answer is good without asking the hub again: a BMC
// asks for thousands of ranges, and a token that was revoked has to stop working.
// The image that the answer named stays the same for as long as it is in use: a
// BMC that asks for range after range must not get parts of two.
const remembered = 10 * time.Second

// maxRemembered bounds the memory that strangers' requests can take.
const maxRemembered = 4096

// Resolver finds images by the hub's paths. Make one with New.
type Resolver struct {
	hub   Hub
	store Store

	mu   sync.Mutex
	seen map[request]answer
	// failed has what the hub was told last, by the image's key.
	failed map[string]string
	// asked is when somebody asked for an image last, by its key.
	asked map[string]time.Time
}

// answer is a path, or why there is none.
type answer struct {
	path string
	code int
	at   time.Time
}

// New returns a Resolver.
func New(hub Hub, store Store) *Resolver {
	return &Resolver{hub: hub, store: store, seen: map[request]answer{}, failed: map[string]string{}, asked: map[string]time.Time{}}
}

// Resolve returns the path of the image that the request means, and 200; or the
// status code that says why there is none: 401 without a token that opens the
// infra-env, 404 for what does not exist or cannot be built, 503 for what may
// work in a moment. The code is 0 for a path that is none of the hub's.
func (r *Resolver) Resolve(req *http.Request) (path string, code int) {
	q, known := parse(req)
	if !known {
		return "", 0
	}
	r.mu.Lock()
	have, ok := r.seen[q]
	r.mu.Unlock()
	if ok && time.Since(have.at) < remembered {
		return have.path, have.code
	}
	path, code = r.find(req.Context(), q, have.path)
	if code != http.StatusServiceUnavailable {
		r.remember(q, answer{path: path, code: code, at: time.Now()})
	}
	return path, code
}

// remember keeps an answer. When there are too many, refusals go first: anybody
// can provoke those.
func (r *Resolver) remember(q request, a answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.seen) >= maxRemembered {
		maps.DeleteFunc(r.seen, func(_ request, old answer) bool { return old.code != http.StatusOK || !r.store.InUse(old.path) })
	}
	if len(r.seen) >= maxRemembered {
		clear(r.seen)
	}
	r.seen[q] = a
}

// find looks for the image; had is the path that was the answer before, if any.
func (r *Resolver) find(ctx context.Context, q request, had string) (string, int) {
	arch := cmp.Or(q.arch, "x86_64")
	if q.artifact != "" {
		if r.store.InUse(had) {
			return had, http.StatusOK
		}
		url, err := r.store.Artifact(ctx, arch, q.version, q.artifact)
		return pathOf(url), codeOf(err)
	}
	if code := r.authorize(ctx, &q); code != http.StatusOK {
		return "", code
	}
	spec, err := r.hub.Spec(ctx, q.infraEnv)
	if errors.Is(err, ErrNoInfraEnv) {
		r.deleted(q.infraEnv)
		return "", codeOf(err)
	}
	r.wanted(q.key(arch))
	if r.store.InUse(had) {
		return had, http.StatusOK
	}
	var built images.Built
	if err == nil {
		spec.Key, spec.UID, spec.Arch, spec.Version, spec.Format = q.key(arch), q.infraEnv, arch, q.version, q.format
		spec.Volatile, spec.Shared = true, true
		built, err = r.store.Put(ctx, spec)
	}
	r.report(ctx, q, arch, err)
	if q.addrSize {
		built.URL = built.AddrSizeURL
	}
	if err == nil && built.URL == "" {
		return "", http.StatusNotFound
	}
	return pathOf(built.URL), codeOf(err)
}

// report tells the hub about a failure that it has not been told yet: who asks
// for the image learns nothing but a status code.
func (r *Resolver) report(ctx context.Context, q request, arch string, err error) {
	key, reason := q.key(arch), ""
	if err != nil && ctx.Err() == nil {
		reason = err.Error()
	}
	r.mu.Lock()
	news := reason != "" && r.failed[key] != reason
	switch {
	case reason == "":
		delete(r.failed, key)
	case len(r.failed) >= maxRemembered:
		clear(r.failed)
		fallthrough
	default:
		r.failed[key] = reason
	}
	r.mu.Unlock()
	if news {
		r.hub.Failed(ctx, q.infraEnv, err)
	}
}

// authorize checks the token and fills in the infra-env that it opens.
func (r *Resolver) authorize(ctx context.Context, q *request) int {
	if q.token == "" {
		if r.hub.Open() {
			return http.StatusOK
		}
		return http.StatusUnauthorized
	}
	opened, err := r.hub.Opens(ctx, q.token)
	switch {
	case errors.Is(err, ErrBadToken):
		return http.StatusUnauthorized
	case err != nil:
		return http.StatusServiceUnavailable
	case q.infraEnv != "" && q.infraEnv != opened:
		return http.StatusUnauthorized
	}
	q.infraEnv = opened
	return http.StatusOK
}

func codeOf(err error) int {
	switch {
	case err == nil:
		return http.StatusOK
	case errors.Is(err, ErrNoInfraEnv), errors.Is(err, base.ErrNoBase), errors.Is(err, images.ErrBadSpec), errors.Is(err, images.ErrUnsupported):
		return http.StatusNotFound
	default:
		return http.StatusServiceUnavailable
	}
}

// pathOf is the path of an address of the image server.
func pathOf(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	if slash := strings.IndexByte(rest, '/'); slash >= 0 {
		return rest[slash:]
	}
	return ""
}

package hubpaths

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/imagecustomization/media"
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
	// Spec describes the image for the hosts of an infra-env over the medium of an
	// architecture and version, which need not be the infra-env's own; an empty version is the
	// newest. Format, architecture and key are filled in by the caller.
	Spec(ctx context.Context, infraEnv, arch, version string) (images.Spec, error)
	// Failed is told why there is no image for the hosts of an infra-env, or what the
	// one that there is lacks; once for each reason, however often a BMC asks.
	Failed(ctx context.Context, infraEnv string, err error)
}

// Store makes the images; *images.Store implements it.
type Store interface {
	// Fits tells why there is no medium for an architecture and version, nil if there
	// is one.
	Fits(ctx context.Context, arch, version string) error
	Put(ctx context.Context, spec images.Spec) (images.Built, error)
	Artifact(ctx context.Context, arch, version, file string) (url string, err error)
	// InUse tells whether somebody reads the image at path, or did so lately.
	InUse(path string) bool
	// Remove lets go of an image.
	Remove(key string) error
}

const (
	// remembered is how long an answer is good without asking the hub again: a BMC
	// asks for thousands of ranges, and a token that was revoked has to stop working.
	// The image that the answer named stays the same for as long as it is in use: a
	// BMC that asks for range after range must not get parts of two.
	remembered = 10 * time.Second
	// maxRemembered bounds the answers. What strangers can make up is not remembered
	// at all: a token, an infra-env, a version or an architecture that is not there.
	maxRemembered = 4096
	// patience is how long an answer may take before it is 503.
	patience = 30 * time.Second
	// longest is how long a replaced image is still given to those who read it.
	longest = images.DefaultLongest
)

// Resolver finds images by the hub's paths. Make one with New.
type Resolver struct {
	hub   Hub
	store Store

	looking singleflight.Group

	mu   sync.Mutex
	seen map[request]answer
	// envs has what is kept of the infra-envs that there are, by their ids.
	envs map[string]*env
	// swept is when seen and envs were last looked through for what is over.
	swept time.Time
}

// answer is a path, or why there is none.
type answer struct {
	path string
	code int
	at   time.Time
	// replaced is since when another answer would be right, for new readers.
	replaced time.Time
}

// New returns a Resolver.
func New(hub Hub, store Store) *Resolver {
	return &Resolver{hub: hub, store: store, seen: map[request]answer{}, envs: map[string]*env{}}
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
	if have := r.last(q); have.code != 0 && time.Since(have.at) < remembered {
		return have.path, have.code
	}
	// Many hosts read one image, and all of them come here when the answer has aged. The
	// one that looks does so for all, also when its own client goes away.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(req.Context()), patience)
	defer cancel()
	looked, _, _ := r.looking.Do(q.text(), func() (any, error) { return r.look(ctx, q), nil })
	found := looked.(answer)
	return found.path, found.code
}

// last is the last answer, the zero value for none.
func (r *Resolver) last(q request) answer {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen[q]
}

// look finds the answer, and keeps it if it may be kept.
func (r *Resolver) look(ctx context.Context, q request) answer {
	now, have := time.Now(), r.last(q)
	if have.code != 0 && now.Sub(have.at) < remembered {
		return have // found by another one just now
	}
	found, keep := r.find(ctx, q)
	if !keep {
		return found
	}
	found.at = now
	if r.goesOn(have, &found) || found.code != http.StatusServiceUnavailable {
		r.remember(q, found)
	}
	return found
}

// goesOn has whoever reads an image go on with it, although another answer has been
// found meanwhile: for a limited time, as the old image holds the old secrets.
func (r *Resolver) goesOn(have answer, found *answer) bool {
	if have.code != http.StatusOK || have.path == found.path {
		return false
	}
	replaced := have.replaced
	if replaced.IsZero() {
		replaced = found.at
	}
	if found.at.Sub(replaced) > longest || !r.store.InUse(have.path) {
		return false
	}
	*found = answer{path: have.path, code: have.code, at: found.at, replaced: replaced}
	return true
}

// remember keeps an answer, unless there are too many.
func (r *Resolver) remember(q request, a answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.seen[q]; known || len(r.seen) < maxRemembered {
		r.seen[q] = a
	}
}

// find looks for the image. An answer is only kept when the infra-env and the
// medium that it is about are there.
func (r *Resolver) find(ctx context.Context, q request) (found answer, keep bool) {
	r.sweep()
	if q.artifact != "" {
		if r.store.Fits(ctx, q.arch, q.version) != nil {
			return answer{code: http.StatusNotFound}, false
		}
		url, err := r.store.Artifact(ctx, q.arch, q.version, q.artifact)
		return answer{path: pathOf(url), code: codeOf(err)}, true
	}
	if code := r.authorize(ctx, &q); code != http.StatusOK {
		return answer{code: code}, false
	}
	if missing := r.store.Fits(ctx, q.arch, q.version); missing != nil {
		r.reportMissing(ctx, q, missing)
		return answer{code: http.StatusNotFound}, false
	}
	spec, err := r.hub.Spec(ctx, q.infraEnv, q.arch, q.version)
	if errors.Is(err, ErrNoInfraEnv) {
		r.deleted(q.infraEnv)
		return answer{code: codeOf(err)}, false
	}
	key := q.key()
	r.wanted(q.infraEnv, key)
	var built images.Built
	lacks := spec.Lacks
	if err == nil {
		spec.Key, spec.UID, spec.Arch, spec.Version, spec.Format = key, q.infraEnv, q.arch, q.version, q.format
		spec.Kind = images.InfraEnvImage
		built, err = r.store.Put(ctx, spec)
	}
	if err != nil {
		lacks = err
	}
	r.report(ctx, q.infraEnv, key, lacks)
	if q.addrSize {
		built.URL = built.AddrSizeURL
	}
	if err == nil && built.URL == "" {
		return answer{code: http.StatusNotFound}, true
	}
	return answer{path: pathOf(built.URL), code: codeOf(err)}, true
}

// reportMissing tells the hub of a medium that is not there, which a client may have
// made up, as of any other failure.
func (r *Resolver) reportMissing(ctx context.Context, q request, why error) {
	infraEnv := q.infraEnv
	if !r.mayReport(infraEnv) {
		return
	}
	if _, err := r.hub.Spec(ctx, infraEnv, q.arch, q.version); errors.Is(err, ErrNoInfraEnv) {
		r.deleted(infraEnv)
		return
	}
	r.wanted(infraEnv, "")
	r.report(ctx, infraEnv, "", why)
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
	case errors.Is(err, ErrNoInfraEnv), errors.Is(err, media.ErrNoMedium), errors.Is(err, images.ErrBadSpec), errors.Is(err, images.ErrUnsupported):
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

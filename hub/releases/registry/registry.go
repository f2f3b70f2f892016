// Package registry reads release images of OpenShift over the registry API: which
// version one is, for which architectures, and which images an installation needs.
//
// Mirrors are tried in the order of the site's settings (see [Mirrors]), with a pull
// secret, and what each of them answered is part of the error. What was read is kept by
// digest. It runs nothing and unpacks nothing to disk. The main type is [Reader].
package registry

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	answered "github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// Release is what a release image says of itself.
type Release struct {
	// Digest is that of the image, or of its list where it is for several architectures.
	Digest string
	// Version is that of the release: 4.20.1.
	Version string
	// Architectures are those of the image in the protocol's words: x86_64, arm64 and so on, sorted.
	Architectures []string
	// Images are the references of the release's images by name: installer, cli and so on.
	Images map[string]string
}

// Needs are the names of the images that an installation has to be able to pull before
// the cluster can pull for itself.
var Needs = []string{"baremetal-installer", "cli", "installer", "machine-config-operator", "must-gather"}

// Needed are the references of [Needs] that the release has, with its own image first.
func (r Release) Needed(image string) []string {
	out := []string{image}
	for _, n := range Needs {
		if ref := r.Images[n]; ref != "" {
			out = append(out, ref)
		}
	}
	return out
}

// Reader reads releases. The zero value uses no mirrors and the system's authorities.
// It may be used by many goroutines, and must not be copied.
type Reader struct {
	// Mirrors of the site.
	Mirrors Mirrors
	// CA are certificate authorities in PEM that are trusted beside the system's.
	CA []byte
	// Insecure tells that no place's certificate is verified.
	Insecure bool
	// Timeout bounds what one place may take; zero means one minute.
	Timeout time.Duration

	mu   sync.Mutex
	kept []Release // the oldest first
}

const (
	// maxKept is how many releases are kept.
	maxKept = 64
	// defaultTimeout is that of one place.
	defaultTimeout = time.Minute
)

// Attempt is one place that was asked, and what it answered.
type Attempt struct {
	// Image is the reference as it was asked for there.
	Image string
	// Answer is why it could not be read, without credentials.
	Answer string
	// Status is that of the registry's answer; zero when none came.
	Status int
}

// Refused is the error of an image that no place gave.
type Refused struct { //nolint:errname // what it says, as in refusal
	// What it is for; empty is a release image.
	What string
	// Image is the reference as the user named it.
	Image    string
	Attempts []Attempt
}

// ByRegistries tells that each place answered, and that it has no such image or gives it to
// nobody with this login.
func (r *Refused) ByRegistries() bool {
	refusals := []int{http.StatusNotFound, http.StatusUnauthorized, http.StatusForbidden}
	return len(r.Attempts) > 0 && !slices.ContainsFunc(r.Attempts, func(a Attempt) bool { return !slices.Contains(refusals, a.Status) })
}

// Error says each attempt.
func (r *Refused) Error() string {
	var text strings.Builder
	text.WriteString(cmp.Or(r.What, "release image") + " " + r.Image + " could not be read")
	for _, a := range r.Attempts {
		text.WriteString("; " + a.Image + ": " + a.Answer)
	}
	if len(r.Attempts) == 0 {
		text.WriteString(": the site's settings leave no place to ask; add a mirror for it")
	}
	return text.String()
}

// Release reads the release image, a full reference, with a pull secret, which may be
// empty.
func (r *Reader) Release(ctx context.Context, image, pullSecret string) (release Release, err error) {
	err = r.everywhere(ctx, image, pullSecret, &Refused{Image: image}, func(found *remote.Descriptor) (err error) {
		release, err = r.known(found)
		return err
	})
	return release, err
}

// Exists asks where an image would be pulled from whether it is there: nil, or why not. Of
// the image, its manifest is read alone. what is the image's name in an error.
func (r *Reader) Exists(ctx context.Context, what, image, pullSecret string) error {
	return r.everywhere(ctx, image, pullSecret, &Refused{What: what, Image: image}, func(*remote.Descriptor) error { return nil })
}

// everywhere asks one place after the other, until one gives the image and use is content.
func (r *Reader) everywhere(ctx context.Context, image, pullSecret string, refused *Refused, use func(*remote.Descriptor) error) error {
	what := cmp.Or(refused.What, "release image")
	if _, err := name.ParseReference(image, name.StrictValidation); err != nil {
		return fmt.Errorf("%s %q: want a full reference with a tag or a digest, such as registry.example/ocp/release@sha256:…: %w", what, image, err)
	}
	secret, err := parseSecret(pullSecret)
	if err != nil {
		return err
	}
	authorities, err := r.authorities()
	if err != nil {
		return err
	}
	for _, p := range r.Mirrors.places(image) {
		p.insecure = p.insecure || r.Insecure
		err := r.at(ctx, p, secret, authorities, use)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%s %s: %w", what, image, context.Cause(ctx))
		}
		attempt := Attempt{Image: p.image, Answer: secret.explain(err, p)}
		if answer, ok := errors.AsType[*answered.Error](err); ok {
			attempt.Status = answer.StatusCode
		}
		refused.Attempts = append(refused.Attempts, attempt)
	}
	return refused
}

func (r *Reader) authorities() (*x509.CertPool, error) {
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if len(r.CA) > 0 && !pool.AppendCertsFromPEM(r.CA) {
		return nil, errors.New("certificate authorities of the release registries: no certificate in PEM")
	}
	return pool, nil
}

// at asks one place for the image, and has it used while the connection is there.
func (r *Reader) at(ctx context.Context, p place, secret secret, authorities *x509.CertPool, use func(*remote.Descriptor) error) error {
	timeout := r.Timeout
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	options := []name.Option{name.StrictValidation}
	if p.insecure {
		options = append(options, name.Insecure)
	}
	ref, err := name.ParseReference(p.image, options...)
	if err != nil {
		return err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()                                                                //nolint:forcetypeassert // net/http says so
	transport.TLSClientConfig = &tls.Config{RootCAs: authorities, MinVersion: tls.VersionTLS12, InsecureSkipVerify: p.insecure} //nolint:gosec // as the site's settings say of this place
	defer transport.CloseIdleConnections()
	with := []remote.Option{
		remote.WithContext(ctx), remote.WithAuth(secret.of(ref.Context().Name())), remote.WithUserAgent("ironflow"),
		remote.WithTransport(guarded{transport, p.insecure}), remote.WithRetryBackoff(remote.Backoff{Steps: 2, Duration: 100 * time.Millisecond}),
	}
	found, err := remote.Get(ref, with...)
	if err != nil {
		return err
	}
	return use(found)
}

// known is the release of an image, which was read before or is now.
func (r *Reader) known(found *remote.Descriptor) (Release, error) {
	if kept, ok := r.get(found.Digest.String()); ok {
		return kept, nil
	}
	release, err := read(found)
	if err != nil {
		return Release{}, err
	}
	r.put(release)
	return release, nil
}

func (r *Reader) get(digest string) (Release, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.kept, func(one Release) bool { return one.Digest == digest })
	if i < 0 {
		return Release{}, false
	}
	return r.kept[i], true
}

func (r *Reader) put(release Release) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept = append(r.kept, release)
	if extra := len(r.kept) - maxKept; extra > 0 {
		r.kept = slices.Delete(r.kept, 0, extra)
	}
}

// read reads an image, or the first one of a list.
func read(found *remote.Descriptor) (Release, error) {
	out := Release{Digest: found.Digest.String()}
	var image v1.Image
	var err error
	if found.MediaType.IsIndex() {
		image, out.Architectures, err = first(found)
	} else {
		image, err = found.Image()
	}
	if err != nil {
		return out, err
	}
	if len(out.Architectures) == 0 {
		config, err := image.ConfigFile()
		if err != nil {
			return out, err
		}
		out.Architectures = []string{architecture(config.Architecture)}
	}
	return out, contents(image, &out)
}

// first is the first image of a list, and the architectures of all of them.
func first(found *remote.Descriptor) (v1.Image, []string, error) {
	index, err := found.ImageIndex()
	if err != nil {
		return nil, nil, err
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, nil, err
	}
	var image v1.Image
	var architectures []string
	for _, m := range manifest.Manifests {
		if m.Platform == nil || m.Platform.Architecture == "" || m.Platform.Architecture == "unknown" || !m.MediaType.IsImage() {
			continue
		}
		if image == nil {
			if image, err = index.Image(m.Digest); err != nil {
				return nil, nil, err
			}
		}
		architectures = append(architectures, architecture(m.Platform.Architecture))
	}
	if image == nil {
		return nil, nil, errors.New("it is a list without images")
	}
	slices.Sort(architectures)
	return image, slices.Compact(architectures), nil
}

// architecture is the protocol's word for one of Go's.
func architecture(goName string) string {
	if goName == "amd64" {
		return "x86_64"
	}
	return goName
}

// guarded keeps credentials from places that are reached without TLS and were not said to be.
type guarded struct {
	next     http.RoundTripper
	insecure bool
}

var errPlain = errors.New("plain HTTP is not used; set insecure for it in registries.conf if that is meant")

// RoundTrip implements [http.RoundTripper].
func (g guarded) RoundTrip(r *http.Request) (*http.Response, error) {
	if !g.insecure && !strings.EqualFold(r.URL.Scheme, "https") {
		return nil, errPlain
	}
	return g.next.RoundTrip(r)
}

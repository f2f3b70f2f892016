// Package lookup finds out which release an image is, for clusters that are made with an image which the hub's list
// of releases does not have.
//
// The list is asked first, then what the user or the image's tag says; what is still not known is read from the
// image's registry, or the site's mirrors (package registry). Reading is a job beside requests and transactions: the
// REST API waits for it for a while, a controller comes again when it is told. A failure is kept for a while, so
// that nobody asks a registry in a loop. What has been found out is stored with the cluster, by the image's digest,
// and not asked for again. The main type is [Finder].
package lookup

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ironflow/ironflow/api/imagename"
	"github.com/ironflow/ironflow/hub/releases"
	"github.com/ironflow/ironflow/hub/releases/registry"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// Mode says which images are read.
type Mode string

// The modes.
const (
	// Needed reads images whose version nobody says: neither the list, nor the user, nor the tag.
	Needed Mode = "needed"
	// Always reads each image that the list does not have, and holds what the user says against it.
	Always Mode = "always"
	// Never reads none.
	Never Mode = "never"
)

// Modes are all of them.
var Modes = []Mode{Needed, Always, Never}

const (
	// atOnce is how many images are read at a time.
	atOnce = 2
	// fresh is how long an answer is handed out without asking again.
	fresh = 10 * time.Minute
	// firstPause is how long a failure is kept the first time; it doubles up to longestPause.
	firstPause, longestPause = 15 * time.Second, 10 * time.Minute
	// most is how many answers are kept.
	most = 256
)

// ErrReading tells that the image is being read: [Finder.Finished] tells when that has ended.
var ErrReading = errors.New("the release image is being read from its registry")

// ErrList tells that the hub's own list of releases cannot be read.
var ErrList = errors.New("the hub's list of releases")

// Failed is the error of an image that could not be read. It is tried again by itself.
type Failed struct { //nolint:errname // what it says
	// Err is why: a *registry.Refused names each registry and its answer.
	Err error
	// After is in how long it is tried again.
	After time.Duration
}

// Error says why.
func (f *Failed) Error() string { return f.Err.Error() }

// Unwrap returns the cause.
func (f *Failed) Unwrap() error { return f.Err }

// Found is what is known of a release image.
type Found struct {
	// Version is that of the release; empty only for an image of which nothing is known in mode Never.
	Version string
	// Release is what the image says of itself; nil where it was not read.
	Release *store.Release
}

// Serves tells whether the release is for the architecture, in the words of the protocol: multi is all that an image
// is for, if it is for several. What was not read is not known to serve.
func (f Found) Serves(architecture string) bool {
	if f.Release == nil {
		return false
	}
	if architecture == wire.ClusterCPUArchitectureMulti {
		return len(f.Release.Architectures) > 1
	}
	if architecture == wire.ClusterCPUArchitectureAarch64 {
		architecture = wire.ClusterCPUArchitectureArm64
	}
	return slices.Contains(f.Release.Architectures, architecture)
}

// Reader reads releases; *registry.Reader implements it.
type Reader interface {
	Release(ctx context.Context, image, pullSecret string) (registry.Release, error)
}

// Finder is where releases are asked for. A nil one has no list, and reads nothing. Its methods may be used by many
// goroutines.
type Finder struct {
	// List is the hub's list of releases; it may be nil.
	List *releases.File
	// Reader reads images; nil for none.
	Reader Reader
	// Mode says which.
	Mode Mode
	// Context ends all reading; nil is never.
	Context context.Context //nolint:containedctx // that of the program

	mu       sync.Mutex
	kept     map[string]*answer
	slots    chan struct{}
	finished chan struct{}
}

// answer is what came, or comes, of reading an image with a pull secret.
type answer struct {
	// done is closed once it is there.
	done    chan struct{}
	release registry.Release
	err     error
	// before is why the attempt before failed: it is said until this one has ended.
	before error
	// until is when it is asked for again; pause is the one after a failure.
	until time.Time
	pause time.Duration
}

// Of finds out which release the image is. version is what the user says of it, or empty. It waits for the
// registry as long as ctx lets it.
func (d *Finder) Of(ctx context.Context, image, version, pullSecret string) (Found, error) {
	found, done, err := d.known(image, version)
	if done || err != nil {
		return found, err
	}
	a := d.ask(image, pullSecret)
	select {
	case <-a.done:
	case <-ctx.Done():
		return Found{}, fmt.Errorf("release image %.200s: %w", image, ErrReading)
	}
	return d.found(image, version, a)
}

// Ask does what Of does without waiting: it answers [ErrReading] while the image is being read for the first time,
// and later what came of the last attempt.
func (d *Finder) Ask(image, version, pullSecret string) (Found, error) {
	found, done, err := d.known(image, version)
	if done || err != nil {
		return found, err
	}
	a := d.ask(image, pullSecret)
	select {
	case <-a.done:
		return d.found(image, version, a)
	default:
	}
	if a.before != nil {
		return Found{}, &Failed{Err: a.before, After: firstPause}
	}
	return Found{}, fmt.Errorf("release image %.200s: %w", image, ErrReading)
}

// Listed is the version of an image that the hub's list has; empty for any other.
func (d *Finder) Listed(image string) (string, error) {
	if d == nil {
		return "", nil
	}
	catalog, err := d.List.Catalog()
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrList, err)
	}
	for _, listed := range catalog.Images {
		if listed.URL == image {
			return listed.Version, nil
		}
	}
	return "", nil
}

// Finished has a value after an image was read: all that wait may ask again. It is for one listener.
func (d *Finder) Finished() <-chan struct{} {
	if d == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.start()
	return d.finished
}

// known is what can be said without asking a registry; done tells that it is enough.
func (d *Finder) known(image, version string) (found Found, done bool, err error) {
	switch listed, err := d.Listed(image); {
	case err != nil:
		return Found{}, true, err
	case listed != "":
		if err := agrees(image, version, listed); err != nil {
			return Found{}, true, err
		}
		return Found{Version: listed}, true, nil
	}
	tagged, _ := releases.Catalog{}.ByImage(image)
	said := cmp.Or(version, tagged.Version)
	read := d != nil && d.Reader != nil && (d.Mode == Always || d.Mode != Never && said == "")
	return Found{Version: said}, !read, nil
}

// agrees refuses what a user says of an image that is something else: a version, or the stream that it is of.
func agrees(image, said, is string) error {
	if said == "" || said == is || strings.HasPrefix(is, said+".") {
		return nil
	}
	return fmt.Errorf("release image %.200s is version %.40q, not %.40q: correct one of them", image, is, said)
}

// start makes what the zero value lacks; the lock is held.
func (d *Finder) start() {
	if d.kept == nil {
		d.kept, d.slots, d.finished = map[string]*answer{}, make(chan struct{}, atOnce), make(chan struct{}, 1)
	}
}

// ask returns what is known of the image, or begins to read it. The pull secret is part of the question: another
// one may open what was closed.
func (d *Finder) ask(image, pullSecret string) *answer {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.start()
	key := image + fmt.Sprintf(" %x", sha256.Sum256([]byte(pullSecret)))
	last := d.kept[key]
	if last != nil && (last.reading() || time.Now().Before(last.until)) {
		return last
	}
	a := &answer{done: make(chan struct{}), pause: firstPause}
	if last != nil && last.err != nil {
		a.pause, a.before = min(2*last.pause, longestPause), last.err
	}
	d.trim()
	d.kept[key] = a
	go d.read(a, image, pullSecret)
	return a
}

func (a *answer) reading() bool {
	select {
	case <-a.done:
		return false
	default:
		return true
	}
}

// trim drops answers that are too old, and the one that ends first where there are too many; the lock is held.
func (d *Finder) trim() {
	var first string
	for key, a := range d.kept {
		switch {
		case a.reading():
		case time.Since(a.until) > longestPause:
			delete(d.kept, key)
		case first == "" || a.until.Before(d.kept[first].until):
			first = key
		}
	}
	if len(d.kept) >= most && first != "" {
		delete(d.kept, first)
	}
}

// read reads the image and tells all that wait.
func (d *Finder) read(a *answer, image, pullSecret string) {
	ctx := d.Context
	if ctx == nil {
		ctx = context.Background()
	}
	d.slots <- struct{}{}
	a.release, a.err = d.Reader.Release(ctx, image, pullSecret)
	<-d.slots
	d.mu.Lock()
	a.until = time.Now().Add(fresh)
	if a.err != nil {
		a.until = time.Now().Add(a.pause)
	}
	d.mu.Unlock()
	close(a.done)
	select {
	case d.finished <- struct{}{}:
	default:
	}
}

// found is what an answer says of the image.
func (d *Finder) found(image, version string, a *answer) (Found, error) {
	if a.err != nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		return Found{}, &Failed{Err: a.err, After: max(time.Until(a.until), time.Second)}
	}
	if err := agrees(image, version, a.release.Version); err != nil {
		return Found{}, err
	}
	return Found{Version: a.release.Version, Release: &store.Release{
		Digest: a.release.Digest, Architectures: slices.Clone(a.release.Architectures),
		MachineConfig: full(a.release.Images["machine-config-operator"]), MustGather: full(a.release.Images["must-gather"]),
	}}, nil
}

// full is the reference where it names its registry: hosts are told no other.
func full(image string) string {
	if imagename.Full(image) != nil {
		return ""
	}
	return image
}

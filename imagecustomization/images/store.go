// Package images keeps the live images of all hosts: it builds them over the
// media, gives them signed addresses that survive restarts, and knows how
// far each was read.
//
// [Store] is what controllers use: Put, Remove, Progress, Watch. The image
// server asks it for a [Revision] by address. A revision is immutable; a new
// content gets a new address, and the old one stays valid while it may still be
// read. With a state directory the store comes back by itself after a restart,
// so that a BMC in the middle of its download is not lost.
package images

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// minKey is the shortest signing key in bytes.
	minKey = 32
	// maxURL is the longest address that BMCs are known to take.
	maxURL = 255
	// maxName is the longest host name in an address; longer ones are cut.
	maxName = 63
	// pathPrefix starts every address.
	pathPrefix   = "/images/"
	defaultGrace = 30 * time.Minute
	// DefaultLongest is how long a replaced revision is there at most.
	DefaultLongest = 4 * time.Hour
	defaultSync    = 2 * time.Minute
)

// Store holds the images of all hosts. It is safe for any number of users.
type Store struct {
	options Options
	started time.Time
	watch   subscribers
	kept    kept

	mu       sync.RWMutex
	byKey    map[string]*entry
	byPath   map[[sha256.Size]byte]*Revision
	byMedium map[string][]*Revision // files of a medium, by its digest
	synced   bool

	// minimal caches the minimal media by the medium's digest; making one reads it.
	minimal sync.Map
}

// entry is all that a key has.
type entry struct {
	current *Revision
	old     []*Revision
	// extras belong to the current revision, such as its iPXE script.
	extras []*Revision
	// script is the iPXE script among the extras, macs whom it is for.
	script *Revision
	macs   []string
	hash   string
}

// NewStore returns a Store, with the images of its state directory. Images that
// cannot be built any more (their medium is gone) are left out; a later Put
// reports why.
func NewStore(ctx context.Context, o Options) (*Store, error) {
	if len(o.SigningKey) < minKey {
		return nil, fmt.Errorf("the signing key of the image server has %d bytes, at least %d are needed", len(o.SigningKey), minKey)
	}
	u, err := url.Parse(o.BaseURL)
	if err != nil || u.Host == "" || u.RawQuery != "" {
		return nil, fmt.Errorf("the image server's address %q is not a URL like http://192.0.2.1:8080", o.BaseURL)
	}
	o.BaseURL = strings.TrimSuffix(o.BaseURL, "/")
	o.Grace = cmp.Or(o.Grace, defaultGrace)
	o.Longest = cmp.Or(o.Longest, DefaultLongest)
	o.SyncTimeout = cmp.Or(o.SyncTimeout, defaultSync)
	s := &Store{
		options: o, started: time.Now(),
		byKey: map[string]*entry{}, byPath: map[[sha256.Size]byte]*Revision{}, byMedium: map[string][]*Revision{},
	}
	if err := s.addRedirect(); err != nil {
		return nil, err
	}
	return s, s.restore(ctx)
}

// Put builds the image and makes it available. The same spec gives the same
// address and the same bytes, so Put may be called on every reconcile. Errors
// wrap [ErrBadSpec], [ErrUnsupported] or media.ErrNoMedium.
func (s *Store) Put(ctx context.Context, spec Spec) (Built, error) {
	m, revisions, err := s.build(ctx, spec)
	if err != nil {
		return Built{}, err
	}
	if err := s.save(spec); err != nil {
		return Built{}, err
	}
	return s.add(spec, m, revisions), nil
}

// add makes what was built available under the spec's key.
func (s *Store) add(spec Spec, m Built, revisions []*Revision) Built {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.byKey[spec.Key]
	if e == nil {
		e = &entry{}
		s.byKey[spec.Key] = e
	}
	m.Changed = e.hash != m.Hash
	e.hash = m.Hash
	s.install(e, revisions)
	s.prune(e)
	s.dropMedia()
	e.macs, e.script = nil, nil
	for _, mac := range spec.MACs {
		e.macs = append(e.macs, normalMAC(mac))
	}
	if m.ScriptURL != "" {
		e.script = s.byPath[pathKey(strings.TrimPrefix(m.ScriptURL, s.options.BaseURL))]
	}
	return m
}

// install makes the revisions available: the first is the image, the others are
// its extras and files of the medium. One that is there already stays,
// with its readers and its coverage.
func (s *Store) install(e *entry, revisions []*Revision) {
	for i, r := range revisions {
		revisions[i] = s.offer(r)
	}
	for _, x := range e.extras {
		if !slices.Contains(revisions, x) {
			s.forget(x)
		}
	}
	e.extras = slices.DeleteFunc(slices.Clone(revisions[1:]), func(r *Revision) bool { return r.OfMedium() })
	if e.current == revisions[0] {
		return
	}
	if e.current != nil {
		e.current.retired.Store(time.Now().UnixNano())
		e.old = append(e.old, e.current)
	}
	e.current = revisions[0]
	e.old = slices.DeleteFunc(e.old, func(r *Revision) bool { return r == e.current })
}

// offer makes a revision available, unless the same is so already, and returns
// the one that is.
func (s *Store) offer(r *Revision) *Revision {
	at := sha256.Sum256(r.raw)
	if have := s.byPath[at]; have != nil && have.ETag == r.ETag && have.Intact() {
		have.retired.Store(0)
		return have
	}
	s.byPath[at] = r
	if r.OfMedium() {
		s.byMedium[r.medium.SHA256] = append(s.byMedium[r.medium.SHA256], r)
	}
	return r
}

// prune forgets old revisions that nobody reads any more.
func (s *Store) prune(e *entry) {
	e.old = slices.DeleteFunc(e.old, func(r *Revision) bool {
		if s.expired(r) {
			s.forget(r)
			return true
		}
		return false
	})
}

// dropMedia lets go of media that are registered no more, with what was made of
// them for all hosts, as soon as no host's image needs them.
func (s *Store) dropMedia() {
	gone := map[string]bool{}
	for sum := range s.byMedium {
		gone[sum] = true
	}
	for _, m := range s.options.Media.List() {
		delete(gone, m.SHA256)
	}
	if len(gone) == 0 {
		return
	}
	for _, r := range s.byPath {
		recent := time.Since(time.Unix(0, r.lastRead.Load())) < s.options.Grace
		if r.medium != nil && (!r.OfMedium() || recent || r.readers.Load() > 0) {
			delete(gone, r.medium.SHA256)
		}
	}
	for sum := range gone {
		for _, r := range s.byMedium[sum] {
			s.forget(r)
		}
		delete(s.byMedium, sum)
		s.minimal.Delete(sum)
	}
}

// forget takes a revision's address away, unless another has it by now.
func (s *Store) forget(r *Revision) {
	if at := sha256.Sum256(r.raw); s.byPath[at] == r {
		delete(s.byPath, at)
	}
}

// expired tells whether a revision's own time is over, or it was replaced and has
// been left alone for the grace time, or that has lasted long enough. Who reads it at that moment comes to his end.
func (s *Store) expired(r *Revision) bool {
	if !r.notAfter.IsZero() && time.Now().After(r.notAfter) {
		return true
	}
	retired := r.retired.Load()
	if retired == 0 {
		return false
	}
	if time.Since(time.Unix(0, retired)) > s.options.Longest {
		return true
	}
	return r.readers.Load() == 0 && time.Since(time.Unix(0, max(retired, r.lastRead.Load()))) > s.options.Grace
}

// Remove revokes the image of key at once, with all its revisions. A key that
// is not there is no error.
func (s *Store) Remove(key string) error {
	s.revoke(key)
	return s.drop(key)
}

// revoke takes all addresses of a key away.
func (s *Store) revoke(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.byKey[key]; e != nil {
		for _, r := range slices.Concat(e.old, e.extras, []*Revision{e.current}) {
			s.forget(r)
		}
		delete(s.byKey, key)
	}
}

// Keys returns the keys of all images, sorted.
func (s *Store) Keys() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Sorted(maps.Keys(s.byKey))
}

// Progress tells how far the image of key was read.
func (s *Store) Progress(key string) (ReadProgress, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	e := s.byKey[key]
	if e == nil {
		return ReadProgress{}, false
	}
	return e.current.progress(), true
}

// Watch returns events about the reading of images until ctx ends. A slow
// watcher gets the latest event of each image and kind.
func (s *Store) Watch(ctx context.Context) <-chan Event { return s.watch.watch(ctx) }

func (s *Store) tell(e Event) { s.watch.tell(e) }

// MarkSynced says that every wanted image was put: from now on an unknown
// address is gone for good, and not merely not there yet.
func (s *Store) MarkSynced() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.synced = true
}

// Synced tells whether [Store.MarkSynced] was called, or its time is over.
func (s *Store) Synced() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.synced || time.Since(s.started) > s.options.SyncTimeout
}

// Lookup finds a revision by the path of its address, nil when the address is
// unknown or revoked. Its time does not tell how much of a guess is right.
func (s *Store) Lookup(path string) *Revision {
	raw := []byte(path)
	s.mu.RLock()
	r := s.byPath[sha256.Sum256(raw)]
	s.mu.RUnlock()
	if r == nil {
		return s.scriptAt(path)
	}
	// The table is searched by a hash, so its time says nothing about the address.
	if subtle.ConstantTimeCompare(r.raw, raw) == 0 || s.expired(r) {
		return nil
	}
	return r
}

// pathKey is the key of an address in the table.
func pathKey(path string) [sha256.Size]byte { return sha256.Sum256([]byte(path)) }

// Images returns how many images there are and what they cost in memory.
func (s *Store) Images() (count int, memoryBytes int64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, e := range s.byKey {
		memoryBytes += e.current.Image.Memory()
	}
	return len(s.byKey), memoryBytes
}

// token signs what an address stands for; nobody without the key can make one.
func (s *Store) token(parts ...string) string {
	mac := hmac.New(sha256.New, s.options.SigningKey)
	mac.Write([]byte("ironflow image address v1"))
	for _, p := range parts {
		mac.Write([]byte{0})
		mac.Write([]byte(p))
	}
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:16])
}

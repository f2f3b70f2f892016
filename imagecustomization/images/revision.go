package images

import (
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/ironflow/ironflow/imagecustomization/media"
	"github.com/ironflow/ironflow/imagecustomization/overlay"
)

// Revision is one immutable file that can be downloaded. Its address never
// stands for other bytes.
type Revision struct {
	// Key is the image's key, "namespace/name"; empty for what belongs to no host.
	Key string
	// Image holds the bytes.
	Image *overlay.Image
	// ETag is the strong validator, quoted; Modified the time of the medium's file, or when
	// it was made where an address may come to stand for another revision.
	ETag     string
	Modified time.Time
	// LastModified is Modified as HTTP writes it.
	LastModified string

	fields   []field
	path     string
	raw      []byte // path
	kind     Kind
	store    *Store
	medium   *media.Medium // nil for what no medium is part of
	coverage *coverage
	readers  atomic.Int32
	lastRead atomic.Int64 // Unix nanoseconds, 0 before the first read
	retired  atomic.Int64 // Unix nanoseconds, 0 while current
	notAfter time.Time    // zero for no end
	told     teller
}

func newRevision(s *Store, kind Kind, key, path, name, contentType string, image *overlay.Image, modified time.Time) *Revision {
	r := &Revision{
		Key: key, kind: kind, Image: image, Modified: modified.UTC(), path: path, raw: []byte(path), store: s,
		ETag:     `"` + image.ID()[:32] + `"`,
		coverage: newCoverage(image.Size()),
	}
	r.LastModified = r.Modified.Format(http.TimeFormat)
	r.fields = []field{
		{"Etag", []string{r.ETag}},
		{"Last-Modified", []string{r.LastModified}},
		{"Accept-Ranges", []string{"bytes"}},
		{"Content-Type", []string{contentType}},
		{"Content-Disposition", []string{"attachment; filename=" + strconv.Quote(name)}},
	}
	return r
}

// field is a response header that does not depend on the request, by its canonical
// name. Going through a list costs an answer less than copying a map.
type field struct {
	name   string
	values []string
}

// Describe puts the response headers that do not depend on the request into h.
// Their values must not be changed.
func (r *Revision) Describe(h http.Header) {
	for _, f := range r.fields {
		h[f.name] = f.values
	}
}

// AppendHeader appends the same headers to b as they are sent.
func (r *Revision) AppendHeader(m []byte) []byte {
	for _, f := range r.fields {
		m = append(append(m, f.name...), ": "...)
		m = append(append(m, f.values[0]...), "\r\n"...)
	}
	return m
}

// Intact tells whether the bytes are still those that the address stands for:
// somebody may have written into the medium's file.
func (r *Revision) Intact() bool { return r.medium == nil || r.medium.Intact() }

// OfMedium tells whether it is a file of a medium, which anybody may read.
func (r *Revision) OfMedium() bool { return r.kind == mediumFile }

// Begin counts a reader in, unless limit readers of the image are at work
// already. The limit keeps one host from taking all there is, so it does not
// hold for a file that many hosts read. Every true answer needs one call of End.
func (r *Revision) Begin(limit int) bool {
	if n := r.readers.Add(1); limit > 0 && int(n) > limit && !kinds[r.kind].manyReaders {
		r.readers.Add(-1)
		return false
	}
	return true
}

// End counts a reader out.
func (r *Revision) End() { r.readers.Add(-1) }

// Served notes that n bytes at off reached a reader.
func (r *Revision) Served(off, n int64) {
	now := time.Now()
	r.lastRead.Store(now.UnixNano())
	covered := r.coverage.add(off, n)
	if !kinds[r.kind].progress {
		return
	}
	percent := percentOf(covered, r.Image.Size())
	if r.told.due(now, percent) {
		r.store.tell(Event{Key: r.Key, Kind: ReadProgressed, Percent: percent, Readers: int(r.readers.Load()), Time: now})
	}
}

// Stalled notes that a reader took too little for too long and was dropped.
func (r *Revision) Stalled() {
	if !kinds[r.kind].progress {
		return
	}
	r.store.tell(Event{
		Key: r.Key, Kind: ReaderStalled, Time: time.Now(), Readers: int(r.readers.Load()),
		Percent: percentOf(r.coverage.bytes(), r.Image.Size()),
	})
}

// progress is the revision's part of [Store.Progress].
func (r *Revision) progress() ReadProgress {
	covered := r.coverage.bytes()
	p := ReadProgress{
		Percent: percentOf(covered, r.Image.Size()), Bytes: covered, Size: r.Image.Size(),
		Readers: int(r.readers.Load()),
	}
	if last := r.lastRead.Load(); last != 0 {
		p.LastRead = time.Unix(0, last)
	}
	return p
}

func percentOf(part, whole int64) float64 {
	if whole == 0 {
		return 100
	}
	return float64(part) * 100 / float64(whole)
}

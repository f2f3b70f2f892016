package filestore_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/filestore"
	"github.com/ironflow/ironflow/test/s3server"
)

// limit is more than the tests store, unless they say otherwise.
const limit = 100 << 20

// TestStores runs one suite on both kinds of stores. open opens the same place
// again, as another program does.
func TestStores(t *testing.T) {
	for kind, place := range map[string]func(*testing.T) func() filestore.Store{
		"directory": func(t *testing.T) func() filestore.Store {
			folder := filepath.Join(t.TempDir(), "files")
			return func() filestore.Store { return directory(t, folder) }
		},
		"S3": func(t *testing.T) func() filestore.Store {
			server := s3server.New(t)
			return func() filestore.Store { return bucket(t, server, filestore.S3Options{}) }
		},
		"S3 below a prefix": func(t *testing.T) func() filestore.Store {
			server := s3server.New(t)
			return func() filestore.Store {
				return bucket(t, server, filestore.S3Options{Address: "s3://" + s3server.Bucket + "/site/one/"})
			}
		},
	} {
		t.Run(kind, func(t *testing.T) { suite(t, place(t)) })
	}
}

func suite(t *testing.T, open func() filestore.Store) {
	t.Helper()
	s := open()
	for name, test := range map[string]func(*testing.T, filestore.Store){
		"sizes": sizes, "replaced": replaced, "too large": tooLarge, "broken off": brokenOff, "hostile names": hostileNames,
		"missing": missing, "list": list, "ranges": ranges, "memory": memory, "at the same time": together,
	} {
		t.Run(name, func(t *testing.T) { test(t, s) })
	}
	t.Run("another program", func(t *testing.T) {
		put(t, s, "shared/file", "as one wrote it")
		NewWithT(t).Expect(content(t, open(), "shared/file")).To(Equal("as one wrote it"))
	})
}

// sizes come back as they went in.
func sizes(t *testing.T, s filestore.Store) {
	for _, size := range []int{0, 1, 100_000, 6 << 20} {
		g := NewWithT(t)
		name := fmt.Sprintf("sizes/%d.tar.gz", size)
		raw := make([]byte, size)
		_, _ = rand.NewChaCha8([32]byte{1}).Read(raw)
		before := time.Now()
		info, err := s.Put(t.Context(), name, bytes.NewReader(raw), int64(size))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(info.Name).To(Equal(name))
		g.Expect(info.Size).To(Equal(int64(size)))
		g.Expect(info.Modified).To(BeTemporally("~", before, time.Minute))
		seen, err := s.Stat(t.Context(), name)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(seen.Size).To(Equal(int64(size)))
		g.Expect(content(t, s, name) == string(raw)).To(BeTrue(), "%d bytes came back in another form", size)
	}
}

// replaced: a reader sees one version as a whole or an error, never a mixture.
func replaced(t *testing.T, s filestore.Store) {
	g := NewWithT(t)
	older, newer := strings.Repeat("old", 1<<20), strings.Repeat("new", 1<<19)
	put(t, s, "replaced", older)
	f, info, err := s.Open(t.Context(), "replaced")
	g.Expect(err).NotTo(HaveOccurred())
	defer f.Close()
	g.Expect(info.Size).To(Equal(int64(len(older))))
	put(t, s, "replaced", newer)
	raw, err := io.ReadAll(f)
	if err != nil {
		g.Expect(err).To(MatchError(filestore.ErrUnavailable))
	} else {
		g.Expect(string(raw) == older).To(BeTrue(), "two versions are mixed")
	}
	g.Expect(content(t, s, "replaced") == newer).To(BeTrue())
}

func tooLarge(t *testing.T, s filestore.Store) {
	g := NewWithT(t)
	put(t, s, "limits/file", "earlier")
	_, err := s.Put(t.Context(), "limits/file", strings.NewReader("12345"), 4)
	large, ok := errors.AsType[*filestore.TooLargeError](err)
	g.Expect(ok).To(BeTrue(), "%v", err)
	g.Expect(large.Limit).To(Equal(int64(4)))
	g.Expect(content(t, s, "limits/file")).To(Equal("earlier"))
	_, err = s.Put(t.Context(), "limits/file", strings.NewReader("1234"), 4)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(content(t, s, "limits/file")).To(Equal("1234"))
}

// brokenOff: a sender that goes away leaves what was there before, and its own error.
func brokenOff(t *testing.T, s filestore.Store) {
	gone := errors.New("the host was switched off")
	for what, from := range map[string]struct {
		reader func(cancel func()) io.Reader
		want   error
	}{
		"the sender":  {func(func()) io.Reader { return io.MultiReader(strings.NewReader("half"), failing{gone}) }, gone},
		"the request": {func(cancel func()) io.Reader { return cancelling{cancel} }, context.Canceled},
	} {
		t.Run(what, func(t *testing.T) {
			g := NewWithT(t)
			put(t, s, "broken/earlier", "earlier")
			for _, name := range []string{"broken/earlier", "broken/never"} {
				ctx, cancel := context.WithCancel(t.Context())
				_, err := s.Put(ctx, name, from.reader(cancel), limit)
				cancel()
				g.Expect(err).To(MatchError(from.want))
				g.Expect(err).NotTo(MatchError(filestore.ErrUnavailable), "the store is well")
			}
			g.Expect(names(t, s, "broken")).To(ConsistOf("broken/earlier"))
			g.Expect(content(t, s, "broken/earlier")).To(Equal("earlier"))
		})
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

type cancelling struct{ cancel func() }

func (c cancelling) Read(p []byte) (int, error) {
	c.cancel()
	return copy(p, "half"), nil
}

func hostileNames(t *testing.T, s filestore.Store) {
	before := names(t, s, "")
	for _, name := range []string{
		"", ".", "..", "/", "/etc/passwd", "../outside", "a/../../outside", "a//b", "a/", "a/./b", ".hidden", "a/.incoming/b", "a\\b", "a\x00b", "a\nb", "a\xffb",
		strings.Repeat("a", 201), strings.Repeat("a/", 300) + "a",
	} {
		g := NewWithT(t)
		_, err := s.Put(t.Context(), name, strings.NewReader("x"), limit)
		g.Expect(err).To(MatchError(filestore.ErrName), "%q", name)
		_, _, err = s.Open(t.Context(), name)
		g.Expect(err).To(MatchError(filestore.ErrName), "%q", name)
		_, err = s.Stat(t.Context(), name)
		g.Expect(err).To(MatchError(filestore.ErrName), "%q", name)
		g.Expect(s.Remove(t.Context(), name)).To(MatchError(filestore.ErrName), "%q", name)
		if name == "" {
			continue // the top
		}
		for _, err := range s.List(t.Context(), name) {
			g.Expect(err).To(MatchError(filestore.ErrName), "%q", name)
		}
	}
	NewWithT(t).Expect(names(t, s, "")).To(ConsistOf(before))
	for _, name := range []string{"odd names/ä ü%2F..txt", "odd names/a+b=c&d?e#f", strings.Repeat("a", 200)} {
		put(t, s, name, name)
		NewWithT(t).Expect(content(t, s, name)).To(Equal(name))
	}
}

// missing: neither a name that was never stored nor one of a folder is a file.
func missing(t *testing.T, s filestore.Store) {
	put(t, s, "missing/folder/file", "x")
	for _, name := range []string{"missing/none", "missing", "missing/folder", "missing/folder/file/below"} {
		g := NewWithT(t)
		_, _, err := s.Open(t.Context(), name)
		g.Expect(err).To(MatchError(fs.ErrNotExist), name)
		_, err = s.Stat(t.Context(), name)
		g.Expect(err).To(MatchError(fs.ErrNotExist), name)
		g.Expect(err).NotTo(MatchError(filestore.ErrUnavailable), name)
		g.Expect(s.Remove(t.Context(), name)).To(Succeed(), name)
	}
	NewWithT(t).Expect(content(t, s, "missing/folder/file")).To(Equal("x"))
	NewWithT(t).Expect(s.Remove(t.Context(), "missing/folder/file")).To(Succeed())
	_, err := s.Stat(t.Context(), "missing/folder/file")
	NewWithT(t).Expect(err).To(MatchError(fs.ErrNotExist))
}

func list(t *testing.T, s filestore.Store) {
	g := NewWithT(t)
	all := []string{"list/a/1", "list/a/2/3", "list/ab", "list/a-b/c"}
	for _, name := range all {
		put(t, s, name, name)
	}
	g.Expect(names(t, s, "list")).To(ConsistOf(all))
	g.Expect(names(t, s, "list/a")).To(ConsistOf("list/a/1", "list/a/2/3"))
	g.Expect(names(t, s, "list/none")).To(BeEmpty())
	g.Expect(names(t, s, "")).To(ContainElements(all))
	for info, err := range s.List(t.Context(), "list") {
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(info.Size).To(Equal(int64(len(info.Name))))
		break // whoever has seen enough is not held up
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range s.List(ctx, "list") {
		g.Expect(err).To(MatchError(context.Canceled))
	}
}

// ranges: a download goes on where it was broken off.
func ranges(t *testing.T, s filestore.Store) {
	put(t, s, "ranges", "0123456789")
	for header, want := range map[string]string{"": "0123456789", "bytes=4-": "456789", "bytes=2-3": "23", "bytes=-1": "9"} {
		g := NewWithT(t)
		f, info, err := s.Open(t.Context(), "ranges")
		g.Expect(err).NotTo(HaveOccurred())
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
		r.Header.Set("Range", header)
		w := httptest.NewRecorder()
		w.Header().Set("Content-Type", "application/octet-stream")
		http.ServeContent(w, r, "", info.Modified, f)
		g.Expect(w.Body.String()).To(Equal(want), header)
		g.Expect(f.Close()).To(Succeed())
	}
}

// memory: a large file passes through little memory.
func memory(t *testing.T, s filestore.Store) {
	const size, most = 32 << 20, 12 << 20
	g := NewWithT(t)
	var before, after runtime.MemStats
	sent, received := sha256.New(), sha256.New()
	runtime.ReadMemStats(&before)
	_, err := s.Put(t.Context(), "large", io.TeeReader(io.LimitReader(rand.NewChaCha8([32]byte{2}), size), sent), size)
	g.Expect(err).NotTo(HaveOccurred())
	f, _, err := s.Open(t.Context(), "large")
	g.Expect(err).NotTo(HaveOccurred())
	n, err := io.Copy(received, f)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(f.Close()).To(Succeed())
	runtime.ReadMemStats(&after)
	g.Expect(n).To(Equal(int64(size)))
	g.Expect(received.Sum(nil)).To(Equal(sent.Sum(nil)))
	g.Expect(after.TotalAlloc-before.TotalAlloc).To(BeNumerically("<", most), "for %d bytes in and out", size)
}

// together: of files that are stored under one name at the same time, one stays as a whole.
func together(t *testing.T, s filestore.Store) {
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			_, err := s.Put(t.Context(), "together/file", strings.NewReader(strings.Repeat(string(rune('a'+i)), 300_000)), limit)
			NewWithT(t).Expect(err).NotTo(HaveOccurred())
		})
	}
	all.Wait()
	raw := content(t, s, "together/file")
	NewWithT(t).Expect(raw == strings.Repeat(raw[:1], 300_000)).To(BeTrue())
}

func put(t *testing.T, s filestore.Store, name, text string) {
	t.Helper()
	_, err := s.Put(t.Context(), name, strings.NewReader(text), limit)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
}

func content(t *testing.T, s filestore.Store, name string) string {
	t.Helper()
	g := NewWithT(t)
	f, info, err := s.Open(t.Context(), name)
	g.Expect(err).NotTo(HaveOccurred())
	defer f.Close()
	raw, err := io.ReadAll(f)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.Size).To(Equal(int64(len(raw))))
	return string(raw)
}

func names(t *testing.T, s filestore.Store, folder string) []string {
	t.Helper()
	found := []string{}
	for info, err := range s.List(t.Context(), folder) {
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		found = append(found, info.Name)
	}
	return found
}

func directory(t *testing.T, folder string) *filestore.Directory {
	t.Helper()
	d, err := filestore.OpenDirectory(folder)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// bucket opens the server's bucket; what the options leave out is the server's.
func bucket(t *testing.T, server *s3server.Server, o filestore.S3Options) *filestore.S3 {
	t.Helper()
	s, err := filestore.OpenS3(t.Context(), of(t, server, o))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func of(t *testing.T, server *s3server.Server, o filestore.S3Options) filestore.S3Options {
	t.Helper()
	for _, set := range []struct {
		field *string
		value string
	}{
		{&o.Address, "s3://" + s3server.Bucket},
		{&o.Endpoint, server.URL},
		{&o.CAFile, server.CAFile},
		{&o.CredentialsFile, server.CredentialsFile},
		{&o.Incoming, filepath.Join(t.TempDir(), "incoming")},
	} {
		*set.field = cmp.Or(*set.field, set.value)
	}
	o.Patience = cmp.Or(o.Patience, 5*time.Minute) // a busy machine is no fault
	return o
}

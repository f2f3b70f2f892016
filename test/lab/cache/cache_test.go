package cache_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/lab/cache"
)

// writer builds an entry with one file and counts how often it is asked.
func writer(calls *atomic.Int32, err error) func(context.Context, string) error {
	return func(_ context.Context, dir string) error {
		calls.Add(1)
		return errors.Join(os.WriteFile(filepath.Join(dir, "thing"), []byte("made"), 0o644), err)
	}
}

func TestGetBuildsOnce(t *testing.T) {
	g := NewWithT(t)
	entry := cache.Entry{Dir: filepath.Join(t.TempDir(), "deep", "cache"), Name: "thing", Key: cache.Key([]byte("1"))}
	var calls atomic.Int32
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			dir, err := entry.Get(t.Context(), nil, writer(&calls, nil))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(os.ReadFile(filepath.Join(dir, "thing"))).To(BeEquivalentTo("made"))
		})
	}
	group.Wait()
	g.Expect(calls.Load()).To(BeEquivalentTo(1))
	g.Expect(entry.Ready()).To(BeTrue())
}

func TestGetDoesNotUseAFailedOrInterruptedBuild(t *testing.T) {
	g := NewWithT(t)
	entry := cache.Entry{Dir: t.TempDir(), Name: "thing", Key: "k"}
	var calls atomic.Int32
	_, err := entry.Get(t.Context(), nil, writer(&calls, errors.New("disk full")))
	g.Expect(err).To(MatchError(ContainSubstring("disk full")))
	g.Expect(entry.Ready()).To(BeFalse())
	g.Expect(entry.Path()).NotTo(BeADirectory())

	// What a killed builder leaves behind: files, no mark, a lock file without a holder.
	g.Expect(os.Mkdir(entry.Path(), 0o755)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(entry.Path(), "half"), nil, 0o644)).To(Succeed())
	dir, err := entry.Get(t.Context(), nil, writer(&calls, nil))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(filepath.Join(dir, "half")).NotTo(BeAnExistingFile())
	g.Expect(filepath.Join(dir, "thing")).To(BeAnExistingFile())
}

func TestGetWaitsForAnotherBuilder(t *testing.T) {
	g := NewWithT(t)
	entry := cache.Entry{Dir: t.TempDir(), Name: "thing", Key: "k"}
	building, proceed := make(chan struct{}), make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		_, err := entry.Get(t.Context(), nil, func(context.Context, string) error {
			close(building)
			<-proceed
			return nil
		})
		g.Expect(err).NotTo(HaveOccurred())
	})
	<-building

	impatient, cancel := context.WithCancelCause(t.Context())
	_, err := entry.Get(impatient, func() { cancel(errors.New("no patience")) }, nil)
	g.Expect(err).To(MatchError(ContainSubstring("no patience")))

	_, err = entry.Get(t.Context(), func() { close(proceed) }, nil)
	g.Expect(err).NotTo(HaveOccurred())
	group.Wait()
}

func TestKey(t *testing.T) {
	g := NewWithT(t)
	g.Expect(cache.Key([]byte("ab"), []byte("c"))).NotTo(Equal(cache.Key([]byte("a"), []byte("bc"))))
	g.Expect(cache.Key([]byte("a"))).To(Equal(cache.Key([]byte("a"))))
}

func TestDefaultDir(t *testing.T) {
	g := NewWithT(t)
	t.Setenv(cache.EnvDir, "/some/where")
	g.Expect(cache.DefaultDir()).To(Equal("/some/where"))
	t.Setenv(cache.EnvDir, "")
	t.Setenv("XDG_CACHE_HOME", "/x")
	g.Expect(cache.DefaultDir()).To(Equal("/x/ironflow"))
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", "")
	_, err := cache.DefaultDir()
	g.Expect(err).To(MatchError(ContainSubstring("IRONFLOW_CACHE")))
}

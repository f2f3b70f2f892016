package hubpaths_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/hubpaths"
	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/imagecustomization/media"
	coreosiso "github.com/ironflow/ironflow/test/fixtures/coreos-iso"
)

// grace is how long the store keeps an image that was replaced.
const grace = 30 * time.Minute

// shelf is a store over an older medium, and a resolver in front of it.
type shelf struct {
	*WithT
	t        *testing.T
	store    *images.Store
	resolver *hubpaths.Resolver
	// add adds a medium by the name of its fixture.
	add func(name string)
}

func newShelf(t *testing.T, h *hub) *shelf {
	t.Helper()
	g, dir := NewWithT(t), t.TempDir()
	registry, err := media.Open(t.Context(), dir, media.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	add := func(name string) {
		g.Expect(os.WriteFile(filepath.Join(dir, name+".iso"), coreosiso.Read(t, name), 0o600)).To(Succeed())
		g.Expect(registry.Rescan(t.Context())).To(Succeed())
	}
	add("2022-09")
	store, err := images.NewStore(t.Context(), images.Options{
		Media: registry, BaseURL: "http://192.0.2.1:8080", SigningKey: bytes.Repeat([]byte("k"), 32), Grace: grace,
	})
	g.Expect(err).NotTo(HaveOccurred())
	return &shelf{WithT: g, t: t, store: store, resolver: hubpaths.New(h, store), add: add}
}

// ask resolves a path of the hub, and expects the code.
func (s *shelf) ask(path string, code int) string {
	found, got := s.resolver.Resolve(httptest.NewRequestWithContext(s.t.Context(), http.MethodGet, path, http.NoBody))
	s.Expect(got).To(Equal(code), path)
	return found
}

// read lets a BMC take a part of what the path leads to.
func (s *shelf) read(path string) string {
	found := s.ask(path, http.StatusOK)
	s.store.Lookup(found).Served(0, 4096)
	return found
}

const (
	newer = "/bytoken/good/38.20230718.dev.0/x86_64/full.iso"
	older = "/bytoken/good/36.20220909.dev.0/x86_64/full.iso"
)

// A BMC sends no If-Range: what it assembles from its ranges has to be one image.
func TestAnImageThatIsReadStaysUnderItsAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hub{}
		s := newShelf(t, h)
		s.add("2023-07.x86_64")
		first := s.read(newer)
		h.change = "another SSH key"
		for range 12 {
			<-time.After(10 * time.Minute) // a slow BMC
			s.Expect(s.read(newer)).To(Equal(first))
		}
		s.Expect(s.ask("/images/"+env+"?image_token=good&version=38.20230718.dev.0", http.StatusOK)).NotTo(Equal(first), "an address that nobody reads")
		s.Expect(s.read(newer)).To(Equal(first))
		<-time.After(grace + time.Minute)
		s.Expect(s.read(newer)).NotTo(Equal(first), "nobody reads it any more")
	})
}

// The old image holds the old secrets: it ends, however often it is read.
func TestAReplacedImageEndsThoughItIsRead(t *testing.T) {
	for name, c := range map[string]struct {
		path    string
		replace func(*shelf, *hub)
	}{
		"another pull secret":             {older, func(_ *shelf, h *hub) { h.change = "another pull secret" }},
		"settings that make no image":     {older, func(_ *shelf, h *hub) { h.broken = images.ErrBadSpec }},
		"a newer medium":                  {"/images/" + env + "?image_token=good", func(s *shelf, _ *hub) { s.add("2023-07.x86_64") }},
		"a newer medium, open to anybody": {"/boot-artifacts/rootfs", func(s *shelf, _ *hub) { s.add("2023-07.x86_64") }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &hub{}
				s := newShelf(t, h)
				first := s.read(c.path)
				for range 20 {
					<-time.After(29 * time.Minute)
					s.Expect(s.read(c.path)).To(Equal(first), "nothing replaces it")
				}
				c.replace(s, h)
				replaced := time.Now()
				for {
					path, _ := s.resolver.Resolve(httptest.NewRequestWithContext(t.Context(), http.MethodGet, c.path, http.NoBody))
					if path != first {
						break
					}
					s.store.Lookup(path).Served(0, 4096)
					s.Expect(time.Since(replaced)).To(BeNumerically("<", 5*time.Hour), "it is still there")
					<-time.After(29 * time.Minute)
				}
				s.Expect(time.Since(replaced)).To(BeNumerically(">", 3*time.Hour), "a slow BMC comes to its end")
			})
		})
	}
}

func TestWhatIsReadIsStillCheckedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		revoke func(*hub)
		code   int
	}{
		"a revoked token":     {func(h *hub) { h.revoked = true }, http.StatusUnauthorized},
		"a deleted infra-env": {func(h *hub) { h.gone = true }, http.StatusNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &hub{}
				s := newShelf(t, h)
				s.read(older)
				c.revoke(h)
				<-time.After(11 * time.Second)
				s.ask(older, c.code)
			})
		})
	}
}

func TestVersionsDoNotReplaceEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf(t, &hub{})
		s.add("2023-07.x86_64")
		paths := []string{s.ask(newer, http.StatusOK), s.ask(older, http.StatusOK)}
		<-time.After(grace + time.Minute)
		for _, path := range paths {
			s.Expect(s.store.Lookup(path)).NotTo(BeNil())
		}
		s.Expect(s.store.Keys()).To(HaveLen(2))
	})
}

func TestImagesThatNobodyAsksForAreLetGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf(t, &hub{})
		s.add("2023-07.x86_64")
		first := s.ask(newer, http.StatusOK)
		for range 4 {
			s.ask(older, http.StatusOK)
			<-time.After(20 * time.Minute)
		}
		s.ask(older, http.StatusOK)
		s.Expect(s.store.Keys()).To(ConsistOf(ContainSubstring(".36.20220909.dev.0.")))
		s.Expect(s.ask(newer, http.StatusOK)).To(Equal(first), "the next request makes it again")
		s.Expect(s.store.Lookup(first)).NotTo(BeNil())
	})
}

func TestADeletedInfraEnvLeavesNoImage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hub{open: true}
		s := newShelf(t, h)
		image := s.read(older)
		h.gone = true
		<-time.After(11 * time.Second)
		s.ask("/byid/"+env+"/36.20220909.dev.0/x86_64/full.iso", http.StatusNotFound)
		s.Expect(s.store.Keys()).To(BeEmpty())
		s.Expect(s.store.Lookup(image)).To(BeNil())
	})
}

func TestANewerMediumDoesNotCutInto(t *testing.T) {
	for _, path := range []string{"/boot-artifacts/rootfs", "/images/" + env + "?image_token=good"} {
		t.Run(path, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newShelf(t, &hub{})
				first := s.read(path)
				s.add("2023-07.x86_64")
				<-time.After(time.Minute)
				s.Expect(s.read(path)).To(Equal(first))
				<-time.After(grace + time.Minute)
				s.Expect(s.read(path)).NotTo(Equal(first))
			})
		})
	}
}

func TestAllHostsOfAnInfraEnvReadAtOnce(t *testing.T) {
	s := newShelf(t, &hub{})
	r := s.store.Lookup(s.ask(older, http.StatusOK))
	for range 3 {
		s.Expect(r.Begin(1)).To(BeTrue())
	}
}

// slowHub takes its time for what an image is made of, and counts how often it is asked.
type slowHub struct {
	hub
	asked  atomic.Int64
	answer chan struct{}
}

func (h *slowHub) Spec(ctx context.Context, infraEnv, _, _ string) (images.Spec, error) {
	h.asked.Add(1)
	select {
	case <-h.answer:
	case <-ctx.Done():
		return images.Spec{}, ctx.Err()
	}
	return images.Spec{Ignition: []byte(`{"of":"` + infraEnv + `"}`)}, nil
}

// TestOneLooksForAll: hundreds of hosts read one image at the same time, and what is known of
// it ages for all of them at once. Making it anew for each would take a hub's whole time.
func TestOneLooksForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many = 300
		h := &slowHub{answer: make(chan struct{})}
		s := newShelf(t, &h.hub)
		resolver, codes := hubpaths.New(h, s.store), make(chan int, many)
		ask := func(ctx context.Context) {
			_, code := resolver.Resolve(httptest.NewRequestWithContext(ctx, http.MethodGet, older, http.NoBody))
			codes <- code
		}
		gone, leave := context.WithCancel(t.Context())
		go ask(gone)
		synctest.Wait()
		for range many - 1 {
			go ask(t.Context())
		}
		synctest.Wait()
		s.Expect(h.asked.Load()).To(BeEquivalentTo(1))
		leave() // the client that it is looked for
		synctest.Wait()
		close(h.answer)
		for range many {
			s.Expect(<-codes).To(Equal(http.StatusOK))
		}
		s.Expect(h.asked.Load()).To(BeEquivalentTo(1))
	})
}

package serving

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/imagecustomization/media"
	testmedia "github.com/ironflow/ironflow/test/media"
)

// A BMC may ask any replica for what the leader has just handed out, or revoked.
func TestAFollowerServesWhatTheLeaderPuts(t *testing.T) {
	dir := t.TempDir()
	iso := filepath.Join(dir, "live.iso")
	NewWithT(t).Expect(testmedia.WriteFile(iso, testmedia.Options{RootfsBytes: 1 << 20})).To(Succeed())
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		replica := func(leads bool) *Service {
			registry, err := media.Open(t.Context(), iso, media.Options{})
			g.Expect(err).NotTo(HaveOccurred())
			store, err := images.NewStore(t.Context(), images.Options{
				Media: registry, BaseURL: "http://192.0.2.1:8080", SigningKey: bytes.Repeat([]byte("k"), 32), StateDir: filepath.Join(dir, "state"),
			})
			g.Expect(err).NotTo(HaveOccurred())
			return &Service{Store: store, log: logr.Discard(), Leads: func() bool { return leads }}
		}
		leader, follower := replica(true), replica(false)
		go follower.followLeader(t.Context())
		put := func(text string) string {
			b, err := leader.Store.Put(t.Context(), images.Spec{Key: "metal/host-0", Arch: "x86_64", Ignition: []byte(text)})
			g.Expect(err).NotTo(HaveOccurred())
			return strings.TrimPrefix(b.URL, "http://192.0.2.1:8080")
		}
		ask := func(p *Service, path string) int {
			found, code := p.alias(httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody))
			if code == http.StatusOK {
				g.Expect(found).To(Equal(path))
			}
			return code
		}
		first := put("{}")
		g.Expect(ask(follower, first)).To(Equal(200), "the first request of all")
		second := put(`{"a":1}`)
		g.Expect(ask(follower, second)).To(BeZero(), "strangers' guesses do not keep the disk busy")
		<-time.After(2 * catchUpEvery)
		g.Expect(ask(follower, second)).To(Equal(200))
		g.Expect(ask(follower, "/images/none/none/none.iso")).To(BeZero())

		g.Expect(leader.Store.Remove("metal/host-0")).To(Succeed())
		<-time.After(revokeEvery + time.Second)
		g.Expect(follower.Store.Lookup(second)).To(BeNil(), "revoked without a request")
		g.Expect(ask(leader, first)).To(BeZero(), "a leader knows all that there is")
	})
}

package keep_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/backup"
	"github.com/ironflow/ironflow/hub/diskcopy/keep"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// hub says what is to become of the copy.
type hub struct{ wish atomic.Int64 }

func (h *hub) Copy(context.Context) (service.CopyWish, string, error) {
	return service.CopyWish(h.wish.Load()), "/dev/sda", nil
}

func (h *hub) Watch(func()) (stop func()) { return func() {} }

// keeper is one of a host whose data folder is dir.
func keeper(t *testing.T, root, dir, settings string) *keep.Keeper {
	t.Helper()
	k, err := keep.New(keep.Options{
		InfraEnvID: "11111111-1111-4111-8111-111111111111", Secret: "of the image", Settings: settings, Host: hostfile.Dir{Root: root}, Log: slog.New(slog.DiscardHandler),
		Backup: backup.Options{DataDir: dir, Place: store.Place{SQLite: filepath.Join(dir, "hub.sqlite")}},
	})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return k
}

// aHost is the folder of a host with a disk.
func aHost(t *testing.T) string {
	t.Helper()
	g := NewWithT(t)
	root := t.TempDir()
	for _, folder := range []string{"sys/block/sda", "dev"} {
		g.Expect(os.MkdirAll(filepath.Join(root, folder), 0o755)).To(Succeed())
	}
	g.Expect(os.WriteFile(filepath.Join(root, "dev/sda"), nil, 0o600)).To(Succeed())
	g.Expect(os.Truncate(filepath.Join(root, "dev/sda"), 2<<30)).To(Succeed())
	return root
}

// withState is a data folder of a hub that has a cluster.
func withState(t *testing.T) string {
	t.Helper()
	g := NewWithT(t)
	dir := t.TempDir()
	s, err := store.OpenSQLite(t.Context(), filepath.Join(dir, "hub.sqlite"))
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(s.Close()).To(Succeed()) })
	g.Expect(s.Commit(t.Context(), &store.Unit{Clusters: []*store.Cluster{{API: wire.Cluster{ID: "c"}}}})).To(Succeed())
	return dir
}

// kept has the state in the copy that the keeper of an image with these settings writes; the hub
// wishes what it does from then on.
func kept(t *testing.T, root, dir, settings string, h *hub) {
	t.Helper()
	k := keeper(t, root, dir, settings)
	ctx, stop := context.WithCancel(t.Context())
	go k.Run(ctx, h)
	defer func() { stop(); <-k.Ended() }()
	w := httptest.NewRecorder()
	k.Before(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) })).ServeHTTP(
		w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/infra-envs/e/hosts/h/instructions", http.NoBody))
	NewWithT(t).Expect(w.Code).To(Equal(http.StatusOK))
}

// TestAnImageWithOtherSettings is another installation: the state of the old one is not put back,
// and who asks is told. An image that is the same goes on.
func TestAnImageWithOtherSettings(t *testing.T) {
	g := NewWithT(t)
	root, h := aHost(t), &hub{}
	disk := filepath.Join(root, "dev/sda")
	h.wish.Store(int64(service.KeepCopy))
	kept(t, root, withState(t), "a", h)
	restored := func(settings string) keep.Start {
		dir := t.TempDir()
		start, err := keeper(t, root, dir, settings).Restore(t.Context())
		g.Expect(err).NotTo(HaveOccurred())
		if start.From == "" {
			g.Expect(os.ReadDir(dir)).To(BeEmpty(), "nothing of the other one is there")
		}
		return start
	}
	g.Expect(restored("b")).To(Equal(keep.Start{PassedOver: []string{disk}}))
	g.Expect(restored("a")).To(Equal(keep.Start{From: disk}))

	// The hub that has begun anew knows its disk, and takes away what nobody goes on from.
	h.wish.Store(int64(service.DropCopy))
	kept(t, root, withState(t), "b", h)
	g.Expect(restored("a")).To(Equal(keep.Start{}))
}

// TestAnOrderComesWithACopy: the host that follows an order to install leaves, whatever becomes
// of the hub, so a hub that is started anew right after it has to know of it.
func TestAnOrderComesWithACopy(t *testing.T) {
	g := NewWithT(t)
	root, dir := aHost(t), withState(t)
	h, k := &hub{}, keeper(t, root, dir, "a")
	ctx, stop := context.WithCancel(t.Context())
	go k.Run(ctx, h)
	t.Cleanup(func() { stop(); <-k.Ended() })
	server := httptest.NewServer(k.Before(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) })))
	t.Cleanup(server.Close)
	startedAnew := func() string {
		answer, err := http.Get(server.URL + "/infra-envs/e/hosts/h/instructions")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(answer.Body.Close()).To(Succeed())
		start, err := keeper(t, root, t.TempDir(), "a").Restore(t.Context())
		g.Expect(err).NotTo(HaveOccurred())
		return start.From
	}
	g.Expect(startedAnew()).To(BeEmpty(), "nobody is told to install yet")
	h.wish.Store(int64(service.KeepCopy))
	g.Expect(startedAnew()).To(Equal(filepath.Join(root, "dev/sda")))
	h.wish.Store(int64(service.LeaveCopy))
	g.Expect(startedAnew()).NotTo(BeEmpty())
}

// TestWhoLooksAtTheHostHearsOfTheCopy: a copy that is not up to date helps nobody after a loss of
// power, and nobody reads the hub's log before that.
func TestWhoLooksAtTheHostHearsOfTheCopy(t *testing.T) {
	g := NewWithT(t)
	root, dir := t.TempDir(), t.TempDir()
	said := make(chan error, 8)
	k, err := keep.New(keep.Options{
		InfraEnvID: "11111111-1111-4111-8111-111111111111", Secret: "of the image", Host: hostfile.Dir{Root: root}, Log: slog.New(slog.DiscardHandler),
		Backup: backup.Options{DataDir: dir, Place: store.Place{SQLite: filepath.Join(dir, "hub.sqlite")}},
		Tell:   func(_ context.Context, trouble error) { said <- trouble },
	})
	g.Expect(err).NotTo(HaveOccurred())
	h := &hub{}
	h.wish.Store(int64(service.KeepCopy))
	ctx, stop := context.WithCancel(t.Context())
	go k.Run(ctx, h)
	t.Cleanup(func() { stop(); <-k.Ended() })
	server := httptest.NewServer(k.Before(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) })))
	t.Cleanup(server.Close)
	ask := func() {
		answer, err := http.Get(server.URL + "/infra-envs/e/hosts/h/instructions")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(answer.Body.Close()).To(Succeed())
	}
	ask()
	ask()
	g.Expect(<-said).To(MatchError(ContainSubstring("/dev/sda")), "there is no such disk")
	g.Expect(said).To(BeEmpty(), "the same is said once")
	h.wish.Store(int64(service.LeaveCopy))
	ask()
	g.Expect(<-said).NotTo(HaveOccurred(), "it is not wanted any more")
}

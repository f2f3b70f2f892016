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
func keeper(t *testing.T, root, dir string) *keep.Keeper {
	t.Helper()
	k, err := keep.New(keep.Options{
		InfraEnvID: "11111111-1111-4111-8111-111111111111", Secret: "of the image", Host: hostfile.Dir{Root: root}, Log: slog.New(slog.DiscardHandler),
		Backup: backup.Options{DataDir: dir, Place: store.Place{SQLite: filepath.Join(dir, "hub.sqlite")}},
	})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return k
}

// TestAnOrderComesWithACopy: the host that follows an order to install leaves, whatever becomes
// of the hub, so a hub that is started anew right after it has to know of it.
func TestAnOrderComesWithACopy(t *testing.T) {
	g := NewWithT(t)
	root, dir := t.TempDir(), t.TempDir()
	for _, folder := range []string{"sys/block/sda", "dev"} {
		g.Expect(os.MkdirAll(filepath.Join(root, folder), 0o755)).To(Succeed())
	}
	g.Expect(os.WriteFile(filepath.Join(root, "dev/sda"), nil, 0o600)).To(Succeed())
	g.Expect(os.Truncate(filepath.Join(root, "dev/sda"), 2<<30)).To(Succeed())
	s, err := store.OpenSQLite(t.Context(), filepath.Join(dir, "hub.sqlite"))
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(s.Close()).To(Succeed()) })
	g.Expect(s.Commit(t.Context(), &store.Unit{Clusters: []*store.Cluster{{API: wire.Cluster{ID: "c"}}}})).To(Succeed())

	h, k := &hub{}, keeper(t, root, dir)
	ctx, stop := context.WithCancel(t.Context())
	go k.Run(ctx, h)
	t.Cleanup(func() { stop(); <-k.Ended() })
	server := httptest.NewServer(k.Before(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) })))
	t.Cleanup(server.Close)
	startedAnew := func() string {
		answer, err := http.Get(server.URL + "/infra-envs/e/hosts/h/instructions")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(answer.Body.Close()).To(Succeed())
		from, err := keeper(t, root, t.TempDir()).Restore(t.Context())
		g.Expect(err).NotTo(HaveOccurred())
		return from
	}
	g.Expect(startedAnew()).To(BeEmpty(), "nobody is told to install yet")
	h.wish.Store(int64(service.KeepCopy))
	g.Expect(startedAnew()).To(Equal(filepath.Join(root, "dev/sda")))
	h.wish.Store(int64(service.LeaveCopy))
	g.Expect(startedAnew()).NotTo(BeEmpty())
}

package rest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/auth"
	"github.com/ironflow/ironflow/hub/filestore"
	"github.com/ironflow/ironflow/hub/rest"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/contract"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// failingStore is a store that can be taken away.
type failingStore struct {
	store.Store
	read, write error
	// left is how many more reads work before they fail; zero for all.
	left atomic.Int32
	// meanwhile is done after each read; it may be nil.
	meanwhile func()
	hub       *service.Hub
	// takes is how long a commit takes; zero for no longer than it does.
	takes time.Duration
}

// failAfter has all reads but the next n fail.
func (s *failingStore) failAfter(n int32) { s.left.Store(n + 1) }

func (s *failingStore) View(ctx context.Context, f func(*store.Reader) error) error {
	if s.read != nil {
		return s.read
	}
	if left := s.left.Load(); left == 1 {
		return errors.New("disk I/O error")
	} else if left > 1 {
		s.left.Store(left - 1)
	}
	if s.meanwhile != nil {
		defer s.meanwhile()
	}
	return s.Store.View(ctx, f)
}

func (s *failingStore) Commit(ctx context.Context, u *store.Unit) error {
	if s.write != nil {
		return s.write
	}
	if s.takes > 0 && len(u.Hosts) > 0 {
		<-time.After(s.takes)
	}
	return s.Store.Commit(ctx, u)
}

// TestTokenThatCannotBeLookedUp: an agent takes 401 for the end, so it gets that
// only for a token that is missing or wrong.
func TestTokenThatCannotBeLookedUp(t *testing.T) {
	locked := errors.New("store: read infra-env: database is locked (5) (SQLITE_BUSY)")
	for name, tc := range map[string]struct {
		forge, none bool
		known       bool
		read, write error
		code        int
	}{
		"good token":                           {code: 200},
		"known token while the store is away":  {known: true, read: context.DeadlineExceeded, code: 503},
		"no token":                             {none: true, code: 401},
		"forged token":                         {forge: true, code: 401},
		"forged token while the store is away": {forge: true, read: locked, code: 401},
		"store is locked":                      {read: locked, code: 503},
		"store takes too long":                 {read: fmt.Errorf("store: begin: %w", context.DeadlineExceeded), code: 503},
		"request is cancelled":                 {read: context.Canceled, code: 503},
		"deadline behind the token check":      {write: context.DeadlineExceeded, code: 503},
		"others are always faster":             {write: store.ErrConflict, code: 503},
		"database is away":                     {read: &net.OpError{Op: "dial", Err: errors.New("connection refused")}, code: 503},
		"broken record":                        {write: errors.New("unexpected end of JSON input"), code: 500},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := &failingStore{}
			api, token := apiOver(t, s)
			defer func() { _ = s.Close() }()
			switch {
			case tc.forge:
				token += "x"
			case tc.none:
				token = ""
			case tc.known:
				r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, rest.Base+"/v2/infra-envs/"+envOfToken+"/hosts", nil)
				r.Header.Set(wire.HeaderAgentToken, token)
				api.ServeHTTP(httptest.NewRecorder(), r)
			}
			s.read, s.write = tc.read, tc.write
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, rest.Base+"/v2/infra-envs/"+envOfToken+"/hosts", nil)
			if tc.write != nil {
				r = httptest.NewRequestWithContext(t.Context(), http.MethodPost, rest.Base+"/v2/infra-envs/"+envOfToken+"/hosts",
					strings.NewReader(`{"host_id": "aaaaaaaa-0000-4000-8000-000000000001"}`))
			}
			r.Header.Set(wire.HeaderAgentToken, token)
			w := httptest.NewRecorder()
			api.ServeHTTP(w, r)
			g.Expect(w.Code).To(Equal(tc.code), w.Body.String())
			g.Expect(w.Header().Get("Retry-After") != "").To(Equal(tc.code == 503))
			if tc.code >= 500 {
				g.Expect(w.Body.String()).NotTo(Or(ContainSubstring("SQLITE"), ContainSubstring("current image")))
			}
		})
	}
}

// TestClusterThatIsClosedForNow: an agent takes 409 for the end, and the cluster may take
// its host later.
func TestClusterThatIsClosedForNow(t *testing.T) {
	g := NewWithT(t)
	s := &failingStore{}
	api, _ := apiOver(t, s)
	defer func() { _ = s.Close() }()
	const clusterID, env = "cccccccc-0000-4000-8000-000000000001", "22222222-2222-4222-8222-222222222222"
	unit := &store.Unit{Clusters: []*store.Cluster{{API: wire.Cluster{ID: clusterID, Name: "edge", Status: wire.ClusterStatusFinalizing, StatusUpdatedAt: wire.At(time.Now())}}}}
	g.Expect(s.Commit(t.Context(), unit)).To(Succeed())
	_, err := s.hub.EnsureInfraEnv(t.Context(), service.InfraEnvSpec{ID: env, Name: "edge", ClusterID: clusterID})
	g.Expect(err).NotTo(HaveOccurred())
	token, err := s.hub.AgentToken(t.Context(), env)
	g.Expect(err).NotTo(HaveOccurred())
	for _, tc := range []struct {
		body, header string
		want         int
	}{
		{`{"host_id":"aaaaaaaa-0000-4000-8000-000000000001","discovery_agent_version":"registry.example/agent:1"}`, "", 503},
		{`{"host_id":"aaaaaaaa-0000-4000-8000-000000000001"}`, "registry.example/agent:1", 503},
		{`{"host_id":"aaaaaaaa-0000-4000-8000-000000000001"}`, "", 409}, // who says that it is no agent knows this code
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, rest.Base+"/v2/infra-envs/"+env+"/hosts", strings.NewReader(tc.body))
		r.Header.Set(wire.HeaderAgentToken, token)
		r.Header.Set(wire.HeaderAgentVersion, tc.header)
		w := httptest.NewRecorder()
		api.ServeHTTP(w, r)
		g.Expect(w.Code).To(Equal(tc.want), w.Body.String())
		g.Expect(w.Header().Get("Retry-After") != "").To(Equal(tc.want == 503))
		g.Expect(w.Body.String()).To(ContainSubstring("takes no new hosts: it is finalizing"))
	}
}

// TestBodyThatDoesNotArriveInTime: an agent drops a reply that is answered with
// 400, and says it again after 408.
func TestBodyThatDoesNotArriveInTime(t *testing.T) {
	s := &failingStore{}
	api, token := apiOver(t, s)
	for _, path := range []string{"/infra-envs/" + envOfToken + "/hosts", "/events"} {
		t.Run(path, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, rest.Base+"/v2"+path,
				io.MultiReader(strings.NewReader(`{"host_id": `), iotest.ErrReader(os.ErrDeadlineExceeded)))
			r.Header.Set(wire.HeaderAgentToken, token)
			w := httptest.NewRecorder()
			api.ServeHTTP(w, r)
			NewWithT(t).Expect(w.Code).To(Equal(http.StatusRequestTimeout), w.Body.String())
		})
	}
	NewWithT(t).Expect(s.Close()).To(Succeed())
}

const envOfToken = "11111111-1111-4111-8111-111111111111"

// apiOver returns an API over the store with one infra-env, and its agents' token.
func apiOver(t *testing.T, s *failingStore) (api http.Handler, token string) {
	t.Helper()
	g := NewWithT(t)
	dir := t.TempDir()
	records, err := store.OpenSQLite(t.Context(), filepath.Join(dir, "hub.sqlite"))
	g.Expect(err).NotTo(HaveOccurred())
	s.Store = records
	root, err := filestore.OpenDirectory(dir)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = root.Close() })
	key, err := auth.NewKey([]byte(strings.Repeat("k", 32)))
	g.Expect(err).NotTo(HaveOccurred())
	hub, err := service.New(service.Options{Store: s, Files: root, Keys: testhub.Keys(), TokenKey: key})
	g.Expect(err).NotTo(HaveOccurred())
	s.hub = hub
	_, err = hub.EnsureInfraEnv(t.Context(), service.InfraEnvSpec{ID: envOfToken, Name: "env", AutoApprove: true})
	g.Expect(err).NotTo(HaveOccurred())
	token, err = hub.AgentToken(t.Context(), envOfToken)
	g.Expect(err).NotTo(HaveOccurred())
	served, err := rest.New(rest.Options{Hub: hub})
	g.Expect(err).NotTo(HaveOccurred())
	return contract.Checked(t, served), token
}

func registration(env, host string) service.Registration {
	return service.Registration{InfraEnvID: env, HostID: host}
}

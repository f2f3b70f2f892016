// Package testhub starts a real hub for the tests of other packages: SQLite (or
// PostgreSQL, see [DatabaseEnv]) and files in a temporary folder, the REST API over TLS on a free loopback port,
// and the monitor. Nothing in it is faked, and each of its answers is held against
// the OpenAPI document.
package testhub

import (
	"context"
	"encoding/pem"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/hub/auth"
	"github.com/ironflow/ironflow/hub/filestore"
	"github.com/ironflow/ironflow/hub/inside"
	"github.com/ironflow/ironflow/hub/instructions"
	"github.com/ironflow/ironflow/hub/operators"
	"github.com/ironflow/ironflow/hub/rest"
	"github.com/ironflow/ironflow/hub/seal"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/contract"
	"github.com/ironflow/ironflow/test/postgres"
)

// Options change the hub; the zero value is one that checks tokens.
type Options struct {
	// NoAuth lets everybody do everything.
	NoAuth bool
	// Pair makes and checks the tokens of agents and clusters; nil for the hub's own key.
	Pair *auth.Pair
	// IgnitionDir is a folder of Ignition files; empty gives minimal ones to clusters without a release.
	IgnitionDir string
	// Sources are those of Ignition beside files and pointers.
	Sources map[sources.Name]sources.Source
	// Inside is put into clusters whose end is told from inside; the hub's key is its own.
	Inside inside.Program
	// Operators are those that clusters can get beside their release; none means those of the hub.
	Operators operators.Table
	// Checks change the validations.
	Checks service.Checks
	// Requirements of clusters with a release; none means those of the hub.
	Requirements validations.Table
	// Images of an installation; none has a default.
	Images instructions.Images
	// NodeZero is set where the hub runs on one of its hosts.
	NodeZero service.NodeZero
	// Timers shorten the hub's patience.
	Timers service.Timers
	// ImageURLs says where live images are; nil for no image server.
	ImageURLs func(env wire.InfraEnv, token string) (service.ImageURLs, error)
	// API changes how the REST API is served; nil leaves it.
	API func(*rest.Options)
	// Dir keeps the hub's state; empty means a temporary folder. A second hub
	// with the same folder goes on where the first one ended.
	Dir string
	// Files keeps collected logs; nil means a folder below Dir.
	Files filestore.Store
}

// Hub is a running hub.
type Hub struct {
	// Hub is the core, for what controllers do.
	*service.Hub
	// URL is the base URL that agents are given.
	URL string
	// CAFile is the PEM file with the certificate to trust.
	CAFile string
	// UserToken opens the operations of users.
	UserToken string
	// Key makes the hub's tokens.
	Key auth.Key
	// Dir holds the hub's state.
	Dir string

	server *httptest.Server
	client *http.Client // of a hub that runs elsewhere
	stop   func()
}

// At is a hub that runs elsewhere, such as the program as a process: it can be called, and
// nothing else.
func At(url string, client *http.Client, userToken string) *Hub {
	return &Hub{URL: url, UserToken: userToken, client: client, stop: func() {}}
}

// Start starts a hub and ends it with the test.
func Start(t testing.TB, o Options) *Hub {
	t.Helper()
	dir := o.Dir
	if dir == "" {
		dir = t.TempDir()
	}
	h := &Hub{Dir: dir, UserToken: "user-" + uuid.NewString(), CAFile: filepath.Join(dir, "ca.crt")}
	records := openRecords(t, dir)
	kept := o.Files
	if kept == nil {
		folder, err := filestore.OpenDirectory(filepath.Join(dir, "files"))
		must(t, err)
		t.Cleanup(func() { _ = folder.Close() })
		kept = folder
	}
	key, err := auth.LoadKey(filepath.Join(dir, "token.key"))
	must(t, err)
	switch {
	case o.NoAuth:
		key = auth.Key{}
	case o.Pair != nil:
		key = key.With(*o.Pair)
	}
	h.Key = key
	keys, err := seal.Load(filepath.Join(dir, "cluster.key"))
	must(t, err)
	o.Inside.Key = key
	h.Hub, err = service.New(service.Options{
		Inside: o.Inside, NodeZero: o.NodeZero, Operators: o.Operators, Requirements: o.Requirements,
		Store: records, Files: kept, TokenKey: key, Timers: o.Timers, Checks: o.Checks, Images: o.Images, Sources: o.sources(t), Keys: keys, ImageURLs: o.ImageURLs,
	})
	must(t, err)
	serve := rest.Options{Hub: h.Hub, Auth: rest.Auth{None: o.NoAuth, UserToken: h.UserToken, Key: key}}
	if o.API != nil {
		o.API(&serve)
	}
	api, err := rest.New(serve)
	must(t, err)

	h.server = httptest.NewUnstartedServer(contract.Checked(t, api))
	h.server.Config.MaxHeaderBytes = api.HTTPServer().MaxHeaderBytes
	h.server.StartTLS()
	h.URL = h.server.URL
	must(t, os.WriteFile(h.CAFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.server.Certificate().Raw}), 0o600))

	ctx, cancel := context.WithCancel(context.Background())
	var monitor sync.WaitGroup
	monitor.Go(func() { _ = h.Run(ctx) })
	monitor.Go(func() { _ = h.KeepCheckIns(ctx) })
	h.stop = sync.OnceFunc(func() {
		h.server.Close()
		cancel()
		monitor.Wait()
		tell(t, records)
		_ = records.Close()
	})
	t.Cleanup(h.stop)
	return h
}

// DatabaseEnv chooses PostgreSQL for all hubs of a test program, by the value
// "postgres"; otherwise they have SQLite. The program ends the server, see package postgres.
const DatabaseEnv = "IRONFLOW_TEST_DATABASE"

// databases are those of PostgreSQL by the folders of their hubs.
var databases sync.Map

func openRecords(t testing.TB, dir string) store.Store {
	t.Helper()
	if os.Getenv(DatabaseEnv) != "postgres" {
		records, err := store.OpenSQLite(context.Background(), filepath.Join(dir, "hub.sqlite"))
		must(t, err)
		return records
	}
	known, ok := databases.Load(dir)
	if !ok {
		known, _ = databases.LoadOrStore(dir, postgres.New(t))
	}
	db := known.(*postgres.Database)
	records, err := store.OpenPostgres(context.Background(), store.PostgresOptions{URL: db.URL, PasswordFile: db.PasswordFile})
	must(t, err)
	return records
}

// tell notes what has come onto the timeline, for the table of events.
func tell(t testing.TB, records store.Store) {
	err := records.View(context.Background(), func(r *store.Reader) error {
		events, _, err := r.Events(store.EventFilter{})
		for _, e := range events {
			contract.Tell(e.Name, t.Name())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// Stop ends the hub before the test does.
func (h *Hub) Stop() { h.stop() }

// Client returns a client that trusts the hub.
func (h *Hub) Client() *http.Client {
	if h.client != nil {
		return h.client
	}
	return h.server.Client()
}

// InfraEnv makes an infra-env whose hosts are installed each alone and start
// approved, and returns its id and the agents' token (empty without authentication).
func (h *Hub) InfraEnv(t testing.TB, name string) (id, token string) {
	t.Helper()
	id = uuid.NewSHA1(uuid.NameSpaceOID, []byte(name)).String()
	_, err := h.EnsureInfraEnv(t.Context(), service.InfraEnvSpec{ID: id, Name: name, SingleHost: true, AutoApprove: true})
	must(t, err)
	token, err = h.AgentToken(t.Context(), id)
	must(t, err)
	return id, token
}

// Timeline returns the messages of all events, one a line, for failed tests.
func (h *Hub) Timeline(t testing.TB) string {
	t.Helper()
	if h.Hub == nil {
		return "the hub runs elsewhere"
	}
	events, _, err := h.Events(context.WithoutCancel(t.Context()), store.EventFilter{})
	must(t, err)
	var b strings.Builder
	for _, e := range events {
		b.WriteString(e.EventTime.Format("15:04:05.000 ") + e.Message + "\n")
	}
	return b.String()
}

// sources are those that the hub has.
func (o Options) sources(t testing.TB) sources.Set {
	t.Helper()
	var folder *os.Root
	if o.IgnitionDir != "" {
		root, err := os.OpenRoot(o.IgnitionDir)
		must(t, err)
		t.Cleanup(func() { _ = root.Close() })
		folder = root
	}
	all := service.OwnSources(folder)
	maps.Copy(all.All, o.Sources)
	return all
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

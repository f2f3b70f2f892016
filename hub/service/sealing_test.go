package service_test

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/filestore"
	"github.com/ironflow/ironflow/hub/seal"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/test/postgres"
)

// places are stores that can be read past the hub.
var places = map[string]func(t *testing.T) (store.Place, func() (store.Store, error)){
	"sqlite": func(t *testing.T) (store.Place, func() (store.Store, error)) {
		path := t.TempDir() + "/hub.sqlite"
		return store.Place{SQLite: path}, func() (store.Store, error) { return store.OpenSQLite(t.Context(), path) }
	},
	"postgres": func(t *testing.T) (store.Place, func() (store.Store, error)) {
		db := postgres.New(t)
		o := store.PostgresOptions{URL: db.URL, PasswordFile: db.PasswordFile}
		return store.Place{Postgres: o}, func() (store.Store, error) { return store.OpenPostgres(t.Context(), o) }
	},
}

// inEachPlace plays a test over a fresh store of each kind.
func inEachPlace(t *testing.T, play func(t *testing.T, place store.Place, s store.Store)) {
	t.Helper()
	for name := range places {
		t.Run(name, func(t *testing.T) {
			place, s := in(t, name)
			play(t, place, s)
		})
	}
}

// in is a fresh store of a kind.
func in(t *testing.T, name string) (store.Place, store.Store) {
	t.Helper()
	place, open := places[name](t)
	s, err := open()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = s.Close() })
	return place, s
}

// plain is what an earlier version has written without sealing it.
type plain struct {
	// secrets are texts in it that nobody may find once it is sealed.
	secrets []string
	write   func(t *testing.T, s store.Store)
	// read expects that a hub whose keys are of these letters has all of it as it was.
	read func(t *testing.T, s store.Store, hub *service.Hub, letters ...string)
}

// isSealed plays what becomes of it: it is read, and sealed when the hub starts; another key seals it
// anew, and nothing is done twice.
func (p plain) isSealed(t *testing.T) {
	t.Helper()
	inEachPlace(t, func(t *testing.T, place store.Place, s store.Store) {
		g, ctx := NewWithT(t), t.Context()
		p.write(t, s)
		for _, secret := range p.secrets {
			g.Expect(everything(t, place)).To(ContainSubstring(secret), "this test can see it")
		}
		first := sealing(t, s, "a")
		p.read(t, s, first, "a")
		g.Expect(first.Reseal(ctx)).To(Succeed())
		for _, secret := range p.secrets {
			g.Expect(everything(t, place)).NotTo(ContainSubstring(secret))
			g.Expect(onDisk(t, place)).NotTo(ContainSubstring(secret), "nothing is left between the rows")
		}
		p.read(t, s, first, "a")
		again := everything(t, place)
		g.Expect(first.Reseal(ctx)).To(Succeed())
		g.Expect(rows(everything(t, place))).To(Equal(rows(again)), "there is nothing to do twice")

		g.Expect(sealing(t, s, "b", "a").Reseal(ctx)).To(Succeed())
		p.read(t, s, sealing(t, s, "b"), "b")
	})
}

// keysOf are made of the letters; the first one seals.
func keysOf(t *testing.T, letters ...string) seal.Keys {
	t.Helper()
	var secrets [][]byte
	for _, l := range letters {
		secrets = append(secrets, bytes.Repeat([]byte(l), 32))
	}
	keys, err := seal.New(secrets...)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return keys
}

// sealing is a hub whose keys are made of the letters; the first one seals.
func sealing(t *testing.T, s store.Store, letters ...string) *service.Hub {
	t.Helper()
	g := NewWithT(t)
	keys := keysOf(t, letters...)
	files, err := filestore.OpenDirectory(t.TempDir())
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = files.Close() })
	hub, err := service.New(service.Options{Store: s, Files: files, Keys: keys})
	g.Expect(err).NotTo(HaveOccurred())
	return hub
}

// onDisk is the database's file as it is, with the log of its changes; empty for PostgreSQL.
func onDisk(t *testing.T, place store.Place) string {
	t.Helper()
	if place.SQLite == "" {
		return ""
	}
	var all strings.Builder
	for _, name := range []string{place.SQLite, place.SQLite + "-wal"} {
		raw, err := os.ReadFile(name)
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		all.WriteString(string(raw))
	}
	return all.String()
}

// everything is all rows of all tables, as a backup has them.
func everything(t *testing.T, place store.Place) string {
	t.Helper()
	var all bytes.Buffer
	_, err := store.Dump(t.Context(), place, time.Now(), &all)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return all.String()
}

// rows are the lines of a dump without the first one, which has its time.
func rows(dump string) []string {
	var out []string
	for _, line := range bytes.Split([]byte(dump), []byte("\n"))[1:] {
		out = append(out, string(line))
	}
	return out
}

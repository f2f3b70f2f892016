package store_test

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/postgres"
)

// TestChangesOfOtherReplicasAreHeard, and a lost connection is told, since
// announcements may have been missed.
func TestChangesOfOtherReplicasAreHeard(t *testing.T) {
	g := NewWithT(t)
	db := postgres.New(t)
	o := store.PostgresOptions{URL: db.URL, PasswordFile: db.PasswordFile}
	one, err := store.OpenPostgres(t.Context(), o)
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = one.Close() }()
	other, err := store.OpenPostgres(t.Context(), o)
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = other.Close() }()
	var heard heard
	defer other.Watch(heard.note)()
	change := store.Change{HostID: "h", What: store.ChangedHost}
	g.Expect(one.Commit(t.Context(), &store.Unit{Changes: []store.Change{change}})).To(Succeed())
	g.Eventually(heard.all, "20s").Should(Equal([]store.Change{change}))

	db.Cut(t)
	g.Eventually(heard.all, "20s").Should(ContainElement(store.Change{What: store.ChangedAll}))
	after := store.Change{HostID: "h", What: store.ChangedStatus}
	g.Eventually(func() []store.Change { // connections of the pool were cut off, too, and nobody listens for a moment
		_ = one.Commit(t.Context(), &store.Unit{Changes: []store.Change{after}})
		return heard.all()
	}, "20s").Should(ContainElement(after), "it listens again")
}

// TestLostConnectionMayPass: whoever is cut off is told to ask again.
func TestLostConnectionMayPass(t *testing.T) {
	g := NewWithT(t)
	db := postgres.New(t)
	s, err := store.OpenPostgres(t.Context(), store.PostgresOptions{URL: db.URL, PasswordFile: db.PasswordFile})
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = s.Close() }()
	err = s.View(t.Context(), func(r *store.Reader) error {
		db.Cut(t)
		_, err := r.Cluster("c")
		return err
	})
	g.Expect(store.Unavailable(err)).To(BeTrue(), "%v", err)

	_, err = store.OpenPostgres(t.Context(), store.PostgresOptions{URL: "postgres://nobody@127.0.0.1:1/none"})
	g.Expect(store.Unavailable(err)).To(BeTrue(), "%v", err)
}

// TestTroubleThatMayPass is everything that ends without anybody changing the program:
// a server that vanishes, one that has become a standby, a transaction that was given up,
// a password's file that is being replaced.
func TestTroubleThatMayPass(t *testing.T) {
	db := postgres.New(t)
	with := func(parameters string) store.PostgresOptions {
		return store.PostgresOptions{URL: db.URL + "&" + parameters, PasswordFile: db.PasswordFile}
	}
	for name, trouble := range map[string]func(*testing.T, *WithT) error{
		"the server vanishes": func(t *testing.T, g *WithT) error {
			way := forwarderTo(t, db)
			s, err := store.OpenPostgres(t.Context(), store.PostgresOptions{URL: way.url, PasswordFile: db.PasswordFile})
			g.Expect(err).NotTo(HaveOccurred())
			defer func() { _ = s.Close() }()
			return s.View(t.Context(), func(r *store.Reader) error {
				way.cut()
				_, err := r.Cluster("c")
				return err
			})
		},
		"a standby": func(t *testing.T, g *WithT) error {
			_, err := store.OpenPostgres(t.Context(), with("default_transaction_read_only=on"))
			return err
		},
		"a transaction that was given up": func(t *testing.T, g *WithT) (err error) {
			s, err := store.OpenPostgres(t.Context(), with("idle_in_transaction_session_timeout=1000"))
			g.Expect(err).NotTo(HaveOccurred())
			defer func() { _ = s.Close() }()
			return s.View(t.Context(), func(r *store.Reader) (err error) {
				g.Eventually(func() bool {
					_, err = r.Leases()
					return err == nil
				}, "40s", "2s").Should(BeFalse())
				return err
			})
		},
		"a password that is not there": func(t *testing.T, g *WithT) error {
			_, err := store.OpenPostgres(t.Context(), store.PostgresOptions{URL: db.URL, PasswordFile: filepath.Join(t.TempDir(), "none")})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			err := trouble(t, g)
			g.Expect(err).To(HaveOccurred())
			g.Expect(store.Unavailable(err)).To(BeTrue(), "%v", err)
		})
	}
}

// forwarder is a way to the database that can be cut.
type forwarder struct {
	url  string
	mu   sync.Mutex
	open []net.Conn
}

func forwarderTo(t *testing.T, db *postgres.Database) *forwarder {
	t.Helper()
	g := NewWithT(t)
	config, err := pgx.ParseConfig(db.URL)
	g.Expect(err).NotTo(HaveOccurred())
	network, address := pgconn.NetworkAddress(config.Host, config.Port)
	front, err := net.Listen("tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	d := &forwarder{url: "postgres://" + config.User + "@" + front.Addr().String() + "/" + config.Database}
	var passing sync.WaitGroup
	passing.Go(func() {
		for {
			in, err := front.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial(network, address)
			if err != nil {
				_ = in.Close()
				continue
			}
			d.mu.Lock()
			d.open = append(d.open, in, out)
			d.mu.Unlock()
			passing.Go(func() { _, _ = io.Copy(out, in); _ = out.Close() })
			passing.Go(func() { _, _ = io.Copy(in, out); _ = in.Close() })
		}
	})
	t.Cleanup(func() {
		_ = front.Close()
		d.cut()
		passing.Wait()
	})
	return d
}

// cut breaks all connections off.
func (d *forwarder) cut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.open {
		_ = c.Close()
	}
}

// TestPasswordOfTheDatabase is read for each connection, and is in no error.
func TestPasswordOfTheDatabase(t *testing.T) {
	g := NewWithT(t)
	db := postgres.New(t)
	file := filepath.Join(t.TempDir(), "password")
	g.Expect(os.WriteFile(file, []byte("wrong-secret"), 0o600)).To(Succeed())
	o := store.PostgresOptions{URL: db.URL, PasswordFile: file}
	_, err := store.OpenPostgres(t.Context(), o)
	g.Expect(err).To(MatchError(ContainSubstring("password authentication failed")))
	g.Expect(err.Error()).NotTo(ContainSubstring("wrong-secret"))

	right, err := os.ReadFile(db.PasswordFile)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.WriteFile(file, right, 0o600)).To(Succeed())
	s, err := store.OpenPostgres(t.Context(), o)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.Close()).To(Succeed())
}

func TestAddressOfTheDatabase(t *testing.T) {
	for address, want := range map[string]string{
		"postgres://u@db.example/hub":                          "",
		"postgresql://u@db.example:5433/hub?sslmode=require":   "",
		"postgres://u:geheim@db.example/hub":                   "holds a password",
		"postgres://u@db.example/hub?password=geheim":          "holds a password",
		"mysql://u@db.example/hub":                             "not a URL such as",
		"host=db.example password=geheim":                      "not a URL such as",
		"postgres://u@db.example/hub?sslmode=sideways":         "cannot be read",
		"postgres://u@db.example/hub?sslrootcert=/nonexistent": "cannot be read",
	} {
		t.Run(address, func(t *testing.T) {
			g := NewWithT(t)
			err := store.CheckPostgresURL(address)
			if want == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(ContainSubstring(want)))
			g.Expect(err.Error()).NotTo(ContainSubstring("geheim"))
		})
	}
}

// TestUnitsThatMeet: two programs that write the same records in opposite order
// do not wait for each other for ever; one of them is told to do it again.
func TestUnitsThatMeet(t *testing.T) {
	g := NewWithT(t)
	s := databases["postgres"].opened(t)
	put(t.Context(), g, s, host("host-1"), host("host-2"))
	outcomes := make(chan error)
	const writers = 8
	units := make([]*store.Unit, writers)
	for i := range units { // all of them read before one of them writes
		hosts := read(t.Context(), g, s, func(r *store.Reader) ([]*store.Host, error) { return r.Hosts(store.HostFilter{}) })
		if i%2 == 1 {
			slices.Reverse(hosts)
		}
		units[i] = &store.Unit{Hosts: hosts, Events: []wire.Event{{Message: "mine"}}}
	}
	for _, u := range units {
		go func() { outcomes <- s.Commit(t.Context(), u) }()
	}
	won := 0
	for range writers {
		if err := <-outcomes; err == nil {
			won++
		} else {
			g.Expect(err).To(MatchError(store.ErrConflict))
		}
	}
	g.Expect(won).To(Equal(1))
	g.Expect(readEvents(t.Context(), g, s, store.EventFilter{})).To(HaveLen(1))
}

// Package postgres starts a real PostgreSQL for tests: Debian's, in a folder of
// its own, by an unprivileged user, reached by a socket and with a password.
// It is started when the first test asks for a database, and serves all tests of
// the package, each with a database of its own. [Main] ends it.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ironflow/ironflow/test/needs"
)

// password of the only user. It is no secret: nobody but the test reaches the socket.
const password = "only-for-tests"

// startTime bounds the start of the server.
const startTime = 2 * time.Minute

// server is the one of this test program.
var server struct {
	sync.Mutex
	dir       string
	programs  string
	process   *exec.Cmd
	exited    chan error
	databases int
}

// Database is a database without tables.
type Database struct {
	// URL reaches it, without the password.
	URL string
	// PasswordFile holds the password.
	PasswordFile string
	name         string
}

// New makes a database, which ends with the test. Without PostgreSQL on the
// machine, the test is skipped; in CI it fails.
func New(t testing.TB) *Database {
	t.Helper()
	bin := needs.Postgres(t)
	server.Lock()
	defer server.Unlock()
	if server.process == nil {
		if err := start(bin, "off"); err != nil {
			t.Fatalf("start PostgreSQL: %v", err)
		}
	}
	server.databases++
	d := &Database{name: fmt.Sprintf("test_%d", server.databases), PasswordFile: filepath.Join(server.dir, "password")}
	d.URL = address(d.name)
	if err := Exec(t.Context(), d.admin(), "CREATE DATABASE "+d.name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := Exec(context.Background(), d.admin(), "DROP DATABASE "+d.name+" WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	return d
}

// Start starts the server for a benchmark, with its writes as safe as they are by
// default, and makes a database. The function ends the server.
func Start(ctx context.Context) (*Database, func() error, error) {
	bin := needs.PostgresPrograms()
	if bin == "" {
		return nil, nil, errors.New("no PostgreSQL here: apt-get install postgresql")
	}
	server.Lock()
	defer server.Unlock()
	if err := start(bin, "on"); err != nil {
		return nil, nil, fmt.Errorf("start PostgreSQL: %w", err)
	}
	d := &Database{name: "bench", URL: address("bench"), PasswordFile: filepath.Join(server.dir, "password")}
	if err := Exec(ctx, d.admin(), "CREATE DATABASE bench"); err != nil {
		return nil, nil, err
	}
	return d, stop, nil
}

// admin is the database from which others are made and ended.
func (d *Database) admin() *Database {
	return &Database{URL: address("postgres"), PasswordFile: d.PasswordFile}
}

// Cut breaks all connections to the database off, as a restart of the server does.
func (d *Database) Cut(t testing.TB) {
	t.Helper()
	err := Exec(t.Context(), d.admin(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '"+d.name+"'")
	if err != nil {
		t.Fatal(err)
	}
}

// Exec runs one statement.
func Exec(ctx context.Context, d *Database, statement string) error {
	config, err := pgx.ParseConfig(d.URL)
	if err != nil {
		return err
	}
	config.Password = password
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, statement)
	return errors.Join(err, conn.Close(ctx))
}

func address(database string) string {
	return (&url.URL{Scheme: "postgres", User: url.User("tester"), Path: "/" + database, RawQuery: url.Values{"host": {server.dir}}.Encode()}).String()
}

// Main runs the tests of a package that uses this one and ends the server. The
// checks come last, such as one for goroutines that are left over.
func Main(m *testing.M, checks ...func() error) {
	code := m.Run()
	if err := stop(); err != nil {
		fmt.Fprintln(os.Stderr, "stop PostgreSQL:", err)
		code = max(code, 1)
	}
	for _, check := range checks {
		if err := check(); err != nil && code == 0 {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// start makes the folder and starts the server in it. With fsync off, a lost power
// supply would lose the data, which tests do not mind.
func start(bin, fsync string) error {
	dir, err := os.MkdirTemp("", "ironflow-pg-") // short: the path of a socket is bounded
	if err != nil {
		return err
	}
	server.dir, server.programs = dir, bin
	as, err := account(dir)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "password"), []byte(password+"\n"), 0o644); err != nil {
		return err
	}
	initdb := exec.CommandContext(context.Background(), filepath.Join(bin, "initdb"), "--pgdata", filepath.Join(dir, "data"), "--username", "tester",
		"--pwfile", filepath.Join(dir, "password"), "--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C", "--no-sync")
	initdb.Dir, initdb.SysProcAttr = dir, &syscall.SysProcAttr{Credential: as}
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the server has its own
	server.process = exec.CommandContext(context.Background(), filepath.Join(bin, "postgres"), "-D", filepath.Join(dir, "data"), "-k", dir,
		"-c", "listen_addresses=", "-c", "fsync="+fsync, "-c", "shared_buffers=32MB", "-c", "max_connections=200")
	server.process.Dir, server.process.Stdout, server.process.Stderr = dir, log, log
	server.process.SysProcAttr = &syscall.SysProcAttr{Credential: as, Setpgid: true, Pdeathsig: syscall.SIGQUIT}
	server.exited = make(chan error, 1)
	started := make(chan error)
	go func() {
		// The signal comes when the thread that started the server ends, so it must not.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := server.process.Start()
		started <- err
		if err == nil {
			server.exited <- server.process.Wait()
		}
	}()
	if err := <-started; err != nil {
		server.process = nil
		return err
	}
	return answers()
}

// account is who runs the server: PostgreSQL refuses to run as root.
func account(dir string) (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil //nolint:nilnil // nobody else
	}
	who, err := user.Lookup("postgres")
	if err != nil {
		if who, err = user.Lookup("nobody"); err != nil {
			return nil, err
		}
	}
	uid, err := strconv.Atoi(who.Uid)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.Atoi(who.Gid)
	if err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, os.Chown(dir, uid, gid)
}

// answers waits until the server takes connections.
func answers() error {
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := Exec(ctx, &Database{URL: address("postgres")}, "SELECT 1")
		if err == nil {
			return nil
		}
		select {
		case exit := <-server.exited:
			server.exited <- exit
			return fmt.Errorf("it ended: %w; see %s", errors.Join(exit, err), filepath.Join(server.dir, "log"))
		case <-ctx.Done():
			return fmt.Errorf("it does not answer: %w; see %s", err, filepath.Join(server.dir, "log"))
		case <-tick.C:
		}
	}
}

// stop ends the server and removes its folder.
func stop() error {
	server.Lock()
	defer server.Unlock()
	if server.process == nil {
		return nil
	}
	err := server.process.Process.Signal(syscall.SIGINT) // "fast": connections are broken off
	exit := <-server.exited
	return errors.Join(err, exit, os.RemoveAll(server.dir))
}

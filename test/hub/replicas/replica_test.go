package replicas_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ironflow/ironflow/hub/filestore"
	"github.com/ironflow/ironflow/hub/rest"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/flow/dryhost"
	"github.com/ironflow/ironflow/test/hub/testhub"
	"github.com/ironflow/ironflow/test/postgres"
)

// The environment of a process that is a replica.
const (
	databaseVariable = "REPLICA_DATABASE"
	passwordVariable = "REPLICA_PASSWORD_FILE"
	filesVariable    = "REPLICA_FILES"
)

// timers are short, so that a test can wait for them on a slow machine; agents that install
// are heard each minute.
var timers = service.Timers{
	Disconnected: 90 * time.Second, Renewal: time.Second,
	Stages: map[wire.HostStage]time.Duration{wire.HostStageRebooting: 5 * time.Second},
}

// TestMain is a replica when it is told to, as its own process.
func TestMain(m *testing.M) {
	if os.Getenv(databaseVariable) == "" {
		dir, err := os.MkdirTemp("", "replicas-")
		if err == nil {
			agents, err = dryhost.Build(context.Background(), dir)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		postgres.Main(m, func() error { return os.RemoveAll(dir) })
		return
	}
	if err := replica(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// open opens the hub over the database.
func open(ctx context.Context, address, passwordFile, dir string) (*service.Hub, store.Store, error) {
	s, err := store.OpenPostgres(ctx, store.PostgresOptions{URL: address, PasswordFile: passwordFile})
	if err != nil {
		return nil, nil, err
	}
	root, err := filestore.OpenDirectory(dir)
	if err != nil {
		return nil, nil, err
	}
	hub, err := service.New(service.Options{Store: s, Files: root, Keys: testhub.Keys(), Timers: timers, Log: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	return hub, s, err
}

// replica serves until the process is killed, as the program does.
func replica(ctx context.Context) error {
	hub, _, err := open(ctx, os.Getenv(databaseVariable), os.Getenv(passwordVariable), os.Getenv(filesVariable))
	if err != nil {
		return err
	}
	api, err := rest.New(rest.Options{Hub: hub, Auth: rest.Auth{None: true}})
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go func() { _ = hub.KeepCheckIns(ctx) }()
	go func() { _ = hub.Run(ctx) }()
	fmt.Println("http://" + listener.Addr().String())
	return api.HTTPServer().Serve(listener)
}

// start starts a replica and returns its address and what kills it.
func start(t *testing.T, db *postgres.Database) (address string, kill func()) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	process := exec.CommandContext(context.WithoutCancel(t.Context()), self)
	process.Env = append(os.Environ(), databaseVariable+"="+db.URL, passwordVariable+"="+db.PasswordFile, filesVariable+"="+t.TempDir())
	var log strings.Builder
	process.Stderr = &log
	out, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	killed := false
	kill = func() {
		if killed {
			return
		}
		killed = true
		_ = process.Process.Signal(syscall.SIGKILL)
		_ = process.Wait() // it was killed
		if t.Failed() {
			t.Log(log.String())
		}
	}
	t.Cleanup(kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		kill()
		t.Fatalf("the replica did not start: %v: %s", err, log.String())
	}
	return strings.TrimSpace(line), kill
}

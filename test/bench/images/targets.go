package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/go-logr/logr"

	"github.com/ironflow/ironflow/api/garbage"
	"github.com/ironflow/ironflow/hub/pki"
	"github.com/ironflow/ironflow/imagecustomization/server"
)

// target is a running server.
type target struct {
	name          string
	setting       string // of nginx
	addr, tlsAddr string
	paths         []string
	size          int64
	buildMS       float64
	cmd           *exec.Cmd
	says          *json.Decoder // what our own server prints
	// content gives the bytes that an address stands for, to compare with.
	content func(path string) io.ReaderAt
}

// mallocs returns how many objects our own server has allocated so far, 0 for
// another one.
func (t *target) mallocs() (uint64, error) {
	if t.says == nil {
		return 0, nil
	}
	if err := t.cmd.Process.Signal(syscall.SIGUSR1); err != nil {
		return 0, err
	}
	var n uint64
	err := t.says.Decode(&n)
	return n, err
}

func (t *target) stop() {
	_ = t.cmd.Process.Signal(syscall.SIGTERM)
	_ = t.cmd.Wait()
}

// rss is the highest resident memory of the server's own, in MiB, without the
// pages of the base, which belong to the page cache.
func (t *target) rss() (float64, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", t.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 64)
			return round(kib / 1024), err
		}
	}
	return 0, fmt.Errorf("no VmHWM in the status of process %d", t.cmd.Process.Pid)
}

// cpu is the processor time that the server has used so far, with its children.
func (t *target) cpu() (time.Duration, error) {
	pid := t.cmd.Process.Pid
	pids := []string{strconv.Itoa(pid)}
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return 0, err
	}
	var ticks int64
	for _, p := range append(pids, strings.Fields(string(raw))...) {
		raw, err := os.ReadFile("/proc/" + p + "/stat") //nolint:gosec // p is a number of the kernel's
		if err != nil {
			return 0, err
		}
		_, rest, _ := strings.Cut(string(raw), ") ") // behind the name
		fields := strings.Fields(rest)
		user, err1 := strconv.ParseInt(fields[11], 10, 64)
		system, err2 := strconv.ParseInt(fields[12], 10, 64)
		if err := errors.Join(err1, err2); err != nil {
			return 0, err
		}
		ticks += user + system
	}
	return time.Duration(ticks) * time.Second / ticksPerSecond, nil
}

// ticksPerSecond is the unit of processor times in /proc.
const ticksPerSecond = 100

// hello is the first line of the server under test.
type hello struct {
	Addr    string
	TLSAddr string
	Paths   []string
	Size    int64
	BuildMS float64
}

// serveImages is the server under test: it builds the images, says where they
// are, and serves until it is told to stop.
func serveImages(path, tlsDir string, hosts int) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	garbage.Collect(ctx) // as the program does it
	cert, err := pki.Ensure(tlsDir, []string{"127.0.0.1"}, time.Now())
	if err != nil {
		return err
	}
	l, err1 := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	secure, err2 := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	address := "http://" + l.Addr().String()
	store, err := openStore(ctx, path, address)
	if err != nil {
		return err
	}
	out := hello{Addr: l.Addr().String(), TLSAddr: secure.Addr().String()}
	begin := time.Now()
	for i := range hosts {
		b, err := store.Put(ctx, hostSpec(i))
		if err != nil {
			return err
		}
		out.Paths, out.Size = append(out.Paths, strings.TrimPrefix(b.URL, address)), b.SizeBytes
	}
	out.BuildMS = round(float64(time.Since(begin).Microseconds()) / 1000 / float64(hosts))
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		return err
	}
	go tellMallocs(ctx)
	return server.New(server.Options{
		Store: store, Log: logr.Discard(),
		CertFile: cert.Cert, KeyFile: cert.Key,
	}).Serve(ctx, []server.Listener{{Listener: l}, {Listener: secure, TLS: true}})
}

// tellMallocs prints the number of allocations on each SIGUSR1.
func tellMallocs(ctx context.Context) {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	for {
		select {
		case <-ctx.Done():
			return
		case <-asked:
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			fmt.Println(m.Mallocs)
		}
	}
}

// startOwn starts this program again as the server under test.
func startOwn(ctx context.Context, path, tlsDir string, hosts int) (*target, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, "-serve", path, "-tls", tlsDir, "-hosts", strconv.Itoa(hosts))
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	t := &target{name: "ironflow", cmd: cmd, says: json.NewDecoder(out)}
	var h hello
	if err := t.says.Decode(&h); err != nil {
		t.stop()
		return nil, fmt.Errorf("the server under test did not start: %w", err)
	}
	// Two hundred images are read; all of them are held.
	t.tlsAddr = h.TLSAddr
	t.addr, t.paths, t.size, t.buildMS = h.Addr, h.Paths[:min(200, len(h.Paths))], h.Size, h.BuildMS
	if t.content, err = model(ctx, path, t); err != nil {
		t.stop()
		return nil, err
	}
	return t, nil
}

// freeAddress returns a loopback address that nobody listens on.
func freeAddress(ctx context.Context) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

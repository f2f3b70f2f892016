package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/test/bench/usage"
)

const (
	// runs is how often a time is taken; the median counts.
	runs = 7
	// readyPatience bounds one start.
	readyPatience = 30 * time.Second
)

// binarySize is the program's size in MiB.
func binarySize(program string) (float64, error) {
	info, err := os.Stat(program)
	if err != nil {
		return 0, fmt.Errorf("the agent: %w; run make build", err)
	}
	return float64(info.Size()) / (1 << 20), nil
}

// inventoryTime is the time of one inventory of this machine, from the start of
// the process to its end, in seconds.
func inventoryTime(ctx context.Context, program string) (float64, error) {
	var times []float64
	for range runs {
		command := exec.CommandContext(ctx, program, "inventory", "--with-text-logging=false")
		begin := time.Now()
		out, err := command.Output()
		if err != nil {
			return 0, fmt.Errorf("inventory: %w", err)
		}
		times = append(times, time.Since(begin).Seconds())
		if len(out) < 1000 {
			return 0, fmt.Errorf("inventory: only %d bytes", len(out))
		}
	}
	return median("inventory", times), nil
}

// median prints all times and returns the middle one.
func median(what string, seconds []float64) float64 {
	slices.Sort(seconds)
	fmt.Printf("%s: %.3f s, median of %d (%.3f to %.3f)\n", what, seconds[len(seconds)/2], len(seconds), seconds[0], seconds[len(seconds)-1])
	return seconds[len(seconds)/2]
}

// oneAgent is the time from the start of the process to READY, which it sends
// right after the hub has taken its registration, and the resident memory of the
// last process after a while in which it only polled, in MiB.
func oneAgent(ctx context.Context, o options, h *hubUnderLoad) (register, rss float64, err error) {
	var times []float64
	for i := range runs {
		p, err := startAgent(ctx, o.agent, h)
		if err != nil {
			return 0, 0, err
		}
		times = append(times, p.ready.Seconds())
		if i == runs-1 {
			rss, err = p.memory(ctx, o.idle)
		}
		if err := errors.Join(err, p.stop()); err != nil {
			return 0, 0, err
		}
	}
	return median("start to registered", times), rss, nil
}

// process is one agent that runs by itself.
type process struct {
	command *exec.Cmd
	ready   time.Duration
	folder  string
}

// startAgent starts an agent, not in dry run, on this machine's hardware but with
// files of its own, and waits until it is registered. It has no /dev, so that
// nothing could be written to a disk.
func startAgent(ctx context.Context, program string, h *hubUnderLoad) (*process, error) {
	folder, err := os.MkdirTemp("", "bench-agent-")
	if err != nil {
		return nil, err
	}
	for _, link := range []string{"proc", "sys"} {
		if err := os.Symlink("/"+link, filepath.Join(folder, link)); err != nil {
			return nil, err
		}
	}
	ca, err := os.ReadFile(h.CA)
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "ca.crt"), ca, 0o600) //nolint:gosec // a folder of its own
	}
	if err != nil {
		return nil, err
	}
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(folder, "notify"), Net: "unixgram"})
	if err != nil {
		return nil, err
	}
	defer func() { _ = socket.Close() }() // nothing is left to read
	if err := socket.SetReadDeadline(time.Now().Add(readyPatience)); err != nil {
		return nil, err
	}
	p := &process{folder: folder}
	p.command = exec.CommandContext(ctx, program, "agent", "--url", h.URL, "--infra-env-id", h.infraEnv, "--agent-version", agentImage, "--cacert", "/ca.crt")
	p.command.Env = append(os.Environ(), hostfile.RootEnv+"="+folder, "NOTIFY_SOCKET="+filepath.Join(folder, "notify"), "PULL_SECRET_TOKEN="+h.token)
	var said bytes.Buffer
	p.command.Stderr = &said
	begin := time.Now()
	if err := p.command.Start(); err != nil {
		return nil, err
	}
	buffer := make([]byte, 4096)
	for {
		n, err := socket.Read(buffer)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("the agent did not register: %w", err), p.stop(), errors.New(said.String()))
		}
		if strings.HasPrefix(string(buffer[:n]), "READY=1") {
			p.ready = time.Since(begin)
			return p, nil
		}
	}
}

// memory waits and reads the resident memory.
func (p *process) memory(ctx context.Context, idle time.Duration) (float64, error) {
	timer := time.NewTimer(idle)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-timer.C:
	}
	u, err := usage.Of(p.command.Process.Pid)
	if err != nil {
		return 0, err
	}
	fmt.Printf("idle agent: %.1f MiB resident after %s (at most %.1f), %d threads\n", mib(u.Resident), idle, mib(u.Peak), u.Threads)
	return mib(u.Resident), nil
}

// stop ends the agent, which takes its end for a cancellation.
func (p *process) stop() error {
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	if err := p.command.Wait(); err != nil && p.command.ProcessState.ExitCode() < 0 {
		return err
	}
	return os.RemoveAll(p.folder)
}

func mib(bytes int64) float64 { return float64(bytes) / (1 << 20) }

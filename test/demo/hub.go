package demo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/ironflow/ironflow/test/lab/guard"
)

// hub is Ironflow as its own process, started again whenever it ends, as a
// Deployment would.
type hub struct {
	program string
	env     []string
	log     *os.File
	dir     string
	health  string

	kill chan struct{}
	// ended is closed when nothing runs any more; err is why, if not because of Stop.
	ended chan struct{}
	err   error
	stop  context.CancelFunc
}

// restartPause is how long a cluster takes to start a container again, roughly.
const restartPause = 500 * time.Millisecond

// startHub starts Ironflow with its settings in the environment.
func startHub(ctx context.Context, program, dir string, settings map[string]string) (*hub, error) {
	log, err := os.Create(filepath.Join(dir, "log", "ironflow.log"))
	if err != nil {
		return nil, err
	}
	h := &hub{program: program, dir: dir, log: log, env: os.Environ(), kill: make(chan struct{}), ended: make(chan struct{}), health: settings["IRONFLOW_HEALTH_ADDR"]}
	for k, v := range settings {
		h.env = append(h.env, k+"="+v)
	}
	ctx, h.stop = context.WithCancel(ctx)
	go func() {
		defer close(h.ended)
		h.err = h.supervise(ctx)
	}()
	return h, nil
}

// supervise runs the program until ctx ends.
func (h *hub) supervise(ctx context.Context) error {
	for {
		p, err := guard.Start(guard.Command{Path: h.program, Args: []string{"run"}, Dir: h.dir, Env: h.env, Output: h.log})
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			p.Stop(context.WithoutCancel(ctx), 10*time.Second)
			return nil
		case <-h.kill:
			p.Kill()
		case <-p.Done():
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(restartPause):
		}
	}
}

// Kill ends Ironflow with SIGKILL; it is started again.
func (h *hub) Kill(ctx context.Context) {
	select {
	case h.kill <- struct{}{}:
	case <-ctx.Done():
	}
}

// chaos kills Ironflow n times at random moments, told by say.
func (h *hub) chaos(ctx context.Context, n int, say func(string, ...any)) {
	for i := range n {
		pause := 2*time.Second + rand.N(10*time.Second) //nolint:gosec // no secret depends on it
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		say("killing ironflow with SIGKILL (%d of %d)", i+1, n)
		h.Kill(ctx)
	}
}

// waitReady waits until the health listener accepts connections.
func (h *hub) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, fmt.Errorf("ironflow did not get ready within a minute, see %s", h.log.Name()))
	defer cancel()
	var dialer net.Dialer
	for {
		conn, err := dialer.DialContext(ctx, "tcp", h.health)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-h.ended:
			return fmt.Errorf("ironflow cannot be started: %w", h.err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// Stop ends Ironflow and waits for it.
func (h *hub) Stop() error {
	h.stop()
	<-h.ended
	return errors.Join(h.err, h.log.Close())
}

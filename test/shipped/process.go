package shipped

import (
	"cmp"
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

// Process is Ironflow as its own process, started again whenever it ends, as a
// Deployment would.
type Process struct {
	// HubURL and ImagesURL are where machines reach the hub and the image server.
	HubURL, ImagesURL string
	// Log is the path of its log, over all its lives.
	Log string

	program string
	command string
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

// launch starts the program with its settings in the environment, and waits until
// it is ready.
func launch(ctx context.Context, o Options, settings map[string]string) (*Process, error) {
	path := filepath.Join(o.Lab.Dir, "log", "ironflow.log")
	log, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	p := &Process{
		HubURL: settings["IRONFLOW_HUB_PUBLISH_URL"], ImagesURL: settings["IRONFLOW_IMAGES_PUBLISH_URL"], Log: path,
		program: o.Program, command: cmp.Or(o.Command, "run"), dir: o.Lab.Dir, log: log, env: os.Environ(), kill: make(chan struct{}), ended: make(chan struct{}), health: settings["IRONFLOW_HEALTH_ADDR"],
	}
	for k, v := range settings {
		p.env = append(p.env, k+"="+v)
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p.stop = cancel
	go func() {
		defer close(p.ended)
		p.err = p.supervise(running)
	}()
	if err := p.waitReady(ctx); err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	return p, nil
}

// supervise runs the program until ctx ends.
func (p *Process) supervise(ctx context.Context) error {
	for {
		life, err := guard.Start(guard.Command{Path: p.program, Args: []string{p.command}, Dir: p.dir, Env: p.env, Output: p.log})
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			life.Stop(context.WithoutCancel(ctx), 10*time.Second)
			return nil
		case <-p.kill:
			life.Kill()
		case <-life.Done():
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(restartPause):
		}
	}
}

// Kill ends Ironflow with SIGKILL; it is started again.
func (p *Process) Kill(ctx context.Context) {
	select {
	case p.kill <- struct{}{}:
	case <-ctx.Done():
	}
}

// Chaos kills Ironflow n times at random moments, told by say.
func (p *Process) Chaos(ctx context.Context, n int, say func(string, ...any)) {
	for i := range n {
		pause := 2*time.Second + rand.N(10*time.Second) //nolint:gosec // no secret depends on it
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		say("killing ironflow with SIGKILL (%d of %d)", i+1, n)
		p.Kill(ctx)
	}
}

// waitReady waits until the health listener accepts connections.
func (p *Process) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, fmt.Errorf("ironflow did not get ready within a minute, see %s", p.log.Name()))
	defer cancel()
	var dialer net.Dialer
	for {
		conn, err := dialer.DialContext(ctx, "tcp", p.health)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-p.ended:
			return fmt.Errorf("ironflow cannot be started: %w", p.err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// Stop ends Ironflow and waits for it.
func (p *Process) Stop() error {
	p.stop()
	<-p.ended
	return errors.Join(p.err, p.log.Close())
}

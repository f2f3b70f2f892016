package registry

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/ironflow/ironflow/test/media/debian"
)

//go:embed image
var scripts embed.FS

// Options say where the registry is.
type Options struct {
	// Address is the IP address that machines reach it at.
	Address string
	// Source is the source tree that the image is built from.
	Source string
	// Dir keeps its configuration and log.
	Dir string
}

// Registry is one that runs.
type Registry struct {
	addr  string
	log   bytes.Buffer
	cmd   *exec.Cmd
	close sync.Once
	ended chan struct{}
}

// Start builds the image on first use (about five minutes, kept in the user's
// cache), and starts a registry that nobody can write to. It needs root, buildah,
// mmdebstrap, the Debian mirror and PyPI.
func Start(ctx context.Context, o Options) (*Registry, error) {
	inputs, err := inputs(ctx, o.Source)
	if err != nil {
		return nil, fmt.Errorf("read what the image of ironic-python-agent is made from: %w", err)
	}
	image, err := debian.Make(ctx, debian.Scripts{
		Name: "vm-registry", Files: scripts, Dir: "vm/registry", Make: "image/make.sh", Args: []string{o.Source}, Inputs: inputs, Alone: true,
	})
	if err != nil {
		return nil, err
	}
	port, err := freePort(ctx, o.Address)
	if err != nil {
		return nil, err
	}
	r := &Registry{addr: net.JoinHostPort(o.Address, port), ended: make(chan struct{})}
	config := filepath.Join(o.Dir, "registry.yml")
	text := fmt.Sprintf("version: 0.1\nlog: {level: warn}\nstorage: {filesystem: {rootdirectory: %q}, maintenance: {readonly: {enabled: true}}}\nhttp: {addr: %q}\n",
		filepath.Join(image, "storage"), r.addr)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	r.cmd = exec.Command(filepath.Join(image, "docker-registry"), "serve", config) //nolint:noctx // Close ends it
	r.cmd.Stdout, r.cmd.Stderr = &r.log, &r.log
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := r.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = r.cmd.Wait()
		close(r.ended)
	}()
	return r, r.wait(ctx)
}

// IPA is the reference of ironic-python-agent's image.
func (r *Registry) IPA() string { return r.addr + "/ironic-python-agent:latest" }

// Close ends the registry.
func (r *Registry) Close() {
	r.close.Do(func() { _ = r.cmd.Process.Kill() })
	<-r.ended
}

// wait waits until the registry takes connections.
func (r *Registry) wait(ctx context.Context) error {
	for {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", r.addr)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-r.ended:
			return fmt.Errorf("docker-registry has ended: %s", r.log.String())
		case <-ctx.Done():
			r.Close()
			return context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// inputs are what decides about the image: the Containerfile, the scripts that make
// what it copies and what those read, and the deploy step's program.
func inputs(ctx context.Context, source string) ([][]byte, error) {
	var all [][]byte
	for _, glob := range []string{
		"customdeploy/ipa/Containerfile", "customdeploy/ipa/*.sh", "customdeploy/ipa/*.conf", "customdeploy/ipa/*.toml", "customdeploy/ipa/ironflow_ipa/*.py",
		"test/lab/ipa/requirements.txt", "test/scripts/images.sh", "test/scripts/ipa-root.sh",
	} {
		files, err := filepath.Glob(filepath.Join(source, filepath.FromSlash(glob)))
		if err != nil {
			return nil, err
		}
		if len(files) == 0 {
			return nil, fmt.Errorf("%s has no %s", source, glob)
		}
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			all = append(all, []byte(file[len(source):]), raw)
		}
	}
	// Its id covers all of its packages.
	dir, err := os.MkdirTemp("", "ironflow-step-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", filepath.Join(dir, "step"), "./cmd/ironflow-step")
	build.Dir, build.Env = source, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, errors.Join(err, errors.New(string(out)))
	}
	raw, err := os.ReadFile(filepath.Join(dir, "step"))
	return append(all, raw), err
}

// freePort returns a TCP port that nobody listens on.
func freePort(ctx context.Context, address string) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, errors.Join(err, l.Close())
}

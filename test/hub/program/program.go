// Package program runs the hub as it is shipped, `ironflow hub` or `ironflow run`, as a process of
// its own over a real kube-apiserver: with TLS and agents' tokens, on addresses
// that it keeps when it is killed and started again. Its main type is [Hub].
package program

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ironflow/ironflow/hub/auth"
	"github.com/ironflow/ironflow/test/lab/guard"
	"github.com/ironflow/ironflow/test/lab/ports"
)

// patience is how long the hub may take to answer for the first time.
const patience = time.Minute

// Options say which hub is started.
type Options struct {
	// Program is the path of `ironflow`.
	Program string
	// Kubeconfig leads to an API server that has the CRDs.
	Kubeconfig string
	// Dir holds the data folder and the log. Hubs of one Dir have the same keys and certificates.
	Dir string
	// Name tells hubs of one Dir apart; empty means hub.
	Name string
	// Command is what the program is to do: hub, if empty, or run, which drives machines, too.
	Command string
	// Address is the one of this computer on which the API is served; empty for loopback's.
	Address string
	// UserToken opens the REST API for users; empty leaves it closed.
	UserToken string
	// Plain serves the API without TLS, too.
	Plain bool
	// Args are further flags.
	Args []string
	// CPUs are those that it runs on, in the words of taskset; empty for all.
	CPUs string
}

// Hub is a hub's program. It is started once, and again after each [Hub.Kill].
type Hub struct {
	// URL is the address of its API, CA the file with the authority of its certificate.
	URL, CA string
	// PlainURL is the address of its API without TLS; empty without [Options.Plain].
	PlainURL string
	// Data is its data folder, Log its log over all lives.
	Data, Log string

	command guard.Command
	health  string
	ports   *ports.Set // nobody else takes them between two lives
	process *guard.Process
}

// New chooses the hub's addresses, but starts nothing.
func New(o Options) (*Hub, error) {
	if o.Name == "" {
		o.Name = "hub"
	}
	set := &ports.Set{}
	var addresses [4]string
	for i := range addresses {
		port, err := set.Free()
		if err != nil {
			return nil, errors.Join(err, set.Close())
		}
		addresses[i] = fmt.Sprintf("127.0.0.1:%d", port)
	}
	if o.Address != "" {
		_, port, _ := strings.Cut(addresses[0], ":")
		addresses[0] = o.Address + ":" + port
	}
	h := &Hub{
		URL: "https://" + addresses[0], Data: filepath.Join(o.Dir, "data"), Log: filepath.Join(o.Dir, o.Name+".log"),
		health: "http://" + addresses[2] + "/readyz", ports: set,
	}
	h.CA = filepath.Join(h.Data, "tls", "ca.crt")
	args := append([]string{
		cmp.Or(o.Command, "hub"), "--kubeconfig", o.Kubeconfig, "--data-dir", h.Data, "--hub-addr", addresses[0], "--hub-publish-url", h.URL,
		"--metrics-addr", addresses[1], "--health-addr", addresses[2],
	}, o.Args...)
	if o.Plain {
		h.PlainURL = "http://" + addresses[3]
		args = append(args, "--hub-plain-addr", addresses[3])
	}
	if o.UserToken != "" {
		file := filepath.Join(o.Dir, "user-token")
		if err := errors.Join(os.MkdirAll(o.Dir, 0o700), os.WriteFile(file, []byte(o.UserToken), 0o600)); err != nil {
			return nil, err
		}
		args = append(args, "--hub-user-token-file", file)
	}
	h.command = guard.Command{Path: o.Program, Args: args}
	if o.CPUs != "" {
		h.command = guard.Command{Path: "taskset", Args: append([]string{"-c", o.CPUs, o.Program}, args...)}
	}
	return h, nil
}

// Start starts the program and waits until it answers.
func (h *Hub) Start(ctx context.Context) error {
	if err := os.MkdirAll(filepath.Dir(h.Log), 0o700); err != nil {
		return err
	}
	out, err := os.OpenFile(h.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close() // the process has its own
	command := h.command
	command.Output = out
	if h.process, err = guard.Start(command); err != nil {
		return err
	}
	if err := h.ready(ctx); err != nil {
		h.Kill()
		return fmt.Errorf("%w\n%s", err, h.Tail())
	}
	return nil
}

// ready waits until the hub answers.
func (h *Hub) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errors.New("the hub does not answer"))
	defer cancel()
	for !answers(ctx, h.health) {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-h.process.Done():
			return errors.New("the hub has ended")
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil
}

// answers tells whether the address answers that all is well.
func answers(ctx context.Context, url string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	return response.Body.Close() == nil && response.StatusCode == http.StatusOK
}

// Kill ends the program with SIGKILL.
func (h *Hub) Kill() { h.process.Kill() }

// Stop ends the program as a cluster does, with SIGKILL where that takes too long,
// and gives its addresses back.
func (h *Hub) Stop() error {
	if h.process != nil {
		h.process.Stop(context.Background(), 5*time.Second)
	}
	return h.ports.Close()
}

// PID is the process that guards the program.
func (h *Hub) PID() int { return h.process.PID() }

// AgentToken is the token of an infra-env's agents, as its live images carry it.
func (h *Hub) AgentToken(infraEnv string) (string, error) {
	return h.MachineToken(infraEnv, "")
}

// MachineToken is the token of the agent of one machine, as its own live image carries it.
func (h *Hub) MachineToken(infraEnv, machine string) (string, error) {
	key, err := auth.LoadKey(filepath.Join(h.Data, "agent.key"))
	if err != nil {
		return "", err
	}
	return key.Token(auth.Claims{InfraEnvID: infraEnv, Generation: 1, Machine: machine})
}

// Tail is the end of the hub's log.
func (h *Hub) Tail() string {
	raw, err := os.ReadFile(h.Log)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	return strings.Join(lines[max(0, len(lines)-10):], "\n")
}

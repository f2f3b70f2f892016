// Package client turns the manifests of an agent-based installation into calls of a hub's
// REST API: it registers the cluster and its infra-env, gives hosts their roles and disks,
// and imports a cluster that runs. It works with any hub of the protocol. Every subcommand
// can be repeated at any point, also after a loss of power: what is there already is compared
// and not made twice. The main type is [Client]; it is given its settings by [FromEnv].
package client

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/ironflow/ironflow/agent/agentbased/manifests"
	"github.com/ironflow/ironflow/agent/agentbased/pause"
	"github.com/ironflow/ironflow/agent/backoff"
	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
)

// Releases tells which version and architecture a release image has; see [Registry].
type Releases interface {
	// Look returns the version, and the architecture as the protocol names it; multi for several. The sources are asked
	// one after the other.
	Look(ctx context.Context, image string, sources []Source, pullSecret string) (version, architecture string, err error)
}

// Hub makes single calls; see [hubclient.Client]. An error with a status is a
// [hubclient.StatusError].
type Hub interface {
	Do(ctx context.Context, r hubclient.Request) error
	// File fetches a body that is no JSON.
	File(ctx context.Context, path string, query url.Values) ([]byte, error)
}

// Client makes the calls.
type Client struct {
	Settings Settings
	Hub      Hub
	Releases Releases
	// Dir is the host's root, which all files of the settings lie below.
	Dir hostfile.Dir
	Log *slog.Logger
	// Waits is told why the hub does not answer, once it has been waited for a while; nil for nobody.
	Waits func(error)
	// Ready is called when all hosts are configured, where Configure goes on after that; nil for nobody.
	Ready func()
	// OwnMACs are the addresses of this host's cards; nil asks the kernel.
	OwnMACs func() ([]string, error)
}

// patience between tries of calls that may pass.
var patience = backoff.Policy{First: time.Second, Factor: 2, Max: 30 * time.Second}

// unusual is the try from which on a hub that starts together with the client takes long: 31 s.
const unusual = 6

// Subcommands are those of the program, in the order of the documentation.
func Subcommands() []string {
	return []string{"register", "registerCluster", "registerInfraEnv", "configure", "importCluster"}
}

// ErrUsage means a subcommand that there is none of, or settings that cannot work.
var ErrUsage = errors.New("usage")

// Run runs a subcommand.
func (c *Client) Run(ctx context.Context, subcommand string) error {
	run, known := map[string]func(context.Context) error{
		"register": c.Register, "registerCluster": c.RegisterCluster, "registerInfraEnv": c.RegisterInfraEnv,
		"configure": c.Configure, "importCluster": c.ImportCluster,
	}[subcommand]
	if !known {
		return fmt.Errorf("%w: %.40q is no subcommand: want one of %s", ErrUsage, subcommand, strings.Join(Subcommands(), ", "))
	}
	return run(ctx)
}

// Register registers cluster and infra-env. What is wrong with any manifest is told before
// the hub is asked for anything.
func (c *Client) Register(ctx context.Context) error {
	files := c.Settings.Files
	files.HostConfig = ""
	if _, err := c.read(files); err != nil {
		return err
	}
	if err := c.RegisterCluster(ctx); err != nil {
		return err
	}
	return c.RegisterInfraEnv(ctx)
}

// read reads manifests and logs the warnings.
func (c *Client) read(files manifests.Files) (*manifests.Set, error) {
	files.Root = c.Dir.Root
	set, warnings, err := manifests.Read(files, manifests.Options{Lenient: c.Settings.Lenient})
	for _, w := range warnings {
		c.Log.Warn("a field of the manifests is not used", "problem", w.String())
	}
	return set, err
}

// passes tells of an error that may pass by itself: nobody answers, or the hub says so.
func passes(err error) bool {
	switch hubclient.Code(err) {
	case 0:
		return !errors.Is(err, context.Canceled)
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// cluster returns the hub's only cluster, nil for none. It waits for a hub that does not
// answer yet: on node zero both start together.
func (c *Client) cluster(ctx context.Context) (*wire.Cluster, error) {
	var list []wire.Cluster
	for failures := 1; ; failures++ {
		err := c.Hub.Do(ctx, hubclient.Request{Method: http.MethodGet, Path: "/clusters", Out: &list})
		if err == nil {
			break
		}
		if ctx.Err() != nil || !passes(err) {
			return nil, err
		}
		c.Log.Info("waiting for the hub", "hub", c.Settings.URL, "error", err)
		if c.Waits != nil && failures >= unusual {
			c.Waits(err)
		}
		if err := pause.For(ctx, hubclient.Delay(err, patience.Delay(failures, half))); err != nil {
			return nil, err
		}
	}
	switch len(list) {
	case 0:
		return nil, nil // no cluster is an answer
	case 1:
		return &list[0], nil
	}
	return nil, fmt.Errorf("the hub has %d clusters (%s), and an agent-based installation has one: remove the others", len(list), named(list))
}

// half is no jitter: there is one client of a hub.
const half = 0.5

func named(list []wire.Cluster) string {
	names := make([]string, 0, len(list))
	for _, c := range list {
		names = append(names, c.Name)
	}
	return strings.Join(names, ", ")
}

// ownMACs are the addresses of this host's cards, in lower case.
func (c *Client) ownMACs() ([]string, error) {
	if c.OwnMACs != nil {
		return c.OwnMACs()
	}
	cards, err := net.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("the cards of this host: %w", err)
	}
	var out []string
	for _, card := range cards {
		if len(card.HardwareAddr) > 0 {
			out = append(out, card.HardwareAddr.String())
		}
	}
	return out, nil
}

// ConfigFile has the ids of what was registered, for other units: lines NAME=VALUE.
const ConfigFile = "/etc/assisted/client_config"

// remember puts a value into [ConfigFile]; other lines stay.
func (c *Client) remember(name, value string) error {
	file := c.Dir.Path(ConfigFile)
	raw, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remember %s: %w", name, err)
	}
	var lines []string
	for line := range strings.Lines(string(raw)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, name+"=") {
			lines = append(lines, line)
		}
	}
	text := strings.Join(append(lines, name+"="+value), "\n") + "\n"
	if text == string(raw) {
		return nil
	}
	if err := replace(file, text); err != nil {
		return fmt.Errorf("remember %s: %w", name, err)
	}
	return nil
}

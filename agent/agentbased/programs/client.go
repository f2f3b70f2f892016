package programs

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/ironflow/ironflow/agent/agentbased/client"
	"github.com/ironflow/ironflow/agent/agentbased/messages"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/hosthttp"
	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/agent/program"
	"github.com/ironflow/ironflow/api/hostfile"
)

// runInstallerClient is the client of an agent-based installation; its settings come by the
// environment, as units have them.
func runInstallerClient(ctx context.Context, s program.Streams, name string, args []string) int {
	c := program.NewCommon(s, name, strings.Join(client.Subcommands(), "|"))
	caCert := c.Set.String("cacert", "", "PEM file that is trusted besides the system's certificates; empty: "+hostfile.HubCA+", if there is one")
	insecure := c.Set.Bool("insecure", false, "do not check the hub's certificate")
	if code, done := c.Parse(s, args); done {
		return code
	}
	if c.Set.NArg() != 1 {
		c.Set.Usage()
		return program.ExitFlags
	}
	if refusesDryRun(s, name, c) {
		return program.ExitFlags
	}
	u, closeLog := newUnit(c)
	defer closeLog()
	subcommand := c.Set.Arg(0)
	settings := client.FromEnv(os.Getenv, u.dir)
	if *caCert == "" && places.Exists(u.dir, hostfile.HubCA) {
		*caCert = hostfile.HubCA
	}
	err := u.callHub(ctx, subcommand, settings, *caCert, *insecure)
	if ctx.Err() == nil {
		u.tellOutcome(ctx, subcommand, settings, err)
	}
	switch {
	case err == nil:
		return 0
	case errors.Is(err, client.ErrUsage):
		fmt.Fprintln(s.Err, err)
		return program.ExitFlags
	}
	u.log.Error("it failed", "subcommand", subcommand, "error", err)
	fmt.Fprintln(s.Err, err)
	return exitFailed
}

// callHub runs the subcommand. Settings that no hub can be called with are [client.ErrUsage].
func (u unit) callHub(ctx context.Context, subcommand string, settings client.Settings, caCert string, insecure bool) error {
	roots, err := hosthttp.Roots(u.dir, caCert)
	if err != nil {
		return fmt.Errorf("%w: %w", client.ErrUsage, err)
	}
	hub, err := hubclient.New(hubclient.Options{URL: settings.URL, Dir: u.dir, CAFile: caCert, Insecure: insecure, Header: settings.Header()})
	if err != nil {
		return fmt.Errorf("%w: SERVICE_BASE_URL: %w", client.ErrUsage, err)
	}
	defer hub.Close()
	registry := &http.Client{Transport: hosthttp.Transport(roots, false)}
	defer registry.CloseIdleConnections()
	return (&client.Client{
		Settings: settings, Hub: hub, Releases: client.Registry{HTTP: registry}, Dir: u.dir, Log: u.log,
		Waits: func(err error) { u.tellOutcome(ctx, subcommand, settings, err) },
		Ready: func() {
			u.tellOutcome(ctx, subcommand, settings, nil)
			u.ready(ctx)
		},
	}).Run(ctx, subcommand)
}

// outcomes say where the console has what became of a subcommand.
var outcomes = map[string]struct {
	slot   messages.Slot
	failed messages.ID
}{
	"register":         {messages.SlotRegisterCluster, messages.RegisterClusterFailed},
	"registerCluster":  {messages.SlotRegisterCluster, messages.RegisterClusterFailed},
	"registerInfraEnv": {messages.SlotRegisterInfraEnv, messages.RegisterInfraEnvFailed},
	"importCluster":    {messages.SlotImportCluster, messages.ImportClusterFailed},
	"configure":        {messages.SlotApplyHostConfig, messages.ApplyHostConfigFailed},
}

// tellOutcome says on the console of node zero why a subcommand has failed, or that it has not: the
// journal of its unit is read by nobody who is far away. Elsewhere a person has called the program,
// and reads what it prints.
func (u unit) tellOutcome(ctx context.Context, subcommand string, settings client.Settings, err error) {
	at, known := outcomes[subcommand]
	consequence := subcommand == "configure" && settings.InfraEnvID == "" // of an infra-env that is not registered, which says why
	switch {
	case !known || !places.Exists(u.dir, places.NodeZero):
	case err == nil || consequence:
		u.console.Clear(ctx, at.slot)
	default:
		u.console.Fail(ctx, at.failed, err)
	}
}

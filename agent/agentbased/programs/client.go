package programs

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/ironflow/ironflow/agent/agentbased/client"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/hosthttp"
	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/agent/logging"
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
	log, _, closeLog := logging.Setup(c.Logs)
	defer closeLog()
	settings := client.FromEnv(os.Getenv, c.Logs.Dir)
	if *caCert == "" && places.Exists(c.Logs.Dir, hostfile.HubCA) {
		*caCert = hostfile.HubCA
	}
	roots, err := hosthttp.Roots(c.Logs.Dir, *caCert)
	if err != nil {
		fmt.Fprintln(s.Err, err)
		return program.ExitFlags
	}
	hub, err := hubclient.New(hubclient.Options{URL: settings.URL, Dir: c.Logs.Dir, CAFile: *caCert, Insecure: *insecure, Header: settings.Header()})
	if err != nil {
		fmt.Fprintln(s.Err, "SERVICE_BASE_URL:", err)
		return program.ExitFlags
	}
	defer hub.Close()
	registry := &http.Client{Transport: hosthttp.Transport(roots, false)}
	defer registry.CloseIdleConnections()
	err = (&client.Client{Settings: settings, Hub: hub, Releases: client.Registry{HTTP: registry}, Dir: c.Logs.Dir, Log: log}).Run(ctx, c.Set.Arg(0))
	switch {
	case err == nil:
		return 0
	case errors.Is(err, client.ErrUsage):
		fmt.Fprintln(s.Err, err)
		return program.ExitFlags
	}
	log.Error("it failed", "subcommand", c.Set.Arg(0), "error", err)
	fmt.Fprintln(s.Err, err)
	return exitFailed
}

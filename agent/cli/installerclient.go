package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/ironflow/ironflow/agent/agentbased/client"
	"github.com/ironflow/ironflow/agent/hosthttp"
	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/agent/logging"
)

// runInstallerClient is the client of an agent-based installation; its settings come by the
// environment, as units have them.
func runInstallerClient(ctx context.Context, s Streams, name string, args []string) int {
	c := newCommon(s, name, strings.Join(client.Subcommands(), "|"))
	caCert := c.set.String("cacert", "", "PEM file that is trusted besides the system's certificates")
	insecure := c.set.Bool("insecure", false, "do not check the hub's certificate")
	if code, done := c.parse(s, args); done {
		return code
	}
	if c.set.NArg() != 1 {
		c.set.Usage()
		return exitFlags
	}
	log, _, closeLog := logging.Setup(c.logs)
	defer closeLog()
	settings := client.FromEnv(os.Getenv, c.logs.Dir)
	roots, err := hosthttp.Roots(c.logs.Dir, *caCert)
	if err != nil {
		fmt.Fprintln(s.Err, err)
		return exitFlags
	}
	hub, err := hubclient.New(hubclient.Options{URL: settings.URL, Dir: c.logs.Dir, CAFile: *caCert, Insecure: *insecure, Header: settings.Header()})
	if err != nil {
		fmt.Fprintln(s.Err, "SERVICE_BASE_URL:", err)
		return exitFlags
	}
	defer hub.Close()
	registry := &http.Client{Transport: hosthttp.Transport(roots, false)}
	defer registry.CloseIdleConnections()
	err = (&client.Client{Settings: settings, Hub: hub, Releases: client.Registry{HTTP: registry}, Dir: c.logs.Dir, Log: log}).Run(ctx, c.set.Arg(0))
	switch {
	case err == nil:
		return 0
	case errors.Is(err, client.ErrUsage):
		fmt.Fprintln(s.Err, err)
		return exitFlags
	}
	log.Error("it failed", "subcommand", c.set.Arg(0), "error", err)
	fmt.Fprintln(s.Err, err)
	return exitConfig
}

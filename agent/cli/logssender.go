package cli

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/agent/inventory"
	"github.com/ironflow/ironflow/agent/logging"
	"github.com/ironflow/ironflow/agent/logs"
	"github.com/ironflow/ironflow/agent/program"
)

// logsFlags are the flags of logs_sender alone.
type logsFlags struct {
	order          logs.Order
	masters, token string
}

func logsFlagsOf(c *program.Common) *logsFlags {
	f := &logsFlags{}
	c.Set.StringVar(&f.order.Since, "since", "", "leave out journal entries before this time, in the form of journalctl --since")
	c.Set.BoolVar(&f.order.Keep, "dont-clean", false, "keep a copy of what is sent, in /var/log")
	c.Set.BoolVar(&f.order.Bootstrap, "bootstrap", false, "also collect what only a bootstrap host has")
	c.Set.BoolVar(&f.order.InstallerGather, "with-installer-gather-logging", false, "also collect kernel messages, journal and core dumps; on a bootstrap host also logs of the control plane")
	c.Set.StringVar(&f.masters, "masters-ips", "", "comma-separated addresses of the control-plane hosts")
	c.Set.StringVar(&f.token, "pull-secret-token", "", "token to use if the environment has none; for older callers only, since others can see command lines")
	return f
}

// check completes the order, or says what is wrong with it.
func (f *logsFlags) check(n *network) error {
	if n.url == "" || n.cluster == "" || n.host == "" {
		return fmt.Errorf("--url, --cluster-id and --host-id are required")
	}
	if f.masters != "" {
		f.order.Masters = strings.Split(f.masters, ",")
	}
	f.order.ClusterID = n.cluster
	f.order.Host = hubclient.Host{InfraEnvID: n.infraEnv, HostID: n.host}
	return logs.CheckMasters(f.order.Masters)
}

// runLogsSender collects logs and sends them.
func runLogsSender(ctx context.Context, s program.Streams, name string, args []string) int {
	c := program.NewCommon(s, name, "")
	n := networkFlags(c)
	f := logsFlagsOf(c)
	if code, done := c.Parse(s, args); done {
		return code
	}
	if err := f.check(n); err != nil {
		fmt.Fprintln(s.Err, err)
		return program.ExitFlags
	}
	log, ring, closeLog := logging.Setup(c.Logs)
	defer closeLog()
	token := hubclient.NewToken(c.Logs.Dir)
	if f.token != "" && !token.Set() {
		log.Warn("the token came on the command line, where others can see it; set " + hubclient.TokenEnv + " instead")
		token = hubclient.GivenToken(f.token)
	}
	if err := sendLogs(ctx, c, n, token, f.order, log, ring); err != nil {
		fmt.Fprintln(s.Err, err)
		return exitFailed
	}
	fmt.Fprintln(s.Out, "logs of host", n.host, "were sent")
	return 0
}

func sendLogs(ctx context.Context, c *program.Common, n *network, token *hubclient.Token, order logs.Order, log *slog.Logger, ring *logging.Ring) error {
	dir := c.Logs.Dir
	client, err := hubclient.New(hubclient.Options{
		URL: n.url, AgentVersion: n.agentVersion, Dir: dir, CAFile: n.caCert, Insecure: n.insecure, Token: token,
	})
	if err != nil {
		return err
	}
	defer client.Close()
	sources := logs.Sources{Dir: dir, Own: ring.Bytes, Secrets: logs.HostSecrets(dir, token, os.Getenv)}
	if !c.Dry.Enabled {
		sources.Commands = command.Host{Dir: dir, Log: log}
		sources.Inventory = func(ctx context.Context) ([]byte, error) {
			inv, err := inventory.Gather(ctx, inventory.Host(dir), log)
			if err != nil {
				return nil, err
			}
			return inventory.Print(inv, inventory.Options{})
		}
	}
	return logs.Sender{Hub: client, Sources: sources, Log: log}.Send(ctx, order)
}

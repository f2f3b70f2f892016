package cli

import (
	"os"
	"strings"
	"time"

	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/agent/install/container"
	"github.com/ironflow/ironflow/agent/notify"
	"github.com/ironflow/ironflow/agent/program"
	"github.com/ironflow/ironflow/agent/service"
)

// network are the flags of the programs that talk to the hub.
type network struct {
	url, infraEnv, cluster, host, agentVersion, caCert string
	interval                                           int
	insecure                                           bool
}

func networkFlags(c *program.Common) *network {
	n := &network{}
	c.Set.StringVar(&n.url, "url", "", "base URL of the hub, such as https://hub.example:8090; a path in it is kept (required)")
	c.Set.StringVar(&n.infraEnv, "infra-env-id", "", "UUID of the infra-env to register in (required)")
	c.Set.StringVar(&n.cluster, "cluster-id", "", "UUID of the cluster; used as --infra-env-id if that is not given, as older hubs do")
	c.Set.StringVar(&n.agentVersion, "agent-version", "", "container image that this agent comes from, as the hub is told")
	c.Set.StringVar(&n.host, "host-id", "", "UUID that this host has at the hub, once it is registered")
	c.Set.StringVar(&n.caCert, "cacert", "", "PEM file with CAs that are trusted besides the system's")
	c.Set.IntVar(&n.interval, "interval", 60, "seconds between a failed registration and the next attempt")
	c.Set.BoolVar(&n.insecure, "insecure", false, "do not verify the hub's certificate")
	return n
}

// config turns the flags into the agent's configuration.
func (n *network) config(c *program.Common) service.Config {
	infraEnv := n.infraEnv
	if infraEnv == "" { // older hubs gave infra-env and cluster the same id
		infraEnv = n.cluster
	}
	return service.Config{
		Installer: container.Policy(os.Getenv(container.PolicyEnv)),
		URL:       strings.TrimSpace(n.url), InfraEnvID: infraEnv, AgentVersion: n.agentVersion,
		Interval: time.Duration(n.interval) * time.Second, CACert: n.caCert, Insecure: n.insecure,
		Dir: c.Logs.Dir, Dry: c.Dry, Token: hubclient.NewToken(c.Logs.Dir), Notify: notify.Systemd,
	}
}

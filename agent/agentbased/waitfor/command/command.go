// Package command is the command line of waiting for an agent-based installation: flags, the
// watcher's token, and an exit code for each meaning of the end. What is waited for, and what
// is told, is package waitfor's.
package command

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ironflow/ironflow/agent/agentbased/waitfor"
	"github.com/ironflow/ironflow/agent/agentbased/waitfor/installed"
	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/cluster/kube"
)

// tokenVariable is the variable with the watcher's token, where no file is given.
const tokenVariable = "WATCHER_AUTH_TOKEN" //nolint:gosec // a name

// settings are the flags of wait-for.
type settings struct {
	url, tokenFile, caCert, kubeconfig, output string
	nodes                                      int
	timeout, quiet, patience, every            time.Duration
}

// New makes the command. An [ExitError] was told already.
func New() *cobra.Command {
	var s settings
	cmd := &cobra.Command{
		Use:   "wait-for bootstrap-complete|install-complete",
		Short: "Follow an agent-based installation until it is done, and show why it does not progress",
		Long: "Follow an agent-based installation until it is done, and show why it does not progress.\n\nThe token of the hub's watchers is read from --token-file, or from the variable " + tokenVariable + ".\n" +
			"The hub ends with the bootstrap host; from then on the cluster is asked by --kubeconfig.\n\nExit codes:\n" + exitCodes(),
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{string(waitfor.BootstrapComplete), string(waitfor.InstallComplete)},
		RunE:      func(cmd *cobra.Command, args []string) error { return s.run(cmd, waitfor.Goal(args[0])) },
	}
	flags := cmd.Flags()
	flags.StringVar(&s.url, "url", "", "base URL of the hub on the rendezvous host, such as http://192.0.2.10:8090 (required)")
	if err := cmd.MarkFlagRequired("url"); err != nil {
		panic(err) //nolint:forbidigo // the flag was added above
	}
	flags.StringVar(&s.tokenFile, "token-file", "", "file with the token of the hub's watchers; empty: the variable "+tokenVariable)
	flags.StringVar(&s.caCert, "cacert", "", "PEM file with CAs that are trusted besides the system's")
	flags.StringVar(&s.kubeconfig, "kubeconfig", "", "kubeconfig file of the new cluster, which is asked once the hub has ended; empty: the cluster is not asked")
	flags.IntVar(&s.nodes, "nodes", 0, "number of nodes that a plain Kubernetes cluster has to have; 0: the number of hosts that the hub knew")
	flags.StringVar(&s.output, "output", "text", "text, or json for one JSON object per line")
	flags.DurationVar(&s.timeout, "timeout", time.Hour, "time limit of the whole wait")
	flags.DurationVar(&s.quiet, "quiet", 5*time.Minute, "show the reason when there was no progress for so long")
	flags.DurationVar(&s.patience, "patience", 30*time.Minute, "give up when neither hub nor cluster has answered for so long")
	flags.DurationVar(&s.every, "interval", 5*time.Second, "time between two requests to the hub or the cluster")
	return cmd
}

func exitCodes() string {
	var b strings.Builder
	for _, m := range waitfor.Meanings() {
		fmt.Fprintf(&b, "  %3d  %-11s  %s\n", m.Outcome.Code(), m.Name, m.Text)
	}
	return b.String()
}

// ExitError ends the program with the outcome's code; the last line has said why.
type ExitError struct{ waitfor.Outcome }

// Error implements error.
func (e ExitError) Error() string { return e.Name() }

// ExitCode is what the program ends with.
func (e ExitError) ExitCode() int { return e.Code() }

func (s *settings) run(cmd *cobra.Command, goal waitfor.Goal) error {
	wait, err := s.wait(cmd, goal)
	if err != nil {
		return err
	}
	if result := wait.Run(cmd.Context()); result.Outcome != waitfor.Complete {
		return ExitError{result.Outcome}
	}
	return nil
}

func (s *settings) wait(cmd *cobra.Command, goal waitfor.Goal) (waitfor.Wait, error) {
	out := waitfor.Wait{Goal: goal, Every: s.every, Quiet: s.quiet, Patience: s.patience, Deadline: s.timeout}
	for name, d := range map[string]time.Duration{"interval": s.every, "quiet": s.quiet, "patience": s.patience, "timeout": s.timeout} {
		if d <= 0 {
			return out, fmt.Errorf("--%s is %s: want more than 0", name, d)
		}
	}
	switch s.output {
	case "text":
		out.Tell = waitfor.Text(cmd.OutOrStdout())
	case "json":
		out.Tell = waitfor.JSON(cmd.OutOrStdout())
	default:
		return out, fmt.Errorf("--output is %q: want text or json", s.output)
	}
	token := strings.TrimSpace(os.Getenv(tokenVariable))
	if s.tokenFile != "" {
		raw, err := os.ReadFile(s.tokenFile)
		if err != nil {
			return out, fmt.Errorf("--token-file: %w", err)
		}
		token = strings.TrimSpace(string(raw))
	}
	options := hubclient.Options{URL: s.url, CAFile: s.caCert}
	if token != "" {
		options.Header = http.Header{"Watcher-Authorization": {token}}
	}
	hub, err := hubclient.New(options)
	if err != nil {
		return out, fmt.Errorf("--url or --cacert: %w", err)
	}
	out.Hub = hub
	if s.kubeconfig != "" {
		access, err := kube.Kubeconfig(s.kubeconfig)
		if err != nil {
			return out, fmt.Errorf("--kubeconfig: %w", err)
		}
		api, err := kube.New(access)
		if err != nil {
			return out, fmt.Errorf("--kubeconfig: %w", err)
		}
		out.Cluster = installed.Cluster{API: api, Nodes: s.nodes}
	}
	return out, nil
}

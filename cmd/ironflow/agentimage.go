package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/ironflow/ironflow/agent/agentbased/image"
	imagecommand "github.com/ironflow/ironflow/agent/agentbased/image/command"
	"github.com/ironflow/ironflow/agent/agentbased/waitfor/command"
	"github.com/ironflow/ironflow/hub/sources/kubernetes/authorities"
)

// newAgentImageCommand is what is done from outside for a cluster that installs itself.
func newAgentImageCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "agent-image", Short: "Make and follow agent-based installations: all hosts of a cluster boot one image, which brings the hub with it"}
	cmd.AddCommand(imagecommand.New(kubernetesAuthorities(), imagecommand.Hub{Rules: hubRules, Settings: hubSettings}), command.New())
	return cmd
}

// kubernetesAuthorities are those that the hub's source of a plain Kubernetes takes.
func kubernetesAuthorities() image.Authorities {
	return image.Authorities{
		New: func(now time.Time) (map[string][]byte, error) {
			set, err := authorities.New(now)
			if err != nil {
				return nil, err
			}
			return set.Files(), nil
		},
		Kubeconfig: func(files map[string][]byte, name, server string, now time.Time) ([]byte, error) {
			set, err := authorities.Parse(files)
			if err != nil {
				return nil, err
			}
			return set.Kubeconfig(name, server, now)
		},
	}
}

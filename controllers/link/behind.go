package link

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
)

// Behind returns what names the BareMetalHost that has settings for an Agent which the Agent has not got
// yet, such as the disk of its hints; empty for none. Where hosts approve themselves, an Agent is approved
// from its first moment, and what its host says comes after its inventory.
func Behind(c client.Reader) func(ctx context.Context, agent *agentv1.Agent) (string, error) {
	return func(ctx context.Context, agent *agentv1.Agent) (string, error) {
		var hosts metal3v1.BareMetalHostList
		if err := c.List(ctx, &hosts, client.InNamespace(agent.Namespace), client.MatchingLabels{names.InfraEnvLabel: agent.Labels[names.InfraEnvLabel]}); err != nil {
			return "", fmt.Errorf("list the hosts of the Agent's InfraEnv: %w", err)
		}
		for i := range hosts.Items {
			if h := &hosts.Items[i]; started(h) && mayBe(agent, h) && dress(agent, h) != nil {
				return h.Name, nil
			}
		}
		return "", nil
	}
}

// mayBe reports whether the Agent may be that of the host's machine: it is, or has not told its addresses
// yet, and is not another host's.
func mayBe(agent *agentv1.Agent, host *metal3v1.BareMetalHost) bool {
	macs := agentMACs(agent)
	if slices.Contains(macs, strings.ToLower(host.Spec.BootMACAddress)) {
		return true
	}
	return len(macs) == 0 && (hostNamed(agent) == "" || hostNamed(agent) == host.Name)
}

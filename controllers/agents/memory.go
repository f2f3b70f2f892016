package agents

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/hubid"
	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/store"
)

// nameIndex finds Agents by name alone: a host's id says nothing of its namespace.
const nameIndex = "agents.name"

func nameOf(obj client.Object) []string { return []string{obj.GetName()} }

// Memory are the Agents, as what the hub asks about hosts that it has no record of. A hub that
// has lost its store, or has just been given objects from elsewhere, takes no installed machine
// for a new one before its Agent was handed over, nor if that is not possible. It reads from the
// cache, which is filled before the hub serves.
type Memory struct{ Client client.Reader }

// Remembers implements fleet.Memory.
func (m Memory) Remembers(ctx context.Context, key store.HostKey) (waitsFor string, err error) {
	var list agentv1.AgentList
	if err := m.Client.List(ctx, &list, client.MatchingFields{nameIndex: key.HostID}); err != nil {
		return "", fmt.Errorf("list Agents: %w", err)
	}
	for i := range list.Items {
		agent, env := &list.Items[i], &agentv1.InfraEnv{}
		if _, _, lasting := hostmachine.Recovered(lastState(agent)); !lasting {
			continue
		}
		err := m.Client.Get(ctx, types.NamespacedName{Namespace: agent.Namespace, Name: agent.Labels[names.InfraEnvLabel]}, env)
		switch {
		case client.IgnoreNotFound(err) != nil:
			return "", fmt.Errorf("InfraEnv of Agent %s/%s: %w", agent.Namespace, agent.Name, err)
		case err == nil && hubid.Host(env, agent) == key:
			return fmt.Sprintf("Agent %s/%s, which says %q, to be handed over to the hub (its condition SpecSynced says if it cannot be). "+
				"If the machine is to be installed anew, kubectl delete agent -n %s %s", agent.Namespace, agent.Name, lastState(agent), agent.Namespace, agent.Name), nil
		}
	}
	return "", nil
}

package agents

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/hubid"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/service"
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

// Has implements fleet.Memory: objects that are not being deleted, here and now.
func (m Memory) Has(ctx context.Context, r service.Record) (bool, error) {
	switch {
	case r.ClusterID != "":
		cd, err := deploymentOf(ctx, m.Client, r.ClusterID)
		return err == nil && cd != nil && stays(cd), err
	case r.HostID == "":
		env, err := envOf(ctx, m.Client, r.InfraEnvID)
		return err == nil && env != nil && stays(env), err
	}
	var list agentv1.AgentList
	if err := m.Client.List(ctx, &list, client.MatchingFields{nameIndex: r.HostID}); err != nil {
		return false, fmt.Errorf("list Agents: %w", err)
	}
	if len(list.Items) == 0 {
		return false, nil
	}
	env, err := envOf(ctx, m.Client, r.InfraEnvID)
	if err != nil || env == nil {
		return false, err
	}
	return slices.ContainsFunc(list.Items, func(a agentv1.Agent) bool {
		return a.Namespace == env.Namespace && a.Labels[names.InfraEnvLabel] == env.Name && stays(&a)
	}), nil
}

// stays tells that nobody deletes the object, or has taken it elsewhere.
func stays(obj client.Object) bool {
	return obj.GetDeletionTimestamp().IsZero() && !reconcile.Moved(obj)
}

// envOf is the InfraEnv of the hub's record; nil when there is none.
func envOf(ctx context.Context, c client.Reader, id string) (*agentv1.InfraEnv, error) {
	envs, err := infraEnvs(ctx, c)
	return envs[id], err
}

// infraEnvs are the InfraEnvs by the ids of the hub's records.
func infraEnvs(ctx context.Context, c client.Reader) (map[string]*agentv1.InfraEnv, error) {
	var list agentv1.InfraEnvList
	if err := c.List(ctx, &list); err != nil {
		return nil, fmt.Errorf("list InfraEnvs: %w", err)
	}
	envs := make(map[string]*agentv1.InfraEnv, len(list.Items))
	for i := range list.Items {
		envs[hubid.InfraEnv(&list.Items[i])] = &list.Items[i]
	}
	return envs, nil
}

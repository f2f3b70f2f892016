package agents

import (
	"context"
	"maps"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
)

// resync is how often all records are compared with the resources, for what a
// lost write or a restart has missed.
const resync = time.Minute

// feed makes an Agent for each host that registers, and wakes the Agent of a
// host whose record changed.
type feed struct {
	hub    Hub
	client client.Client
	// live is the API server itself: the cache may be behind.
	live client.Reader
	out  chan<- event.GenericEvent
}

// Start implements manager.Runnable.
func (f *feed) Start(ctx context.Context) error {
	events, cancel := f.hub.Subscribe()
	defer cancel()
	ticker := time.NewTicker(resync)
	defer ticker.Stop()
	f.all(ctx)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			f.all(ctx)
		case e := <-events:
			switch {
			case e.What == service.ChangedAll:
				f.all(ctx)
			case e.HostID != "" && e.What != service.ChangedDeleted:
				f.host(ctx, store.HostKey{InfraEnvID: e.InfraEnvID, HostID: e.HostID})
			}
		}
	}
}

// all makes sure that every record has its Agent.
func (f *feed) all(ctx context.Context) {
	hosts, err := f.hub.Hosts(ctx, store.HostFilter{Bare: true})
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "cannot list the hub's hosts")
		return
	}
	envs, err := infraEnvs(ctx, f.client)
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "cannot find the InfraEnvs of the hub's hosts")
		return
	}
	for _, h := range hosts {
		f.agent(ctx, envs[h.InfraEnvID], store.HostKey{InfraEnvID: h.InfraEnvID, HostID: h.ID})
	}
}

// host makes sure that a host has its Agent.
func (f *feed) host(ctx context.Context, key store.HostKey) {
	env, err := envOf(ctx, f.client, key.InfraEnvID)
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "cannot find the InfraEnv of a host", "host", key.HostID)
		return
	}
	f.agent(ctx, env, key)
}

// agent makes the Agent if it is missing, and wakes it. A host whose infra-env has no resource was
// made through the REST API, and gets none.
func (f *feed) agent(ctx context.Context, env *agentv1.InfraEnv, key store.HostKey) {
	if env == nil {
		return
	}
	agent := &agentv1.Agent{}
	name := types.NamespacedName{Namespace: env.Namespace, Name: key.HostID}
	err := f.client.Get(ctx, name, agent)
	if apierrors.IsNotFound(err) {
		// One that was made a moment ago is not in the cache yet. Deleted after the record was read, it takes the
		// record with it, and made again it would be without one. So the API server is asked before the record
		// is read: an Agent that there is not cannot be deleted.
		err = f.live.Get(ctx, name, agent)
	}
	if apierrors.IsNotFound(err) {
		agent, err = f.make(ctx, env, key)
	}
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "cannot make the Agent of a host", "host", key.HostID)
		return
	}
	select {
	case f.out <- event.GenericEvent{Object: agent}:
	case <-ctx.Done():
	}
}

// make makes the Agent of a record. An Agent that was lost, as after a restore from a backup, is
// made anew with what the record has: what it would not say would be taken for a wish, such
// as the one to have an installed host out of its cluster.
func (f *feed) make(ctx context.Context, env *agentv1.InfraEnv, key store.HostKey) (*agentv1.Agent, error) {
	agent := newAgent(env, key.HostID)
	view, record, err := f.hub.View(ctx, key)
	if err != nil {
		return agent, err
	}
	registeredFrom(agent, view)
	agent.Spec.Approved = agent.Spec.Approved || view.Approved
	agent.Spec.InstallerArgs, agent.Spec.IgnitionConfigOverrides = record.InstallerArgs, record.IgnitionConfigOverrides
	agent.Spec.NodeLabels = textMap(record.NodeLabels)
	again(&agent.Spec, view.Asked)
	if agent.Spec.ClusterDeploymentName == nil && view.ClusterID != "" {
		cd, err := deploymentOf(ctx, f.client, view.ClusterID)
		if err != nil {
			return agent, err
		}
		if cd != nil {
			agent.Spec.ClusterDeploymentName = &agentv1.ClusterReference{Namespace: cd.Namespace, Name: cd.Name}
		}
	}
	return agent, client.IgnoreAlreadyExists(f.client.Create(ctx, agent))
}

func newAgent(env *agentv1.InfraEnv, id string) *agentv1.Agent {
	agent := &agentv1.Agent{ObjectMeta: metav1.ObjectMeta{
		Namespace: env.Namespace, Name: id,
		Labels:          map[string]string{},
		Finalizers:      []string{names.AgentFinalizer},
		OwnerReferences: []metav1.OwnerReference{ownedBy(env)},
	}}
	maps.Copy(agent.Labels, env.Spec.AgentLabels)
	agent.Labels[names.InfraEnvLabel] = env.Name // after the user's: the record's key is found by it
	agent.Spec.Role = "auto-assign"
	agent.Spec.Approved = env.Spec.AgentApproval != nil && env.Spec.AgentApproval.AutoApprove
	if ref := env.Spec.ClusterRef; ref != nil && ref.Name != "" {
		agent.Spec.ClusterDeploymentName = ref.DeepCopy()
	}
	return agent
}

package agents

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/hubid"
	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// inputError is a spec that cannot be handed over as it is.
type inputError struct{ error }

// Unwrap returns the text's error.
func (e inputError) Unwrap() error { return e.error }

// refused reports whether another attempt with the same spec would end the same.
func refused(err error) bool {
	if _, ok := errors.AsType[inputError](err); ok {
		return true
	}
	return service.Code(err) < http.StatusInternalServerError
}

// push makes the calls that the difference between spec and record asks for, and reports whether
// any was made. What is wrong with one part keeps none of the others: a host whose settings cannot be
// handed over whole is not installed, and leaves its cluster all the same.
func (r *reconciler) push(ctx context.Context, agent *agentv1.Agent, env *agentv1.InfraEnv, view service.HostView, record *wire.Host) (pushed bool, err error) {
	key := hubid.Host(env, agent)
	pushed, wrong := r.settings(ctx, key, agent, record)
	if wrong == nil && agent.Spec.Approved && !view.Approved {
		wrong = r.linked(ctx, agent)
	}
	// Approval may start the installation: everything about it is handed over before.
	if approved := approval(agent, view, wrong); approved != view.Approved {
		pushed = true
		if err := r.hub.ApproveHost(ctx, key, approved); err != nil {
			return pushed, fmt.Errorf("approval: %w", err)
		}
	}
	binding, err := r.binding(ctx, agent, env, view)
	if binding != nil {
		pushed = true
		if failure := binding.do(ctx, key); failure != nil {
			err = fmt.Errorf("%s: %w", binding.what, failure)
		}
	}
	return pushed, cmp.Or(wrong, err)
}

// approval is what the hub is to be told. Of a host whose settings are refused, what was approved is
// another installation than the one that its Agent asks for now.
func approval(agent *agentv1.Agent, view service.HostView, wrong error) bool {
	switch {
	case !agent.Spec.Approved || wrong == nil:
		return agent.Spec.Approved
	case refused(wrong) && slices.Contains(notBegun, view.Status):
		return false
	}
	return view.Approved
}

// notBegun are the statuses of hosts that an approval has installed.
var notBegun = slices.Concat(hostmachine.PreInstall, hostmachine.Pool, []string{wire.HostStatusBinding})

// linked reports whether the Agent has what its BareMetalHost says of the installation, which may be less than a second away.
func (r *reconciler) linked(ctx context.Context, agent *agentv1.Agent) error {
	if r.behind == nil {
		return nil
	}
	host, err := r.behind(ctx, agent)
	if err != nil || host == "" {
		return err
	}
	return fmt.Errorf("approval: BareMetalHost %s/%s has settings that the Agent has not got yet; its condition Linked says why, and the host is not installed before", agent.Namespace, host)
}

// call is one change of the record.
type call struct {
	what string
	do   func(ctx context.Context, key store.HostKey) error
}

// settings hands over what the installation is made of. The error is the first of what could not be.
func (r *reconciler) settings(ctx context.Context, key store.HostKey, agent *agentv1.Agent, record *wire.Host) (pushed bool, err error) {
	want, token, err := r.asked(ctx, agent)
	if err == nil {
		if pushed, err = r.hub.Ask(ctx, key, want, token); err != nil {
			err = fmt.Errorf("settings: %w", err)
		}
	}
	if config := agent.Spec.IgnitionConfigOverrides; config != record.IgnitionConfigOverrides {
		pushed = true
		if failure := r.hub.SetHostIgnition(ctx, key, config); failure != nil {
			err = cmp.Or(err, fmt.Errorf("ignitionConfigOverrides: %w", failure))
		}
	}
	args, failure := installerArgs(agent)
	if failure == nil && !slices.Equal(args, textList(record.InstallerArgs)) {
		pushed = true
		if _, failure = r.hub.SetInstallerArgs(ctx, key, args); failure != nil {
			failure = fmt.Errorf("installerArgs: %w", failure)
		}
	}
	return pushed, cmp.Or(err, failure)
}

// installerArgs reads the arguments, which the contract keeps as JSON in text.
func installerArgs(agent *agentv1.Agent) ([]string, error) {
	if agent.Spec.InstallerArgs == "" {
		return nil, nil
	}
	var args []string
	if err := json.Unmarshal([]byte(agent.Spec.InstallerArgs), &args); err != nil {
		return nil, inputError{fmt.Errorf("spec.installerArgs is not a JSON list of texts: %w", err)}
	}
	return args, nil
}

// textList and textMap read what the hub keeps as JSON in text; nothing for an
// empty or an unreadable one.
func textList(raw string) (out []string) {
	_ = json.Unmarshal([]byte(raw), &out)
	return out
}

func textMap(raw string) (out map[string]string) {
	_ = json.Unmarshal([]byte(raw), &out)
	return out
}

// binding returns the call that brings the host into the cluster of the spec, or
// out of one; nil when it is where it belongs, or when the hub has to do
// something else with it first.
func (r *reconciler) binding(ctx context.Context, agent *agentv1.Agent, env *agentv1.InfraEnv, view service.HostView) (*call, error) {
	want, err := r.wantedCluster(ctx, agent)
	if err != nil || want == view.ClusterID {
		return nil, err
	}
	var theirs *hivev1.ClusterDeployment // of the cluster that the host belongs to
	if view.ClusterID != "" {
		if theirs, err = deploymentOf(ctx, r.Client, view.ClusterID); err != nil {
			return nil, err
		}
	}
	switch {
	case view.ClusterID == "" && view.Status == wire.HostStatusKnownUnbound:
		return &call{"bind to " + agent.Spec.ClusterDeploymentName.Name, func(ctx context.Context, key store.HostKey) error {
			_, err := r.hub.BindHost(ctx, key, want)
			return err
		}}, nil
	case view.ClusterID == "":
		return nil, nil // once its inventory is checked, the hub wakes us
	case want == "" && (theirs == nil || env.Spec.ClusterRef != nil):
		return nil, nil // nobody put it there by this resource, so nobody takes it out
	case theirs == nil && !slices.Contains(hostmachine.PreInstall, view.Status):
		return nil, inputError{fmt.Errorf("the host belongs to a cluster of the hub that has no ClusterDeployment any more, and %s/%s is another one, even if it has the same name, as after a restore from a backup: "+
			"the host stays where it is. Next: delete the Agent, or annotate its BareMetalHost with %s, to have the machine cleaned and installed for the new one",
			agent.Spec.ClusterDeploymentName.Namespace, agent.Spec.ClusterDeploymentName.Name, names.GiveBack)}
	}
	return &call{"take the host out of its cluster", func(ctx context.Context, key store.HostKey) error {
		_, err := r.hub.UnbindHost(ctx, key)
		return err
	}}, nil
}

// wantedCluster is the hub's id of the cluster in the spec, empty for none.
func (r *reconciler) wantedCluster(ctx context.Context, agent *agentv1.Agent) (string, error) {
	ref := agent.Spec.ClusterDeploymentName
	if ref == nil || ref.Name == "" {
		return "", nil
	}
	cd := &hivev1.ClusterDeployment{}
	err := r.Client.Get(ctx, types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}, cd)
	switch {
	case apierrors.IsNotFound(err):
		return "", inputError{fmt.Errorf("ClusterDeployment %s/%s does not exist: create it, or correct spec.clusterDeploymentName", ref.Namespace, ref.Name)}
	case err != nil:
		return "", fmt.Errorf("ClusterDeployment %s/%s: %w", ref.Namespace, ref.Name, err)
	}
	return hubid.Cluster(cd), nil
}

// deploymentOf is the ClusterDeployment that stands for the hub's cluster. A host's own
// cluster and those of the REST API have none.
func deploymentOf(ctx context.Context, c client.Reader, clusterID string) (*hivev1.ClusterDeployment, error) {
	var list hivev1.ClusterDeploymentList
	if err := c.List(ctx, &list); err != nil {
		return nil, err
	}
	for i := range list.Items {
		if hubid.Cluster(&list.Items[i]) == clusterID {
			return &list.Items[i], nil
		}
	}
	return nil, nil //nolint:nilnil // none is an answer
}

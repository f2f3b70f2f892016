package agents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/wire"
)

// tokenKey is the key of the Secret that spec.ignitionEndpointTokenReference names.
const tokenKey = "ignition-token"

// asked is what the spec asks of the hub's record, with the token for the Ignition
// endpoint. The error says what cannot be handed over, and what to do.
func (r *reconciler) asked(ctx context.Context, agent *agentv1.Agent) (want service.HostSettings, token string, err error) {
	spec := &agent.Spec
	if spec.FencingCredentialsSecretRef != "" {
		return want, "", inputError{errors.New("spec.fencingCredentialsSecretRef: the hub makes no clusters with fencing; take it away")}
	}
	if spec.InstallationDiskID != "" && spec.InstallationDiskPath != "" {
		return want, "", inputError{errors.New("spec.installation_disk_id and spec.installation_disk_path exclude each other: take one of them away")}
	}
	want = service.HostSettings{
		Name: spec.Hostname, Role: spec.Role, Pool: spec.MachineConfigPool, Disk: cmp.Or(spec.InstallationDiskID, spec.InstallationDiskPath),
		Labels: spec.NodeLabels, Headers: spec.IgnitionEndpointHTTPHeaders,
	}
	if want.Role == string(wire.HostRoleAutoAssign) {
		want.Role = ""
	}
	if ref := spec.IgnitionEndpointTokenReference; ref != nil {
		want.TokenFrom = ref.Namespace + "/" + ref.Name
		token, err = r.token(ctx, types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name})
	}
	return want, token, err
}

// token reads the token of a Secret.
func (r *reconciler) token(ctx context.Context, key types.NamespacedName) (string, error) {
	secret, found, err := r.secrets.Get(ctx, key)
	switch {
	case err != nil:
		return "", err
	case !found:
		return "", inputError{fmt.Errorf("spec.ignitionEndpointTokenReference: Secret %s does not exist: create it, or correct the reference", key)}
	case len(secret.Data[tokenKey]) == 0:
		return "", inputError{fmt.Errorf("spec.ignitionEndpointTokenReference: Secret %s has no key %s: add it", key, tokenKey)}
	}
	return string(secret.Data[tokenKey]), r.secrets.Mark(ctx, secret) // every pass of the Agent reads it again
}

// again puts back into a spec what the Agent of before had asked for.
func again(spec *agentv1.AgentSpec, asked service.HostSettings) {
	spec.Hostname, spec.MachineConfigPool, spec.InstallationDiskID = asked.Name, asked.Pool, asked.Disk
	spec.Role, spec.IgnitionEndpointHTTPHeaders = cmp.Or(asked.Role, spec.Role), asked.Headers
	if namespace, name, found := strings.Cut(asked.TokenFrom, "/"); found {
		spec.IgnitionEndpointTokenReference = &agentv1.NamespacedReference{Namespace: namespace, Name: name}
	}
}

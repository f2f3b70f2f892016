package infraenv

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/yaml"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/controllers/nmstateconfigs"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/hub/staticnetwork"
	"github.com/ironflow/ironflow/hub/wire"
)

// leftOut marks a pass after which the record is there, but without some of the hosts'
// networks: a person has to mend those, and the images of other hosts are good.
type leftOut struct{ error } //nolint:errname // an outcome of a pass

// Unwrap returns the outcome.
func (l leftOut) Unwrap() error { return l.error }

// networks are the static networks of the environment's hosts. One that cannot be is left
// out, and refused says so: it is that of one host, and the others are not to wait for it.
func (r *reconciler) networks(ctx context.Context, env *agentv1.InfraEnv) (networks []wire.HostStaticNetworkConfig, refused, err error) {
	configs, err := nmstateconfigs.Of(ctx, r.Client, env)
	if errors.Is(err, nmstateconfigs.ErrSelector) {
		return nil, nil, reconcile.Stall(agentv1.ReasonImageCreationError, "%w. Next: correct the selector", err)
	}
	if err != nil {
		return nil, nil, err
	}
	var problems []string
	check := staticnetwork.Checker{Document: " spec.config", Map: "spec.interfaces"}
	for i := range configs {
		network, err := networkOf(&configs[i])
		if err == nil {
			err = check.Add("NMStateConfig "+configs[i].Name, network)
		}
		if err != nil {
			problems = append(problems, err.Error())
			continue
		}
		networks = append(networks, network)
	}
	if len(problems) > 0 {
		refused = leftOut{reconcile.Stall(agentv1.ReasonImageCreated,
			"live images are built for each host of this environment, but %d networks are left out: %s. Next: correct those NMStateConfigs", len(problems), few(problems))}
	}
	return networks, refused, nil
}

// shown is how many problems a message names.
const shown = 5

func few(problems []string) string {
	if more := len(problems) - shown; more > 0 {
		return strings.Join(problems[:shown], "; ") + fmt.Sprintf("; and %d more", more)
	}
	return strings.Join(problems, "; ")
}

// networkOf is an NMStateConfig in the hub's form.
func networkOf(config *agentv1.NMStateConfig) (wire.HostStaticNetworkConfig, error) {
	var out wire.HostStaticNetworkConfig
	for _, i := range config.Spec.Interfaces {
		out.MACInterfaceMap = append(out.MACInterfaceMap, wire.MACInterfaceMapItem{MACAddress: i.MacAddress, LogicalNICName: i.Name})
	}
	raw, err := yaml.JSONToYAML(config.Spec.NetConfig.Raw)
	if err != nil {
		return out, fmt.Errorf("NMStateConfig %s spec.config: %w", config.Name, err)
	}
	out.NetworkYaml = string(raw)
	return out, nil
}

// envsOfNetwork finds the environments that select an NMStateConfig. Of one whose labels
// changed, the old and the new ones are asked for.
func (r *reconciler) envsOfNetwork(ctx context.Context, obj client.Object) []ctrlreconcile.Request {
	return r.envsWhere(ctx, func(e *agentv1.InfraEnv) bool { return nmstateconfigs.Selects(e, obj.GetLabels()) }, client.InNamespace(obj.GetNamespace()))
}

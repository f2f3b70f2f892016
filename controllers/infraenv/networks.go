package infraenv

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/yaml"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/controllers/nmstateconfigs"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/hub/staticnetwork"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/imagecustomization/network"
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
		showNetworks(env, agentv1.ReasonNoNetworkSelected, fmt.Sprintf("%v. Next: correct the selector", err))
		return nil, nil, reconcile.Stall(agentv1.ReasonImageCreationError, "%w. Next: correct the selector", err)
	}
	if err != nil {
		return nil, nil, err
	}
	networks, problems := taken(configs, r.live(ctx, cmp.Or(env.Spec.CpuArchitecture, wire.InfraEnvCPUArchitectureX8664), env.Spec.OSImageVersion))
	switch {
	case len(problems) > 0:
		showNetworks(env, agentv1.ReasonNetworksLeftOut, fmt.Sprintf("%d of %d NMStateConfigs are left out, and their hosts boot with DHCP: %s. Next: correct those NMStateConfigs",
			len(problems), len(configs), few(problems)))
		refused = leftOut{reconcile.Stall(agentv1.ReasonImageCreated,
			"live images are built for each host of this environment, but %d networks are left out: %s. Next: correct those NMStateConfigs", len(problems), few(problems))}
	case len(networks) == 1:
		showNetworks(env, agentv1.ReasonNetworksTaken, "1 NMStateConfig is in the record of this environment, from which its images are made")
	case len(networks) > 1:
		showNetworks(env, agentv1.ReasonNetworksTaken, fmt.Sprintf("%d NMStateConfigs are in the record of this environment, from which its images are made", len(networks)))
	case nmstateconfigs.SelectsAny(env):
		showNetworks(env, agentv1.ReasonNoNetworkSelected, "spec.nmStateConfigLabelSelector selects no NMStateConfig of this namespace, and all hosts boot with DHCP. "+
			"Next: create them, with these labels, or leave the selector out")
	default:
		env.Status.Conditions = slices.DeleteFunc(env.Status.Conditions, func(c agentv1.Condition) bool { return c.Type == agentv1.ConditionStaticNetworks })
	}
	return networks, refused, nil
}

// taken are those networks that can be, and what is wrong with the others. One that only
// the live system lacks the means for stays in the record: another base image may have them.
func taken(configs []agentv1.NMStateConfig, live network.Live) (networks []wire.HostStaticNetworkConfig, problems []string) {
	check := staticnetwork.Checker{Document: " spec.config", Map: "spec.interfaces"}
	for i := range configs {
		one, err := networkOf(&configs[i])
		if err == nil {
			err = check.Add("NMStateConfig "+configs[i].Name, one)
		}
		if err != nil {
			problems = append(problems, err.Error())
			continue
		}
		networks = append(networks, one)
		var cards []network.Card
		for _, card := range one.MACInterfaceMap {
			cards = append(cards, network.Card{Name: card.LogicalNICName, Address: card.MACAddress})
		}
		if _, err := live.TranslateLogical([]byte(one.NetworkYaml), cards); err != nil {
			problems = append(problems, fmt.Sprintf("NMStateConfig %s spec.config: %s", configs[i].Name, strings.ReplaceAll(err.Error(), "\n", "; ")))
		}
	}
	return networks, problems
}

// showNetworks sets the condition StaticNetworks.
func showNetworks(env *agentv1.InfraEnv, reason, message string) {
	status := corev1.ConditionFalse
	if reason == agentv1.ReasonNetworksTaken {
		status = corev1.ConditionTrue
	}
	agentv1.SetCondition(&env.Status.Conditions, agentv1.Condition{Type: agentv1.ConditionStaticNetworks, Status: status, Reason: reason, Message: message}, metav1.Now())
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

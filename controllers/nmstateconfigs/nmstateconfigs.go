// Package nmstateconfigs finds the NMStateConfigs of an InfraEnv: the static networks of
// its hosts. Which these are is one rule, for the images of single hosts and for the
// record of the InfraEnv in the hub.
package nmstateconfigs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
)

// ErrSelector means a label selector that nobody can understand.
var ErrSelector = errors.New("spec.nmStateConfigLabelSelector cannot be understood")

// Of lists those that the InfraEnv selects in its namespace, by name. A selector that
// says nothing selects none, as in the contract.
func Of(ctx context.Context, reader client.Reader, env *agentv1.InfraEnv) ([]agentv1.NMStateConfig, error) {
	selector, err := metav1.LabelSelectorAsSelector(&env.Spec.NMStateConfigLabelSelector)
	if err != nil {
		return nil, fmt.Errorf("InfraEnv %s: %w: %w", env.Name, ErrSelector, err)
	}
	if selector.Empty() {
		return nil, nil
	}
	var list agentv1.NMStateConfigList
	if err := reader.List(ctx, &list, client.InNamespace(env.Namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return nil, fmt.Errorf("list NMStateConfigs of InfraEnv %s: %w", env.Name, err)
	}
	slices.SortFunc(list.Items, func(a, b agentv1.NMStateConfig) int { return strings.Compare(a.Name, b.Name) })
	return list.Items, nil
}

// Selects tells whether the InfraEnv selects an object with these labels.
func Selects(env *agentv1.InfraEnv, set map[string]string) bool {
	selector, err := metav1.LabelSelectorAsSelector(&env.Spec.NMStateConfigLabelSelector)
	return err == nil && !selector.Empty() && selector.Matches(labels.Set(set))
}

// SelectsAny tells whether the InfraEnv selects anything at all.
func SelectsAny(env *agentv1.InfraEnv) bool {
	selector, err := metav1.LabelSelectorAsSelector(&env.Spec.NMStateConfigLabelSelector)
	return err == nil && !selector.Empty()
}

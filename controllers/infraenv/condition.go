package infraenv

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// missingCluster marks a wait for the cluster of spec.clusterRef, which has a
// status and a reason of its own in the contract.
type missingCluster struct{ error } //nolint:errname // an outcome of a pass

// Unwrap returns the wait.
func (m missingCluster) Unwrap() error { return m.error }

// summarise sets the condition ImageCreated from the outcome of a pass.
func summarise(env *agentv1.InfraEnv, err error) {
	status, reason := verdict(err)
	c := agentv1.Condition{
		Type: agentv1.ConditionImageCreated, Status: status, Reason: reason,
		Message: "live images are built for each host of this environment",
	}
	if err != nil {
		c.Message = err.Error()
	}
	if status == corev1.ConditionTrue {
		c.Message += without(env)
	}
	now := metav1.Now()
	if agentv1.SetCondition(&env.Status.Conditions, c, now) && status == corev1.ConditionTrue && env.Status.CreatedTime == nil {
		env.Status.CreatedTime = &now
	}
}

// without says what of the annotations nothing becomes of; empty for nothing.
func without(env *agentv1.InfraEnv) (says string) {
	if found := unread(env); len(found) > 0 {
		says += "; these annotations change nothing: " + strings.Join(found, ", ")
	}
	if text := env.Annotations[names.IPFamily]; text != "" && len(agentv1.IPFamilies(text)) == 0 {
		says += fmt.Sprintf("; annotation %s %.40q changes nothing: want v4, v6, or v4,v6", names.IPFamily, text)
	}
	missing := slices.DeleteFunc(agentv1.KeyList(env.Annotations[names.PropagateNodeLabels]), func(key string) bool {
		_, has := env.Labels[key]
		return has
	})
	if len(missing) > 0 {
		says += fmt.Sprintf("; annotation %s names what is no label of this InfraEnv: %.200s", names.PropagateNodeLabels, strings.Join(missing, ", "))
	}
	return says
}

// known are the annotations that mean something here, or ask for nothing.
var known = []string{names.IronicAgentImage, names.IronicAgentEnabled, names.IPFamily, names.PropagateNodeLabels}

// unread are those that speak to the hub, and that it does nothing with; sorted.
func unread(env *agentv1.InfraEnv) (found []string) {
	for _, name := range slices.Sorted(maps.Keys(env.Annotations)) {
		if strings.HasPrefix(name, names.InfraEnvPrefix) && !slices.Contains(known, name) {
			found = append(found, name)
		}
	}
	return found
}

// verdict is the condition's status and reason for an outcome: only what a
// person has to mend is an image creation error, so that hosts of the
// environment do not lose their images while something is merely waited for.
func verdict(err error) (corev1.ConditionStatus, string) {
	if err == nil {
		return corev1.ConditionTrue, agentv1.ReasonImageCreated
	}
	if _, ok := errors.AsType[leftOut](err); ok {
		return corev1.ConditionTrue, agentv1.ReasonImageCreated
	}
	if stalled, ok := errors.AsType[*reconcile.Stalled](err); ok {
		return corev1.ConditionFalse, stalled.Reason
	}
	if _, ok := errors.AsType[missingCluster](err); ok {
		return corev1.ConditionUnknown, agentv1.ReasonMissingClusterDeployment
	}
	return corev1.ConditionFalse, agentv1.ReasonWaitingForInfraEnvImageToBeMade
}

package link

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
)

// label gives the Agent the labels that the host's annotations name: all of its Node, where there
// is any such annotation, beside those that the Agent has from its InfraEnv, and those of the Agent itself beside
// what it has.
func label(want *agentv1.Agent, host *metal3v1.BareMetalHost) {
	if ofNode := labels(host, names.BMACNodeLabel); len(ofNode) > 0 {
		keepInherited(want, ofNode)
		want.Spec.NodeLabels = ofNode
	}
	for key, value := range labels(host, names.BMACAgentLabel) {
		metav1.SetMetaDataLabel(&want.ObjectMeta, key, value)
	}
}

// keepInherited leaves the Agent what it has from its InfraEnv. A label that the host has as well is the host's from
// now on, or it would be changed to and fro.
func keepInherited(want *agentv1.Agent, ofNode map[string]string) {
	var left []string
	for _, key := range agentv1.KeyList(want.Annotations[names.InheritedNodeLabels]) {
		value, has := want.Spec.NodeLabels[key]
		if _, hosts := ofNode[key]; hosts || !has {
			continue
		}
		ofNode[key] = value
		left = append(left, key)
	}
	if text := strings.Join(left, ","); text != "" {
		want.Annotations[names.InheritedNodeLabels] = text
	} else {
		delete(want.Annotations, names.InheritedNodeLabels)
	}
}

// labels are those of the annotations that begin so, and can be labels.
func labels(host *metal3v1.BareMetalHost, prefix string) map[string]string {
	found := map[string]string{}
	for name, value := range host.Annotations {
		if key, is := strings.CutPrefix(name, prefix); is && noLabel(key, value) == "" {
			found[key] = value
		}
	}
	return found
}

// noLabel is why a text cannot be a label that a person gives; empty for one that can.
func noLabel(key, value string) string {
	problems := append(validation.IsQualifiedName(key), validation.IsValidLabelValue(value)...)
	if key == names.InfraEnvLabel || key == names.AgentHostLabel {
		problems = append(problems, "the hub finds the Agent's host by this label")
	}
	return strings.Join(problems, "; ")
}

// badAnnotation names the first annotation that the Agent cannot be given, and why.
func badAnnotation(host *metal3v1.BareMetalHost) string {
	for _, name := range slices.Sorted(maps.Keys(host.Annotations)) {
		if name == names.BMACFencing || name == names.BMACMakeFencing {
			return fmt.Sprintf("annotation %s is refused: the hub makes no clusters with fencing. Next: take it away", name)
		}
		for _, prefix := range []string{names.BMACNodeLabel, names.BMACAgentLabel} {
			key, is := strings.CutPrefix(name, prefix)
			if !is {
				continue
			}
			if why := noLabel(key, host.Annotations[name]); why != "" {
				return fmt.Sprintf("annotation %s cannot be a label, so it is left out: %s. Next: correct it", name, why)
			}
		}
	}
	return ""
}

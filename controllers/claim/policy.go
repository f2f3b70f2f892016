package claim

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// Namespace is where a claim lives.
type Namespace struct {
	Name   string
	Labels map[string]string
}

// Admitted returns the namespaces of hosts whose policies serve claims from ns,
// sorted. One policy of a namespace suffices.
func Admitted(policies []metal3.HostDeployPolicy, ns Namespace) []string {
	var list []string
	for i := range policies {
		if admits(&policies[i], ns) && !slices.Contains(list, policies[i].Namespace) {
			list = append(list, policies[i].Namespace)
		}
	}
	slices.Sort(list)
	return list
}

// admits reports whether a policy serves claims of a namespace: it must be among
// the names, if any are given, match the pattern, and have all labels. A policy
// that names no namespaces serves nobody, and so does one that cannot be read.
func admits(p *metal3.HostDeployPolicy, ns Namespace) bool {
	want := p.Spec.HostClaimNamespaces
	if want == nil || !p.DeletionTimestamp.IsZero() {
		return false
	}
	if len(want.Names) > 0 && !slices.Contains(want.Names, ns.Name) {
		return false
	}
	if want.NameMatches != "" {
		pattern, err := regexp.Compile(want.NameMatches)
		if err != nil || !pattern.MatchString(ns.Name) {
			return false
		}
	}
	for _, label := range want.HasLabels {
		value, there := ns.Labels[label.Name]
		if !there || label.Value != "" && label.Value != value {
			return false
		}
	}
	return true
}

// Warning says what is probably not meant in a policy, empty for nothing.
func Warning(p *metal3.HostDeployPolicy) string {
	want := p.Spec.HostClaimNamespaces
	if want == nil {
		return "spec.hostClaimNamespaces is not set: the policy admits no namespace"
	}
	pattern := want.NameMatches
	if pattern == "" {
		return ""
	}
	if _, err := regexp.Compile(pattern); err != nil {
		return fmt.Sprintf("spec.hostClaimNamespaces.nameMatches cannot be read, so the policy admits no namespace: %v", err)
	}
	if !strings.HasPrefix(pattern, "^") || !strings.HasSuffix(pattern, "$") {
		return fmt.Sprintf("spec.hostClaimNamespaces.nameMatches %q also matches parts of names, such as not-%s: write ^(%s)$ if that is not meant",
			pattern, strings.Trim(pattern, "^$"), strings.Trim(pattern, "^$"))
	}
	return ""
}

// selectorOf turns a claim's selector into one for labels.
func selectorOf(s metal3.HostSelector) (labels.Selector, error) {
	selector := labels.SelectorFromSet(s.MatchLabels)
	for _, e := range s.MatchExpressions {
		operator := selection.Operator(strings.ToLower(string(e.Operator)))
		if operator == "doesnotexist" {
			operator = selection.DoesNotExist // as label selectors elsewhere in Kubernetes spell it
		}
		requirement, err := labels.NewRequirement(e.Key, operator, e.Values)
		if err != nil {
			return nil, fmt.Errorf("spec.hostSelector.matchExpressions, key %q: %w", e.Key, err)
		}
		selector = selector.Add(*requirement)
	}
	return selector, nil
}

package selfcheck

import (
	"context"
	"slices"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authorization "k8s.io/client-go/kubernetes/typed/authorization/v1"
)

// noNamespace is the name of no namespace, since no object can have it: what is allowed there is
// allowed in all of them.
const noNamespace = "*"

// known asks for all rights in a namespace at once, and tells which of the questions are answered by that: by yes, since rights that are
// refused are for the review of that right to say. Where an authorizer cannot list what it allows, and may refuse what another one does, none is.
func known(ctx context.Context, reviews authorization.SelfSubjectRulesReviewInterface, all []authorizationv1.ResourceAttributes) func(authorizationv1.ResourceAttributes) bool {
	rules := map[string][]authorizationv1.ResourceRule{}
	for _, question := range all {
		if _, asked := rules[question.Namespace]; asked {
			continue
		}
		in := question.Namespace
		if in == "" {
			in = noNamespace
		}
		review := &authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: in}}
		answer, err := reviews.Create(ctx, review, metav1.CreateOptions{})
		if err != nil || answer.Status.Incomplete {
			rules[question.Namespace] = nil
			continue
		}
		rules[question.Namespace] = answer.Status.ResourceRules
	}
	return func(question authorizationv1.ResourceAttributes) bool {
		return slices.ContainsFunc(rules[question.Namespace], func(r authorizationv1.ResourceRule) bool { return allows(r, question) })
	}
}

// allows tells whether a rule allows it: for objects of all names, unless one is asked for.
func allows(r authorizationv1.ResourceRule, q authorizationv1.ResourceAttributes) bool {
	resource, all := q.Resource, "*"
	if q.Subresource != "" {
		resource, all = q.Resource+"/"+q.Subresource, "*/"+q.Subresource
	}
	names := len(r.ResourceNames) == 0 || q.Name != "" && slices.Contains(r.ResourceNames, q.Name)
	return names && has(r.Verbs, q.Verb, "*") && has(r.APIGroups, q.Group, "*") && has(r.Resources, resource, all, "*")
}

// has tells whether one of the names is in the list.
func has(list []string, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(list, name) })
}

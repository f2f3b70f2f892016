package selfcheck

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authorization "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
)

// Features are what runs, and so what has to be allowed.
type Features struct {
	// Hub is the hub with the image server and their kinds; BMCs is asking BMCs; Claims is
	// giving hosts to HostClaims.
	Hub, BMCs, Claims bool
}

// hubGroups are the API groups that only the hub needs.
var hubGroups = []string{"agent-install.openshift.io", "extensions.hive.openshift.io", "hive.openshift.io"}

// claimKinds are the resources that only claims need.
var claimKinds = []string{"hostclaims", "hostdeploypolicies"}

// needsDefinition tells whether the kind of a definition, such as agents.agent-install.openshift.io, is worked on.
func (f Features) needsDefinition(name string) bool {
	kind, group, _ := strings.Cut(name, ".")
	return (f.Hub || !slices.Contains(hubGroups, group)) && (f.BMCs || group != "ironflow.io") && (f.Claims || !slices.Contains(claimKinds, kind))
}

// Needed are the rules of the generated role that the features need, as the chart has them.
func (f Features) Needed(rules []rbacv1.PolicyRule) (needed []rbacv1.PolicyRule) {
	for _, rule := range rules {
		group := ""
		if len(rule.APIGroups) > 0 {
			group = rule.APIGroups[0]
		}
		if !f.Hub && slices.Contains(hubGroups, group) || !f.BMCs && group == "ironflow.io" {
			continue
		}
		rule.Resources = slices.DeleteFunc(slices.Clone(rule.Resources), func(resource string) bool {
			kind, _, _ := strings.Cut(resource, "/")
			return !f.Claims && slices.Contains(claimKinds, kind)
		})
		named := len(rule.ResourceNames) > 0
		rule.ResourceNames = slices.DeleteFunc(slices.Clone(rule.ResourceNames), func(name string) bool { return !f.needsDefinition(name) })
		if len(rule.Resources) > 0 && (!named || len(rule.ResourceNames) > 0) { // a rule without names would be one for all
			needed = append(needed, rule)
		}
	}
	if f.Claims {
		needed = append(needed, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"create"}})
	}
	return needed
}

// withoutNamespace are the kinds of the rules that are in no namespace.
var withoutNamespace = []string{"namespaces", "clusterimagesets", "tokenreviews", "subjectaccessreviews", "customresourcedefinitions"}

// atOnce is how many questions to the API server are open at the same time.
const atOnce = 16

// Rights asks the API server whether we may do what the rules say, in the namespaces; in all of
// them if none is named.
func Rights(config *rest.Config, rules []rbacv1.PolicyRule, namespaces []string) Check {
	return Check{rightsCheck, func(ctx context.Context) []Finding {
		findings, _ := askForRights(ctx, config, questions(rules, namespaces))
		return findings
	}}
}

const rightsCheck = "rights"

// askForRights returns what there is to say, and which of the rights are refused.
func askForRights(ctx context.Context, config *rest.Config, all []authorizationv1.ResourceAttributes) ([]Finding, []authorizationv1.ResourceAttributes) {
	client, err := authorization.NewForConfig(config)
	if err != nil {
		return wrong(fmt.Sprintf("cannot ask for rights: %v", err), "see the check kubernetes"), nil
	}
	refused, err := refusedRights(ctx, client.SelfSubjectAccessReviews(), all, known(ctx, client.SelfSubjectRulesReviews(), all))
	switch {
	case err != nil:
		return wrong(fmt.Sprintf("cannot ask for rights: %v", err), "see the check kubernetes"), nil
	case len(refused) > 0:
		return wrong(fmt.Sprintf("%d of %d rights are missing: %s", len(refused), len(all), spelled(refused)),
			"install the chart with the features that are set here, or apply config/rbac (and config/hostclaims for claims); `ironflow check` asks for who runs it"), refused
	}
	return good(fmt.Sprintf("all %d that are needed", len(all))), nil
}

// questions are the rules one by one.
func questions(rules []rbacv1.PolicyRule, namespaces []string) (all []authorizationv1.ResourceAttributes) {
	if len(namespaces) == 0 {
		namespaces = []string{""}
	}
	for _, rule := range rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				kind, sub, _ := strings.Cut(resource, "/")
				where := namespaces
				if slices.Contains(withoutNamespace, kind) {
					where = []string{""}
				}
				all = append(all, questionsOf(rule, authorizationv1.ResourceAttributes{Group: group, Resource: kind, Subresource: sub}, where)...)
			}
		}
	}
	return all
}

// questionsOf are those of one resource: by each verb, in each namespace and, where the rule has some, for each name.
func questionsOf(rule rbacv1.PolicyRule, resource authorizationv1.ResourceAttributes, namespaces []string) (all []authorizationv1.ResourceAttributes) {
	objects := rule.ResourceNames
	if len(objects) == 0 {
		objects = []string{""}
	}
	for _, resource.Verb = range rule.Verbs {
		for _, resource.Namespace = range namespaces {
			for _, resource.Name = range objects {
				all = append(all, resource)
			}
		}
	}
	return all
}

// refusedRights asks each question whose answer is not known, and returns those that were answered by no.
func refusedRights(
	ctx context.Context, reviews authorization.SelfSubjectAccessReviewInterface, all []authorizationv1.ResourceAttributes, known func(authorizationv1.ResourceAttributes) bool,
) (refused []authorizationv1.ResourceAttributes, err error) {
	answers := make([]bool, len(all))
	problems := make([]error, len(all))
	open := make(chan struct{}, atOnce)
	var done sync.WaitGroup
	for i := range all {
		if answers[i] = known(all[i]); answers[i] {
			continue
		}
		done.Go(func() {
			open <- struct{}{}
			defer func() { <-open }()
			review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &all[i]}}
			answer, err := reviews.Create(ctx, review, metav1.CreateOptions{})
			if problems[i] = err; err == nil {
				answers[i] = answer.Status.Allowed
			}
		})
	}
	done.Wait()
	for i, question := range all {
		if problems[i] != nil {
			return nil, problems[i]
		}
		if !answers[i] {
			refused = append(refused, question)
		}
	}
	return refused, nil
}

// spelled names the first few rights.
func spelled(rights []authorizationv1.ResourceAttributes) string {
	var names []string
	for _, right := range rights {
		names = append(names, spell(right))
	}
	return some(names)
}

// spell names a right, such as "patch baremetalhosts.metal3.io/status in site".
func spell(q authorizationv1.ResourceAttributes) string {
	text := q.Verb + " " + q.Resource
	if q.Group != "" {
		text += "." + q.Group
	}
	if q.Subresource != "" {
		text += "/" + q.Subresource
	}
	if q.Name != "" {
		text += " " + q.Name
	}
	if q.Namespace != "" {
		text += " in " + q.Namespace
	}
	return text
}

// shown is how many names a text lists.
const shown = 6

// some lists the first few names.
func some(list []string) string {
	if len(list) <= shown {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:shown], ", "), len(list)-shown)
}

package selfcheck_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/rest"

	"github.com/ironflow/ironflow/controllers/selfcheck"
)

// authorizer is an API server that answers what a user may do: by a list for each namespace, and one by one.
type authorizer struct {
	listed     map[string][]authorizationv1.ResourceRule
	incomplete bool
	// refused are the rights, such as "get secrets", that are refused one by one.
	refused string
	// lists and single are how often each was asked.
	lists, single atomic.Int32
}

func (a *authorizer) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	out.Header().Set("Content-Type", "application/json")
	var answer any
	if strings.HasSuffix(r.URL.Path, "/selfsubjectrulesreviews") {
		a.lists.Add(1)
		var review authorizationv1.SelfSubjectRulesReview
		_ = json.NewDecoder(r.Body).Decode(&review) // what cannot be read is in no namespace
		review.Status.Incomplete, review.Status.ResourceRules = a.incomplete, a.listed[review.Spec.Namespace]
		answer = review
	} else {
		a.single.Add(1)
		var review authorizationv1.SelfSubjectAccessReview
		_ = json.NewDecoder(r.Body).Decode(&review) // as above
		asked := review.Spec.ResourceAttributes
		review.Status.Allowed = asked.Verb+" "+asked.Resource != a.refused
		answer = review
	}
	_ = json.NewEncoder(out).Encode(answer) // the reader may have gone
}

// TestRightsAreAskedForAtOnce: what a list of rights allows is not asked again, and everything else is, as without such a list.
func TestRightsAreAskedForAtOnce(t *testing.T) {
	needed := []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get", "update"}},
		{APIGroups: []string{"metal3.io"}, Resources: []string{"baremetalhosts", "baremetalhosts/status"}, Verbs: []string{"get", "update"}},
	}
	named := []rbacv1.PolicyRule{{
		APIGroups: []string{"apiextensions.k8s.io"}, Resources: []string{"customresourcedefinitions"}, ResourceNames: []string{"a.metal3.io", "b.metal3.io"}, Verbs: []string{"get"},
	}}
	rule := func(group, resources, verbs string, names ...string) authorizationv1.ResourceRule {
		return authorizationv1.ResourceRule{APIGroups: []string{group}, Resources: strings.Fields(resources), Verbs: strings.Fields(verbs), ResourceNames: names}
	}
	everywhere := func(rules ...authorizationv1.ResourceRule) map[string][]authorizationv1.ResourceRule {
		return map[string][]authorizationv1.ResourceRule{"*": rules}
	}
	hosts := rule("metal3.io", "baremetalhosts baremetalhosts/status", "get list update")
	all := []authorizationv1.ResourceRule{rule("", "secrets", "get update"), hosts}
	for name, c := range map[string]struct {
		authorizer    *authorizer
		namespaces    []string
		lists, single int32
		says          string
		needed        []rbacv1.PolicyRule
	}{
		"by name": {
			authorizer: &authorizer{listed: everywhere(rule("apiextensions.k8s.io", "customresourcedefinitions", "get", "a.metal3.io", "b.metal3.io"))}, namespaces: []string{"a"},
			lists: 1, says: "all 2 that are needed", needed: named,
		},
		"by another name": {
			authorizer: &authorizer{listed: everywhere(rule("apiextensions.k8s.io", "customresourcedefinitions", "get", "b.metal3.io")), refused: "get customresourcedefinitions"},
			lists:      1, single: 1, says: "1 of 2 rights are missing: get customresourcedefinitions.apiextensions.k8s.io a.metal3.io", needed: named,
		},
		"all are listed":        {&authorizer{listed: everywhere(all...)}, nil, 1, 0, "all 6 that are needed", nil},
		"by wildcards":          {&authorizer{listed: everywhere(rule("*", "*", "*"))}, nil, 1, 0, "all 6 that are needed", nil},
		"any status":            {&authorizer{listed: everywhere(rule("metal3.io", "*/status", "*"))}, nil, 1, 4, "all 6 that are needed", nil},
		"some are not":          {&authorizer{listed: everywhere(hosts), refused: "update secrets"}, nil, 1, 2, "1 of 6 rights are missing: update secrets", nil},
		"of one object alone":   {&authorizer{listed: everywhere(rule("", "secrets", "*", "one"), hosts), refused: "get secrets"}, nil, 1, 2, "1 of 6 rights are missing: get secrets", nil},
		"of another group":      {&authorizer{listed: everywhere(rule("example", "secrets", "*"), hosts), refused: "get secrets"}, nil, 1, 2, "1 of 6 rights are missing: get secrets", nil},
		"the list is not whole": {&authorizer{listed: everywhere(all...), incomplete: true, refused: "get secrets"}, nil, 1, 6, "1 of 6 rights are missing: get secrets", nil},
		"in namespaces": {
			&authorizer{listed: map[string][]authorizationv1.ResourceRule{"a": all, "b": {hosts}}, refused: "get secrets"},
			[]string{"a", "b"},
			2, 2, "1 of 12 rights are missing: get secrets in b", nil,
		},
		"in one namespace, not in all": {&authorizer{listed: map[string][]authorizationv1.ResourceRule{"default": all}, refused: "get secrets"}, nil, 1, 6, "1 of 6 rights are missing: get secrets", nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			server := httptest.NewServer(c.authorizer)
			defer server.Close()
			access := &rest.Config{Host: server.URL, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: "application/json", AcceptContentTypes: "application/json"}}
			rules := c.needed
			if rules == nil {
				rules = needed
			}
			report := selfcheck.Run(t.Context(), []selfcheck.Check{selfcheck.Rights(access, rules, c.namespaces)})
			g.Expect(report).To(HaveLen(1))
			g.Expect(report[0].Text).To(Equal(c.says))
			g.Expect(c.authorizer.lists.Load()).To(Equal(c.lists))
			g.Expect(c.authorizer.single.Load()).To(Equal(c.single))
		})
	}
}

// TestReadyByRights: a replica that lacks a right without which it cannot work is not ready, and is again once it has it. It asks few times, however
// often it is asked itself.
func TestReadyByRights(t *testing.T) {
	g := NewWithT(t)
	var now atomic.Pointer[authorizer]
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) { now.Load().ServeHTTP(out, r) }))
	defer server.Close()
	clock, told := time.Now(), selfcheck.Report{}
	fresh := func() *selfcheck.Allowed {
		return &selfcheck.Allowed{
			Access: &rest.Config{Host: server.URL, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: "application/json", AcceptContentTypes: "application/json"}},
			Rules: []rbacv1.PolicyRule{
				{APIGroups: []string{""}, Resources: []string{"secrets", "events"}, Verbs: []string{"get", "create"}},
				{APIGroups: []string{"apiextensions.k8s.io"}, Resources: []string{"customresourcedefinitions"}, ResourceNames: []string{"a.metal3.io"}, Verbs: []string{"get"}},
			},
			Tell: func(found selfcheck.Report) { told = append(told, found...) },
			Now:  func() time.Time { return clock },
		}
	}
	a := fresh()
	gone, end := context.WithCancel(t.Context())
	end()
	now.Store(&authorizer{refused: "get secrets"})
	g.Expect(a.Ready(gone)).NotTo(Succeed(), "whether or not there is an answer already")
	for range 20 {
		g.Expect(a.Ready(t.Context())).To(MatchError("rights are missing: get secrets"))
	}
	g.Expect(now.Load().single.Load()).To(Equal(int32(5)), "it was asked once")
	g.Expect(told).To(ConsistOf(And(HaveField("Check", "rights"), HaveField("Level", selfcheck.Error), HaveField("Text", "1 of 5 rights are missing: get secrets"))))

	now.Store(&authorizer{})
	g.Expect(a.Ready(t.Context())).NotTo(Succeed(), "the answer still counts")
	now.Store(&authorizer{refused: "get secrets"})
	for range 60 {
		clock = clock.Add(5 * time.Second)
		g.Expect(a.Ready(t.Context())).NotTo(Succeed())
	}
	g.Expect(now.Load().lists.Load()).To(Equal(int32(7)), "in five minutes: after 5, 10, 20 and 40 seconds, then each minute")
	now.Store(&authorizer{})
	clock = clock.Add(time.Minute)
	g.Expect(a.Ready(t.Context())).To(Succeed())
	g.Expect(told[len(told)-1].Level).To(Equal(selfcheck.OK))
	now.Store(&authorizer{refused: "get secrets"})
	clock = clock.Add(time.Hour)
	g.Expect(a.Ready(t.Context())).To(Succeed(), "installations that have begun need it")
	g.Expect(now.Load().single.Load()).To(BeZero())

	for _, refused := range []string{"create events", "get customresourcedefinitions"} {
		now.Store(&authorizer{refused: refused})
		g.Expect(fresh().Ready(t.Context())).To(Succeed(), "all work goes on without: %s", refused)
		g.Expect(told[len(told)-1].Text).To(ContainSubstring(refused), "it is told all the same")
	}
	now.Store(&authorizer{refused: "get secrets"})
	a = fresh()
	g.Expect(a.Ready(t.Context())).NotTo(Succeed())
	server.Close()
	clock = clock.Add(time.Minute)
	g.Expect(a.Ready(t.Context())).To(MatchError("rights are missing: get secrets"), "nobody has said anything else")
	g.Expect(fresh().Ready(t.Context())).To(Succeed(), "nothing is known to be missing")
	g.Expect(told[len(told)-1].Text).To(HavePrefix("cannot ask for rights: "))
}

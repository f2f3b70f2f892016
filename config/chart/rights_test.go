package chart_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// program is who the program is to the API server.
const program = "system:serviceaccount:" + namespace + ":ironflow-controllers"

// reads is to read the definition of a name.
const reads = "get customresourcedefinitions.apiextensions.k8s.io "

// soon is how long roles may take to reach the authorizer, which learns of them by a watch.
const soon = 30 * time.Second

// may asks the API server whether a user may do something, such as "create secrets" or "get secrets one", in a namespace.
func (c *cluster) may(user, where, what string) bool {
	c.t.Helper()
	verb, resource, _ := strings.Cut(what, " ")
	resource, name, _ := strings.Cut(resource, " ")
	resource, group, _ := strings.Cut(resource, ".")
	resource, sub, _ := strings.Cut(resource, "/")
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User:               user,
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: where, Verb: verb, Group: group, Resource: resource, Subresource: sub, Name: name},
	}}
	c.Expect(c.admin.Create(c.t.Context(), review)).To(Succeed())
	return review.Status.Allowed
}

// TestRightsOfPeople: a matrix of users and what they do, in the namespace where they have a role.
func TestRightsOfPeople(t *testing.T) {
	c := newCluster(t)
	c.upgrade("loadbalancer")
	people := []string{"viewer", "operator", "admin"}
	for _, who := range people {
		c.Expect(c.admin.Create(t.Context(), &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: "rack-a", Name: who},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "ironflow-" + who},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: who}},
		})).To(Succeed())
	}
	c.Eventually(func() bool { return c.may("admin", "rack-a", "get baremetalhosts.metal3.io") }).WithTimeout(soon).Should(BeTrue())
	all, changing, making, nobody := people, people[1:], people[2:], []string{}
	for what, who := range map[string][]string{
		"get baremetalhosts.metal3.io":                            all,
		"list hardwaredata.metal3.io":                             all,
		"watch agents.agent-install.openshift.io":                 all,
		"get agentclusterinstalls.extensions.hive.openshift.io":   all,
		"get clusterdeployments.hive.openshift.io":                all,
		"list bmcs.ironflow.io":                                   all,
		"list events.events.k8s.io":                               all,
		"watch events":                                            all,
		"create events":                                           nobody,
		"patch baremetalhosts.metal3.io":                          changing,
		"update hostfirmwaresettings.metal3.io":                   changing,
		"patch agents.agent-install.openshift.io":                 changing,
		"create dataimages.metal3.io":                             changing,
		"delete hostclaims.metal3.io":                             changing,
		"create hostupdatepolicies.metal3.io":                     changing,
		"patch agentclusterinstalls.extensions.hive.openshift.io": changing,
		"create baremetalhosts.metal3.io":                         making,
		"delete baremetalhosts.metal3.io":                         making,
		"create infraenvs.agent-install.openshift.io":             making,
		"create nmstateconfigs.agent-install.openshift.io":        making,
		"create clusterdeployments.hive.openshift.io":             making,
		"create hostdeploypolicies.metal3.io":                     making,
		"delete bmcs.ironflow.io":                                 making,
		"get secrets":                                             nobody,
		"create secrets":                                          nobody,
		"patch baremetalhosts/status.metal3.io":                   nobody,
		"create pods":                                             nobody,
		"create roles.rbac.authorization.k8s.io":                  nobody,
	} {
		t.Run(what, func(t *testing.T) {
			g := NewWithT(t)
			for _, user := range append(slices.Clone(people), "stranger") {
				g.Expect(c.may(user, "rack-a", what)).To(Equal(slices.Contains(who, user)), user)
				g.Expect(c.may(user, "rack-b", what)).To(BeFalse(), "%s elsewhere", user)
			}
		})
	}
	for who, role := range map[string]string{"viewer": "view", "operator": "edit", "admin": "admin"} {
		label := "rbac.authorization.k8s.io/aggregate-to-" + role
		c.Expect(as[rbacv1.ClusterRole](t, rendered(t, values("loadbalancer")...), "ClusterRole ironflow-"+who).Labels).NotTo(HaveKey(label), "nobody gets rights by an upgrade")
		c.Expect(as[rbacv1.ClusterRole](t, rendered(t, append(values("loadbalancer"), "--set", "userRoles.aggregate=true")...), "ClusterRole ironflow-"+who).Labels).To(HaveKeyWithValue(label, "true"))
	}
}

// TestRightsOfTheProgram: a matrix of features and what the program may do with them.
func TestRightsOfTheProgram(t *testing.T) {
	c := newCluster(t)
	c.create(monitors)
	always := []string{"loadbalancer", "everything", "controllers"}
	hub, wing := []string{"loadbalancer", "everything"}, []string{"everything"}
	table := map[string][]string{ // what it does, with the overlays in which it may
		"patch baremetalhosts.metal3.io":                            always,
		"update baremetalhosts/status.metal3.io":                    always,
		"get secrets":                                               always,
		"create leases.coordination.k8s.io":                         always,
		"create tokenreviews.authentication.k8s.io":                 always,
		"create events.events.k8s.io":                               always,
		"create agents.agent-install.openshift.io":                  hub,
		"patch infraenvs.agent-install.openshift.io":                hub,
		"patch agentclusterinstalls.extensions.hive.openshift.io":   hub,
		"list clusterimagesets.hive.openshift.io":                   hub,
		"delete agentclusterinstalls.extensions.hive.openshift.io":  hub, // as who makes a ClusterDeployment its owner needs
		"create bmcs.ironflow.io":                                   wing,
		"patch hostclaims.metal3.io":                                wing,
		"list hostdeploypolicies.metal3.io":                         wing,
		"create secrets":                                            wing,
		"create baremetalhosts.metal3.io":                           nil,
		"delete baremetalhosts.metal3.io":                           nil,
		"create pods":                                               nil,
		"get nodes":                                                 nil,
		"patch customresourcedefinitions.apiextensions.k8s.io":      nil,
		"list customresourcedefinitions.apiextensions.k8s.io":       nil,
		"get customresourcedefinitions.apiextensions.k8s.io":        nil,
		reads + "baremetalhosts.metal3.io":                          always, // to say that it is older
		reads + "agents.agent-install.openshift.io":                 hub,
		reads + "agentclusterinstalls.extensions.hive.openshift.io": hub,
		reads + "bmcs.ironflow.io":                                  wing,
		reads + "hostclaims.metal3.io":                              wing,
		reads + "certificates.cert-manager.io":                      nil,
		"create clusterrolebindings.rbac.authorization.k8s.io":      nil,
	}
	for _, overlay := range always {
		c.upgrade(overlay)
		for what, where := range table {
			want := slices.Contains(where, overlay)
			c.Eventually(func() bool { return c.may(program, "rack-a", what) }).WithTimeout(soon).Should(Equal(want), fmt.Sprintf("%s: %s", overlay, what))
		}
	}
}

// TestRightsInNamespaces: with names, nothing of other namespaces is the program's.
func TestRightsInNamespaces(t *testing.T) {
	c := newCluster(t)
	c.upgrade("namespaced")
	for what, where := range map[string][]string{
		"patch baremetalhosts.metal3.io":            {"rack-a", "rack-b"},
		"get secrets":                               {"rack-a", "rack-b"},
		"create agents.agent-install.openshift.io":  {"rack-a", "rack-b"},
		"create leases.coordination.k8s.io":         {"rack-a", "rack-b", namespace},
		"create events":                             {"rack-a", "rack-b", namespace},
		"create secrets":                            {},
		"list clusterimagesets.hive.openshift.io":   {"rack-a", "rack-b", "rack-c", namespace, ""}, // has no namespace
		"list leases.coordination.k8s.io":           {"rack-a", "rack-b", "rack-c", namespace, ""}, // whether another operator works
		"create tokenreviews.authentication.k8s.io": {"rack-a", "rack-b", "rack-c", namespace, ""},
		reads + "baremetalhosts.metal3.io":          {"rack-a", "rack-b", "rack-c", namespace, ""},
		reads + "hostclaims.metal3.io":              {}, // a feature that is off
	} {
		for _, ns := range []string{"rack-a", "rack-b", "rack-c", namespace, ""} {
			want := slices.Contains(where, ns)
			c.Eventually(func() bool { return c.may(program, ns, what) }).WithTimeout(soon).Should(Equal(want), "%s in %q", what, ns)
		}
	}
}

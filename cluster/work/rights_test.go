package work_test

import (
	"fmt"
	"slices"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/cluster/kept"
	"github.com/ironflow/ironflow/cluster/manifests"
)

// asked are the kinds that the matrix asks for: the program's own, and those that
// would give whoever takes it over the cluster.
var asked = []struct{ group, resource string }{
	{"certificates.k8s.io", "certificatesigningrequests"},
	{"certificates.k8s.io", "certificatesigningrequests/approval"},
	{"certificates.k8s.io", "certificatesigningrequests/status"},
	{"certificates.k8s.io", "signers"},
	{"", "nodes"},
	{"", "nodes/status"},
	{"", "nodes/proxy"},
	{"", "pods"},
	{"", "pods/exec"},
	{"", "pods/log"},
	{"", "secrets"},
	{"", "configmaps"},
	{"", "events"},
	{"", "serviceaccounts"},
	{"", "serviceaccounts/token"},
	{"", "namespaces"},
	{"", "services"},
	{"", "endpoints"},
	{"", "persistentvolumes"},
	{"config.openshift.io", "clusteroperators"},
	{"config.openshift.io", "clusterversions"},
	{"config.openshift.io", "oauths"},
	{"operators.coreos.com", "subscriptions"},
	{"operators.coreos.com", "clusterserviceversions"},
	{"apps", "deployments"},
	{"apps", "daemonsets"},
	{"batch", "jobs"},
	{"rbac.authorization.k8s.io", "clusterroles"},
	{"rbac.authorization.k8s.io", "clusterrolebindings"},
	{"rbac.authorization.k8s.io", "roles"},
	{"rbac.authorization.k8s.io", "rolebindings"},
	{"admissionregistration.k8s.io", "validatingwebhookconfigurations"},
	{"coordination.k8s.io", "leases"},
}

var verbs = []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "approve", "sign", "bind", "escalate", "impersonate"}

// rights asks the real API server for each verb on each kind in several namespaces and
// by several names: it allows what the table of rights has, and nothing else.
func (w *world) rights() {
	user := w.program()
	allowed := 0
	for _, namespace := range []string{"", "kube-system", "default", "openshift-config-managed", manifests.Namespace} {
		for _, kind := range asked {
			for _, verb := range verbs {
				for _, name := range []string{"", "kubernetes.io/kubelet-serving", "kubernetes.io/kube-apiserver-client", "default-ingress-cert", kept.Name} {
					var answer struct{ Status struct{ Allowed bool } }
					resource, sub := kind.resource, ""
					if i := slices.Index([]byte(resource), '/'); i > 0 {
						resource, sub = resource[:i], resource[i+1:]
					}
					w.Expect(user.PostFor(w.t.Context(), "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", object{"spec": object{"resourceAttributes": object{
						"namespace": namespace, "verb": verb, "group": kind.group, "resource": resource, "subresource": sub, "name": name,
					}}}, &answer)).To(Succeed())
					want := inTable(namespace, kind.group, kind.resource, verb, name)
					w.Expect(answer.Status.Allowed).To(Equal(want), fmt.Sprintf("%s %s.%s %q in %q", verb, kind.resource, kind.group, name, namespace))
					if want {
						allowed++
					}
				}
			}
		}
	}
	w.Expect(allowed).To(BeNumerically(">", 30))
}

func inTable(namespace, group, resource, verb, name string) bool {
	for _, r := range manifests.Rights(manifests.Settings{OpenShift: true, HubLeaves: true}) {
		if r.Namespace != "" && r.Namespace != namespace {
			continue
		}
		for _, rule := range r.Rules {
			if slices.Contains(rule.APIGroups, group) && slices.Contains(rule.Resources, resource) && slices.Contains(rule.Verbs, verb) &&
				(len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, name)) {
				return true
			}
		}
	}
	return false
}

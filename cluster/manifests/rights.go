package manifests

import (
	"github.com/ironflow/ironflow/cluster/csr"
	"github.com/ironflow/ironflow/cluster/kept"
)

// Rule is a rule of RBAC.
type Rule struct {
	APIGroups     []string `json:"apiGroups"`
	Resources     []string `json:"resources"`
	ResourceNames []string `json:"resourceNames,omitempty"`
	Verbs         []string `json:"verbs"`
}

// Right is a role with its rules, and why the program needs it.
type Right struct {
	// Name is the role's, Namespace where it holds; empty for the whole cluster.
	Name, Namespace string
	Why             string
	Rules           []Rule
}

// Rights are all that the program may do with these settings.
func Rights(s Settings) []Right {
	look := []string{"list", "watch"}
	out := []Right{
		{Name, "", "sees signing requests and approves those of kubelets, sees nodes and gives them labels and taints, sees operators", []Rule{
			{[]string{"certificates.k8s.io"}, []string{"certificatesigningrequests"}, nil, look},
			{[]string{"certificates.k8s.io"}, []string{"certificatesigningrequests/approval"}, nil, []string{"update"}},
			{[]string{"certificates.k8s.io"}, []string{"signers"}, []string{csr.Client, csr.Serving}, []string{"approve"}},
			{[]string{""}, []string{"nodes"}, nil, []string{"get", "list", "watch", "patch"}},
			{[]string{"config.openshift.io"}, []string{"clusteroperators", "clusterversions"}, nil, look},
			{[]string{"operators.coreos.com"}, []string{"subscriptions", "clusterserviceversions"}, nil, look},
		}},
		{Name, "kube-system", "sees the system's pods", []Rule{{[]string{""}, []string{"pods"}, nil, look}}},
		{Name, "default", "says in events what it leaves alone; events of objects without a namespace are in this one", []Rule{{[]string{""}, []string{"events"}, nil, []string{"create"}}}},
	}
	if s.HubLeaves {
		out = append(out, Right{Name + "-hosts", Namespace, "keeps what is known of the hosts, where the hub ends with one of them (`--hub-leaves`)", []Rule{
			{[]string{""}, []string{"configmaps"}, []string{kept.Name}, []string{"get", "patch"}},
		}})
	}
	if s.OpenShift {
		out = append(out, Right{Name, "openshift-config-managed", "reads the authority of the cluster's routes", []Rule{
			{[]string{""}, []string{"configmaps"}, []string{"default-ingress-cert"}, []string{"get"}},
		}})
	}
	return out
}

func (r Right) objects() []map[string]any {
	group := "rbac.authorization.k8s.io"
	kind, meta := "ClusterRole", object{"name": r.Name}
	if r.Namespace != "" {
		kind, meta = "Role", object{"name": r.Name, "namespace": r.Namespace}
	}
	return []map[string]any{
		{"apiVersion": group + "/v1", "kind": kind, "metadata": meta, "rules": r.Rules},
		{
			"apiVersion": group + "/v1", "kind": kind + "Binding", "metadata": meta, "roleRef": object{"apiGroup": group, "kind": kind, "name": r.Name},
			"subjects": []object{{"kind": "ServiceAccount", "name": Name, "namespace": Namespace}},
		},
	}
}

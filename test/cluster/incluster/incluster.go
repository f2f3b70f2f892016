// Package incluster plays what is around the program inside a cluster, on a real
// kube-apiserver: kubelets with their requests and nodes, pods of the system, and what
// only OpenShift itself makes. The program under test does all else. The main type is
// [Cluster].
package incluster

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"strings"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/cluster/csr"
	"github.com/ironflow/ironflow/cluster/kube"
	"github.com/ironflow/ironflow/cluster/manifests"
	"github.com/ironflow/ironflow/cluster/observe"
)

// Object is one of Kubernetes.
type Object = map[string]any

// Plane is the API of a cluster. ConfigFor is the access of a user in groups: an address, the
// authority of its certificate, and a client certificate.
type Plane interface {
	ConfigFor(user string, groups ...string) (*rest.Config, error)
}

// Cluster is a kube-apiserver and nothing else.
type Cluster struct {
	Plane Plane
	// Admin may do everything.
	Admin *kube.Client
}

// New makes the cluster's namespaces, and lets kubelets ask for certificates.
func New(ctx context.Context, plane Plane) (*Cluster, error) {
	c, err := Of(plane)
	if err != nil {
		return nil, err
	}
	for _, ns := range []string{"kube-system", "openshift-config-managed"} {
		if err := c.Create(ctx, "/api/v1/namespaces", Object{"metadata": Object{"name": ns}}); err != nil {
			return nil, err
		}
	}
	const rbac = "rbac.authorization.k8s.io"
	for _, group := range []string{"system:bootstrappers", "system:nodes"} {
		err := c.Create(ctx, "/apis/"+rbac+"/v1/clusterrolebindings", Object{
			"metadata": Object{"name": "asks-" + strings.TrimPrefix(group, "system:")},
			"roleRef":  Object{"apiGroup": rbac, "kind": "ClusterRole", "name": "system:node-bootstrapper"},
			"subjects": []Object{{"apiGroup": rbac, "kind": "Group", "name": group}},
		})
		if err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Of is a cluster that is there.
func Of(plane Plane) (c *Cluster, err error) {
	c = &Cluster{Plane: plane}
	c.Admin, err = c.As("lab-admin", "system:masters")
	return c, err
}

// Close ends its connections.
func (c *Cluster) Close() { c.Admin.Close() }

// Create creates an object; one that is there already stays.
func (c *Cluster) Create(ctx context.Context, path string, o Object) error {
	if err := c.Admin.Post(ctx, path, o); err != nil && kube.Code(err) != http.StatusConflict {
		return fmt.Errorf("create in %s: %w", path, err)
	}
	return nil
}

// As is a client with somebody's access. The caller closes it.
func (c *Cluster) As(user string, groups ...string) (*kube.Client, error) {
	config, err := c.Plane.ConfigFor(user, groups...)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(config.CertData, config.KeyData)
	if err != nil {
		return nil, err
	}
	return kube.New(kube.Access{URL: config.Host, CA: config.CAData, Certificate: &pair})
}

// Account is the service account of the program's manifests, and its groups.
func Account() (user string, groups []string) {
	return "system:serviceaccount:" + manifests.Namespace + ":" + manifests.Name,
		[]string{"system:serviceaccounts", "system:serviceaccounts:" + manifests.Namespace}
}

// Kubeconfig is a file's content with the access of the program.
func (c *Cluster) Kubeconfig() ([]byte, error) {
	user, groups := Account()
	config, err := c.Plane.ConfigFor(user, groups...)
	if err != nil {
		return nil, err
	}
	return json.Marshal(Object{ // which is YAML, too
		"apiVersion": "v1", "kind": "Config", "current-context": "inside",
		"clusters": []Object{{"name": "inside", "cluster": Object{"server": config.Host, "certificate-authority-data": config.CAData}}},
		"users":    []Object{{"name": "inside", "user": Object{"client-certificate-data": config.CertData, "client-key-data": config.KeyData}}},
		"contexts": []Object{{"name": "inside", "context": Object{"cluster": "inside", "user": "inside"}}},
	})
}

// collections are where the manifests' kinds are created.
var collections = map[string]string{
	"Namespace": "/api/v1/namespaces", "ServiceAccount": "/serviceaccounts", "Secret": "/secrets", "ConfigMap": "/configmaps",
	"ClusterRole": "/apis/rbac.authorization.k8s.io/v1/clusterroles", "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
	"Role": "/roles", "RoleBinding": "/rolebindings", "Deployment": "/deployments", "Job": "/jobs",
}

// Apply creates the objects of the program's manifests: nobody runs their pods.
func (c *Cluster) Apply(ctx context.Context, s manifests.Settings) error {
	return c.apply(ctx, manifests.Objects(s))
}

// ApplyText creates the objects of the program's manifests as a hub has put them into a cluster.
func (c *Cluster) ApplyText(ctx context.Context, text string) error {
	var all []Object
	for document := range strings.SplitSeq(strings.TrimPrefix(text, "---\n"), "\n---\n") {
		var o Object
		if err := yaml.Unmarshal([]byte(document), &o); err != nil {
			return err
		}
		all = append(all, o)
	}
	return c.apply(ctx, all)
}

func (c *Cluster) apply(ctx context.Context, objects []Object) error {
	for _, o := range objects {
		kind, _ := o["kind"].(string)
		version, _ := o["apiVersion"].(string)
		path, known := collections[kind]
		if !known {
			return fmt.Errorf("manifests of the kind %s: nobody knows where they are created", kind)
		}
		if !strings.HasPrefix(path, "/api") {
			group := "/apis/" + version
			if version == "v1" {
				group = "/api/v1"
			}
			namespace, err := namespaceOf(o)
			if err != nil {
				return err
			}
			path = group + "/namespaces/" + namespace + path
		}
		if err := c.Create(ctx, path, o); err != nil {
			return err
		}
	}
	return nil
}

func namespaceOf(o Object) (string, error) {
	raw, err := json.Marshal(o)
	if err != nil {
		return "", err
	}
	var read struct{ Metadata struct{ Namespace string } }
	err = json.Unmarshal(raw, &read)
	return read.Metadata.Namespace, err
}

// Ask makes a signing request of a kubelet, as somebody.
func Ask(ctx context.Context, as *kube.Client, name, node, signer string, names []string, addresses ...string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := x509.CertificateRequest{Subject: pkix.Name{CommonName: "system:node:" + node, Organization: []string{"system:nodes"}}, DNSNames: names}
	for _, a := range addresses {
		template.IPAddresses = append(template.IPAddresses, net.ParseIP(a))
	}
	raw, err := x509.CreateCertificateRequest(rand.Reader, &template, key)
	if err != nil {
		return err
	}
	usage := map[string]string{csr.Client: "client auth", csr.Serving: "server auth"}[signer]
	return as.Post(ctx, observe.Requests, Object{
		"metadata": Object{"name": name}, "spec": Object{
			"signerName": signer, "usages": []string{"digital signature", usage},
			"request": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: raw}),
		},
	})
}

// Approvals are how often a request was approved.
func (c *Cluster) Approvals(ctx context.Context, name string) (int, error) {
	var q struct {
		Status struct{ Conditions []struct{ Type string } }
	}
	err := c.Admin.Get(ctx, observe.Requests+"/"+name, &q)
	return len(q.Status.Conditions), err
}

// Node makes a node, as a kubelet does, with labels if it is new.
func (c *Cluster) Node(ctx context.Context, name, address string, ready bool, labels map[string]string) error {
	if err := c.Create(ctx, observe.Nodes, Object{"metadata": Object{"name": name, "labels": labels}}); err != nil {
		return err
	}
	return c.Admin.MergePatch(ctx, observe.Nodes+"/"+name+"/status", Object{"status": Object{
		"conditions": []Object{{"type": "Ready", "status": truth(ready)}}, "addresses": []Object{{"type": "InternalIP", "address": address}},
	}})
}

// Pod makes a pod of the system.
func (c *Cluster) Pod(ctx context.Context, name string, ready bool) error {
	spec := Object{"containers": []Object{{"name": "a", "image": "registry.example/a:1"}}}
	if err := c.Create(ctx, observe.Pods, Object{"metadata": Object{"name": name}, "spec": spec}); err != nil {
		return err
	}
	return c.Admin.MergePatch(ctx, observe.Pods+"/"+name+"/status", Object{"status": Object{
		"phase": "Running", "conditions": []Object{{"type": "Ready", "status": truth(ready)}},
	}})
}

func truth(is bool) string {
	if is {
		return "True"
	}
	return "False"
}

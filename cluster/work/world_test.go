package work_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/cluster/hubapi"
	"github.com/ironflow/ironflow/cluster/kube"
	"github.com/ironflow/ironflow/cluster/logs"
	"github.com/ironflow/ironflow/cluster/manifests"
	"github.com/ironflow/ironflow/cluster/metrics"
	"github.com/ironflow/ironflow/cluster/observe"
	"github.com/ironflow/ironflow/cluster/work"
	"github.com/ironflow/ironflow/test/cluster/played"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
)

type object = map[string]any

// world is a real kube-apiserver with the program's rights in it, and nobody else: the
// test plays kubelets and the operators of OpenShift. The hub is played, too.
type world struct {
	*WithT

	t     *testing.T
	plane *lab.ControlPlane
	admin *kube.Client
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{WithT: NewWithT(t), t: t, plane: labtest.ControlPlane(t, lab.ControlPlaneOptions{})}
	w.admin = w.as("lab-admin", "system:masters")
	for _, ns := range []string{"kube-system", "openshift-config-managed"} {
		w.create("/api/v1/namespaces", object{"metadata": object{"name": ns}})
	}
	for _, o := range manifests.Objects(manifests.Settings{Image: "registry.example/x:1", HubURL: "http://hub.example", ClusterID: played.ClusterID, Token: "t", OpenShift: true}) {
		w.apply(o)
	}
	// Who brings a bootstrap token, and nodes, may ask for certificates.
	for _, group := range []string{"system:bootstrappers", "system:nodes"} {
		w.create("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", object{
			"metadata": object{"name": "asks-" + group[7:]}, "roleRef": object{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "system:node-bootstrapper"},
			"subjects": []object{{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": group}},
		})
	}
	return w
}

// collections are where the manifests' kinds are created.
var collections = map[string]string{
	"Namespace": "/api/v1/namespaces", "ServiceAccount": "/serviceaccounts", "Secret": "/secrets",
	"ClusterRole": "/apis/rbac.authorization.k8s.io/v1/clusterroles", "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
	"Role": "/roles", "RoleBinding": "/rolebindings", "Deployment": "/deployments", "Job": "/jobs",
}

// apply creates an object of the manifests.
func (w *world) apply(o object) {
	w.t.Helper()
	kind, _ := o["kind"].(string)
	version, _ := o["apiVersion"].(string)
	path, ok := collections[kind]
	w.Expect(ok).To(BeTrue(), kind)
	if path[:4] != "/api" {
		var meta struct{ Metadata struct{ Namespace string } }
		w.Expect(convert(o, &meta)).To(Succeed())
		group := "/apis/" + version
		if version == "v1" {
			group = "/api/v1"
		}
		path = group + "/namespaces/" + meta.Metadata.Namespace + path
	}
	w.create(path, o)
}

func (w *world) create(path string, o object) {
	w.t.Helper()
	if err := w.admin.Post(w.t.Context(), path, o); kube.Code(err) != http.StatusConflict {
		w.Expect(err).NotTo(HaveOccurred(), path)
	}
}

// as is a client with somebody's access.
func (w *world) as(user string, groups ...string) *kube.Client {
	w.t.Helper()
	config, err := w.plane.ConfigFor(user, groups...)
	w.Expect(err).NotTo(HaveOccurred())
	pair, err := tls.X509KeyPair(config.CertData, config.KeyData)
	w.Expect(err).NotTo(HaveOccurred())
	client, err := kube.New(kube.Access{URL: config.Host, CA: config.CAData, Certificate: &pair})
	w.Expect(err).NotTo(HaveOccurred())
	w.t.Cleanup(client.Close)
	return client
}

// program is who the manifests let it be.
func (w *world) program() *kube.Client {
	return w.as("system:serviceaccount:"+manifests.Namespace+":"+manifests.Name, "system:serviceaccounts", "system:serviceaccounts:"+manifests.Namespace)
}

// ask makes a signing request as somebody.
func (w *world) ask(name string, as *kube.Client, node, signer, usage string, names []string, addresses ...string) {
	w.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	w.Expect(err).NotTo(HaveOccurred())
	template := x509.CertificateRequest{Subject: pkix.Name{CommonName: "system:node:" + node, Organization: []string{"system:nodes"}}, DNSNames: names}
	for _, a := range addresses {
		template.IPAddresses = append(template.IPAddresses, net.ParseIP(a))
	}
	raw, err := x509.CreateCertificateRequest(rand.Reader, &template, key)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(as.Post(w.t.Context(), observe.Requests, object{
		"metadata": object{"name": name}, "spec": object{
			"signerName": signer, "usages": []string{"digital signature", usage},
			"request": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: raw}),
		},
	})).To(Succeed())
}

// approvals are how often a request was approved.
func (w *world) approvals(name string) int {
	var q struct {
		Status struct{ Conditions []struct{ Type string } }
	}
	w.Expect(w.admin.Get(w.t.Context(), observe.Requests+"/"+name, &q)).To(Succeed())
	return len(q.Status.Conditions)
}

// node makes a node, as a kubelet does.
func (w *world) node(name, address string, ready bool) {
	w.t.Helper()
	w.create(observe.Nodes, object{"metadata": object{"name": name}})
	status := "False"
	if ready {
		status = "True"
	}
	w.Expect(w.admin.MergePatch(w.t.Context(), observe.Nodes+"/"+name+"/status", object{"status": object{
		"conditions": []object{{"type": "Ready", "status": status}}, "addresses": []object{{"type": "InternalIP", "address": address}},
	}})).To(Succeed())
}

// pod makes a pod of the system.
func (w *world) pod(name string, ready bool) {
	w.t.Helper()
	w.create(observe.Pods, object{"metadata": object{"name": name}, "spec": object{"containers": []object{{"name": "a", "image": "registry.example/a:1"}}}})
	status := map[bool]string{true: "True", false: "False"}[ready]
	w.Expect(w.admin.MergePatch(w.t.Context(), observe.Pods+"/"+name+"/status", object{"status": object{"phase": "Running", "conditions": []object{{"type": "Ready", "status": status}}}})).To(Succeed())
}

// inside is the program as tests start it.
type inside struct {
	*work.Runner

	Done chan work.Outcome
	stop context.CancelFunc
	wait sync.WaitGroup
	// writes are those that the Kubernetes API has answered.
	writes atomic.Int64
	// requests are all of them by method and code.
	mu       sync.Mutex
	requests map[string]int
}

// start starts it; the end of the test stops it. written is called after each write to the Kubernetes API.
func (w *world) start(hub *played.Hub, options func(*work.Runner), written func()) *inside {
	w.t.Helper()
	client, err := hubapi.New(hubapi.Options{URL: hub.URL, ClusterID: played.ClusterID, Token: "secret"})
	w.Expect(err).NotTo(HaveOccurred())
	kubernetes := w.program()
	p := &inside{Done: make(chan work.Outcome, 1), requests: map[string]int{}}
	m := metrics.New()
	kubernetes.Requests = func(verb string, code int) {
		m.Kube(verb, code)
		p.mu.Lock()
		p.requests[verb]++
		p.mu.Unlock()
		if verb != http.MethodGet {
			p.writes.Add(1)
			if written != nil {
				written()
			}
		}
	}
	ring := &logs.Ring{}
	p.Runner = &work.Runner{
		Hub: client, Kube: kubernetes, Caches: observe.New(), Metrics: m, Log: slog.New(slog.NewJSONHandler(ring, nil)), Ring: ring,
		Now: time.Now, Probe: func(context.Context, string) string { return "" }, StartWithin: time.Minute,
		Busy: 100 * time.Millisecond, Rest: 100 * time.Millisecond, Gap: 10 * time.Millisecond,
	}
	if options != nil {
		options(p.Runner)
	}
	ctx, stop := context.WithCancel(w.t.Context())
	p.stop = stop
	p.wait.Go(func() {
		p.Caches.Follow(ctx, kubernetes, p.Log, func() time.Duration { return 200 * time.Millisecond })
	})
	p.wait.Go(func() {
		outcome, err := p.Run(ctx)
		if err != nil {
			w.t.Log(outcome, err)
		}
		p.Done <- outcome
		stop()
	})
	w.t.Cleanup(p.kill)
	return p
}

// kill ends it wherever it is.
func (p *inside) kill() {
	p.stop()
	p.wait.Wait()
}

package bmcrotation

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/credentials"
	"github.com/ironflow/ironflow/bmc/credentials/password"
	"github.com/ironflow/ironflow/bmc/credentials/reason"
	"github.com/ironflow/ironflow/bmc/credentials/rotation"
	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/bmc/simulator"
	"github.com/ironflow/ironflow/test/kubeapi"
)

const (
	user     = "admin"
	original = "s1mulated-Secret"
	node1    = "11111111-1111-1111-1111-111111111111"
)

var key = kclient.ObjectKey{Namespace: "lab", Name: "host-1"}

// world is the controller as the program makes it, over an API in memory, a host that is
// at rest, its simulated BMC, and an Ironic that logs in there with what it was told.
type world struct {
	*WithT
	t      *testing.T
	api    *kubeapi.Server
	scheme *runtime.Scheme
	kube   kclient.Client
	sim    *simulator.Server
	base   string
	http   *httptest.Server
	pool   *client.Pool
	ironic *told
	gate   *credentials.Gate
	every  time.Duration
	// wrap stands before the BMC.
	wrap atomic.Pointer[func(http.Handler) http.Handler]
	// ahead is how much the program's clock is ahead of ours.
	ahead atomic.Int64
}

func newWorld(t *testing.T) *world { return newWorldOver(t, false) }

// newWorldOver is newWorld with a BMC that is reached over TLS, or not.
func newWorldOver(t *testing.T, secure bool) *world {
	t.Helper()
	w := &world{
		WithT: NewWithT(t), t: t, scheme: runtime.NewScheme(), sim: simulator.New(simulator.Options{Username: user, Password: original}),
		pool: client.NewPool(client.Options{Rate: 10_000, Burst: 10_000}),
	}
	w.ironic = &told{sim: w.sim, state: ironic.StateAvailable}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		if wrap := w.wrap.Load(); wrap != nil {
			(*wrap)(w.sim).ServeHTTP(answer, r)
			return
		}
		w.sim.ServeHTTP(answer, r)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	if secure {
		server.Listener = tls.NewListener(server.Listener, w.sim.TLSConfig())
	}
	server.Start()
	w.http = server
	t.Cleanup(func() { server.Close(); w.sim.Close() })
	w.base = server.URL
	if secure {
		w.base = strings.Replace(server.URL, "http:", "https:", 1)
	}
	w.Expect(w.sim.AddSystem(simulator.System{ID: "1"})).To(Succeed())
	for _, add := range []func(*runtime.Scheme) error{metal3.AddToScheme, clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		w.Expect(add(w.scheme)).To(Succeed())
	}
	var err error
	w.api, err = kubeapi.New(w.scheme, &metal3.BareMetalHost{}, &corev1.Secret{}, &v1alpha1.BMC{})
	w.Expect(err).NotTo(HaveOccurred())
	w.kube, err = w.api.Client(w.scheme)
	w.Expect(err).NotTo(HaveOccurred())
	w.secret("bmc", user, original)
	w.host("host-1", "bmc")
	return w
}

// start starts the program; stop ends it and waits for that.
func (w *world) start() (stop func()) {
	w.t.Helper()
	w.gate = &credentials.Gate{Most: 1}
	mgr, err := w.api.Manager(w.scheme, nil)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(Setup(mgr, Options{
		BMCs: w.pool, Gate: w.gate, Random: rand.Reader, Every: w.every, Ironics: func(*metal3.BareMetalHost) (Gateway, error) { return w.ironic, nil },
		Now: func() time.Time { return time.Now().Add(time.Duration(w.ahead.Load())) },
		limits: func(*v1alpha1.BMCReport) password.Limits {
			return password.Limits{Max: 20, Wrong: 2, Refusals: 1, Known: true}
		},
	})).To(Succeed())
	stopped, over := kubeapi.Start(w.t, mgr)
	return func() { stopped(); <-over }
}

func (w *world) create(o kclient.Object) {
	w.t.Helper()
	w.Expect(w.kube.Create(w.t.Context(), o)).To(Succeed())
}

func (w *world) secret(name, username, pass string) {
	w.t.Helper()
	w.create(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: name},
		Data:       map[string][]byte{"username": []byte(username), "password": []byte(pass), "other": []byte("theirs")},
	})
}

// host makes a host at rest, and its BMC.
func (w *world) host(name, secret string) {
	w.t.Helper()
	h := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: name}}
	h.Spec.BMC = metal3.BMCDetails{Address: "redfish-virtualmedia+" + w.base + "/redfish/v1/Systems/1", CredentialsName: secret}
	w.create(h)
	w.create(&v1alpha1.BMC{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: name}})
	w.change(name, func(h *metal3.BareMetalHost) {
		h.Status.Provisioning.State, h.Status.Provisioning.ID = metal3.StateAvailable, node1
		h.Status.OperationalStatus = metal3.OperationalStatusOK
	})
}

// change changes a host's status, and its metadata and spec.
func (w *world) change(name string, change func(h *metal3.BareMetalHost)) {
	w.t.Helper()
	h := &metal3.BareMetalHost{}
	w.Expect(w.kube.Get(w.t.Context(), kclient.ObjectKey{Namespace: key.Namespace, Name: name}, h)).To(Succeed())
	before := h.DeepCopy()
	change(h)
	status := h.Status
	w.Expect(w.kube.Patch(w.t.Context(), h, kclient.MergeFrom(before))).To(Succeed())
	before, h.Status = h.DeepCopy(), status
	w.Expect(w.kube.Status().Patch(w.t.Context(), h, kclient.MergeFrom(before))).To(Succeed())
}

// ask asks for a change of the password.
func (w *world) ask(value string) {
	w.t.Helper()
	w.change(key.Name, func(h *metal3.BareMetalHost) { h.Annotations = map[string]string{names.RotateCredentials: value} })
}

// stored is the content of a Secret; nil for none.
func (w *world) stored(name string) map[string]string {
	s := &corev1.Secret{}
	w.Expect(kclient.IgnoreNotFound(w.kube.Get(w.t.Context(), kclient.ObjectKey{Namespace: key.Namespace, Name: name}, s))).To(Succeed())
	texts := map[string]string{}
	for k, v := range s.Data {
		texts[k] = string(v)
	}
	return texts
}

// bmcPassword is what the BMC takes.
func (w *world) bmcPassword() string {
	p, _ := w.sim.Password(user)
	return p
}

// reach waits until the record has a phase.
func (w *world) reach(phase rotation.Phase) {
	w.t.Helper()
	w.Eventually(func() string { return w.stored("host-1-bmc-rotation")["state"] }).WithTimeout(time.Minute).
		Should(ContainSubstring(`"phase": "` + string(phase) + `"`))
}

// until waits for the condition's reason, and for words of its message.
func (w *world) until(reason reason.Reason, words string) metav1.Condition {
	w.t.Helper()
	var seen metav1.Condition
	w.Eventually(func() metav1.Condition {
		b := v1alpha1.BMC{}
		w.Expect(w.kube.Get(w.t.Context(), key, &b)).To(Succeed())
		if c := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.CredentialsCurrent); c != nil {
			seen = *c
		}
		return seen
	}).WithTimeout(time.Minute).Should(And(HaveField("Reason", string(reason)), HaveField("Message", ContainSubstring(words))))
	return seen
}

// told is an Ironic with one node: it logs in at the BMC with what it was told.
type told struct {
	sim *simulator.Server

	mu                 sync.Mutex
	state              ironic.ProvisionState
	username, password string
	gone               bool
	// unreached says that Ironic has given the BMC up.
	unreached bool
}

func (i *told) set(do func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	do()
}

func (i *told) login() (username, pass string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.username, i.password
}

func (i *told) Get(_ context.Context, uuid string) (*ironic.Node, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.gone || uuid != node1 {
		return nil, &ironic.Error{Kind: ironic.Gone, Op: "get node", Node: uuid}
	}
	n := &ironic.Node{Row: ironic.Row{UUID: uuid, ProvisionState: i.state}}
	if i.unreached {
		n.Maintenance, n.Fault = true, ironic.FaultPower
	}
	return n, nil
}

func (i *told) Update(_ context.Context, n *ironic.Node, d ironic.Desired) (*ironic.Node, bool, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.username, _ = d.DriverInfo["redfish_username"].(string)
	i.password, _ = d.DriverInfo["redfish_password"].(string)
	return n, true, nil
}

func (i *told) BootDevice(_ context.Context, uuid string) (string, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if holds, _ := i.sim.Password(i.username); holds != i.password {
		return "", &ironic.Error{Kind: ironic.Unavailable, Op: "get boot device", Node: uuid, Status: 500, Text: "HTTP GET returned code 401"}
	}
	return "pxe", nil
}

// cut has the API server answer no write of the kind to a Secret after so many.
func (w *world) cut(method, secret string, after int32) {
	var count atomic.Int32
	w.api.Intercept(func(r *http.Request) *kubeapi.Fault {
		if r.Method == method && strings.HasSuffix(r.URL.Path, "/secrets/"+secret) && count.Add(1) > after {
			return &kubeapi.Fault{Status: http.StatusServiceUnavailable, Text: "the API server is going down"}
		}
		return nil
	})
}

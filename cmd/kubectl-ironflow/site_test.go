package main

import (
	"bytes"
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	ironflowv1 "github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/test/kubeapi"
)

// asProgram has the test binary be the program: what scripts see of it, such as its exit code, is seen on a process.
const asProgram = "KUBECTL_IRONFLOW_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// site is an API server that the program finds by its kubeconfig.
type site struct {
	*WithT
	t          *testing.T
	kube       client.WithWatch
	api        *kubeapi.Server
	server     *httptest.Server
	kubeconfig string
}

// cut ends all connections, and with them all watches.
func (s *site) cut() { s.server.CloseClientConnections() }

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{WithT: NewWithT(t), t: t, kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")}
	t.Setenv("KUBECACHEDIR", t.TempDir())
	known, err := scheme()
	s.Expect(err).NotTo(HaveOccurred())
	s.api, err = kubeapi.New(known, &metal3v1.BareMetalHost{}, &metal3v1.HostFirmwareSettings{}, &metal3v1.HostFirmwareComponents{}, &metal3v1.FirmwareSchema{},
		&metal3v1.PreprovisioningImage{}, &metal3v1.HardwareData{}, &metal3v1.DataImage{}, &metal3v1.HostUpdatePolicy{}, &metal3v1.BMCEventSubscription{},
		&corev1.Secret{}, &corev1.Namespace{}, &eventsv1.Event{}, &ironflowv1.BMC{}, &agentv1.Agent{}, &agentv1.InfraEnv{}, &hivev1.ClusterDeployment{}, &hiveextv1.AgentClusterInstall{})
	s.Expect(err).NotTo(HaveOccurred())
	s.server = httptest.NewServer(s.api)
	t.Cleanup(func() {
		s.server.CloseClientConnections()
		s.server.Close()
	})
	s.kube, err = s.api.Client(known)
	s.Expect(err).NotTo(HaveOccurred())
	for _, name := range []string{"site", "elsewhere"} {
		s.Expect(s.kube.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})).To(Succeed())
	}
	s.Expect(clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{"lab": {Server: s.server.URL}}, CurrentContext: "lab",
		Contexts: map[string]*clientcmdapi.Context{"lab": {Cluster: "lab", Namespace: "site"}, "other": {Cluster: "lab", Namespace: "elsewhere"}},
	}, s.kubeconfig)).To(Succeed())
	return s
}

// create makes an object, status and all, in the namespace of the kubeconfig unless it names another.
func (s *site) create(objects ...client.Object) {
	s.t.Helper()
	for _, o := range objects {
		if o.GetNamespace() == "" {
			o.SetNamespace("site")
		}
		full, ok := o.DeepCopyObject().(client.Object)
		s.Expect(ok).To(BeTrue())
		s.Expect(s.kube.Create(s.t.Context(), o)).To(Succeed())
		switch o.(type) {
		case *metal3v1.FirmwareSchema, *corev1.Secret, *eventsv1.Event, *metal3v1.HardwareData, *metal3v1.HostUpdatePolicy:
			continue
		}
		full.SetResourceVersion(o.GetResourceVersion())
		full.SetUID(o.GetUID())
		s.Expect(s.kube.Status().Update(s.t.Context(), full)).To(Succeed())
	}
}

// rack makes three hosts in two racks, and one of another namespace.
func (s *site) rack() *site {
	for _, h := range [][3]string{{"site", "a", "1"}, {"site", "b", "1"}, {"site", "c", "2"}, {"elsewhere", "a", "1"}} {
		s.create(&metal3v1.BareMetalHost{
			ObjectMeta: metav1.ObjectMeta{Namespace: h[0], Name: h[1], Labels: map[string]string{"rack": h[2]}},
			Spec:       metal3v1.BareMetalHostSpec{BMC: metal3v1.BMCDetails{Address: "redfish://192.0.2.1", CredentialsName: h[1] + "-bmc"}},
			Status:     metal3v1.BareMetalHostStatus{Provisioning: metal3v1.ProvisionStatus{State: metal3v1.StateAvailable}},
		})
	}
	return s
}

// change writes a host, and its status.
func (s *site) change(name string, edit func(*metal3v1.BareMetalHost)) {
	s.t.Helper()
	h := s.host(name)
	edit(h)
	full := h.DeepCopy()
	s.Expect(s.kube.Update(s.t.Context(), h)).To(Succeed())
	full.ResourceVersion = h.ResourceVersion
	s.Expect(s.kube.Status().Update(s.t.Context(), full)).To(Succeed())
}

func (s *site) host(name string) *metal3v1.BareMetalHost {
	s.t.Helper()
	h := &metal3v1.BareMetalHost{}
	s.Expect(s.kube.Get(s.t.Context(), client.ObjectKey{Namespace: "site", Name: name}, h)).To(Succeed())
	return h
}

// run is the program; in is its standard input.
func (s *site) run(in string, args ...string) (out, errors string, err error) {
	return command(s.t, in, append(args, "--kubeconfig", s.kubeconfig)...)
}

func command(t *testing.T, in string, args ...string) (out, errors string, err error) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := newCommand()
	cmd.SetArgs(args)
	cmd.SetIn(strings.NewReader(in))
	cmd.SetOut(&stdout)
	cmd.SetErr(&stderr)
	err = cmd.ExecuteContext(t.Context())
	return stdout.String(), stderr.String(), err
}

// process is a call that goes on.
type process struct {
	out, err shared
	ended    chan error
	stop     context.CancelFunc
}

// start begins a call that goes on until it ends or is stopped.
func (s *site) start(args ...string) *process {
	s.t.Helper()
	ctx, stop := context.WithCancel(s.t.Context())
	p := &process{ended: make(chan error, 1), stop: stop}
	cmd := newCommand()
	cmd.SetArgs(append(args, "--kubeconfig", s.kubeconfig))
	cmd.SetOut(&p.out)
	cmd.SetErr(&p.err)
	go func() { p.ended <- cmd.ExecuteContext(ctx) }()
	s.t.Cleanup(stop)
	return p
}

// shared is what a call has written so far.
type shared struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *shared) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// golden holds a text against a file below testdata.
func golden(t *testing.T, file, text string) {
	t.Helper()
	g := NewWithT(t)
	file = filepath.Join("testdata", file)
	if *update {
		g.Expect(os.MkdirAll(filepath.Dir(file), 0o755)).To(Succeed())
		g.Expect(os.WriteFile(file, []byte(text), 0o644)).To(Succeed())
	}
	want, err := os.ReadFile(file)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(text).To(Equal(string(want)), "run with -update, and look at the difference")
}

func write(t *testing.T, file, text string) {
	t.Helper()
	NewWithT(t).Expect(os.WriteFile(file, []byte(text), 0o600)).To(Succeed())
}

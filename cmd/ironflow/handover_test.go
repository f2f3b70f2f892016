package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/config"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/controllers/parts"
	"github.com/ironflow/ironflow/test/handover"
	"github.com/ironflow/ironflow/test/ironic/simulator"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
	"github.com/ironflow/ironflow/test/media"
)

const (
	// ours is the user that the program under test is for the API server.
	ours = "ironflow-under-test"
	// patience is how long the whole fleet may take to be looked at.
	patience = 2 * time.Minute
	// quiet is how long nothing may be written before the fleet counts as settled.
	quiet = 5 * time.Second
)

// moves are the states that a host leaves without anybody's doing: no machine and
// no node are touched by them.
var moves = map[metal3.ProvisioningState]metal3.ProvisioningState{
	metal3.StateNone: metal3.StateUnmanaged, metal3.StateMatchProfile: metal3.StateAvailable,
}

// TestTheFleetOfBaremetalOperatorIsTakenOver starts the program on the stored
// objects of every state and looks at what it wrote: status only, and nothing in
// Ironic.
func TestTheFleetOfBaremetalOperatorIsTakenOver(t *testing.T) {
	g := NewWithT(t)
	w := newFleet(t)
	g.Expect(w.migrate()).To(HaveSuffix("ready: the fleet can be handed over; only status and the annotation " + names.Deployed + " would be written\n"))
	g.Expect(w.writes()).To(BeEmpty(), "the check before reads only")
	before := w.objects()
	w.start()
	w.settle()

	g.Expect(w.writes()).To(ContainElement("patch baremetalhosts/status provisioned"), "the audit log tells")
	g.Expect(w.sim.Total("GET ")).To(BeNumerically(">", len(handover.Names())), "nodes are looked at")
	g.Expect(w.kubernetesWrites()).To(BeEmpty(), "requests that write anything but a status, what is deployed, a lease or an event")
	g.Expect(w.ironicWrites()).To(BeEmpty(), "requests that change anything in Ironic")
	after := w.objects()
	for name, state := range w.states {
		if state == metal3.StateProvisioned {
			g.Expect(w.tellsWhatRuns(after["BareMetalHost "+name])).To(BeTrue(), name)
		}
	}
	for key, was := range before {
		g.Expect(after).To(HaveKeyWithValue(key, was), "all other metadata and the spec stay as they are")
	}
	for _, name := range handover.Names() {
		h := w.host(name)
		want := w.states[name]
		if next, moved := moves[want]; moved {
			want = next
		}
		g.Expect(h.Status.Provisioning.State).To(Equal(want), name)
	}
}

// TestEveryStateHasAFixture fails when a state is added without a host in it.
func TestEveryStateHasAFixture(t *testing.T) {
	for _, state := range policy.States() {
		name := strings.ReplaceAll(string(state), " ", "-")
		if state == metal3.StateNone {
			name = "none"
		}
		NewWithT(t).Expect(handover.Names()).To(ContainElement(name))
	}
}

// fleet is baremetal-operator's fleet, and the program that takes it over.
type fleet struct {
	*WithT
	t      *testing.T
	plane  *lab.ControlPlane
	kube   client.Client
	sim    *simulator.Server
	url    string
	states map[string]metal3.ProvisioningState
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	ctrl.SetLogger(logr.Discard())
	w := &fleet{WithT: NewWithT(t), t: t, sim: simulator.New(simulator.Options{Behave: simulator.FetchMedia}), states: map[string]metal3.ProvisioningState{}}
	t.Cleanup(w.sim.Close)
	w.plane = labtest.ControlPlane(t, lab.ControlPlaneOptions{Audit: true})
	crds, err := config.CRDs()
	w.Expect(err).NotTo(HaveOccurred())
	_, err = envtest.InstallCRDs(w.plane.Config(), envtest.CRDInstallOptions{CRDs: crds})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(lab.InstallAdmission(t.Context(), w.plane.Config())).To(Succeed())
	scheme, err := parts.NewScheme()
	w.Expect(err).NotTo(HaveOccurred())
	w.kube, err = client.New(w.plane.Config(), client.Options{Scheme: scheme})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(handover.Load(t.Context(), w.kube, w.sim)).To(Succeed())
	server := httptest.NewServer(w.sim)
	t.Cleanup(server.Close)
	w.url = server.URL
	for _, name := range handover.Names() {
		w.states[name] = w.host(name).Status.Provisioning.State
	}
	return w
}

// start runs the whole program as `ironflow run` does, with metrics of its own:
// a process has but one program.
func (w *fleet) start() {
	w.t.Helper()
	shared := metrics.Registry
	metrics.Registry = prometheus.NewRegistry()
	w.t.Cleanup(func() { metrics.Registry = shared })
	dir := w.t.TempDir()
	iso := filepath.Join(dir, "live.x86_64.iso")
	w.Expect(media.WriteFile(iso, media.Options{RootfsBytes: 1 << 20})).To(Succeed())
	p := &parts.Program{OneOfMany: true}
	s := &p.Settings
	s.Kubernetes.Kubeconfig, s.Store.DataDir = w.kubeconfig(), filepath.Join(dir, "data")
	s.HubInstallation, s.HubLimits = defaults(dir).HubInstallation, defaults(dir).HubLimits
	s.Monitoring = v1alpha1.Monitoring{LogLevel: "error", MetricsAddress: "0", HealthAddress: "0", ProfilerAddress: "0"}
	s.Hub = v1alpha1.Hub{Address: "127.0.0.1:0", Auth: "token"}
	s.Images = v1alpha1.Images{Address: "127.0.0.1:0", TLSAddress: "0", BaseImage: iso}
	s.Ironic.Endpoint, s.Ironic.Timeout.Duration = w.url, 10*time.Second
	ctx, stop := context.WithCancel(w.t.Context())
	done := make(chan error, 1)
	go func() { done <- processOf("run").Run(ctx, p) }()
	w.t.Cleanup(func() {
		stop()
		if err := <-done; !errors.Is(err, context.Canceled) {
			w.Expect(err).NotTo(HaveOccurred())
		}
	})
}

// kubeconfig writes the access of a user of its own, so that the audit log tells.
func (w *fleet) kubeconfig() string {
	access, err := w.plane.ConfigFor(ours, "system:masters")
	w.Expect(err).NotTo(HaveOccurred())
	return writeKubeconfig(w.WithT, w.t.TempDir(), access)
}

// migrate is what `ironflow migrate` prints.
func (w *fleet) migrate() string {
	w.t.Helper()
	var out strings.Builder
	cmd := newMigrateCommand()
	cmd.SetArgs([]string{"--kubeconfig", w.kubeconfig(), "--ironic-endpoint", w.url})
	cmd.SetOut(&out)
	w.Expect(cmd.ExecuteContext(w.t.Context())).To(Succeed(), "%s", out.String())
	return out.String()
}

// writeKubeconfig writes an access as a file.
func writeKubeconfig(g *WithT, dir string, access *rest.Config) string {
	file := clientcmdapi.NewConfig()
	file.Clusters["lab"] = &clientcmdapi.Cluster{Server: access.Host, CertificateAuthorityData: access.CAData}
	file.AuthInfos["user"] = &clientcmdapi.AuthInfo{ClientCertificateData: access.CertData, ClientKeyData: access.KeyData}
	file.Contexts["lab"] = &clientcmdapi.Context{Cluster: "lab", AuthInfo: "user"}
	file.CurrentContext = "lab"
	path := filepath.Join(dir, "kubeconfig")
	g.Expect(clientcmd.WriteToFile(*file, path)).To(Succeed())
	return path
}

func (w *fleet) host(name string) *metal3.BareMetalHost {
	w.t.Helper()
	h := &metal3.BareMetalHost{}
	w.Expect(w.kube.Get(w.t.Context(), client.ObjectKey{Namespace: handover.Namespace, Name: name}, h)).To(Succeed())
	return h
}

// settle waits until every host was looked at, and nothing is written any more.
func (w *fleet) settle() {
	w.t.Helper()
	w.Eventually(func() (waiting []string) {
		for _, name := range handover.Names() {
			if name != "paused" && meta.FindStatusCondition(w.host(name).Status.Conditions, view.StalledCondition) == nil {
				waiting = append(waiting, name)
			}
		}
		return waiting
	}, patience, 200*time.Millisecond).Should(BeEmpty(), "hosts without a word of the new controller")
	last, since := "", time.Now()
	w.Eventually(func() time.Duration {
		if now := fmt.Sprint(w.writes(), w.sim.Total("P"), w.sim.Total("D")); now != last {
			last, since = now, time.Now()
		}
		return time.Since(since)
	}, patience, 500*time.Millisecond).Should(BeNumerically(">", quiet))
}

// ironicWrites counts what was asked of Ironic beyond reading.
func (w *fleet) ironicWrites() map[string]int {
	counts := w.sim.Counts()
	for pattern := range counts {
		if strings.HasPrefix(pattern, "GET ") {
			delete(counts, pattern)
		}
	}
	return counts
}

// auditLine is what counts of a line of the audit log.
type auditLine struct {
	Verb string
	User struct{ Username string }
	// Object is what the request was about.
	Object struct{ Resource, Subresource, Name string } `json:"objectRef"`
}

// writes lists our requests that write, as "verb resource/subresource name".
func (w *fleet) writes() []string {
	w.t.Helper()
	file, err := os.Open(w.plane.AuditLog)
	w.Expect(err).NotTo(HaveOccurred())
	defer file.Close()
	var writes []string
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		var line auditLine
		if json.Unmarshal(lines.Bytes(), &line) != nil || line.User.Username != ours {
			continue // the last line may still be being written
		}
		if slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, line.Verb) {
			writes = append(writes, line.Verb+" "+line.Object.Resource+"/"+line.Object.Subresource+" "+line.Object.Name)
		}
	}
	w.Expect(lines.Err()).NotTo(HaveOccurred())
	return writes
}

// kubernetesWrites lists those that are not allowed.
func (w *fleet) kubernetesWrites() []string {
	return slices.DeleteFunc(w.writes(), func(write string) bool {
		fields := strings.Fields(write)
		resource, subresource, _ := strings.Cut(fields[1], "/")
		if fields[0] == "patch" && fields[1] == "baremetalhosts/" && w.states[fields[2]] == metal3.StateProvisioned {
			return true // by the annotation which tells that: see tellsWhatRuns
		}
		// A review is a question: nothing is stored.
		return subresource == "status" || resource == "leases" || resource == "events" || resource == "selfsubjectaccessreviews" || resource == "selfsubjectrulesreviews"
	})
}

// tellsWhatRuns reports whether a host tells without its status that something is deployed on its machine, and takes that away.
func (w *fleet) tellsWhatRuns(host any) bool {
	w.t.Helper()
	object, _ := host.(map[string]any)
	annotations, _, err := unstructured.NestedStringMap(object, "metadata", "annotations")
	w.Expect(err).NotTo(HaveOccurred())
	_, tells := annotations[names.Deployed]
	if len(annotations) == 1 && tells {
		unstructured.RemoveNestedField(object, "metadata", "annotations")
	}
	unstructured.RemoveNestedField(object, "metadata", "annotations", names.Deployed)
	return tells
}

// objects are the metadata and specs of everything in the fleet, by kind and name.
func (w *fleet) objects() map[string]any {
	w.t.Helper()
	all := map[string]any{}
	for _, kind := range []string{
		"BareMetalHost", "HardwareData", "PreprovisioningImage", "HostFirmwareSettings", "HostFirmwareComponents", "FirmwareSchema",
		"HostUpdatePolicy", "DataImage", "BMCEventSubscription", "Secret",
	} {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(metal3.GroupVersion.WithKind(kind + "List"))
		if kind == "Secret" {
			list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
		}
		w.Expect(w.kube.List(w.t.Context(), list, client.InNamespace(handover.Namespace))).To(Succeed())
		for _, o := range list.Items {
			delete(o.Object, "status")
			o.SetResourceVersion("")
			o.SetManagedFields(nil)
			all[kind+" "+o.GetName()] = o.Object
		}
	}
	w.Expect(all).NotTo(BeEmpty())
	return all
}

package host_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/firmware"
	"github.com/ironflow/ironflow/controllers/host"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/ironic/simulator"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
)

// hosts is how many hosts live at once in the test.
const hosts = 3

// kubePatience bounds every wait on the real API server.
const kubePatience = 3 * time.Minute

// TestOnARealAPIServer takes hosts through their life on a real kube-apiserver
// with the real schemas, where a status that is not complete, an event that is
// too long or a write from a stale copy would be refused.
func TestOnARealAPIServer(t *testing.T) {
	ctrl.SetLogger(logr.Discard())
	g := NewWithT(t)
	plane := labtest.ControlPlane(t, lab.ControlPlaneOptions{Controllers: true, Audit: true})
	_, err := envtest.InstallCRDs(plane.Config(), envtest.CRDInstallOptions{Paths: []string{"../../config/crd/metal3"}})
	g.Expect(err).NotTo(HaveOccurred())
	scheme := runtime.NewScheme()
	g.Expect(clientgoscheme.AddToScheme(scheme)).To(Succeed())
	g.Expect(metal3.AddToScheme(scheme)).To(Succeed())
	sim := simulator.New(simulator.Options{
		AutomatedClean: true, Heartbeat: time.Second,
		Delays:       simulator.Delays{Verify: 200 * time.Millisecond, Inspect: time.Second, Clean: time.Second, Deploy: time.Second, Power: 200 * time.Millisecond},
		RamdiskSteps: []simulator.Step{{Interface: "deploy", Step: names.StartAssistedInstall}, {Interface: "deploy", Step: names.ConfirmInstall, Priority: 79}},
	})
	t.Cleanup(sim.Close)
	gateway, err := ironic.New(t.Context(), ironic.Config{URL: "http://ironic.test", Transport: sim.Transport()})
	g.Expect(err).NotTo(HaveOccurred())
	startManager(t, plane, scheme, gateway, policy.Settings{}, "simulated")
	kube, err := client.New(plane.Config(), client.Options{Scheme: scheme})
	g.Expect(err).NotTo(HaveOccurred())

	rack := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "rack"}}
	g.Expect(kube.Create(t.Context(), rack)).To(Succeed())
	of := ofSite(rack)
	for n := range hosts {
		createHost(t, kube, n, of)
		of = metav1.ObjectMeta{} // of the others, only the host has need
	}
	all := func(state metal3.ProvisioningState) func() (int, error) {
		return func() (int, error) {
			var list metal3.BareMetalHostList
			err := kube.List(t.Context(), &list)
			count := 0
			for _, h := range list.Items {
				if h.Status.Provisioning.State == state && (state != metal3.StateAvailable || h.Status.PoweredOn) {
					count++
				}
			}
			return count, err
		}
	}
	g.Eventually(all(metal3.StateAvailable), kubePatience, 100*time.Millisecond).Should(Equal(hosts))
	reportRequests(t, plane.AuditLog, sim)
	shared := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "host-0"}}
	g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(shared), shared)).To(Succeed())
	g.Expect(shared.Finalizers).To(ConsistOf(siteFinalizer, names.SecretFinalizer))
	g.Expect(shared.OwnerReferences).To(HaveLen(2))
	g.Expect(shared.Labels).To(Equal(map[string]string{"rack": "seven", names.EnvironmentLabel: names.EnvironmentValue}))
	eachHost(t, kube, func(h *metal3.BareMetalHost) {
		g.Expect(h.Status.HardwareDetails).NotTo(BeNil())
		g.Expect(h.Status.LastUpdated).NotTo(BeNil())
		data := &metal3.HardwareData{}
		g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(h), data)).To(Succeed())
		g.Expect(metav1.IsControlledBy(data, h)).To(BeTrue())
		before := h.DeepCopy()
		h.Spec.CustomDeploy = &metal3.CustomDeploy{Method: names.StartAssistedInstall}
		g.Expect(kube.Patch(t.Context(), h, client.MergeFrom(before))).To(Succeed())
	})
	g.Eventually(all(metal3.StateProvisioned), kubePatience, 100*time.Millisecond).Should(Equal(hosts))
	reasons := func() (map[string]int, error) {
		var events corev1.EventList
		err := kube.List(t.Context(), &events)
		counts := map[string]int{}
		for _, e := range events.Items {
			counts[e.Reason]++
		}
		return counts, err
	}
	g.Eventually(reasons, kubePatience, 100*time.Millisecond).Should(
		And(HaveKeyWithValue("InspectionComplete", hosts), HaveKeyWithValue("ProvisioningComplete", hosts)), "events come after what they tell of")

	eachHost(t, kube, func(h *metal3.BareMetalHost) { g.Expect(kube.Delete(t.Context(), h)).To(Succeed()) })
	g.Eventually(func() (int, error) {
		var list metal3.BareMetalHostList
		err := kube.List(t.Context(), &list)
		return len(list.Items), err
	}, kubePatience, 100*time.Millisecond).Should(BeZero())
	g.Expect(sim.Nodes()).To(BeEmpty())
	g.Eventually(func() (int, error) {
		var list metal3.HardwareDataList
		err := kube.List(t.Context(), &list)
		return len(list.Items), err
	}, kubePatience, 100*time.Millisecond).Should(BeZero(), "the host's own objects go with it")
	secrets := func() (map[string]metav1.ObjectMeta, error) {
		var left corev1.SecretList
		err := kube.List(t.Context(), &left, client.InNamespace("default"))
		marks := map[string]metav1.ObjectMeta{}
		for _, s := range left.Items {
			marks[s.Name] = metav1.ObjectMeta{Finalizers: s.Finalizers, OwnerReferences: s.OwnerReferences}
		}
		return marks, err
	}
	site := ofSite(rack)
	site.Labels = nil
	g.Eventually(secrets, kubePatience, 100*time.Millisecond).Should(Equal(map[string]metav1.ObjectMeta{shared.Name: site}),
		"credentials go with their host, unless somebody else owns them")
}

// siteFinalizer is one that is not Ironflow's.
const siteFinalizer = "example.com/backup"

// ofSite is how a site marks what belongs to one of its racks.
func ofSite(rack *corev1.ConfigMap) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Labels:          map[string]string{"rack": "seven"},
		Finalizers:      []string{siteFinalizer},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: rack.Name, UID: rack.UID}},
	}
}

// startManager runs the controller as the program does, with more that is to run beside it.
func startManager(t *testing.T, plane *lab.ControlPlane, scheme *runtime.Scheme, gateway *ironic.Gateway, s policy.Settings, name string, more ...func(ctrl.Manager) error) {
	t.Helper()
	g := NewWithT(t)
	mgr, err := ctrl.NewManager(plane.Config(), ctrl.Options{
		Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"},
		Client: client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: new(true)}},
	})
	g.Expect(err).NotTo(HaveOccurred())
	watch := ironic.NewWatch(gateway, ironic.WatchOptions{})
	keeper, err := firmware.Setup(mgr, firmware.Options{Gateway: gateway, Name: name + "-firmware"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(host.Setup(mgr, host.Options{Gateway: gateway, Watch: watch, Settings: s, Firmware: keeper, Name: name})).To(Succeed())
	for _, add := range more {
		g.Expect(add(mgr)).To(Succeed())
	}
	done := make(chan error, 1)
	go func() { _ = watch.Run(t.Context()) }()
	go func() { done <- mgr.Start(t.Context()) }()
	t.Cleanup(func() {
		if err := <-done; err != nil {
			t.Errorf("manager: %v", err)
		}
	})
}

// createHost makes a host, and its Secret with what a site has marked on it.
func createHost(t *testing.T, kube client.Client, n int, marks metav1.ObjectMeta, change ...func(*metal3.BareMetalHost)) {
	t.Helper()
	g := NewWithT(t)
	name := fmt.Sprintf("host-%d", n)
	marks.Namespace, marks.Name = "default", name
	g.Expect(kube.Create(t.Context(), &corev1.Secret{
		ObjectMeta: marks,
		StringData: map[string]string{"username": "admin", "password": "hunter2hunter2"},
	})).To(Succeed())
	h := &metal3.BareMetalHost{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: metal3.BareMetalHostSpec{
			Online: true, BootMACAddress: fmt.Sprintf("52:54:00:00:00:%02x", n),
			BMC: metal3.BMCDetails{Address: "redfish-virtualmedia://bmc.test/redfish/v1/Systems/" + name, CredentialsName: name},
		},
	}
	for _, c := range change {
		c(h)
	}
	g.Expect(kube.Create(t.Context(), h)).To(Succeed())
}

func eachHost(t *testing.T, kube client.Client, do func(*metal3.BareMetalHost)) {
	t.Helper()
	var list metal3.BareMetalHostList
	NewWithT(t).Expect(kube.List(t.Context(), &list)).To(Succeed())
	for i := range list.Items {
		do(&list.Items[i])
	}
}

// reportRequests logs what the way to available has cost per host, and holds it
// to a bound that only a new kind of request can exceed.
func reportRequests(t *testing.T, auditLog string, sim *simulator.Server) {
	t.Helper()
	g := NewWithT(t)
	file, err := os.Open(auditLog)
	g.Expect(err).NotTo(HaveOccurred())
	defer file.Close()
	counts := map[string]int{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var e struct {
			Verb      string                                            `json:"verb"`
			UserAgent string                                            `json:"userAgent"`
			ObjectRef struct{ Resource, Subresource, Namespace string } `json:"objectRef"`
		}
		if json.Unmarshal(lines.Bytes(), &e) != nil || e.ObjectRef.Namespace != "default" || e.Verb == "watch" || e.Verb == "list" {
			continue
		}
		if !strings.Contains(e.UserAgent, "garbage") {
			counts[strings.TrimSuffix(e.Verb+" "+e.ObjectRef.Resource+"/"+e.ObjectRef.Subresource, "/")]++
		}
	}
	t.Logf("Kubernetes requests for %d hosts to available: %v", hosts, counts)
	t.Logf("Ironic requests: %v", sim.Counts())
	g.Expect(counts["patch baremetalhosts/status"]).To(BeNumerically("<=", 9*hosts))
}

package host_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/ironic/simulator"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
)

// manyHosts is how many hosts are brought to available at once.
const manyHosts = 40

// TestFirmwareIsToldBeforeAHostIsAvailable brings many hosts to available at once, on a real
// API server: whoever watches a host until it is available, and then asks for its firmware
// settings and components, finds them filled in. The order is that of the versions, and of the audit log.
func TestFirmwareIsToldBeforeAHostIsAvailable(t *testing.T) {
	ctrl.SetLogger(logr.Discard())
	g := NewWithT(t)
	plane := labtest.ControlPlane(t, lab.ControlPlaneOptions{Audit: true})
	_, err := envtest.InstallCRDs(plane.Config(), envtest.CRDInstallOptions{Paths: []string{"../../config/crd/metal3"}})
	g.Expect(err).NotTo(HaveOccurred())
	scheme := runtime.NewScheme()
	g.Expect(clientgoscheme.AddToScheme(scheme)).To(Succeed())
	g.Expect(metal3.AddToScheme(scheme)).To(Succeed())
	sim := simulator.New(simulator.Options{
		Delays:   simulator.Delays{Verify: 200 * time.Millisecond, Inspect: time.Second, Clean: time.Second, Deploy: time.Second, Power: 200 * time.Millisecond},
		BIOS:     []map[string]any{{"name": "BootMode", "value": "Bios", "attribute_type": "Enumeration", "allowable_values": []any{"Bios", "Uefi"}}},
		Firmware: []map[string]any{{"component": "bios", "initial_version": "1", "current_version": "1", "created_at": "2026-01-01T00:00:00Z", "updated_at": nil}},
	})
	t.Cleanup(sim.Close)
	gateway, err := ironic.New(t.Context(), ironic.Config{URL: "http://ironic.test", Transport: sim.Transport()})
	g.Expect(err).NotTo(HaveOccurred())
	startManager(t, plane, scheme, gateway, policy.Settings{}, t.Name())
	kube, err := client.New(plane.Config(), client.Options{Scheme: scheme})
	g.Expect(err).NotTo(HaveOccurred())
	firstAvailable := watchAvailable(t, plane, scheme)
	for n := range manyHosts {
		createHost(t, kube, n, metav1.ObjectMeta{}, func(h *metal3.BareMetalHost) {
			h.Spec.BMC.Address = strings.Replace(h.Spec.BMC.Address, "redfish-virtualmedia:", "idrac-virtualmedia:", 1)
		})
	}
	g.Eventually(firstAvailable, kubePatience, 100*time.Millisecond).Should(HaveLen(manyHosts))
	available := firstAvailable()
	eachHost(t, kube, func(h *metal3.BareMetalHost) {
		settings, components := &metal3.HostFirmwareSettings{}, &metal3.HostFirmwareComponents{}
		g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(h), settings)).To(Succeed())
		g.Expect(settings.Status.Settings).To(HaveKeyWithValue("BootMode", "Bios"), h.Name)
		g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(h), components)).To(Succeed())
		g.Expect(components.Status.Components).To(HaveLen(1), h.Name)
		for _, told := range []client.Object{settings, components} {
			g.Expect(versionOf(told)).To(BeNumerically("<", available[h.Name]), "%T of %s", told, h.Name)
		}
	})
	last := lastWrites(t, plane.AuditLog)
	for n := range manyHosts {
		name := fmt.Sprintf("host-%d", n)
		for _, kind := range []string{"hostfirmwaresettings", "hostfirmwarecomponents"} {
			g.Expect(last[kind+"/"+name]).NotTo(BeZero())
			g.Expect(last[kind+"/"+name]).To(BeTemporally("<=", last["baremetalhosts/"+name]), "%s of %s", kind, name)
		}
	}
}

// watchAvailable follows the hosts, and tells in which version of all that is stored each was
// first seen to be available.
func watchAvailable(t *testing.T, plane *lab.ControlPlane, scheme *runtime.Scheme) func() map[string]uint64 {
	t.Helper()
	g := NewWithT(t)
	var mu sync.Mutex
	available := map[string]uint64{}
	hosts, err := cache.New(plane.Config(), cache.Options{Scheme: scheme})
	g.Expect(err).NotTo(HaveOccurred())
	informer, err := hosts.GetInformer(t.Context(), &metal3.BareMetalHost{}, cache.BlockUntilSynced(false))
	g.Expect(err).NotTo(HaveOccurred())
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{UpdateFunc: func(_, after any) {
		h, is := after.(*metal3.BareMetalHost)
		if !is || h.Status.Provisioning.State != metal3.StateAvailable {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if _, seen := available[h.Name]; !seen {
			available[h.Name] = versionOf(h)
		}
	}})
	g.Expect(err).NotTo(HaveOccurred())
	go func() { _ = hosts.Start(t.Context()) }()
	g.Expect(hosts.WaitForCacheSync(t.Context())).To(BeTrue())
	return func() map[string]uint64 {
		mu.Lock()
		defer mu.Unlock()
		return maps.Clone(available)
	}
}

// versionOf is the version of all that is stored in which an object was last written.
func versionOf(o client.Object) uint64 {
	version, _ := strconv.ParseUint(o.GetResourceVersion(), 10, 64) // the server's are numbers
	return version
}

// lastWrites is when the status of each object was last written, by resource and name.
func lastWrites(t *testing.T, auditLog string) map[string]time.Time {
	t.Helper()
	file, err := os.Open(auditLog)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	defer file.Close()
	last := map[string]time.Time{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e struct {
			Verb           string                                       `json:"verb"`
			ObjectRef      struct{ Resource, Subresource, Name string } `json:"objectRef"`
			StageTimestamp time.Time                                    `json:"stageTimestamp"`
		}
		if json.Unmarshal(lines.Bytes(), &e) == nil && e.Verb == "patch" && e.ObjectRef.Subresource == "status" {
			last[e.ObjectRef.Resource+"/"+e.ObjectRef.Name] = e.StageTimestamp
		}
	}
	return last
}

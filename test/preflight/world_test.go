//go:build e2e

package preflight_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/test/bmc/simulator"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
	"github.com/ironflow/ironflow/test/machine/ironictest"
	"github.com/ironflow/ironflow/test/shipped"
)

const (
	// patience bounds every wait on the real Ironic, glance is how often it is looked.
	patience = 4 * time.Minute
	glance   = 200 * time.Millisecond
	// pause is how long nothing must happen to what was refused.
	pause = 10 * time.Second

	namespace = "default"
)

// world is the program with everything around it.
type world struct {
	hall   *ironictest.Hall
	kube   client.Client
	ironic ironictest.Ironic
	images string // where firmware is fetched from

	mu    sync.Mutex
	asked []string // what the program asked Ironic to do: NODE TARGET
}

// program is the compiled one; `make test-e2e` says where.
func program(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("IRONFLOW_BIN")
	if dir == "" {
		dir = "../../bin"
	}
	path, err := filepath.Abs(filepath.Join(dir, "ironflow"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		message := "ironflow is not built: run make lab-programs, or make test-e2e"
		if os.Getenv("CI") == "true" {
			t.Fatal(message)
		}
		t.Skip(message)
	}
	return path
}

func newWorld(t *testing.T) *world {
	t.Helper()
	path := program(t)
	ctrl.SetLogger(logr.Discard())
	g := NewWithT(t)
	w := &world{}
	l := labtest.New(t)
	w.hall = ironictest.Start(t, l, ironictest.HallOptions{Redfish: &lab.RedfishOptions{Delays: simulator.Delays{Task: time.Second, POST: time.Second}}})
	w.ironic = ironictest.Ironic{URL: l.Ironic.URL, HTTP: l.Ironic.HTTPClient()}
	images := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, _ *http.Request) { _, _ = answer.Write(make([]byte, 4096)) }))
	t.Cleanup(images.Close)
	w.images = images.URL
	_, err := l.StartControlPlane(t.Context(), lab.ControlPlaneOptions{Controllers: true})
	g.Expect(err).NotTo(HaveOccurred())
	ironflow, err := shipped.Start(t.Context(), shipped.Options{Lab: l, Program: path, Command: "controllers", Settings: map[string]string{
		"IRONIC_ENDPOINT": w.listen(t), "DEPLOY_ISO_URL": "http://127.0.0.1:1/live.iso", "IRONFLOW_BMC": "true",
	}})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() {
		if err := ironflow.Stop(); err != nil {
			t.Errorf("stop ironflow: %v", err)
		}
	})
	w.kube, err = shipped.NewClient(l.ControlPlane.Config())
	g.Expect(err).NotTo(HaveOccurred())
	return w
}

// listen puts an ear between the program and Ironic.
func (w *world) listen(t *testing.T) string {
	t.Helper()
	target, err := url.Parse(w.hall.Ironic.URL)
	if err != nil {
		t.Fatal(err)
	}
	ironic := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, Transport: w.ironic.HTTP.Transport}
	ear := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		if node, is := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/v1/nodes/"), "/states/provision"); is && r.Method == http.MethodPut {
			raw, err := io.ReadAll(r.Body)
			if err != nil {
				http.Error(answer, err.Error(), http.StatusBadGateway)
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(raw))
			w.note(node, raw)
		}
		ironic.ServeHTTP(answer, r)
	}))
	t.Cleanup(ear.Close)
	return ear.URL
}

func (w *world) note(node string, raw []byte) {
	var body struct{ Target string }
	_ = json.Unmarshal(raw, &body) // what is no JSON has no target
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, node+" "+body.Target)
}

// host is a host with its machine.
type host struct {
	*world

	name    string
	machine *ironictest.Machine
}

// volume is what is on the disks of each machine before.
var volume = simulator.Volume{ID: "old", Name: "old", RAIDType: "RAID0", CapacityBytes: 960e9, Drives: []string{"Disk.0", "Disk.1"}}

// newHost makes a host with its wishes; those in other objects are created before it.
func (w *world) newHost(t *testing.T, name string, system simulator.System, wish func(*metal3.BareMetalHost), others ...client.Object) *host {
	t.Helper()
	g := NewWithT(t)
	system.Storage = simulator.DefaultStorage()
	system.Storage[0].RAIDTypes, system.Storage[0].Volumes = []string{"RAID0", "RAID1"}, []simulator.Volume{volume}
	h := &host{world: w, name: name, machine: w.hall.AddSimulated(t, system)}
	for _, o := range others {
		o.SetNamespace(namespace)
		o.SetName(name)
		g.Expect(w.kube.Create(t.Context(), o)).To(Succeed())
	}
	user, password := h.machine.Credentials()
	g.Expect(w.kube.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, StringData: map[string]string{"username": user, "password": password},
	})).To(Succeed())
	object := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: metal3.BareMetalHostSpec{
		BootMACAddress: h.machine.MAC, AutomatedCleaningMode: metal3.CleaningModeDisabled,
		BMC: metal3.BMCDetails{Address: h.machine.Address(), CredentialsName: name, DisableCertificateVerification: true},
	}}
	wish(object)
	g.Expect(w.kube.Create(t.Context(), object)).To(Succeed())
	t.Cleanup(func() { h.tell(t) })
	return h
}

// tell says after a failure what was known of the machine.
func (h *host) tell(t *testing.T) {
	t.Helper()
	b := &v1alpha1.BMC{}
	if t.Failed() && h.kube.Get(context.Background(), h.key(), b) == nil {
		raw, _ := json.Marshal(b.Status) // for a person's eye
		t.Logf("the BMC: %s", raw)
	}
}

func (h *host) key() client.ObjectKey { return client.ObjectKey{Namespace: namespace, Name: h.name} }

func (h *host) get(t *testing.T) *metal3.BareMetalHost {
	t.Helper()
	object := &metal3.BareMetalHost{}
	NewWithT(t).Expect(h.kube.Get(t.Context(), h.key(), object)).To(Succeed())
	return object
}

// change edits an object of the host's name as a user does, until nobody else is in between.
func change[T client.Object](t *testing.T, h *host, object T, edit func(T)) {
	t.Helper()
	NewWithT(t).Eventually(func() error {
		if err := h.kube.Get(t.Context(), h.key(), object); err != nil {
			return err
		}
		edit(object)
		return h.kube.Update(t.Context(), object)
	}).WithTimeout(20 * time.Second).Should(Succeed())
}

func (h *host) until(t *testing.T, what string, ok func(*metal3.BareMetalHost) bool) {
	t.Helper()
	begin := time.Now()
	NewWithT(t).Eventually(func() error {
		object := h.get(t)
		if ok(object) {
			return nil
		}
		return fmt.Errorf("state %q, error %q, conditions %v, asked %q, BMC %+v", object.Status.Provisioning.State, object.Status.ErrorMessage, object.Status.Conditions, h.targets(t), h.condition(t, v1alpha1.Ready))
	}, patience, glance).Should(Succeed(), what)
	t.Logf("%s after %s", what, time.Since(begin).Round(100*time.Millisecond))
}

// condition is one of the BMC's; the zero value while there is none.
func (h *host) condition(t *testing.T, kind string) metav1.Condition {
	t.Helper()
	b := &v1alpha1.BMC{}
	NewWithT(t).Expect(client.IgnoreNotFound(h.kube.Get(t.Context(), h.key(), b))).To(Succeed())
	if c := meta.FindStatusCondition(b.Status.Conditions, kind); c != nil {
		return *c
	}
	return metav1.Condition{}
}

// targets are what Ironic was asked to do with the host's node.
func (h *host) targets(t *testing.T) []string {
	t.Helper()
	var node struct {
		UUID string `json:"uuid"`
	}
	name := namespace + names.NodeNameSeparator + h.name
	if h.ironic.Call(t.Context(), http.MethodGet, "/v1/nodes/"+name+"?fields=uuid", nil, &node) != nil {
		return nil // there is none yet
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	var targets []string
	for _, line := range h.asked {
		id, target, _ := strings.Cut(line, " ")
		if id == node.UUID || id == name || id == url.PathEscape(name) {
			targets = append(targets, target)
		}
	}
	return targets
}

// volumes are the RAID types on the machine, as its BMC shows them.
func (h *host) volumes(t *testing.T) []string {
	t.Helper()
	var collection struct {
		Members []struct {
			ID string `json:"@odata.id"`
		}
	}
	h.redfish(t, "/Storage/RAID.1/Volumes", &collection)
	kinds := []string{}
	for _, member := range collection.Members {
		var volume struct{ RAIDType string }
		h.redfish(t, strings.TrimPrefix(member.ID, "/redfish/v1/Systems/"+h.machine.System), &volume)
		kinds = append(kinds, volume.RAIDType)
	}
	return kinds
}

// redfish reads a resource of the machine.
func (h *host) redfish(t *testing.T, path string, into any) {
	t.Helper()
	g := NewWithT(t)
	bmc := h.hall.Lab.Redfish
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, bmc.URL+"/redfish/v1/Systems/"+h.machine.System+path, http.NoBody)
	g.Expect(err).NotTo(HaveOccurred())
	request.SetBasicAuth(bmc.User, bmc.Password)
	answer, err := bmc.HTTP.Do(request)
	g.Expect(err).NotTo(HaveOccurred())
	defer answer.Body.Close()
	g.Expect(json.NewDecoder(answer.Body).Decode(into)).To(Succeed())
}

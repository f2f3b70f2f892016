//go:build e2e

package bmcevents_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
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
	"github.com/ironflow/ironflow/test/bmc/simulator"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
	"github.com/ironflow/ironflow/test/machine/ironictest"
	"github.com/ironflow/ironflow/test/shipped"
)

const (
	// patience bounds every wait on the real Ironic, glance is how often it is looked.
	patience = 4 * time.Minute
	glance   = 100 * time.Millisecond
)

var key = client.ObjectKey{Namespace: "default", Name: "told"}

// world is one host, with the program and everything around it.
type world struct {
	hall     *ironictest.Hall
	machine  *ironictest.Machine
	kube     client.Client
	ironic   ironictest.Ironic
	endpoint string // of Ironic, with an ear in between
	program  string
	ironflow *shipped.Process

	mu    sync.Mutex
	asked []question
}

// question is a change of power that Ironic was asked for.
type question struct {
	at time.Time
	// power is what Ironic took for the machine's.
	power string
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

// newWorld starts all but the program. Ironic looks at the power of machines as often as
// it does by default, and leaves it as it is, as metal3 has it.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{program: program(t)}
	ctrl.SetLogger(logr.Discard())
	g := NewWithT(t)
	l := labtest.New(t)
	w.hall = ironictest.Start(t, l, ironictest.HallOptions{
		Redfish: &lab.RedfishOptions{Delays: simulator.Delays{Power: time.Second, POST: 2 * time.Second}},
		Ironic: lab.IronicOptions{Overrides: map[string]map[string]string{
			"conductor": {"sync_power_state_interval": "60", "force_power_state_during_sync": "false"},
		}},
	})
	w.ironic = ironictest.Ironic{URL: l.Ironic.URL, HTTP: l.Ironic.HTTPClient()}
	_, err := l.StartControlPlane(t.Context(), lab.ControlPlaneOptions{Controllers: true})
	g.Expect(err).NotTo(HaveOccurred())
	w.kube, err = shipped.NewClient(l.ControlPlane.Config())
	g.Expect(err).NotTo(HaveOccurred())
	w.machine = w.hall.AddSimulated(t, simulator.System{Power: simulator.On})
	w.ear(t)
	t.Cleanup(func() { w.stop(t) })
	return w
}

// start runs the program, in the place of the one that ran before.
func (w *world) start(t *testing.T, more map[string]string) {
	t.Helper()
	w.stop(t)
	settings := map[string]string{"IRONIC_ENDPOINT": w.endpoint, "DEPLOY_ISO_URL": "http://127.0.0.1:1/live.iso", "IRONFLOW_BMC": "true"}
	maps.Copy(settings, more)
	var err error
	w.ironflow, err = shipped.Start(t.Context(), shipped.Options{Lab: w.hall.Lab, Program: w.program, Command: "controllers", Settings: settings})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
}

func (w *world) stop(t *testing.T) {
	t.Helper()
	if w.ironflow == nil {
		return
	}
	if err := w.ironflow.Stop(); err != nil {
		t.Errorf("stop ironflow: %v", err)
	}
	w.ironflow = nil
}

// listen are the settings of a program that BMCs push their events to.
func (w *world) listen(t *testing.T) map[string]string {
	t.Helper()
	g := NewWithT(t)
	dir := t.TempDir()
	pair, err := w.hall.Lab.Authority.Server()
	g.Expect(err).NotTo(HaveOccurred())
	for name, content := range map[string][]byte{"tls.crt": pair.Cert, "tls.key": pair.Key, "events": []byte(strings.Repeat("random bytes", 3))} {
		g.Expect(os.WriteFile(filepath.Join(dir, name), content, 0o600)).To(Succeed())
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	defer l.Close()
	return map[string]string{
		"IRONFLOW_BMC_EVENTS_ADDR": l.Addr().String(), "IRONFLOW_BMC_EVENTS_PUBLISH_URL": "https://" + l.Addr().String(),
		"IRONFLOW_BMC_EVENTS_CERT_DIR": dir, "IRONFLOW_BMC_EVENTS_KEY_FILE": filepath.Join(dir, "events"),
	}
}

// ear listens between the program and Ironic.
func (w *world) ear(t *testing.T) {
	t.Helper()
	target, err := url.Parse(w.hall.Ironic.URL)
	if err != nil {
		t.Fatal(err)
	}
	ironic := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, Transport: w.ironic.HTTP.Transport}
	ear := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		if node, is := strings.CutSuffix(r.URL.Path, "/states/power"); is && r.Method == http.MethodPut {
			var now struct {
				Power string `json:"power_state"`
			}
			if err := w.ironic.Call(r.Context(), http.MethodGet, node+"?fields=power_state", nil, &now); err != nil {
				http.Error(answer, err.Error(), http.StatusBadGateway)
				return
			}
			w.mu.Lock()
			w.asked = append(w.asked, question{time.Now(), now.Power})
			w.mu.Unlock()
		}
		ironic.ServeHTTP(answer, r)
	}))
	t.Cleanup(ear.Close)
	w.endpoint = ear.URL
}

func (w *world) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = nil
}

// firstAsked is the first change that Ironic was asked for; the zero value for none.
func (w *world) firstAsked() question {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.asked) == 0 {
		return question{}
	}
	return w.asked[0]
}

// create makes the host, which is on and not inspected.
func (w *world) create(t *testing.T) {
	t.Helper()
	g := NewWithT(t)
	user, password := w.machine.Credentials()
	g.Expect(w.kube.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}, StringData: map[string]string{"username": user, "password": password},
	})).To(Succeed())
	g.Expect(w.kube.Create(t.Context(), &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}, Spec: metal3.BareMetalHostSpec{
		Online: true, BootMACAddress: w.machine.MAC, AutomatedCleaningMode: metal3.CleaningModeDisabled, InspectionMode: metal3.InspectionModeDisabled,
		BMC: metal3.BMCDetails{Address: w.machine.Address(), CredentialsName: key.Name, DisableCertificateVerification: true},
	}})).To(Succeed())
	t.Cleanup(func() { w.tell(t) })
}

// tell says after a failure what was known of the machine.
func (w *world) tell(t *testing.T) {
	t.Helper()
	b := &v1alpha1.BMC{}
	if t.Failed() && w.kube.Get(context.Background(), key, b) == nil {
		raw, _ := json.Marshal(b.Status.Conditions) // for a person's eye
		t.Logf("the BMC: %s", raw)
	}
}

func (w *world) host(t *testing.T) *metal3.BareMetalHost {
	t.Helper()
	h := &metal3.BareMetalHost{}
	NewWithT(t).Expect(w.kube.Get(t.Context(), key, h)).To(Succeed())
	return h
}

func (w *world) until(t *testing.T, what string, ok func(*metal3.BareMetalHost) bool) {
	t.Helper()
	NewWithT(t).Eventually(func() error {
		h := w.host(t)
		if ok(h) {
			return nil
		}
		return fmt.Errorf("state %q, error %q, conditions %v", h.Status.Provisioning.State, h.Status.ErrorMessage, h.Status.Conditions)
	}, patience, glance).Should(Succeed(), what)
}

// condition is one of the BMC's; the zero value while there is none.
func (w *world) condition(t *testing.T, kind string) metav1.Condition {
	t.Helper()
	b := &v1alpha1.BMC{}
	NewWithT(t).Expect(client.IgnoreNotFound(w.kube.Get(t.Context(), key, b))).To(Succeed())
	if c := meta.FindStatusCondition(b.Status.Conditions, kind); c != nil {
		return *c
	}
	return metav1.Condition{}
}

// redfish reads the machine's system.
func (w *world) redfish(t *testing.T, into any) {
	t.Helper()
	g := NewWithT(t)
	bmc := w.hall.Lab.Redfish
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, bmc.SystemURL(w.machine.System), http.NoBody)
	g.Expect(err).NotTo(HaveOccurred())
	request.SetBasicAuth(bmc.User, bmc.Password)
	answer, err := bmc.HTTP.Do(request)
	g.Expect(err).NotTo(HaveOccurred())
	defer answer.Body.Close()
	g.Expect(json.NewDecoder(answer.Body).Decode(into)).To(Succeed())
}

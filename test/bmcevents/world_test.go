//go:build e2e

package bmcevents_test

import (
	"context"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/test/bmc/simulator"
	"github.com/ironflow/ironflow/test/bmc/world/whole"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/machine/ironictest"
)

const (
	patience = 4 * time.Minute
	glance   = 100 * time.Millisecond
)

// world is one host, with the program and everything around it.
type world struct {
	*whole.World

	hall     *ironictest.Hall
	kube     client.Client
	machine  *ironictest.Machine
	one      *whole.Host
	endpoint string // of Ironic, with an ear in between

	mu    sync.Mutex
	asked []question
}

// question is a change of power that Ironic was asked for.
type question struct {
	at time.Time
	// power is what Ironic took for the machine's.
	power string
}

// newWorld starts all but the program. Ironic looks at the power of machines as often as
// it does by default, and leaves it as it is, as metal3 has it.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{World: whole.New(t, whole.Options{Patience: patience, Glance: glance, Hall: ironictest.HallOptions{
		Redfish: &lab.RedfishOptions{Delays: simulator.Delays{Power: time.Second, POST: 2 * time.Second}},
		Ironic: lab.IronicOptions{Overrides: map[string]map[string]string{
			"conductor": {"sync_power_state_interval": "60", "force_power_state_during_sync": "false"},
		}},
	}})}
	w.hall, w.kube = w.Hall, w.Kube
	w.machine = w.hall.AddSimulated(t, simulator.System{Power: simulator.On})
	w.endpoint = w.Ear(t, w.hear)
	return w
}

// start runs the program, in the place of the one that ran before.
func (w *world) start(t *testing.T, more map[string]string) {
	t.Helper()
	settings := map[string]string{"IRONIC_ENDPOINT": w.endpoint}
	maps.Copy(settings, more)
	w.Start(t, settings)
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

// hear notes what Ironic takes for the machine's power when it is asked for another.
func (w *world) hear(ctx context.Context, wish whole.Wish) error {
	if wish.Of != "power" {
		return nil
	}
	var now struct {
		Power string `json:"power_state"`
	}
	if err := w.Ironic.Call(ctx, http.MethodGet, "/v1/nodes/"+wish.Node+"?fields=power_state", nil, &now); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, question{time.Now(), now.Power})
	return nil
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
	w.one = w.Register(t, "told", w.machine, w.hall.Lab.Redfish, func(h *metal3.BareMetalHost) {
		h.Spec.Online, h.Spec.InspectionMode = true, metal3.InspectionModeDisabled
	})
}

func (w *world) host(t *testing.T) *metal3.BareMetalHost { return w.one.Get(t) }

func (w *world) until(t *testing.T, what string, ok func(*metal3.BareMetalHost) bool) {
	t.Helper()
	w.one.Until(t, what, ok)
}

func (w *world) condition(t *testing.T, kind string) metav1.Condition {
	return w.one.Condition(t, kind)
}

// redfish reads the machine's system.
func (w *world) redfish(t *testing.T, into any) {
	t.Helper()
	w.one.Redfish(t, "", into)
}

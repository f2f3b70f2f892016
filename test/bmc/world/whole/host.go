package whole

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/machine/ironictest"
)

// Host is a host with its machine and its BMC.
type Host struct {
	Name    string
	Machine *ironictest.Machine
	BMC     *lab.Redfish
	// Also is what a wait shows besides the host; nil for nothing. Its changes are logged.
	Also func(t *testing.T) string

	world *World
}

// Register makes a host of the machine, with its Secret, and as wish edits it. After a
// failure it is said what was known of its BMC.
func (w *World) Register(t *testing.T, name string, machine *ironictest.Machine, bmc *lab.Redfish, wish func(*metal3.BareMetalHost)) *Host {
	t.Helper()
	g := gomega.NewWithT(t)
	h := &Host{Name: name, Machine: machine, BMC: bmc, world: w}
	user, password := machine.Credentials()
	g.Expect(w.Kube.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: name}, StringData: map[string]string{"username": user, "password": password},
	})).To(gomega.Succeed())
	object := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: name}, Spec: metal3.BareMetalHostSpec{
		BootMACAddress: machine.MAC, AutomatedCleaningMode: metal3.CleaningModeDisabled,
		BMC: metal3.BMCDetails{Address: machine.Address(), CredentialsName: name, DisableCertificateVerification: true},
	}}
	wish(object)
	g.Expect(w.Kube.Create(t.Context(), object)).To(gomega.Succeed())
	t.Cleanup(func() {
		b := &v1alpha1.BMC{}
		if t.Failed() && w.Kube.Get(context.Background(), h.Key(), b) == nil {
			raw, _ := json.Marshal(b.Status) // for a person's eye
			t.Logf("the BMC of %s: %s", name, raw)
		}
	})
	return h
}

// Key is the host's, and those of its Secret and its BMC.
func (h *Host) Key() client.ObjectKey { return client.ObjectKey{Namespace: Namespace, Name: h.Name} }

// Node is the name of its node in Ironic.
func (h *Host) Node() string { return Namespace + names.NodeNameSeparator + h.Name }

// Get reads the host.
func (h *Host) Get(t *testing.T) *metal3.BareMetalHost {
	t.Helper()
	object := &metal3.BareMetalHost{}
	gomega.NewWithT(t).Expect(h.world.Kube.Get(t.Context(), h.Key(), object)).To(gomega.Succeed())
	return object
}

// Condition is one of the BMC's; the zero value while there is none.
func (h *Host) Condition(t *testing.T, kind string) metav1.Condition {
	t.Helper()
	b := &v1alpha1.BMC{}
	gomega.NewWithT(t).Expect(client.IgnoreNotFound(h.world.Kube.Get(t.Context(), h.Key(), b))).To(gomega.Succeed())
	if c := meta.FindStatusCondition(b.Status.Conditions, kind); c != nil {
		return *c
	}
	return metav1.Condition{}
}

// Until waits for a state of the host.
func (h *Host) Until(t *testing.T, what string, ok func(*metal3.BareMetalHost) bool) {
	t.Helper()
	begin, told := time.Now(), ""
	took := func() time.Duration { return time.Since(begin).Round(100 * time.Millisecond) }
	gomega.NewWithT(t).Eventually(func() error {
		object := h.Get(t)
		if also := h.also(t); also != told {
			told = also
			t.Logf("%s: after %s: %s", h.Name, took(), told)
		}
		if ok(object) {
			return nil
		}
		return fmt.Errorf("%s: state %q, error %q, conditions %v, %s", h.Name, object.Status.Provisioning.State, object.Status.ErrorMessage, object.Status.Conditions, told)
	}, h.world.options.Patience, h.world.options.Glance).Should(gomega.Succeed(), what)
	t.Logf("%s: %s after %s", h.Name, what, took())
}

func (h *Host) also(t *testing.T) string {
	if h.Also == nil {
		return ""
	}
	return h.Also(t)
}

// Ask asks the BMC for a part of the machine's system with a password, and reads what it
// answers into into, unless that is nil. The path begins behind the system's.
func (h *Host) Ask(t *testing.T, path, password string, into any) (status int) {
	t.Helper()
	g := gomega.NewWithT(t)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.BMC.SystemURL(h.Machine.System)+path, http.NoBody)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	request.SetBasicAuth(h.BMC.User, password)
	answer, err := h.BMC.HTTP.Do(request)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer answer.Body.Close()
	if into != nil {
		g.Expect(json.NewDecoder(answer.Body).Decode(into)).To(gomega.Succeed())
	}
	return answer.StatusCode
}

// Redfish reads a part of the machine's system.
func (h *Host) Redfish(t *testing.T, path string, into any) {
	t.Helper()
	gomega.NewWithT(t).Expect(h.Ask(t, path, h.BMC.Password, into)).To(gomega.Equal(http.StatusOK))
}

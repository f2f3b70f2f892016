//go:build e2e

package joint_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/machine/ironictest"
)

const (
	// patience bounds every wait.
	patience = 4 * time.Minute
	// poll is how often things are looked at while nothing is measured.
	poll = 200 * time.Millisecond
	// glance is the same while something is measured: its error.
	glance = 100 * time.Millisecond

	namespace = "default"
	writing   = string(wire.HostStageWritingImageToDisk)
)

// create makes the host, ready to be deployed at once unless it is to be inspected.
func (m *machine) create(t *testing.T, inspection metal3.InspectionMode) {
	t.Helper()
	g := NewWithT(t)
	e := m.world.lab.Emulator
	g.Expect(m.world.kube.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: m.name},
		StringData: map[string]string{"username": e.User, "password": e.Password},
	})).To(Succeed())
	g.Expect(m.world.kube.Create(t.Context(), &metal3.BareMetalHost{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: m.name, Labels: map[string]string{names.InfraEnvLabel: infraEnvName}},
		Spec: metal3.BareMetalHostSpec{
			Online: true, BootMACAddress: m.mac(), InspectionMode: inspection, AutomatedCleaningMode: metal3.CleaningModeDisabled,
			BMC: metal3.BMCDetails{Address: e.Address(m.uuid), CredentialsName: m.name, DisableCertificateVerification: true},
		},
	})).To(Succeed())
	m.until(t, "available", func(h *metal3.BareMetalHost) bool { return h.Status.Provisioning.State == metal3.StateAvailable })
}

// deploy makes the host and has it installed.
func (m *machine) deploy(t *testing.T) {
	t.Helper()
	m.create(t, metal3.InspectionModeDisabled)
	m.install(t)
}

// install asks for the step, as the link controller does.
func (m *machine) install(t *testing.T) {
	t.Helper()
	m.edit(t, func(h *metal3.BareMetalHost) {
		h.Spec.CustomDeploy = &metal3.CustomDeploy{Method: names.StartAssistedInstall}
	})
}

func (m *machine) host(t *testing.T) *metal3.BareMetalHost {
	t.Helper()
	h := &metal3.BareMetalHost{}
	NewWithT(t).Expect(m.world.kube.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: m.name}, h)).To(Succeed())
	return h
}

func (m *machine) edit(t *testing.T, change func(*metal3.BareMetalHost)) {
	t.Helper()
	h := m.host(t)
	before := h.DeepCopy()
	change(h)
	NewWithT(t).Expect(m.world.kube.Patch(t.Context(), h, client.MergeFrom(before))).To(Succeed())
}

// until waits for the host and says how long it took.
func (m *machine) until(t *testing.T, what string, ok func(*metal3.BareMetalHost) bool) {
	t.Helper()
	begin := time.Now()
	NewWithT(t).Eventually(func() error {
		h := m.host(t)
		if ok(h) {
			return nil
		}
		return fmt.Errorf("state %q, error %q, conditions %v, node %+v", h.Status.Provisioning.State, h.Status.ErrorMessage, h.Status.Conditions, m.node(t))
	}, patience, poll).Should(Succeed(), what)
	t.Logf("%s after %s", what, time.Since(begin).Round(100*time.Millisecond))
}

// untilProvisioned waits for the good end; a failure is said at once.
func (m *machine) untilProvisioned(t *testing.T) {
	t.Helper()
	m.until(t, "provisioned", func(h *metal3.BareMetalHost) bool {
		if h.Status.ErrorMessage != "" {
			t.Fatalf("the host failed: %s", h.Status.ErrorMessage)
		}
		return h.Status.Provisioning.State == metal3.StateProvisioned
	})
}

// untilFailed waits for the deployment's failure and returns its text on the host.
func (m *machine) untilFailed(t *testing.T) string {
	t.Helper()
	m.until(t, "failed", func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType == metal3.ProvisioningError })
	return m.host(t).Status.ErrorMessage
}

// view is what the hub shows of the machine.
func (m *machine) view(t *testing.T) service.HostView {
	t.Helper()
	v, _, err := m.world.hub.HostByMAC(t.Context(), m.world.infraEnv, m.mac())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// untilWriting waits until the agent writes the disk, as the hub sees it.
func (m *machine) untilWriting(t *testing.T) {
	t.Helper()
	NewWithT(t).Eventually(func() wire.HostStage { return m.view(t).Stage }, patience, poll).Should(Equal(wire.HostStage(writing)))
}

// node is what is looked at in Ironic's node.
type node struct {
	State     string         `json:"provision_state"`
	LastError string         `json:"last_error"`
	Step      map[string]any `json:"deploy_step"`
}

func (n node) step() string {
	name, _ := n.Step["step"].(string)
	return name
}

func (m *machine) node(t *testing.T) (n node) {
	t.Helper()
	i := ironictest.Ironic{URL: m.world.lab.Ironic.URL, HTTP: m.world.lab.Ironic.HTTPClient()}
	path := "/v1/nodes/" + namespace + names.NodeNameSeparator + m.name + "?fields=provision_state,last_error,deploy_step"
	_ = i.Call(t.Context(), http.MethodGet, path, nil, &n) // there is none yet
	return n
}

// untilStep waits until Ironic is in the step.
func (m *machine) untilStep(t *testing.T, step string) {
	t.Helper()
	NewWithT(t).Eventually(func() string { return m.node(t).step() }, patience, poll).Should(Equal(step))
}

// end is what Ironic made of the agent's end.
type end struct {
	// after is the time from the agent's exit.
	after time.Duration
	// lastErrors are the texts that last_error had on the way.
	lastErrors []string
}

// afterAgent waits for the agent's exit, by systemd's own signal, and then for
// the node to be as wanted.
func (m *machine) afterAgent(t *testing.T, wanted func(node) bool) (e end) {
	t.Helper()
	m.untilStep(t, names.StartAssistedInstall)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	updates, err := m.running().Units(t).Follow(ctx, hostfile.AgentUnit)
	if err != nil {
		t.Fatal(err)
	}
	ran := false
	for up := range updates {
		if up.Err != nil {
			t.Fatal(up.Err)
		}
		if ran = ran || !up.Unit.Ended(); ran && up.Unit.Ended() {
			break
		}
	}
	exit := time.Now()
	ticker := time.NewTicker(glance)
	defer ticker.Stop()
	for range ticker.C {
		n := m.node(t)
		if n.LastError != "" && (len(e.lastErrors) == 0 || e.lastErrors[len(e.lastErrors)-1] != n.LastError) {
			e.lastErrors = append(e.lastErrors, n.LastError)
		}
		if wanted(n) {
			e.after = time.Since(exit)
			return e
		}
		if ctx.Err() != nil {
			t.Fatalf("the node is %+v", n)
		}
	}
	return e
}

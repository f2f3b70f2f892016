//go:build e2e

package host_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
	"github.com/ironflow/ironflow/test/machine/ipa"
	"github.com/ironflow/ironflow/test/machine/ironictest"
)

// patience bounds every wait on the real Ironic.
const patience = 5 * time.Minute

// TestOnTheRealIronic takes a host through its life on a real Ironic with an
// emulated BMC and a ramdisk of the real protocol: a deployment that fails with a
// reason, its retry, a restart of Ironic in mid deployment, detach and attach,
// and the way back.
func TestOnTheRealIronic(t *testing.T) {
	g := NewWithT(t)
	r := startReal(t)
	h := r.create(t)
	r.until(t, "available and on", func(h *metal3.BareMetalHost) bool {
		return h.Status.Provisioning.State == metal3.StateAvailable && h.Status.PoweredOn
	})
	g.Expect(r.host(t).Status.HardwareDetails.NIC).NotTo(BeEmpty())

	r.step.fail.Store(true)
	r.edit(t, func(h *metal3.BareMetalHost) {
		h.Spec.CustomDeploy = &metal3.CustomDeploy{Method: names.StartAssistedInstall}
	})
	r.until(t, "failed", func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType == metal3.ProvisioningError })
	t.Logf("the reason is shown %s after the step ended", time.Since(r.step.ended()).Round(100*time.Millisecond))
	g.Expect(r.host(t).Status.ErrorMessage).To(Equal(names.StartAssistedInstall + " failed: " + stepFailure))

	r.step.fail.Store(false)
	r.annotate(t, names.Retry, "1")
	r.until(t, "deploying again", func(h *metal3.BareMetalHost) bool {
		return h.Status.ErrorType == "" && h.Status.Provisioning.State == metal3.StateProvisioning
	})
	r.untilNode(t, h, ironic.StateDeploying)
	g.Expect(r.hall.Ironic.Restart(t.Context())).To(Succeed())
	r.until(t, "provisioned", func(h *metal3.BareMetalHost) bool { return h.Status.Provisioning.State == metal3.StateProvisioned })

	r.annotate(t, names.Detached, "")
	r.until(t, "detached", func(h *metal3.BareMetalHost) bool {
		return h.Status.OperationalStatus == metal3.OperationalStatusDetached
	})
	_, err := r.gateway.Get(t.Context(), "default~real")
	g.Expect(ironic.KindOf(err)).To(Equal(ironic.Gone))
	r.edit(t, func(h *metal3.BareMetalHost) { delete(h.Annotations, names.Detached) })
	r.untilNode(t, h, ironic.StateActive)

	r.edit(t, func(h *metal3.BareMetalHost) { h.Spec.CustomDeploy = nil })
	r.until(t, "returned", func(h *metal3.BareMetalHost) bool { return h.Status.Provisioning.State == metal3.StateAvailable })
	g.Expect(r.kube.Delete(t.Context(), r.host(t))).To(Succeed())
	g.Eventually(func() error {
		return client.IgnoreNotFound(r.kube.Get(t.Context(), client.ObjectKeyFromObject(h), &metal3.BareMetalHost{}))
	}, patience, 200*time.Millisecond).Should(Succeed())
	g.Eventually(func() ironic.Kind {
		_, err := r.gateway.Get(t.Context(), "default~real")
		return ironic.KindOf(err)
	}, patience, 200*time.Millisecond).Should(Equal(ironic.Gone))
}

// realWorld is the test's world.
type realWorld struct {
	hall    *ironictest.Hall
	machine *ironictest.Machine
	kube    client.Client
	gateway *ironic.Gateway
	step    *step
	config  *rest.Config                        // of the API server
	asks    atomic.Pointer[func(*http.Request)] // sees the controller's requests to Ironic, if set
}

// roundTripper is an http.RoundTripper of one function.
type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// wrap shows the controller's requests to asks.
func (r *realWorld) wrap(base http.RoundTripper) http.RoundTripper {
	return roundTripper(func(q *http.Request) (*http.Response, error) {
		if asks := r.asks.Load(); asks != nil {
			(*asks)(q)
		}
		return base.RoundTrip(q)
	})
}

func startReal(t *testing.T) *realWorld {
	t.Helper()
	return startRealOn(t, ironictest.HallOptions{}, func(h *ironictest.Hall) *ironictest.Machine { return h.Add(t) })
}

// startRealOn starts the world in a hall with the one machine that add makes.
func startRealOn(t *testing.T, o ironictest.HallOptions, add func(*ironictest.Hall) *ironictest.Machine) *realWorld {
	t.Helper()
	ctrl.SetLogger(logr.Discard())
	g := NewWithT(t)
	l := labtest.New(t)
	r := &realWorld{step: &step{}}
	o.Managers = []ipa.Manager{r.step}
	r.hall = ironictest.Start(t, l, o)
	r.machine = add(r.hall)
	plane, err := l.StartControlPlane(t.Context(), lab.ControlPlaneOptions{Controllers: true})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = envtest.InstallCRDs(plane.Config(), envtest.CRDInstallOptions{Paths: []string{"../../config/crd/metal3"}})
	g.Expect(err).NotTo(HaveOccurred())
	r.config = plane.Config()
	scheme := runtime.NewScheme()
	g.Expect(clientgoscheme.AddToScheme(scheme)).To(Succeed())
	g.Expect(metal3.AddToScheme(scheme)).To(Succeed())
	access := r.hall.Access()
	access.Wrap = r.wrap
	r.gateway, err = ironic.New(t.Context(), access)
	g.Expect(err).NotTo(HaveOccurred())
	startManager(t, plane, scheme, r.gateway, policy.Settings{Settings: nodespec.Settings{DeployISO: "http://127.0.0.1:1/live.iso"}}, t.Name())
	r.kube, err = client.New(plane.Config(), client.Options{Scheme: scheme})
	g.Expect(err).NotTo(HaveOccurred())
	return r
}

// create makes the host with its BMC; changes edit it before.
func (r *realWorld) create(t *testing.T, changes ...func(*metal3.BareMetalHost)) *metal3.BareMetalHost {
	t.Helper()
	g := NewWithT(t)
	g.Expect(r.createSecret(t)).To(Succeed())
	h := &metal3.BareMetalHost{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "real"},
		Spec: metal3.BareMetalHostSpec{Online: true, BootMACAddress: r.machine.MAC, BMC: metal3.BMCDetails{
			Address: r.machine.Address(), CredentialsName: "real", DisableCertificateVerification: true,
		}},
	}
	for _, change := range changes {
		change(h)
	}
	g.Expect(r.kube.Create(t.Context(), h)).To(Succeed())
	return h
}

// createSecret makes the Secret of the BMC, which goes with its host.
func (r *realWorld) createSecret(t *testing.T) error {
	user, password := r.machine.Credentials()
	return r.kube.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "real"},
		StringData: map[string]string{"username": user, "password": password},
	})
}

func (r *realWorld) host(t *testing.T) *metal3.BareMetalHost {
	t.Helper()
	h := &metal3.BareMetalHost{}
	NewWithT(t).Expect(r.kube.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "real"}, h)).To(Succeed())
	return h
}

func (r *realWorld) edit(t *testing.T, change func(*metal3.BareMetalHost)) {
	t.Helper()
	h := r.host(t)
	before := h.DeepCopy()
	change(h)
	NewWithT(t).Expect(r.kube.Patch(t.Context(), h, client.MergeFrom(before))).To(Succeed())
}

func (r *realWorld) annotate(t *testing.T, key, value string) {
	t.Helper()
	r.edit(t, func(h *metal3.BareMetalHost) { metav1.SetMetaDataAnnotation(&h.ObjectMeta, key, value) })
}

func (r *realWorld) until(t *testing.T, what string, ok func(*metal3.BareMetalHost) bool) {
	t.Helper()
	begin := time.Now()
	NewWithT(t).Eventually(func() error {
		h := r.host(t)
		if ok(h) {
			return nil
		}
		n, _ := r.gateway.Get(t.Context(), "default~real")
		return fmt.Errorf("state %q, error %q, conditions %v, node %+v", h.Status.Provisioning.State, h.Status.ErrorMessage, h.Status.Conditions, n)
	}, patience, 100*time.Millisecond).Should(Succeed(), what)
	t.Logf("%s after %s", what, time.Since(begin).Round(100*time.Millisecond))
}

func (r *realWorld) untilNode(t *testing.T, h *metal3.BareMetalHost, state ironic.ProvisionState) {
	t.Helper()
	NewWithT(t).Eventually(func() (ironic.ProvisionState, error) {
		n, err := r.gateway.Get(t.Context(), h.Namespace+"~"+h.Name)
		if err != nil {
			return "", client.IgnoreNotFound(nil)
		}
		return n.ProvisionState, nil
	}, patience, 50*time.Millisecond).Should(Equal(state))
}

// stepFailure is what the deploy step says when it fails.
const stepFailure = "disk /dev/sda has 8 GB, 100 GB are needed"

// step is the ramdisk's manager with the two steps of our flow.
type step struct {
	fail atomic.Bool
	end  atomic.Int64
}

func (s *step) ended() time.Time { return time.Unix(0, s.end.Load()) }

func (*step) Name() string    { return "HostTestManager" }
func (*step) Version() string { return "1" }

func (*step) Steps(_ context.Context, kind ipa.Kind) ([]ipa.Step, error) {
	switch kind {
	case ipa.Deploy:
		return []ipa.Step{{Name: names.StartAssistedInstall, Interface: "deploy"}, {Name: names.ConfirmInstall, Interface: "deploy", Priority: 79}}, nil
	case ipa.Clean:
		return []ipa.Step{{Name: "erase_devices_metadata", Interface: "deploy", Priority: 99}}, nil
	default:
		return nil, nil
	}
}

func (s *step) Run(ctx context.Context, call ipa.Call) (any, error) {
	switch call.Step {
	case names.StartAssistedInstall:
	case names.ConfirmInstall, "erase_devices_metadata":
		return nil, nil
	default:
		return nil, fmt.Errorf("step %s: %w", call.Step, errors.ErrUnsupported)
	}
	call.BeatAtEnd()
	defer func() { s.end.Store(time.Now().UnixNano()) }()
	if s.fail.Load() {
		return nil, ipa.ErrDeployment(stepFailure)
	}
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil, nil
	case <-ctx.Done():
		return nil, errors.New("switched off")
	}
}

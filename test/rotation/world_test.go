//go:build e2e

package rotation_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
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
	patience = 10 * time.Minute
	glance   = 300 * time.Millisecond

	namespace = "default"
	issuer    = "the site"
)

// world is the program with everything around it.
type world struct {
	hall    *ironictest.Hall
	kube    client.Client
	ironic  ironictest.Ironic
	program *shipped.Process
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
	l := labtest.New(t)
	w := &world{hall: ironictest.Start(t, l, ironictest.HallOptions{})}
	w.ironic = ironictest.Ironic{URL: l.Ironic.URL, HTTP: l.Ironic.HTTPClient()}
	_, err := l.StartControlPlane(t.Context(), lab.ControlPlaneOptions{Controllers: true})
	g.Expect(err).NotTo(HaveOccurred())
	w.program, err = shipped.Start(t.Context(), shipped.Options{Lab: l, Program: path, Command: "controllers", Settings: map[string]string{
		"DEPLOY_ISO_URL": "http://127.0.0.1:1/live.iso", "IRONFLOW_BMC": "true", "IRONFLOW_BMC_ROTATIONS": "3", "IRONFLOW_BMC_ISSUER_DIR": authority(t),
	}})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() {
		if err := w.program.Stop(); err != nil {
			t.Errorf("stop ironflow: %v", err)
		}
	})
	w.kube, err = shipped.NewClient(l.ControlPlane.Config())
	g.Expect(err).NotTo(HaveOccurred())
	return w
}

// authority is a folder with an issuer of certificates.
func authority(t *testing.T) string {
	t.Helper()
	g, folder := NewWithT(t), t.TempDir()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	g.Expect(err).NotTo(HaveOccurred())
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: issuer}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(1, 0, 0), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	g.Expect(err).NotTo(HaveOccurred())
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	g.Expect(err).NotTo(HaveOccurred())
	for name, block := range map[string]*pem.Block{"tls.crt": {Type: "CERTIFICATE", Bytes: der}, "tls.key": {Type: "PRIVATE KEY", Bytes: raw}} {
		g.Expect(os.WriteFile(filepath.Join(folder, name), pem.EncodeToMemory(block), 0o600)).To(Succeed())
	}
	return folder
}

// host is a host with its machine and its BMC.
type host struct {
	*world

	name    string
	machine *ironictest.Machine
	bmc     *lab.Redfish
	// passwords are those that were taken before.
	passwords []string
}

// newHost registers a host; annotations may ask for a change at once.
func (w *world) newHost(t *testing.T, name string, annotations map[string]string) *host {
	t.Helper()
	g := NewWithT(t)
	h := &host{world: w, name: name}
	h.machine, h.bmc = w.hall.AddAlone(t, simulator.System{})
	user, password := h.machine.Credentials()
	h.passwords = []string{password}
	g.Expect(w.kube.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, StringData: map[string]string{"username": user, "password": password},
	})).To(Succeed())
	g.Expect(w.kube.Create(t.Context(), &metal3.BareMetalHost{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Annotations: annotations},
		Spec: metal3.BareMetalHostSpec{
			BootMACAddress: h.machine.MAC, AutomatedCleaningMode: metal3.CleaningModeDisabled,
			BMC: metal3.BMCDetails{Address: h.machine.Address(), CredentialsName: name, DisableCertificateVerification: true},
		},
	})).To(Succeed())
	return h
}

func (h *host) key() client.ObjectKey { return client.ObjectKey{Namespace: namespace, Name: h.name} }

func (h *host) get(t *testing.T) *metal3.BareMetalHost {
	t.Helper()
	object := &metal3.BareMetalHost{}
	NewWithT(t).Expect(h.kube.Get(t.Context(), h.key(), object)).To(Succeed())
	return object
}

// ask asks for something by an annotation.
func (h *host) ask(t *testing.T, annotation, value string) {
	t.Helper()
	object := h.get(t)
	before := object.DeepCopy()
	metav1.SetMetaDataAnnotation(&object.ObjectMeta, annotation, value)
	NewWithT(t).Expect(h.kube.Patch(t.Context(), object, client.MergeFrom(before))).To(Succeed())
}

// until waits for a state of the host.
func (h *host) until(t *testing.T, what string, ok func(*metal3.BareMetalHost) bool) {
	t.Helper()
	begin, told := time.Now(), ""
	NewWithT(t).Eventually(func() error {
		object := h.get(t)
		if c := h.condition(t, v1alpha1.CredentialsCurrent); c.Reason+c.Message != told {
			told = c.Reason + c.Message
			t.Logf("%s: after %s: %s: %s", h.name, time.Since(begin).Round(100*time.Millisecond), c.Reason, c.Message)
		}
		if ok(object) {
			return nil
		}
		return fmt.Errorf("%s: state %q, error %q, password %+v, certificate %+v", h.name, object.Status.Provisioning.State, object.Status.ErrorMessage,
			h.condition(t, v1alpha1.CredentialsCurrent), h.condition(t, v1alpha1.CertificateCurrent))
	}, patience, glance).Should(Succeed(), what)
	t.Logf("%s: %s after %s", h.name, what, time.Since(begin).Round(100*time.Millisecond))
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

// stored is the password of the host's Secret.
func (h *host) stored(t *testing.T) string {
	t.Helper()
	s := &corev1.Secret{}
	NewWithT(t).Expect(h.kube.Get(t.Context(), h.key(), s)).To(Succeed())
	return string(s.Data["password"])
}

// opens is the status with which the BMC answers a login.
func (h *host) opens(t *testing.T, password string) int {
	t.Helper()
	g := NewWithT(t)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.bmc.SystemURL(h.machine.System), http.NoBody)
	g.Expect(err).NotTo(HaveOccurred())
	request.SetBasicAuth(h.bmc.User, password)
	answer, err := h.bmc.HTTP.Do(request)
	g.Expect(err).NotTo(HaveOccurred())
	defer answer.Body.Close()
	return answer.StatusCode
}

// throughIronic has Ironic read from the BMC, with what its node has.
func (h *host) throughIronic(t *testing.T) error {
	t.Helper()
	return h.ironic.Call(t.Context(), http.MethodGet, "/v1/nodes/"+namespace+names.NodeNameSeparator+h.name+"/management/boot_device", nil, &struct{}{})
}

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

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/test/bmc/simulator"
	"github.com/ironflow/ironflow/test/bmc/world/whole"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/shipped"
)

const (
	patience = 10 * time.Minute
	glance   = 300 * time.Millisecond

	issuer = "the site"
)

// world is the program with everything around it.
type world struct {
	*whole.World

	program *shipped.Process
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{World: whole.New(t, whole.Options{Patience: patience, Glance: glance})}
	w.Start(t, map[string]string{"IRONFLOW_BMC_ROTATIONS": "3", "IRONFLOW_BMC_ISSUER_DIR": authority(t)})
	w.program = w.Program
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
	*whole.Host

	world *world
	name  string
	bmc   *lab.Redfish
	// passwords are those that were taken before.
	passwords []string
}

// newHost registers a host; annotations may ask for a change at once.
func (w *world) newHost(t *testing.T, name string, annotations map[string]string) *host {
	t.Helper()
	machine, bmc := w.Hall.AddAlone(t, simulator.System{})
	_, password := machine.Credentials()
	h := &host{world: w, name: name, bmc: bmc, passwords: []string{password}}
	h.Host = w.Register(t, name, machine, bmc, func(b *metal3.BareMetalHost) { b.Annotations = annotations })
	h.Also = func(t *testing.T) string {
		c := h.condition(t, v1alpha1.CredentialsCurrent)
		return fmt.Sprintf("%s: %s; certificate %s", c.Reason, c.Message, h.condition(t, v1alpha1.CertificateCurrent).Reason)
	}
	return h
}

func (h *host) get(t *testing.T) *metal3.BareMetalHost { return h.Get(t) }

func (h *host) until(t *testing.T, what string, ok func(*metal3.BareMetalHost) bool) {
	t.Helper()
	h.Until(t, what, ok)
}

func (h *host) condition(t *testing.T, kind string) metav1.Condition { return h.Condition(t, kind) }

// ask asks for something by an annotation.
func (h *host) ask(t *testing.T, annotation, value string) {
	t.Helper()
	object := h.get(t)
	before := object.DeepCopy()
	metav1.SetMetaDataAnnotation(&object.ObjectMeta, annotation, value)
	NewWithT(t).Expect(h.world.Kube.Patch(t.Context(), object, client.MergeFrom(before))).To(Succeed())
}

// stored is the password of the host's Secret.
func (h *host) stored(t *testing.T) string {
	t.Helper()
	s := &corev1.Secret{}
	NewWithT(t).Expect(h.world.Kube.Get(t.Context(), h.Key(), s)).To(Succeed())
	return string(s.Data["password"])
}

// opens is the status with which the BMC answers a login.
func (h *host) opens(t *testing.T, password string) int {
	t.Helper()
	return h.Ask(t, "", password, nil)
}

// throughIronic has Ironic read from the BMC, with what its node has.
func (h *host) throughIronic(t *testing.T) error {
	t.Helper()
	return h.world.Ironic.Call(t.Context(), http.MethodGet, "/v1/nodes/"+h.Node()+"/management/boot_device", nil, &struct{}{})
}

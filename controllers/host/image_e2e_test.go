//go:build e2e

package host_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/bmc/simulator"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/machine/ipa"
	"github.com/ironflow/ironflow/test/machine/ironictest"
)

// disk is what the agents of the test write images to.
type disk struct {
	mu     sync.Mutex
	images []ipa.Image
}

// write fetches an image and compares its checksum, as the real agent does.
func (d *disk) write(ctx context.Context, image ipa.Image) (string, error) {
	if _, err := image.Fetch(ctx, http.DefaultClient); err != nil {
		return "", err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.images = append(d.images, image)
	return "/dev/sda", nil
}

func (d *disk) written() []ipa.Image {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]ipa.Image(nil), d.images...)
}

// TestImagesOnTheRealIronic deploys an image whose checksum is wrong at first,
// then right, and a live ISO after it, on a real Ironic with a simulated agent.
func TestImagesOnTheRealIronic(t *testing.T) {
	g := NewWithT(t)
	disk := &disk{}
	r := startRealOn(t, ironictest.HallOptions{WriteImage: disk.write, Redfish: &lab.RedfishOptions{}},
		func(h *ironictest.Hall) *ironictest.Machine { return h.AddSimulated(t, simulator.System{}) })
	content := make([]byte, 1<<20)
	sum := sha256.Sum256(content)
	files := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) }))
	t.Cleanup(files.Close)
	g.Expect(r.kube.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "user"}, StringData: map[string]string{"userData": "#cloud-config\n"},
	})).To(Succeed())
	image := &metal3.Image{URL: files.URL + "/os.raw", Checksum: hex.EncodeToString(make([]byte, sha256.Size)), ChecksumType: metal3.SHA256, DiskFormat: new("raw")}
	r.create(t, func(h *metal3.BareMetalHost) {
		h.Spec.Image, h.Spec.UserData = image, &corev1.SecretReference{Name: "user", Namespace: "default"}
		h.Spec.AutomatedCleaningMode = metal3.CleaningModeDisabled
	})
	r.until(t, "failed", func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType == metal3.ProvisioningError })
	g.Expect(r.host(t).Status.ErrorMessage).To(And(HavePrefix("Image provisioning failed (url: "+image.URL), ContainSubstring("checksum")))
	g.Expect(disk.written()).To(BeEmpty())
	r.edit(t, func(h *metal3.BareMetalHost) { h.Spec.Image.Checksum = hex.EncodeToString(sum[:]) })
	r.until(t, "provisioned", func(h *metal3.BareMetalHost) bool {
		return h.Status.Provisioning.State == metal3.StateProvisioned && h.Status.PoweredOn
	})
	g.Expect(disk.written()).To(HaveLen(1))
	g.Expect(disk.written()[0]).To(And(HaveField("HashValue", hex.EncodeToString(sum[:])), HaveField("ConfigDrive", Not(BeEmpty()))))
	g.Expect(r.host(t).Status.Provisioning.Image.URL).To(Equal(image.URL))

	live := files.URL + "/live.iso"
	r.edit(t, func(h *metal3.BareMetalHost) { h.Spec.Image = &metal3.Image{URL: live, DiskFormat: new("live-iso")} })
	r.until(t, "running the live ISO", func(h *metal3.BareMetalHost) bool {
		return h.Status.Provisioning.State == metal3.StateProvisioned && h.Status.Provisioning.Image.URL == live && h.Status.PoweredOn
	})
	state, _ := r.hall.Lab.Redfish.Simulator.State(r.machine.System)
	var media []string
	for _, medium := range state.Media {
		media = append(media, medium.Image)
	}
	g.Expect(media).To(ContainElement(live), "the BMC boots it from its own address")
	n, err := r.gateway.Get(t.Context(), "default~real")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(n.Interfaces.Deploy).To(Equal("ramdisk"))
}

// TestMoveOnTheRealIronic moves a provisioned host as between two clusters:
// detached, deleted, and made anew with the annotation that carries its status. The
// machine notices nothing.
func TestMoveOnTheRealIronic(t *testing.T) {
	g := NewWithT(t)
	r := startReal(t)
	r.create(t)
	r.until(t, "available", func(h *metal3.BareMetalHost) bool { return h.Status.Provisioning.State == metal3.StateAvailable })
	r.edit(t, func(h *metal3.BareMetalHost) {
		h.Spec.CustomDeploy = &metal3.CustomDeploy{Method: names.StartAssistedInstall}
	})
	r.until(t, "provisioned and on", func(h *metal3.BareMetalHost) bool {
		return h.Status.Provisioning.State == metal3.StateProvisioned && h.Status.PoweredOn
	})
	before, touched := r.host(t), r.machine.PowerChanges()
	r.annotate(t, names.Detached, `{"deleteAction":"delete"}`)
	r.until(t, "detached", func(h *metal3.BareMetalHost) bool {
		return h.Status.OperationalStatus == metal3.OperationalStatusDetached
	})
	g.Expect(r.kube.Delete(t.Context(), r.host(t))).To(Succeed())
	r.untilGone(t)
	g.Eventually(func() error { return r.createSecret(t) }, time.Minute, time.Second).Should(Succeed(), "the Secret went with its host, and is moved as well")
	status, err := json.Marshal(before.Status)
	g.Expect(err).NotTo(HaveOccurred())
	moved := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: "real", Annotations: map[string]string{names.Status: string(status)},
	}, Spec: before.Spec}
	g.Expect(r.kube.Create(t.Context(), moved)).To(Succeed())
	r.until(t, "adopted", func(h *metal3.BareMetalHost) bool {
		n, err := r.gateway.Get(t.Context(), "default~real")
		return err == nil && n.ProvisionState == ironic.StateActive && h.Status.Provisioning.ID == n.UUID
	})
	after := r.host(t)
	g.Expect(after.Status.Provisioning.State).To(Equal(metal3.StateProvisioned))
	g.Expect(after.Status.HardwareDetails).To(Equal(before.Status.HardwareDetails))
	g.Expect(after.Annotations).NotTo(HaveKey(names.Status))
	g.Expect(r.machine.PowerChanges()).To(Equal(touched), "the machine was left alone")
}

// TestDeadBMCOnTheRealIronic deletes a host whose BMC does not answer any more:
// the reason is shown, and after four failures the host goes without being
// switched off.
func TestDeadBMCOnTheRealIronic(t *testing.T) {
	g := NewWithT(t)
	// As set up in the lab, Ironic would try for almost ten minutes to reach a BMC
	// that refuses connections.
	impatient := lab.IronicOptions{Overrides: map[string]map[string]string{"redfish": {"connection_attempts": "1"}}}
	r := startRealOn(t, ironictest.HallOptions{Ironic: impatient, Redfish: &lab.RedfishOptions{}},
		func(h *ironictest.Hall) *ironictest.Machine { return h.AddSimulated(t, simulator.System{}) })
	r.create(t)
	r.until(t, "available and on", func(h *metal3.BareMetalHost) bool {
		return h.Status.Provisioning.State == metal3.StateAvailable && h.Status.PoweredOn
	})
	r.hall.Lab.Redfish.Kill()
	g.Expect(r.kube.Delete(t.Context(), r.host(t))).To(Succeed())
	r.until(t, "failed", func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType == metal3.PowerManagementError })
	h := r.host(t)
	g.Expect(h.Status.Provisioning.State).To(Equal(metal3.StatePoweringOffBeforeDelete))
	g.Expect(h.Status.ErrorMessage).To(ContainSubstring("power off"))
	t.Log(h.Status.ErrorMessage)
	// Three more attempts would take a quarter of an hour.
	before := h.DeepCopy()
	h.Status.ErrorCount = 4
	g.Expect(r.kube.Status().Patch(t.Context(), h, client.MergeFrom(before))).To(Succeed())
	r.edit(t, func(h *metal3.BareMetalHost) { h.Labels = map[string]string{"seen": "again"} }) // wakes the controller
	r.untilGone(t)
	_, err := r.gateway.Get(t.Context(), "default~real")
	g.Expect(ironic.KindOf(err)).To(Equal(ironic.Gone), "nothing is left in Ironic")
}

// untilGone waits until the host is deleted.
func (r *realWorld) untilGone(t *testing.T) {
	t.Helper()
	key := client.ObjectKey{Namespace: "default", Name: "real"}
	NewWithT(t).Eventually(func() bool {
		err := r.kube.Get(t.Context(), key, &metal3.BareMetalHost{})
		return err != nil && client.IgnoreNotFound(err) == nil
	}, patience, 200*time.Millisecond).Should(BeTrue())
}

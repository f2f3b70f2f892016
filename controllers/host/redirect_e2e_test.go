//go:build e2e

package host_test

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/ironflow/ironflow/test/bmc/simulator"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/machine/ironictest"
)

// TestARedirectedImageOnTheRealIronic deploys an image whose address redirects, as mirrors, pages of releases and
// object stores do. Ironic writes the address that it was sent to into the node's instance_info.
func TestARedirectedImageOnTheRealIronic(t *testing.T) {
	g := NewWithT(t)
	disk := &disk{}
	r := startRealOn(t, ironictest.HallOptions{WriteImage: disk.write, Redfish: &lab.RedfishOptions{}},
		func(h *ironictest.Hall) *ironictest.Machine { return h.AddSimulated(t, simulator.System{}) })
	content := make([]byte, 1<<20)
	sum := sha256.Sum256(content)
	files := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path == "/latest.raw" {
			http.Redirect(w, q, "/mirror-7/os.raw", http.StatusFound)
			return
		}
		_, _ = w.Write(content)
	}))
	t.Cleanup(files.Close)
	image := &metal3.Image{URL: files.URL + "/latest.raw", Checksum: hex.EncodeToString(sum[:]), ChecksumType: metal3.SHA256, DiskFormat: new("raw")}
	r.create(t, func(h *metal3.BareMetalHost) { h.Spec.Image = image })
	r.until(t, "provisioned", func(h *metal3.BareMetalHost) bool {
		return h.Status.Provisioning.State == metal3.StateProvisioned && h.Status.PoweredOn
	})
	n, err := r.gateway.Get(t.Context(), "default~real")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(n.InstanceInfo).To(HaveKeyWithValue("image_source", files.URL+"/mirror-7/os.raw"), "Ironic has written over it")
	g.Consistently(func(g Gomega) {
		g.Expect(r.host(t).Status.Provisioning.State).To(Equal(metal3.StateProvisioned))
	}, 20*time.Second, time.Second).Should(Succeed())
	g.Expect(disk.written()).To(HaveLen(1))
	g.Expect(r.host(t).Status.Provisioning.Image).To(Equal(*image))
	var events corev1.EventList
	g.Expect(r.kube.List(t.Context(), &events)).To(Succeed())
	g.Expect(events.Items).NotTo(ContainElement(HaveField("Reason", "DeprovisioningStarted")))
}

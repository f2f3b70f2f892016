package host

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// TestWhatIronicSaysOfAnImageIsToldWithoutItsPassword: what Ironic says of an image quotes its
// address, in the validation before the deployment and in its failure.
func TestWhatIronicSaysOfAnImageIsToldWithoutItsPassword(t *testing.T) {
	const quoted = "Validation of image href http://deployer:s3cr3tpass@images/os.raw?token=s3cr3tpass failed, reason: Got HTTP code 404 instead of 200 in response to HEAD request."
	for _, operation := range []string{"validate", "deploy"} {
		t.Run(operation, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, simulator.Options{Behave: func(o simulator.Operation) simulator.Outcome {
					if o.Name == operation {
						return simulator.Outcome{Error: quoted}
					}
					return simulator.Outcome{}
				}}, policy.Settings{}, func(h *metal3.BareMetalHost) {
					osImage(h)
					h.Spec.Image.URL = "http://deployer:s3cr3tpass@images/os.raw?token=s3cr3tpass"
				})
				defer func() { w.stop() }()
				w.until("refused", 2*time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType == metal3.ProvisioningError })
				raw, err := json.Marshal(w.host().Status)
				w.g.Expect(err).NotTo(HaveOccurred())
				w.events.mu.Lock()
				texts := strings.Join(w.events.texts, "\n")
				w.events.mu.Unlock()
				w.g.Expect(w.host().Status.ErrorMessage).To(ContainSubstring("404"))
				w.g.Expect(string(raw)).NotTo(ContainSubstring("s3cr3tpass"))
				w.g.Expect(texts).NotTo(ContainSubstring("s3cr3tpass"))
			})
		})
	}
}

// TestWhatIronicSaysOfALiveImageIsToldWithoutItsToken: whoever has the token of its path may
// fetch the host's configuration.
func TestWhatIronicSaysOfALiveImageIsToldWithoutItsToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, simulator.Options{Behave: func(o simulator.Operation) simulator.Outcome {
			if o.Name == "inspect" {
				return simulator.Outcome{Error: "cannot insert https://images.test/bytoken/s3cr3tpass/4.20/x86_64/full.iso"}
			}
			return simulator.Outcome{}
		}}, policy.Settings{}, nil)
		defer func() { w.stop() }()
		w.until("refused", 2*time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType != "" })
		raw, err := json.Marshal(w.host().Status)
		w.g.Expect(err).NotTo(HaveOccurred())
		w.events.mu.Lock()
		texts := strings.Join(w.events.texts, "\n")
		w.events.mu.Unlock()
		w.g.Expect(w.host().Status.ErrorMessage).To(And(ContainSubstring("images.test"), ContainSubstring("full.iso")))
		w.g.Expect(string(raw) + texts).NotTo(ContainSubstring("s3cr3tpass"))
	})
}

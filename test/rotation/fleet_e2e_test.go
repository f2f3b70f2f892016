//go:build e2e

package rotation_test

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/test/bmc/simulator/accounts"
)

// mostWrong is how many wrong logins a BMC may see while its password is changed twice:
// Ironic looks once a minute with what it was told, and is told seconds later.
const mostWrong = 4

// TestPasswordsChangeWhileAFleetRegisters: hosts are asked for another password at every
// stage of their registration, then all at once while others still register and the
// program is killed. All end available without an error; each stored password opens its
// BMC, the ones before are refused, and Ironic's node has the present one. Then the
// certificates are replaced.
func TestPasswordsChangeWhileAFleetRegisters(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t)
	asked := map[string]string{names.RotateCredentials: "1"}
	fleet := []*host{w.newHost(t, "from-the-start", asked), w.newHost(t, "registering", nil), w.newHost(t, "inspecting", nil), w.newHost(t, "available", nil)}
	for _, h := range fleet[1:] {
		h.until(t, h.name, func(b *metal3.BareMetalHost) bool {
			return reached(b, metal3.ProvisioningState(h.name))
		})
		h.ask(t, names.RotateCredentials, "1")
	}
	for _, h := range fleet {
		h.changed(t)
	}
	late := w.newHost(t, "late", asked)
	for _, h := range fleet {
		h.ask(t, names.RotateCredentials, "2")
	}
	g.Eventually(func() []string {
		var under []string
		for _, h := range fleet {
			if c := h.condition(t, v1alpha1.CredentialsCurrent); c.Reason == "RotationUnderWay" || c.Reason == "WaitingForTurn" {
				under = append(under, h.name)
			}
		}
		return under
	}, patience, glance).ShouldNot(BeEmpty())
	w.program.Kill(t.Context())
	for _, h := range append(fleet, late) {
		h.changed(t)
	}
	for _, h := range fleet {
		h.ask(t, names.ReplaceCertificate, "1")
	}
	for _, h := range fleet {
		h.until(t, "another certificate", func(*metal3.BareMetalHost) bool {
			return strings.Contains(h.condition(t, v1alpha1.CertificateCurrent).Message, "is good until")
		})
		g.Expect(h.issuer(t)).To(Equal(issuer))
		g.Expect(h.throughIronic(t)).To(Succeed())
	}
	said, err := os.ReadFile(w.program.Log)
	g.Expect(err).NotTo(HaveOccurred())
	for _, h := range append(fleet, late) {
		for _, password := range h.passwords {
			g.Expect(strings.Contains(string(said), password)).To(BeFalse(), "a password of %s is in the program's log", h.name)
		}
	}
}

// stages are those of a host that registers, in their order.
var stages = []metal3.ProvisioningState{metal3.StateRegistering, metal3.StateInspecting, metal3.StatePreparing, metal3.StateAvailable}

// reached reports a host that has come as far as a stage.
func reached(b *metal3.BareMetalHost, stage metal3.ProvisioningState) bool {
	for i := len(stages) - 1; i >= 0; i-- {
		if b.Status.Provisioning.State == stages[i] {
			return true
		}
		if stages[i] == stage {
			break
		}
	}
	return false
}

// changed waits until the host is available with another password than those before,
// and holds that everybody has that one.
func (h *host) changed(t *testing.T) {
	t.Helper()
	g := NewWithT(t)
	before := h.passwords[len(h.passwords)-1]
	h.until(t, fmt.Sprint("password ", len(h.passwords)+1), func(b *metal3.BareMetalHost) bool {
		c := h.condition(t, v1alpha1.CredentialsCurrent)
		return b.Status.Provisioning.State == metal3.StateAvailable && b.Status.OperationalStatus == metal3.OperationalStatusOK &&
			c.Reason == "Current" && strings.Contains(c.Message, "was changed at") && h.stored(t) != before
	})
	b, password := h.get(t), h.stored(t)
	g.Expect(b.Status.ErrorType).To(BeEmpty())
	g.Expect(b.Status.ErrorCount).To(BeZero(), h.name)
	taken, _ := h.bmc.Simulator.Password(h.bmc.User)
	g.Expect(password == taken).To(BeTrue(), "%s: the stored password is the BMC's", h.name)
	g.Expect(h.throughIronic(t)).To(Succeed(), "%s: Ironic's node has it", h.name)
	t.Logf("%s: logins %v", h.name, h.bmc.Simulator.Logins())
	g.Expect(h.bmc.Simulator.Logins()[accounts.Wrong]).To(BeNumerically("<=", mostWrong), h.name)
	g.Expect(h.opens(t, password)).To(Equal(http.StatusOK), h.name)
	for _, former := range h.passwords {
		g.Expect(former).NotTo(Equal(password))
	}
	h.passwords = append(h.passwords, password)
	g.Expect(h.opens(t, before)).To(Equal(http.StatusUnauthorized), "%s: the former one is refused", h.name)
}

// issuer is whose certificate the BMC shows.
func (h *host) issuer(t *testing.T) string {
	t.Helper()
	c, err := tls.Dial("tcp", strings.TrimPrefix(h.bmc.URL, "https://"), &tls.Config{InsecureSkipVerify: true})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	name := c.ConnectionState().PeerCertificates[0].Issuer.CommonName
	NewWithT(t).Expect(c.Close()).To(Succeed())
	return name
}

//go:build machine

package flows

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"net/netip"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/test/vm/lan"
)

// quiet is a network where nobody gets an address, and with a VLAN: hosts have what
// their users say in nmstate. It is not the one of the other flows, so both can be
// there at once.
func quiet() lan.Options {
	off := lan.DHCP{Off: true}
	return lan.Options{
		Prefix: netip.MustParsePrefix("172.23.0.1/24"), DHCP: off,
		VLANs: []lan.VLAN{{ID: 7, Prefix: netip.MustParsePrefix("172.23.7.1/24"), DHCP: off}},
	}
}

// Both cards are named: for one that is not, NetworkManager asks for an address,
// and the live system waits a minute for it. The second document has the way to
// this computer's other addresses.
const (
	oneAddress = `interfaces:
- {name: lan, type: ethernet, identifier: mac-address, mac-address: %q, ipv4: {enabled: true, address: [{ip: 172.23.0.10, prefix-length: 24}]}}
- {name: spare, type: ethernet, identifier: mac-address, mac-address: %q}
`
	bondAddress = `interfaces:
- {name: left, type: ethernet, identifier: mac-address, mac-address: %q}
- {name: right, type: ethernet, identifier: mac-address, mac-address: %q}
- {name: bond0, type: bond, link-aggregation: {mode: active-backup, port: [left, right], options: {miimon: "100"}}}
- {name: bond0.7, type: vlan, vlan: {base-iface: bond0, id: 7}, ipv4: {enabled: true, address: [{ip: 172.23.7.10, prefix-length: 24}]}}
routes:
  config:
  - {destination: 0.0.0.0/0, next-hop-address: 172.23.7.1, next-hop-interface: bond0.7}
`
)

// staticAddress: a host with an address of its own, which gets a classic image.
func staticAddress(f *flow) {
	h := f.host(Spec{Name: "static"})
	f.withNetwork(h, fmt.Sprintf(oneAddress, h.Config.NICs[0].MAC, h.Config.NICs[1].MAC))
	data := &metal3v1.HardwareData{}
	f.Expect(f.world.Client.Get(f.Context(), client.ObjectKey{Namespace: Namespace, Name: h.Name}, data)).To(Succeed())
	f.Expect(data.Spec.HardwareDetails.NIC).To(ContainElement(And(HaveField("MAC", h.Config.NICs[0].MAC), HaveField("IP", "172.23.0.10"))))
	f.reached("172.23.0.10")
	f.classicImage(h)
}

// vlanOnBond: all that the host says and hears has the VLAN's tag, over either of
// its cards.
func vlanOnBond(f *flow) {
	h := f.host(Spec{Name: "bond"})
	f.withNetwork(h, fmt.Sprintf(bondAddress, h.Config.NICs[0].MAC, h.Config.NICs[1].MAC))
	f.reached("172.23.7.10")
	for card := range h.Config.NICs {
		f.Expect(h.Machine.SetLink(f.Context(), card, false)).To(Succeed())
		f.reached("172.23.7.10")
		f.Expect(h.Machine.SetLink(f.Context(), card, true)).To(Succeed())
		f.pause(10 * time.Second)
	}
}

// withNetwork registers a host with that nmstate document, and waits until it is
// inspected and available.
func (f *flow) withNetwork(h *Host, nmstate string) {
	f.Helper()
	secret := h.Name + "-network"
	f.Expect(f.world.create(f.Context(), &corev1.Secret{ObjectMeta: meta(secret), StringData: map[string]string{"nmstate": nmstate}})).To(Succeed())
	f.Expect(h.Create(f.Context(), func(b *metal3v1.BareMetalHost) {
		b.Spec.PreprovisioningNetworkDataName = secret
		b.Spec.AutomatedCleaningMode = metal3v1.CleaningModeDisabled
	})).To(Succeed())
	f.Expect(h.UntilState(f.Context(), metal3v1.StateAvailable, bootLimit)).To(Succeed())
}

// reached: IPA answers at that address.
func (f *flow) reached(address string) {
	f.Helper()
	web := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // IPA makes its certificate itself
	}}
	f.Eventually(func() (int, error) {
		ctx, cancel := context.WithTimeout(f.Context(), 20*time.Second)
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+address+":9999/v1/status", http.NoBody)
		if err != nil {
			return 0, err
		}
		response, err := web.Do(request)
		if err != nil {
			return 0, err
		}
		return response.StatusCode, response.Body.Close()
	}).WithTimeout(2*time.Minute).WithPolling(time.Second).Should(Equal(http.StatusOK), "IPA at "+address)
}

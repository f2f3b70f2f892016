package address

import (
	"testing"

	. "github.com/onsi/gomega"
)

// TestOneMachineInManySpellings: all of a row name one machine, those of different rows different ones.
func TestOneMachineInManySpellings(t *testing.T) {
	g := NewWithT(t)
	type machine struct{ bmc, system string }
	seen := map[machine]int{}
	for i, row := range [][]string{
		{
			"redfish-virtualmedia://bmc.test/redfish/v1/Systems/1", "redfish://BMC.test:443/redfish/v1/Systems/1/", "idrac-virtualmedia+https://bmc.test./redfish/v1//Systems/1",
		},
		{"redfish-virtualmedia://bmc.test/redfish/v1/Systems/2"},
		{"redfish+http://bmc.test/redfish/v1/Systems/1", "redfish-virtualmedia+http://bmc.test:80/redfish/v1/Systems/1"},
		{"redfish-virtualmedia://bmc.test:8443/redfish/v1/Systems/1"},
		{"redfish://[2001:db8::1]/redfish/v1/Systems/1", "redfish://[2001:0DB8:0::1]:443/redfish/v1/Systems/1"},
		{"redfish://other.test", "redfish://other.test/", "redfish://other.test/redfish/v1/"},
		{"redfish://192.0.2.9", "redfish://[::ffff:192.0.2.9]"},
		{"ipmi://192.0.2.1", "192.0.2.1", "192.0.2.1:623", "ipmi://192.0.2.1:623?privilegelevel=OPERATOR"},
		{"ipmi://192.0.2.1:6230", "libvirt://192.0.2.1:6230"},
	} {
		for _, raw := range row {
			a, err := Parse(raw)
			g.Expect(err).NotTo(HaveOccurred())
			var m machine
			m.bmc, m.system = a.Machine()
			if other, there := seen[m]; there {
				g.Expect(other).To(Equal(i), raw)
			}
			seen[m] = i
		}
	}
	g.Expect(seen).To(HaveLen(9))
}

// TestDriverInfoTellsTheMachine: what an address is made into for Ironic is of the same machine.
func TestDriverInfoTellsTheMachine(t *testing.T) {
	g := NewWithT(t)
	for _, text := range []string{
		"redfish-virtualmedia://bmc.test/redfish/v1/Systems/1", "redfish+http://192.0.2.1:8000/redfish/v1/Systems/abc", "idrac-virtualmedia://[2001:db8::1]:8443/redfish/v1/Systems/System.Embedded.1",
		"redfish://bmc.test", "redfish-uefihttp://bmc.test/redfish/v1", "ipmi://192.0.2.1", "ipmi://[2001:db8::1]:6230", "libvirt://192.0.2.1:6230", "bmc.test:623",
	} {
		a, err := Parse(text)
		g.Expect(err).NotTo(HaveOccurred())
		again, err := Parse(OfDriverInfo(a.Location()))
		g.Expect(err).NotTo(HaveOccurred(), text)
		bmc, system := a.Machine()
		bmcAgain, systemAgain := again.Machine()
		g.Expect([]string{bmcAgain, systemAgain, again.Device()}).To(Equal([]string{bmc, system, a.Device()}), text)
	}
	for text, info := range map[string]map[string]any{
		"redfish+https://bmc.test/redfish/v1/Systems/1":          {"redfish_address": "bmc.test", "redfish_system_id": "/redfish/v1/Systems/1"},
		"redfish+https://bmc.test:8443/redfish/v1/Systems/other": {"redfish_address": "https://bmc.test:8443/some/prefix", "redfish_system_id": "/redfish/v1/Systems/other"},
		"ipmi://192.0.2.1:6230":                                  {"ipmi_address": "192.0.2.1", "ipmi_port": 6230.0},
		"":                                                       {"drac_address": "192.0.2.1"},
	} {
		g.Expect(OfDriverInfo(info)).To(Equal(text))
	}
}

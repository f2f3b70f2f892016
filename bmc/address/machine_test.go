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

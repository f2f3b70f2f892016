package nodespec

import (
	"strings"
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/address"
	"github.com/ironflow/ironflow/ironic"
)

// TestWhetherANodeIsOfItsHostsMachine has nodes as baremetal-operator enrols them, which tell by their driver_info alone. One that
// is taken for another machine's is removed: a fleet that is taken over must have none.
func TestWhetherANodeIsOfItsHostsMachine(t *testing.T) {
	const path = "/redfish/v1/Systems/1"
	for _, c := range []struct {
		node, host string
		other      bool
	}{
		// As the address was when the node was made, and as it is spelt since.
		{node: "ipmi://192.0.2.1", host: "ipmi://192.0.2.1:623"},
		{node: "192.0.2.1:623", host: "ipmi://192.0.2.1?privilegelevel=OPERATOR"},
		{node: "libvirt://192.0.2.1:6233/?x", host: "ipmi://192.0.2.1:6233"},
		{node: "ipmi://[2001:db8::1]", host: "ipmi://[2001:0DB8:0::1]:623"},
		{node: "ipmi://[fe80::1%25eth0]", host: "ipmi://[fe80::1%25eth0]:623"},
		{node: "redfish://bmc.test" + path, host: "redfish+https://BMC.Test.:443" + path + "/"},
		{node: "redfish+http://bmc.test" + path, host: "redfish-virtualmedia+http://bmc.test:80" + path},
		{node: "redfish://[2001:db8::1]" + path, host: "redfish://[2001:DB8:0:0::1]:443" + path},
		{node: "redfish://[fe80::1%25eth0]" + path, host: "redfish-virtualmedia://[fe80::1%25eth0]" + path},
		{node: "redfish://bmc.test", host: "redfish://bmc.test/redfish/v1/"},
		{node: "redfish://bmc.test", host: "redfish://bmc.test" + path},
		{node: "redfish-uefihttp://bmc.test/redfish/v1", host: "redfish://bmc.test"},
		{node: "idrac-virtualmedia://bmc.test/redfish/v1/Systems/System.Embedded.1", host: "idrac-redfish://bmc.test/redfish/v1/Systems/System.Embedded.1"},
		{node: "ilo5-redfish://bmc.test" + path, host: "ilo5-virtualmedia://bmc.test" + path},
		{node: "redfish://bmc.test/redfish/v1/Systems/Blade%201", host: "redfish://bmc.test/redfish/v1/Systems/Blade%201/"},
		{node: "redfish://bmc.test/redfish/v1/Systems/50%25", host: "redfish://bmc.test/redfish/v1/Systems/50%25"},
		{node: "redfish://bmc.test/redfish/v1/Systems/a%3Fb%23c%2541", host: "redfish://bmc.test/redfish/v1/Systems/a%3Fb%23c%2541"},
		{node: "redfish://user:word@bmc.test" + path, host: "redfish://bmc.test" + path},
		{node: "redfish://bmc.test" + path, host: "ipmi://bmc.test"},
		{node: "ipmi://bmc.test", host: "redfish://bmc.test" + path},
		// What cannot be read says nothing.
		{node: "redfish://bmc.test" + path, host: "ilo4://bmc.test"},
		{node: "redfish://bmc.test" + path, host: ""},
		// Another system, port, BMC, or name.
		{node: "redfish://bmc.test" + path, host: "redfish://bmc.test/redfish/v1/Systems/2", other: true},
		{node: "redfish://bmc.test" + path, host: "redfish://bmc.test/redfish/v1/systems/1", other: true},
		{node: "redfish://bmc.test" + path, host: "redfish://bmc.test:8443" + path, other: true},
		{node: "redfish+http://bmc.test" + path, host: "redfish://bmc.test" + path, other: true},
		{node: "redfish://192.0.2.1" + path, host: "redfish://bmc.test" + path, other: true},
		{node: "redfish://[fe80::1%25eth0]" + path, host: "redfish://[fe80::1%25eth1]" + path, other: true},
		{node: "ipmi://192.0.2.1:6230", host: "ipmi://192.0.2.1", other: true},
		{node: "ipmi://192.0.2.1:6230", host: "redfish://192.0.2.1" + path, other: true},
	} {
		t.Run(c.node+" "+c.host, func(t *testing.T) {
			g := NewWithT(t)
			a, err := address.Parse(c.node)
			g.Expect(err).NotTo(HaveOccurred())
			n := &ironic.Node{Row: ironic.Row{ProvisionState: ironic.StateActive}, DriverInfo: a.Location()}
			h := &metal3.BareMetalHost{}
			h.Spec.BMC.Address = c.host
			g.Expect(OfOtherMachine(h, &n.Row, n)).To(Equal(c.other), "by driver_info")
			before := &metal3.BareMetalHost{}
			before.Spec.BMC.Address = c.node
			row := &ironic.Row{ProvisionState: ironic.StateActive, Machine: MachineText(before)}
			g.Expect(OfOtherMachine(h, row, nil)).To(Equal(c.other), "by what is kept on it")
			row.ProvisionState = ironic.StateVerifying
			g.Expect(OfOtherMachine(h, row, nil)).To(BeFalse(), "it is of none so far")
		})
	}
	g := NewWithT(t)
	h := &metal3.BareMetalHost{}
	h.Spec.BMC.Address = "redfish://bmc.test" + path
	g.Expect(OfOtherMachine(h, &ironic.Row{ProvisionState: ironic.StateActive}, nil)).To(BeFalse(), "a node that was not read")
	g.Expect(OfOtherMachine(h, &ironic.Row{}, &ironic.Node{DriverInfo: map[string]any{"drac_address": "192.0.2.1"}})).To(BeFalse(), "of a driver that is not known")
}

// TestWhatIsKeptOfAMachineHasOneForm: nodes have it, so that with another one a fleet's nodes would all be taken for those of other machines.
func TestWhatIsKeptOfAMachineHasOneForm(t *testing.T) {
	for address, text := range map[string]string{
		"redfish-virtualmedia://BMC.test/redfish/v1/Systems/1/": "bmc redfish bmc.test 443\nsystem redfish bmc.test 443 /redfish/v1/Systems/1\ndevice redfish bmc.test",
		"redfish+http://[2001:DB8::1]:8000":                     "bmc redfish 2001:db8::1 8000\nsystem redfish 2001:db8::1 8000 ",
		"ipmi://192.0.2.1":                                      "bmc ipmi 192.0.2.1 623\nsystem ipmi 192.0.2.1 623 \ndevice ipmi 192.0.2.1",
	} {
		h := &metal3.BareMetalHost{}
		h.Spec.BMC.Address = address
		NewWithT(t).Expect(strings.Split(MachineText(h), "\n")).To(Equal(strings.Split(text, "\n")), address)
	}
}

//go:build e2e

package machine_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/machine"
	"github.com/ironflow/ironflow/test/machine/ironictest"
	"github.com/ironflow/ironflow/test/scenario/generate"
)

// TestFlowWithTheRealIronic takes one machine through its whole life: inspection,
// cleaning, an installation by the real step program, the boot from disk, and
// back. It is the short proof that the parts fit; the contract cases and the
// faults are in the e2e tier.
func TestFlowWithTheRealIronic(t *testing.T) {
	g := NewWithT(t)
	s := generate.Machine(0, generate.Options{Speed: 20})
	r := newRealParts(t, lab.IronicOptions{}, []*scenario.Scenario{s})
	node := r.enroll(t, s.Name)
	seen := func() machine.Status {
		s, _ := r.fleet.State(s.Name)
		return s
	}

	node.Manageable()
	node.Provision("inspect", nil)
	node.Until("manageable")
	inventory, _ := node.Inventory()
	g.Expect(inventory["memory"]).To(HaveKeyWithValue("physical_mb", BeEquivalentTo(s.Hardware.MemoryMiB)))
	g.Expect(inventory["interfaces"]).To(HaveLen(len(s.Hardware.NICs)))
	g.Expect(seen().State).To(Equal(machine.Off))

	node.Provision("provide", nil)
	node.Until("available")
	g.Expect(seen().Boots).To(Equal(2), "one for the inspection, one for the cleaning")

	node.Deploy("start_assisted_install", nil)
	node.UntilView("the installation is confirmed", func(v ironictest.View) bool {
		return v.DeployStep["step"] == "confirm_install" || v.ProvisionState == "active" || v.ProvisionState == "deploy failed"
	})
	node.Until("active")
	installed, err := r.waitFor(t, s.Name, func(s machine.Status) bool { return s.State == machine.Installed })
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(installed.Disk.Disk).To(Equal("/dev/sda"))
	g.Expect(r.fleet.Processes()).To(BeEmpty())

	node.Provision("deleted", nil)
	node.Until("available")
	g.Expect(seen()).To(And(HaveField("State", machine.Off), HaveField("Disk", BeNil())), "cleaned and off")
}

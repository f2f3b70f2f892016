package inventory

import (
	"context"
	"os/exec"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/wire"
)

// TestNoProgramIsStarted: nothing that the inventory is made of can start one.
func TestNoProgramIsStarted(t *testing.T) {
	g := NewWithT(t)
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	g.Expect(err).NotTo(HaveOccurred())
	packages := strings.Fields(string(out))
	g.Expect(packages).To(ContainElement("github.com/ironflow/ironflow/agent/inventory/disks"))
	g.Expect(packages).NotTo(ContainElement("os/exec"))
}

func TestNetworkIsAskedAlone(t *testing.T) {
	g := NewWithT(t)
	part := func(name string) Collector {
		return Collector{name, func(context.Context) (Apply, error) {
			return func(inv *wire.Inventory) { inv.Hostname += name + " " }, nil
		}}
	}
	all := []Collector{part("cpu"), part(partNetwork), part("disks"), part(partForced)}
	inv, err := Gather(t.Context(), Network(all), quiet)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(inv.Hostname).To(Equal("network forced identity "))
	g.Expect(all).To(HaveLen(4))
}

//go:build e2e

package netns_test

import (
	"os"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/needs"
	"github.com/ironflow/ironflow/test/netns"
	"github.com/ironflow/ironflow/test/netns/guest"
)

// TestTopologiesInAGuest runs the rows whose links this kernel does not have in
// a guest with Debian's kernel, with this same binary.
func TestTopologiesInAGuest(t *testing.T) {
	missing := false
	for _, topology := range netns.Topologies {
		missing = missing || len(topology.Missing(t)) > 0
	}
	if !missing {
		t.Skip("this kernel has all links, so TestTopologies runs every row")
	}
	needs.Program(t, "qemu-system-x86_64", "qemu-system-x86")
	needs.Program(t, "modprobe", "kmod")
	g := NewWithT(t)
	self, err := os.Executable()
	g.Expect(err).NotTo(HaveOccurred())
	console, err := guest.Run(t.Context(), self, "-test.run=^TestTopologies$/^(vlan|bond)$", "-test.v")
	g.Expect(err).NotTo(HaveOccurred(), console)
	g.Expect(console).To(And(ContainSubstring("--- PASS: TestTopologies/vlan/connectivity"), ContainSubstring("--- PASS: TestTopologies/bond/connectivity")), "the rows have run")
	t.Log(console)
}

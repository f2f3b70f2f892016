//go:build e2e

package netns_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/guest"
	"github.com/ironflow/ironflow/test/netns"
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
	guest.Need(t)
	g := NewWithT(t)
	console, err := guest.Guest{Args: []string{"-test.run=^TestTopologies$/^(vlan|bond)$", "-test.v"}}.Run(t.Context())
	g.Expect(err).NotTo(HaveOccurred(), console)
	g.Expect(console).To(And(ContainSubstring("--- PASS: TestTopologies/vlan/connectivity"), ContainSubstring("--- PASS: TestTopologies/bond/connectivity")), "the rows have run")
	t.Log(console)
}

package netns_test

import (
	"embed"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/netns"
)

// replies are embedded, because a guest has nothing but this binary.
//
//go:embed testdata
var replies embed.FS

// TestTopologies runs the agent's network steps for real in every topology and
// compares their replies with JSON that was written by hand.
func TestTopologies(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(netns.Topologies)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			topology := netns.Topologies[name]
			if missing := topology.Missing(t); len(missing) > 0 {
				t.Skipf("this kernel has no link of kind %s: this row runs in a guest, see TestTopologiesInAGuest (make test-e2e)", strings.Join(missing, ", "))
			}
			network := topology.Build(t)
			for _, c := range netns.ReadCases(t, replies, path.Join("testdata", name)) {
				t.Run(c.Name, func(t *testing.T) { c.Run(t, network, netns.Options{}) })
			}
		})
	}
}

func TestEveryTopologyHasReplies(t *testing.T) {
	g := NewWithT(t)
	folders, err := replies.ReadDir("testdata")
	g.Expect(err).NotTo(HaveOccurred())
	names := make([]string, 0, len(folders))
	for _, f := range folders {
		names = append(names, f.Name())
	}
	g.Expect(names).To(ConsistOf(slices.Collect(maps.Keys(netns.Topologies))))
}

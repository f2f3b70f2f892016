// Package pair makes two simulated Ironics, "east" and "west", with their gateways and
// watches, for tests of what is divided among several.
package pair

import (
	"context"
	"testing"

	"github.com/onsi/gomega"

	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// New makes the two without watching them; the servers are by their names, and end with
// the test.
func New(t *testing.T, o simulator.Options) (*ironic.Endpoints, map[string]*simulator.Server) {
	t.Helper()
	g := gomega.NewWithT(t)
	set, sims := ironic.NewEndpoints(), map[string]*simulator.Server{}
	for _, name := range []string{"east", "west"} {
		sims[name] = simulator.New(o)
		t.Cleanup(sims[name].Close)
		gateway, err := ironic.New(t.Context(), ironic.Config{Name: name, URL: "http://" + name + ".test", Transport: sims[name].Transport()})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		_, err = set.Add(gateway, ironic.WatchOptions{})
		g.Expect(err).NotTo(gomega.HaveOccurred())
	}
	return set, sims
}

// Watched makes the two, and watches them until the test ends. The first has nodes with
// the given names, and both have been read.
func Watched(t *testing.T, o simulator.Options, busy ...string) (*ironic.Endpoints, map[string]*simulator.Server) {
	t.Helper()
	g := gomega.NewWithT(t)
	set, sims := New(t, o)
	for _, name := range busy {
		g.Expect(sims["east"].Put(simulator.Seed{Fields: map[string]any{
			"uuid": name + "-uuid", "name": name, "driver": "redfish", "provision_state": "manageable", "power_state": "power off",
		}})).To(gomega.Succeed(), "seed %s", name)
	}
	ctx, stop := context.WithCancel(t.Context())
	go func() { _ = set.Run(ctx) }()
	t.Cleanup(stop)
	for _, e := range set.All() {
		<-e.Watch.Synced()
	}
	return set, sims
}

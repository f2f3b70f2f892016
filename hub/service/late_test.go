package service_test

import (
	"errors"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/wire"
)

// TestWhatCannotChangeAnyMoreIsSaid: an installation goes on as it began, and an installed cluster
// takes what its later hosts make use of.
func TestWhatCannotChangeAnyMoreIsSaid(t *testing.T) {
	w := shared(t, service.Options{}, service.ClusterSpec{})
	ensure := func(spec service.ClusterSpec) []string {
		spec.ID, spec.Name, spec.Masters = sharedCluster, "edge", 1
		_, err := w.EnsureCluster(w.ctx, spec)
		if late, is := errors.AsType[*service.TooLate](err); is {
			return late.Members
		}
		w.Expect(err).NotTo(HaveOccurred())
		return nil
	}
	wanted := service.ClusterSpec{
		NTPSources: "192.0.2.1", APIVIPs: []string{"192.0.2.100"}, Source: sources.Files, Workers: 2,
		Manifests: []sources.Manifest{{Folder: "openshift", Name: "a.yaml", Content: []byte("kind: A\n")}},
		Tags:      "one",
	}
	w.Expect(ensure(service.ClusterSpec{})).To(BeEmpty())
	w.installing(hostA)
	w.Expect(ensure(wanted)).To(ConsistOf("NTPSources", "APIVIPs", "Source", "Workers", "Manifests"))
	c, err := w.Cluster(w.ctx, sharedCluster, false)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(c).To(And(HaveField("Tags", "one"), HaveField("NTPSources", ""), HaveField("APIVIPs", BeEmpty())))
	w.Expect(w.stage(hostA, wire.HostStageDone)).To(Succeed())
	w.Expect(w.clusterStatus()).To(Equal(wire.ClusterStatusInstalled))
	_, err = w.AllowAddHosts(w.ctx, sharedCluster)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(ensure(wanted)).To(ConsistOf("APIVIPs", "Source", "Manifests"))
	c, err = w.Cluster(w.ctx, sharedCluster, false)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(c).To(And(HaveField("NTPSources", "192.0.2.1"), HaveField("APIVIPs", BeEmpty()), HaveField("HighAvailabilityMode", HaveValue(Equal(wire.ClusterHighAvailabilityModeNone)))))
}

// TestWhatTheHubFoundOutStays where the spec says nothing of it: the addresses of a DHCP server.
func TestWhatTheHubFoundOutStays(t *testing.T) {
	w := shared(t, service.Options{}, service.ClusterSpec{Masters: 3})
	yes := true
	_, err := w.UpdateCluster(w.ctx, sharedCluster, wire.V2ClusterUpdateParams{VIPDHCPAllocation: &yes})
	w.Expect(err).NotTo(HaveOccurred())
	_, err = w.EnsureCluster(w.ctx, service.ClusterSpec{ID: sharedCluster, Name: "edge", Masters: 3})
	w.Expect(err).NotTo(HaveOccurred())
	_, err = w.EnsureCluster(w.ctx, service.ClusterSpec{ID: sharedCluster, Name: "edge", Masters: 3, APIVIPs: []string{"192.0.2.100"}})
	w.Expect(service.Code(err)).To(Equal(400), "a DHCP server gives them")
}

package clusters

import (
	"reflect"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// TestEveryMemberOfTheSpecIsASetting: what is in none is taken at no time.
func TestEveryMemberOfTheSpecIsASetting(t *testing.T) {
	g := NewWithT(t)
	apart := []string{"ID", "Manifests", "Hold", "Revoke", "Was", "Arrived"} // see EnsureCluster
	rows := map[string]int{}
	for _, s := range settings {
		for _, m := range s.members {
			rows[m]++
		}
	}
	for _, m := range apart {
		rows[m]++
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Spec]()) {
		g.Expect(rows[f.Name]).To(Equal(1), f.Name)
		delete(rows, f.Name)
	}
	g.Expect(rows).To(BeEmpty(), "no members of a spec")
}

func TestSettingsAreTakenAlone(t *testing.T) {
	g := NewWithT(t)
	have, want := &store.Cluster{}, &store.Cluster{}
	Spec{Masters: 3, APIVIPs: []string{"192.0.2.1"}, HTTPProxy: "http://proxy.example:1"}.apply(want)
	Spec{Masters: 1}.apply(have)
	for _, s := range settings {
		if s.members[0] == "HTTPProxy" {
			g.Expect(s.same(have, want)).To(BeFalse())
			s.take(have, want)
			g.Expect(s.same(have, want)).To(BeTrue())
		}
	}
	g.Expect(have.API.HTTPProxy).To(Equal("http://proxy.example:1"))
	g.Expect(have.Masters).To(Equal(1))
}

func TestUntilWhenSettingsChange(t *testing.T) {
	g := NewWithT(t)
	at := func(status string) (first, second, ever bool) {
		return setting{when: atFirst}.changes(status), setting{when: later}.changes(status), setting{when: always}.changes(status)
	}
	for status, want := range map[string][3]bool{
		wire.ClusterStatusInsufficient: {true, true, true}, wire.ClusterStatusReady: {true, true, true}, wire.ClusterStatusPendingForInput: {true, true, true},
		wire.ClusterStatusPreparingForInstallation: {false, false, true}, wire.ClusterStatusInstalling: {false, false, true},
		wire.ClusterStatusFinalizing: {false, false, true}, wire.ClusterStatusError: {false, false, true},
		wire.ClusterStatusInstalled: {false, true, true}, wire.ClusterStatusAddingHosts: {false, true, true},
	} {
		first, second, ever := at(status)
		g.Expect([3]bool{first, second, ever}).To(Equal(want), status)
	}
}

// TestAnInstalledClusterOfAnEarlierVersionTakesOtherChanges: its virtual addresses have no cluster's id beside them, and what nobody has set is
// what clients read all the same.
func TestAnInstalledClusterOfAnEarlierVersionTakesOtherChanges(t *testing.T) {
	g := NewWithT(t)
	was := &store.Cluster{API: wire.Cluster{
		ID: "c", Name: "edge", Status: wire.ClusterStatusAddingHosts, APIVIPs: []wire.APIVIP{{IP: "192.0.2.10"}}, IngressVIPs: []wire.IngressVIP{{IP: "192.0.2.11"}},
	}}
	now := *was
	now.API.Tags, now.API.Platform, now.API.NetworkType = "a", &wire.Platform{Type: wire.PlatformTypeBaremetal}, new(wire.ClusterNetworkTypeNone) // as it was shown
	unverify(&now.API, was.API)
	g.Expect(keeps(was, &now)).To(Succeed())
	now.API.APIVIPs = []wire.APIVIP{{IP: "192.0.2.12", ClusterID: "c"}}
	g.Expect(keeps(was, &now)).To(MatchError(HavePrefix("api_vips: cluster edge is installed")))
}

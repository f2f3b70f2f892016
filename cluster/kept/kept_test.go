package kept_test

import (
	"net/netip"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/cluster/facts"
	"github.com/ironflow/ironflow/cluster/kept"
	"github.com/ironflow/ironflow/hub/wire"
)

func record() kept.Record {
	return kept.Of(facts.Cluster{Name: "edge", SchedulableMasters: true, Status: wire.ClusterStatusInstalling, API: facts.API{Names: []string{"api.edge.example.com"}}}, []facts.Host{
		{ID: "a", Name: "zero", Role: wire.HostRoleMaster, Addresses: []netip.Addr{netip.MustParseAddr("2001:db8::10")}, Labels: map[string]string{"site": "north"}},
		{ID: "b", Name: "one", Role: wire.HostRoleMaster, Status: wire.HostStatusInstallingInProgress, Stage: wire.HostStageJoined},
		{ID: "c", Name: "two", Role: wire.HostRoleMaster, Status: wire.HostStatusInstalled, Stage: wire.HostStageDone},
		{ID: "d", Name: "three", Role: wire.HostRoleWorker, Status: wire.HostStatusError, Stage: wire.HostStageWritingImageToDisk},
	})
}

func TestWhatIsHeardWins(t *testing.T) {
	g := NewWithT(t)
	text, err := record().Text()
	g.Expect(err).NotTo(HaveOccurred())
	got, err := kept.Parse(map[string]string{kept.Given: text})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got).To(Equal(record()), "what is written is read again")
	got, err = kept.Parse(map[string]string{kept.Given: text, kept.Heard: `{"name": "other"}`})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got.Name).To(Equal("other"))
	_, err = kept.Parse(map[string]string{kept.Given: text, kept.Heard: "{"})
	g.Expect(err).To(MatchError(ContainSubstring("heard.json of config map ironflow-cluster-hosts")))
	_, err = kept.Parse(nil)
	g.Expect(err).To(MatchError(ContainSubstring("nobody has said which hosts the cluster has")))
}

func TestHostsWithoutTheHub(t *testing.T) {
	g := NewWithT(t)
	hosts := record().Left()
	g.Expect(hosts[0]).To(And(HaveField("Stage", wire.HostStageRebooting), HaveField("Status", wire.HostStatusInstallingInProgress)), "the hub ended as it rebooted")
	g.Expect(hosts[1].Stage).To(Equal(wire.HostStageJoined))
	g.Expect(hosts[2].Stage).To(Equal(wire.HostStageDone))
	g.Expect(hosts[3]).To(Equal(record().Hosts[3]), "a host that has failed is no node")
	g.Expect(kept.Missing(hosts)).To(Equal([]string{"zero", "one"}))
	hosts[0], hosts[1] = kept.Reached(hosts[0], wire.HostStageJoined), kept.Reached(hosts[1], wire.HostStageDone)
	g.Expect(kept.Missing(hosts)).To(Equal([]string{"zero"}))
	g.Expect(hosts[1].Status).To(Equal(wire.HostStatusInstalled))
	g.Expect(record().Cluster()).To(And(HaveField("Name", "edge"), HaveField("SchedulableMasters", true)))
}

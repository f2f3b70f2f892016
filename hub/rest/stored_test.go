package rest_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// TestASingleNodeByItsOldName: clients of old say high_availability_mode where others count.
func TestASingleNodeByItsOldName(t *testing.T) {
	c := newClient(t, testhub.Start(t, testhub.Options{}).User())
	made := c.read("POST", "/clusters", `{"name":"edge","openshift_version":"4.20","pull_secret":"{\"auths\":{}}","high_availability_mode":"None"}`, 201)
	c.Expect(made).To(And(HaveKeyWithValue("control_plane_count", 1.0), HaveKeyWithValue("high_availability_mode", "None")))
}

// TestWhatIsOnlyStored: it is shown again, and changes nothing.
func TestWhatIsOnlyStored(t *testing.T) {
	g := NewWithT(t)
	s := singleNode(t)
	s.cluster.Tags, s.cluster.SchedulableMasters = new("site a"), new(true)
	s.hosts[0].update = &wire.HostUpdateParams{NodeLabels: []wire.NodeLabelParams{{Key: "zone", Value: "a"}}}
	p := s.play(t, testhub.Start(t, testhub.Options{}))
	c, _ := p.readCluster(t)
	g.Expect(c.Tags).To(Equal("site a"))
	g.Expect(c.SchedulableMasters).To(HaveValue(BeTrue()))
	h, _ := p.host(t, 0)
	g.Expect(h.NodeLabels).To(MatchJSON(`{"zone":"a"}`))
	g.Expect(c.Status).To(Equal(wire.ClusterStatusReady), c.StatusInfo)
}

package snapshots_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/snapshots"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

func key(id string) store.HostKey { return store.HostKey{InfraEnvID: "env", HostID: id} }

// TestChangesDropWhatTheyAreAbout, also what was read before and is kept only now.
func TestChangesDropWhatTheyAreAbout(t *testing.T) {
	for name, tc := range map[string]struct {
		change store.Change
		drops  bool
	}{
		"the host":              {store.Change{InfraEnvID: "env", HostID: "a", What: store.ChangedStatus}, true},
		"its cluster":           {store.Change{ClusterID: "c", What: store.ChangedCluster}, true},
		"its infra-env":         {store.Change{InfraEnvID: "env", What: store.ChangedInfraEnv}, true},
		"anything":              {store.Change{What: store.ChangedAll}, true},
		"another host":          {store.Change{InfraEnvID: "env", HostID: "b", ClusterID: "c", What: store.ChangedStatus}, false},
		"a host of another env": {store.Change{InfraEnvID: "other", HostID: "a", What: store.ChangedStatus}, false},
		"another cluster":       {store.Change{ClusterID: "d", What: store.ChangedCluster}, false},
		"another infra-env":     {store.Change{InfraEnvID: "other", What: store.ChangedInfraEnv}, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var c snapshots.Cache
			host := &snapshots.Host{Key: key("a"), ClusterID: "c"}
			c.Put(host, c.Now())
			g.Expect(c.Host(key("a"))).To(Equal(host))
			c.Forget([]store.Change{tc.change})
			g.Expect(c.Host(key("a")) == nil).To(Equal(tc.drops))

			before := c.Now()
			c.Forget([]store.Change{tc.change})
			late := &snapshots.Host{Key: key("a"), ClusterID: "c"}
			c.Put(late, before)
			g.Expect(c.Host(key("a")) == late).NotTo(Equal(tc.drops), "the change came while the snapshot was made")
		})
	}
}

// TestManyChangesMeanwhile: what is not remembered may have been about the host.
func TestManyChangesMeanwhile(t *testing.T) {
	g := NewWithT(t)
	var c snapshots.Cache
	before := c.Now()
	for range 5000 {
		c.Forget([]store.Change{{InfraEnvID: "env", HostID: "b", What: store.ChangedHost}})
	}
	c.Put(&snapshots.Host{Key: key("a")}, before)
	g.Expect(c.Host(key("a"))).To(BeNil())
	c.PutGeneration("env", 1, before)
	_, known := c.Generation("env")
	g.Expect(known).To(BeFalse())
}

func TestGenerations(t *testing.T) {
	g := NewWithT(t)
	var c snapshots.Cache
	before := c.Now()
	c.PutGeneration("env", 1, before)
	generation, known := c.Generation("env")
	g.Expect(known).To(BeTrue())
	g.Expect(generation).To(Equal(int64(1)))
	c.Forget([]store.Change{{InfraEnvID: "env", What: store.ChangedInfraEnv}})
	_, known = c.Generation("env")
	g.Expect(known).To(BeFalse())
	c.PutGeneration("env", 1, before)
	_, known = c.Generation("env")
	g.Expect(known).To(BeFalse(), "it was read before the change")
}

// TestLargeSnapshotsAreNotKept: a fleet's memory is bounded.
func TestLargeSnapshotsAreNotKept(t *testing.T) {
	g := NewWithT(t)
	var c snapshots.Cache
	large := &snapshots.Host{Key: key("a"), Steps: wire.Steps{Instructions: []wire.Step{{Args: []string{strings.Repeat("x", snapshots.MaxSize)}}}}}
	c.Put(large, c.Now())
	g.Expect(c.Host(key("a"))).To(BeNil())
	large = &snapshots.Host{Key: key("a"), Peer: make([]byte, snapshots.MaxSize)}
	c.Put(large, c.Now())
	g.Expect(c.Host(key("a"))).To(BeNil())
}

// TestAReplyThatIsKnown: only the same reply to the same check, as long as the hub has made the same of it; also where
// the snapshot was made anew.
func TestAReplyThatIsKnown(t *testing.T) {
	g := NewWithT(t)
	var c snapshots.Cache
	with := func(result uint64) *snapshots.Host {
		return &snapshots.Host{Key: key("a"), Results: map[wire.StepType]uint64{"inventory": result}}
	}
	g.Expect(c.Tells(with(1), "inventory", 0)).To(BeFalse())
	c.Told(key("a"), "inventory", 7, 1)
	c.Told(key("a"), "ntp-synchronizer", 8, 2)
	c.Forget([]store.Change{{InfraEnvID: "env", HostID: "a", What: store.ChangedStatus}})
	g.Expect(c.Tells(with(1), "inventory", 7)).To(BeTrue())
	g.Expect(c.Tells(with(1), "inventory", 8)).To(BeFalse(), "another reply")
	g.Expect(c.Tells(with(2), "inventory", 7)).To(BeFalse(), "something else has become of it")
	g.Expect(c.Tells(with(1), "ntp-synchronizer", 8)).To(BeFalse(), "the hub has no result")
	g.Expect(c.Tells(&snapshots.Host{Key: key("b"), Results: with(1).Results}, "inventory", 7)).To(BeFalse(), "another host")
	c.Told(key("a"), "inventory", 9, 3)
	g.Expect(c.Tells(with(3), "inventory", 9)).To(BeTrue())
	c.Forget([]store.Change{{InfraEnvID: "env", HostID: "a", What: store.ChangedDeleted}})
	g.Expect(c.Tells(with(3), "inventory", 9)).To(BeFalse(), "the host was removed")
}

func TestPeers(t *testing.T) {
	g := NewWithT(t)
	var c snapshots.Cache
	present := map[string]string{"a": `"A"`, "b": `"B"`, "c": `"C"`, "d": ""}
	looks, lists := 0, 0
	var failure error
	list := func() ([]store.HostKey, error) {
		lists++
		return []store.HostKey{key("a"), key("b"), key("c"), key("d")}, nil
	}
	look := func(k store.HostKey) ([]byte, error) {
		looks++
		return []byte(present[k.HostID]), failure
	}
	others := func(self string) (names []string) {
		raw, err := c.Peers("cluster").Others(key(self), list, look)
		g.Expect(err).NotTo(HaveOccurred())
		if raw != "" {
			g.Expect(json.Unmarshal([]byte(raw), &names)).To(Succeed())
		}
		return names
	}
	change := func(id string) {
		c.Forget([]store.Change{{InfraEnvID: "env", HostID: id, ClusterID: "cluster", What: store.ChangedHost}})
	}
	for self, want := range map[string][]string{"a": {"B", "C"}, "b": {"A", "C"}, "c": {"A", "B"}, "d": {"A", "B", "C"}} {
		g.Expect(others(self)).To(Equal(want), self)
	}
	g.Expect(lists).To(Equal(1))
	g.Expect(looks).To(Equal(4))
	present["b"], present["e"] = `"B2"`, `"E"`
	change("b")
	change("e")
	g.Expect(others("a")).To(Equal([]string{"B2", "C", "E"}))
	g.Expect(looks).To(Equal(6), "only those that changed")

	failure = errors.New("away")
	change("b")
	_, err := c.Peers("cluster").Others(key("a"), list, look)
	g.Expect(err).To(MatchError("away"))
	failure, present = nil, map[string]string{"a": `"A"`}
	g.Expect(others("a")).To(BeEmpty(), "nobody else")
	g.Expect(others("b")).To(Equal([]string{"A"}))
}

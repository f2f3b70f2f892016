package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/auth"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// counting is a store that counts what it is asked for.
type counting struct {
	store.Store
	views, commits atomic.Int64
	away           atomic.Bool
}

func (c *counting) View(ctx context.Context, f func(*store.Reader) error) error {
	c.views.Add(1)
	return c.Store.View(ctx, f)
}

func (c *counting) Commit(ctx context.Context, u *store.Unit) error {
	if c.away.Load() {
		return errors.New("away")
	}
	if !u.Empty() {
		c.commits.Add(1)
	}
	return c.Store.Commit(ctx, u)
}

// work returns how often the store was asked since the last call.
func (c *counting) work() (views, commits int64) { return c.views.Swap(0), c.commits.Swap(0) }

// counted is a world over a store that counts.
func counted(t *testing.T, dir string) (*world, *counting) {
	t.Helper()
	s, err := store.OpenSQLite(t.Context(), filepath.Join(dir, "hub.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	c := &counting{Store: s}
	t.Cleanup(func() { _ = s.Close() })
	w := &world{Hub: replica(t, c), WithT: NewWithT(t), t: t, ctx: t.Context()}
	_, err = w.EnsureInfraEnv(w.ctx, service.InfraEnvSpec{ID: envID, Name: "env", SingleHost: true})
	w.Expect(err).NotTo(HaveOccurred())
	return w, c
}

// TestPollIsAnsweredFromMemory: it neither reads nor writes, and is heard at once.
func TestPollIsAnsweredFromMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := counted(t, t.TempDir())
		w.register(hostA)
		w.inventory(hostA, nil)
		first := w.poll(hostA)
		c.work()
		for range 50 {
			pass(time.Second)
			w.Expect(w.poll(hostA)).To(Equal(first))
		}
		views, commits := c.work()
		w.Expect(views).To(BeZero())
		w.Expect(commits).To(BeZero())
		h, err := w.Host(w.ctx, key(hostA))
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(h.CheckedInAt.Time).To(BeTemporally("==", time.Now()), "what is not stored yet is shown")
		w.Expect(h.Timestamp).To(Equal(time.Now().Unix()))

		w.Expect(w.ApproveHost(w.ctx, key(hostA), true)).To(Succeed())
		w.Expect(w.poll(hostA)).NotTo(Equal(first), "the next poll knows of every change")
	})
}

// TestPollThatIsNews is stored at once: of a host that counted as silent, and of another agent.
func TestPollThatIsNews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := counted(t, t.TempDir())
		w.watch()
		w.register(hostA)
		w.poll(hostA)
		_, err := w.Instructions(w.ctx, key(hostA), service.Poll{AgentVersion: "agent:2"})
		w.Expect(err).NotTo(HaveOccurred())
		h, err := w.Host(w.ctx, key(hostA))
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(h.DiscoveryAgentVersion).To(Equal("agent:2"))
		pass(10 * time.Minute)
		w.Expect(w.status(hostA)).To(Equal(wire.HostStatusDisconnected))
		w.poll(hostA)
		w.Expect(w.status(hostA)).To(Equal(wire.HostStatusDiscovering))
	})
}

// TestReplyThatSaysNothingNew writes nothing, and from the second time on reads nothing.
func TestReplyThatSaysNothingNew(t *testing.T) {
	w, c := counted(t, t.TempDir())
	w.register(hostA)
	w.inventory(hostA, nil)
	c.work()
	w.inventory(hostA, nil)
	_, commits := c.work()
	w.Expect(commits).To(BeZero())
	for range 10 {
		w.inventory(hostA, nil)
	}
	views, commits := c.work()
	w.Expect(views).To(BeZero())
	w.Expect(commits).To(BeZero())
	w.inventory(hostA, func(i *wire.Inventory) { i.Hostname = "other" })
	_, commits = c.work()
	w.Expect(commits).To(Equal(int64(1)))
	w.inventory(hostA, nil)
	_, commits = c.work()
	w.Expect(commits).To(Equal(int64(1)), "what once changed nothing does so again")
}

// TestAReplyIsKnownWhateverElseChanges: it writes nothing and is no work, as long as the hub has of it what it had, also
// right after the first time. What is gone, or judged otherwise, is taken again.
func TestAReplyIsKnownWhateverElseChanges(t *testing.T) {
	w, c := counted(t, t.TempDir())
	w.register(hostA)
	ntp := wire.StepReply{StepType: wire.StepTypeNTPSynchronizer, Output: `{"ntp_sources":[{"source_name":"192.0.2.1","source_state":"synced"}]}`}
	tell := func() (views, commits int64) {
		w.poll(hostA) // as agents do
		c.work()
		w.inventory(hostA, nil)
		w.Expect(w.Reply(w.ctx, key(hostA), ntp)).To(Succeed())
		return c.work()
	}
	w.inventory(hostA, nil)
	w.Expect(w.Reply(w.ctx, key(hostA), ntp)).To(Succeed())
	views, commits := tell()
	w.Expect([]int64{views, commits}).To(Equal([]int64{0, 0}), "the second time")
	_, err := w.Instructions(w.ctx, key(hostA), service.Poll{AgentVersion: "agent:2"})
	w.Expect(err).NotTo(HaveOccurred())
	views, commits = tell()
	w.Expect([]int64{views, commits}).To(Equal([]int64{0, 0}), "the record has changed")
	before, err := w.Host(w.ctx, key(hostA))
	w.Expect(err).NotTo(HaveOccurred())

	w.register(hostA)
	_, commits = tell()
	w.Expect(commits).To(BeNumerically(">=", 2), "the agent has started anew")
	after, err := w.Host(w.ctx, key(hostA))
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(after.Inventory).To(Equal(before.Inventory))
	w.Expect(after.NTPSources).To(Equal(before.NTPSources))
}

// TestCrashLosesSeconds: signs of life of the last ten seconds may be lost with
// the program, and no host is silent for that.
func TestCrashLosesSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		w, c := counted(t, dir)
		ctx, crash := context.WithCancel(w.ctx)
		kept := make(chan error, 1)
		go func() { kept <- w.KeepCheckIns(ctx) }()
		w.register(hostA)
		var last time.Time
		for range 20 {
			pass(59 * time.Second)
			w.poll(hostA)
			last = time.Now()
		}
		pass(10 * time.Second)
		w.poll(hostA)
		c.away.Store(true) // nothing of this program is stored any more
		crash()
		w.Expect(<-kept).To(MatchError("away"))
		w.Expect(c.Close()).To(Succeed())

		w, _ = counted(t, dir)
		w.watch()
		h, err := w.Host(w.ctx, key(hostA))
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(h.CheckedInAt.Time).To(BeTemporally("==", last))
		for range 20 {
			pass(8 * time.Second)
			w.Expect(w.status(hostA)).To(Equal(wire.HostStatusDiscovering))
		}
	})
}

// TestProgramThatEndsLosesNothing: what is left is stored at the end.
func TestProgramThatEndsLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		w, c := counted(t, dir)
		ctx, end := context.WithCancel(w.ctx)
		kept := make(chan error, 1)
		go func() { kept <- w.KeepCheckIns(ctx) }()
		w.register(hostA)
		w.poll(hostA)
		pass(time.Second)
		w.poll(hostA)
		now := time.Now()
		end()
		w.Expect(<-kept).To(Succeed())
		w.Expect(c.Close()).To(Succeed())
		w, _ = counted(t, dir)
		h, err := w.Host(w.ctx, key(hostA))
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(h.CheckedInAt.Time).To(BeTemporally("==", now))
	})
}

// TestPeersOfTheMoment: each poll names the cluster's other hosts as they are, and
// one that has changed costs one look, not one at each of the others.
func TestPeersOfTheMoment(t *testing.T) {
	w, c := counted(t, t.TempDir())
	_, err := w.EnsureCluster(w.ctx, service.ClusterSpec{ID: sharedCluster, Name: "c", Masters: 3})
	w.Expect(err).NotTo(HaveOccurred())
	pool := "33333333-3333-4333-8333-333333333333"
	_, err = w.EnsureInfraEnv(w.ctx, service.InfraEnvSpec{ID: pool, Name: "pool", ClusterID: sharedCluster})
	w.Expect(err).NotTo(HaveOccurred())
	hosts := map[string]store.HostKey{}
	for i := range 12 {
		k := store.HostKey{InfraEnvID: pool, HostID: fmt.Sprintf("aaaaaaaa-0000-4000-8000-%012d", i)}
		hosts[k.HostID] = k
		_, err := w.RegisterHost(w.ctx, service.Registration{InfraEnvID: pool, HostID: k.HostID})
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(w.Reply(w.ctx, k, inventoryWith(fmt.Sprintf("192.0.2.%d", 10+i)))).To(Succeed())
	}
	asked := func(k store.HostKey) (peers wire.ConnectivityCheckParams) {
		steps, err := w.Instructions(w.ctx, k, service.Poll{})
		w.Expect(err).NotTo(HaveOccurred())
		for _, s := range steps.Instructions {
			if s.StepType == wire.StepTypeConnectivityCheck {
				w.Expect(json.Unmarshal([]byte(s.Args[0]), &peers)).To(Succeed())
			}
		}
		return peers
	}
	for id, k := range hosts {
		peers := asked(k)
		w.Expect(peers).To(HaveLen(len(hosts)-1), id)
		for _, p := range peers {
			w.Expect(p.HostID).NotTo(Equal(id))
		}
	}
	moved, other := key("aaaaaaaa-0000-4000-8000-000000000003"), key("aaaaaaaa-0000-4000-8000-000000000011")
	moved.InfraEnvID, other.InfraEnvID = pool, pool
	asked(other)
	w.Expect(w.Reply(w.ctx, moved, inventoryWith("192.0.2.99"))).To(Succeed())
	asked(other)
	c.work()
	w.Expect(asked(other)).To(ContainElement(HaveField("Nics", ContainElement(HaveField("IPAddresses", ConsistOf("192.0.2.99"))))))
	views, _ := c.work()
	w.Expect(views).To(BeZero())
	w.Expect(w.DeleteHost(w.ctx, moved)).To(Succeed())
	w.Expect(asked(other)).To(HaveLen(len(hosts) - 2))
}

func inventoryWith(address string) wire.StepReply {
	return wire.StepReply{StepType: wire.StepTypeInventory, Output: `{"hostname":"h` + strings.ReplaceAll(address, ".", "-") + `","cpu":{"count":8},"memory":{"physical_bytes":34359738368},
		"disks":[{"id":"/dev/sda","path":"/dev/sda","name":"sda","drive_type":"SSD","size_bytes":200000000000}],
		"interfaces":[{"name":"eno1","mac_address":"02:00:00:00:00:01","type":"physical","ipv4_addresses":["` + address + `/24"]}]}`}
}

// TestRevokedTokenIsRefused at once where it was revoked, and by other replicas as
// soon as they hear of it, though all of them check tokens from memory.
func TestRevokedTokenIsRefused(t *testing.T) {
	g := NewWithT(t)
	secret, err := auth.NewKey(make([]byte, 32))
	g.Expect(err).NotTo(HaveOccurred())
	again := stores["postgres"](t)
	one, other := replica(t, again(), secret), replica(t, again(), secret)
	_, err = one.EnsureInfraEnv(t.Context(), service.InfraEnvSpec{ID: envID, Name: "env"})
	g.Expect(err).NotTo(HaveOccurred())
	token, err := one.AgentToken(t.Context(), envID)
	g.Expect(err).NotTo(HaveOccurred())
	for _, hub := range []*service.Hub{one, other} {
		g.Expect(hub.CheckAgentToken(t.Context(), token)).To(HaveField("InfraEnvID", envID))
	}
	g.Expect(one.RevokeAgentTokens(t.Context(), envID)).To(Succeed())
	check := func(hub *service.Hub) error {
		_, err := hub.CheckAgentToken(t.Context(), token)
		return err
	}
	g.Expect(check(one)).To(MatchError(auth.ErrInvalid))
	g.Eventually(func() error { return check(other) }, "20s").Should(MatchError(auth.ErrInvalid))
}

package service_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/filestore"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// twoReplicas are two hubs of one store with a cluster of six hosts, and calls that are drawn by the seed.
func twoReplicas(t *testing.T, seed, stream uint64) (store.Store, *rand.Rand, []*service.Hub, *crowded) {
	t.Helper()
	g := NewWithT(t)
	s := opened(t, func() (store.Store, error) {
		return store.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "hub.sqlite"))
	})
	random := rand.New(rand.NewPCG(seed, stream))
	hubs := []*service.Hub{timeless(t, s), timeless(t, s)}
	_, err := hubs[0].EnsureCluster(t.Context(), service.ClusterSpec{
		ID: crowdedCluster, Name: "c", BaseDomain: "example.com", Masters: 3, Workers: 3, Version: "4.20.1", SSHKey: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f",
		MachineNetworks: []string{"10.0.0.0/16"}, PullSecret: `{"auths":{}}`, Hold: true,
	})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = hubs[0].EnsureInfraEnv(t.Context(), service.InfraEnvSpec{ID: envID, Name: "env", ClusterID: crowdedCluster})
	g.Expect(err).NotTo(HaveOccurred())
	c := &crowded{tb: t}
	for i := range 6 {
		c.keys = append(c.keys, key(fmt.Sprintf("aaaaaaaa-0000-4000-8000-%012d", i)))
	}
	return s, random, hubs, c
}

// TestKeptClustersAreJudgedAsIfReadAnew: two replicas take calls in turn; whatever
// they keep in memory, a program that has just started and reads everything finds
// nothing to correct.
func TestKeptClustersAreJudgedAsIfReadAnew(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			g := NewWithT(t)
			s, random, hubs, c := twoReplicas(t, seed, 19)
			for n := range 60 {
				c.Hub = hubs[random.IntN(len(hubs))]
				c.anything(random)
				if n%6 == 5 {
					before := c.judged(g)
					fresh := timeless(t, s)
					_, err := fresh.SetIgnoredValidations(t.Context(), crowdedCluster, wire.IgnoredValidations{})
					g.Expect(err).NotTo(HaveOccurred())
					g.Expect(c.judged(g)).To(Equal(before), "after %d calls", n+1)
				}
			}
		})
	}
}

// timeless is a replica whose clock stands still.
func timeless(t *testing.T, s store.Store) *service.Hub {
	t.Helper()
	root, err := filestore.OpenDirectory(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	hub, err := service.New(service.Options{Store: s, Files: root, Keys: testhub.Keys(), Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	return hub
}

// anything does one call on one host, which may change what others are judged by.
func (c *crowded) anything(random *rand.Rand) {
	c.tb.Helper()
	c.turns++
	i := random.IntN(len(c.keys))
	k, ctx := c.keys[i], c.tb.Context()
	if _, err := c.Host(ctx, k); service.IsNotFound(err) {
		_, err := c.RegisterHost(ctx, service.Registration{InfraEnvID: k.InfraEnvID, HostID: k.HostID})
		c.must(err)
		return
	}
	switch random.IntN(9) {
	case 0, 1:
		c.inventory(i)
	case 2:
		c.memory(i, 64<<30>>random.IntN(4))
	case 3: // a name that another host has, or its own again
		name := fmt.Sprintf("node-%d", random.IntN(len(c.keys)))
		_, err := c.UpdateHost(ctx, k, wire.HostUpdateParams{HostName: &name})
		c.must(err)
	case 4:
		role := []string{"auto-assign", "master", "worker"}[random.IntN(3)]
		_, err := c.UpdateHost(ctx, k, wire.HostUpdateParams{HostRole: &role})
		c.must(err)
	case 5:
		c.must(c.DeleteHost(ctx, k))
	default:
		c.must(c.Reply(ctx, k, wire.StepReply{StepType: wire.StepTypeConnectivityCheck, Output: c.text(c.troubled(i, random))}))
	}
}

// troubled is a report in which some links are cut, slow, lossy or answered by strangers.
func (c *crowded) troubled(from int, random *rand.Rand) wire.ConnectivityReport {
	report := wire.ConnectivityReport{}
	for to, k := range c.keys {
		if to == from {
			continue
		}
		l2 := wire.L2Connectivity{RemoteIPAddress: c.address(to), Successful: true}
		l3 := wire.L3Connectivity{RemoteIPAddress: c.address(to), AverageRttMs: 0.3, Successful: true}
		mtu := wire.MTUReport{OutgoingNIC: "eno1", RemoteIPAddress: c.address(to), MTUSuccessful: true}
		switch random.IntN(12) {
		case 0:
			l2.Successful, l3.Successful = false, false
		case 1:
			l2.Successful, l2.RemoteMAC = false, "02:ff:00:00:00:01"
		case 2:
			l3.AverageRttMs = 5000
		case 3:
			l3.PacketLossPercentage = 50
		case 4:
			mtu.MTUSuccessful = false
		}
		report.RemoteHosts = append(report.RemoteHosts, wire.ConnectivityRemoteHost{
			HostID: k.HostID, L2Connectivity: []wire.L2Connectivity{l2}, L3Connectivity: []wire.L3Connectivity{l3}, MTUReport: []wire.MTUReport{mtu},
		})
	}
	return report
}

// judged is all that the hub thinks of the cluster and its hosts, by id.
func (c *crowded) judged(g *WithT) map[string][]string {
	cluster, err := c.Cluster(c.tb.Context(), crowdedCluster, true)
	g.Expect(err).NotTo(HaveOccurred())
	out := map[string][]string{"": {
		cluster.Status, cluster.StatusInfo, cluster.ValidationsInfo, cluster.ConnectivityMajorityGroups, cluster.IPCollisions,
		fmt.Sprint(cluster.TotalHostCount, cluster.ReadyHostCount),
	}}
	for _, h := range cluster.Hosts {
		out[h.ID] = []string{h.Status, h.StatusInfo, h.ValidationsInfo, string(h.Role), string(h.SuggestedRole)}
	}
	return out
}

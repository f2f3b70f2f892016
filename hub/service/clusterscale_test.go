package service_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/filestore"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// crowded is a cluster of n hosts that all have reported, over SQLite: inventories
// of 30 KB, and what each host sees of all others. The clock stands still.
type crowded struct {
	*service.Hub
	tb   testing.TB
	keys []store.HostKey
	// turns tells replies apart.
	turns int
}

const crowdedCluster = "cccccccc-0000-4000-8000-000000000500"

func crowdedOf(tb testing.TB, n int) *crowded {
	tb.Helper()
	dir := tb.TempDir()
	s, err := store.OpenSQLite(tb.Context(), filepath.Join(dir, "hub.sqlite"))
	if err != nil {
		tb.Fatal(err)
	}
	root, err := filestore.OpenDirectory(dir)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _, _ = s.Close(), root.Close() })
	now := time.Now()
	hub, err := service.New(service.Options{Store: s, Files: root, Keys: testhub.Keys(), Now: func() time.Time { return now }})
	if err != nil {
		tb.Fatal(err)
	}
	c := &crowded{Hub: hub, tb: tb}
	_, err = hub.EnsureCluster(tb.Context(), service.ClusterSpec{
		ID:              crowdedCluster,
		Name:            "crowded",
		BaseDomain:      "example.com",
		Masters:         3,
		Workers:         n - 3,
		Version:         "4.20.1",
		SSHKey:          "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f",
		MachineNetworks: []string{"10.0.0.0/16"},
		PullSecret:      `{"auths":{}}`,
		Hold:            true,
	})
	c.must(err)
	_, err = hub.EnsureInfraEnv(tb.Context(), service.InfraEnvSpec{ID: envID, Name: "env", ClusterID: crowdedCluster})
	c.must(err)
	for i := range n {
		c.keys = append(c.keys, key(fmt.Sprintf("aaaaaaaa-0000-4000-8000-%012d", i)))
	}
	for page := range slices.Chunk(c.keys, 50) {
		unit := &store.Unit{}
		for _, k := range page {
			unit.Hosts = append(unit.Hosts, c.record(k, now))
		}
		c.must(s.Commit(tb.Context(), unit))
	}
	c.inventory(0) // the first one brings the records to rest
	c.inventory(0)
	return c
}

func (c *crowded) must(err error) {
	c.tb.Helper()
	if err != nil {
		c.tb.Fatal(err)
	}
}

// record is a host that has reported, straight for the store.
func (c *crowded) record(k store.HostKey, now time.Time) *store.Host {
	i := slices.Index(c.keys, k)
	cluster := crowdedCluster
	h := &store.Host{Approved: true, InventoryAt: now}
	h.API = wire.Host{
		ID: k.HostID, InfraEnvID: k.InfraEnvID, ClusterID: &cluster, Kind: wire.HostKindHost, Role: wire.HostRoleAutoAssign,
		Status: wire.HostStatusKnown, StatusUpdatedAt: wire.At(now), CreatedAt: now, RegisteredAt: wire.At(now), CheckedInAt: wire.At(now),
		Timestamp: now.Unix(), Inventory: c.inventoryText(i, 0), Connectivity: c.connectivityText(i, 0.2),
	}
	return h
}

func (c *crowded) address(i int) string { return fmt.Sprintf("10.0.%d.%d", i/250, i%250+1) }

func (c *crowded) inventoryText(i, turn int) string {
	inventory := wire.Inventory{
		Hostname: fmt.Sprintf("node-%d", i), CPU: &wire.CPU{Count: 16, Architecture: "x86_64", Flags: strings.Split(strings.Repeat("avx512 ", 1500), " ")},
		Memory: &wire.Memory{PhysicalBytes: 64 << 30, UsableBytes: int64(60<<30 + turn)},
		Routes: []wire.Route{{Destination: "0.0.0.0", Gateway: "10.0.255.254", Interface: "eno1"}},
	}
	for n := range 8 {
		nic := wire.Interface{Name: fmt.Sprintf("eno%d", n+1), MACAddress: fmt.Sprintf("02:00:%02x:00:%02x:%02x", n, i>>8, i&0xff), Type: "physical"}
		if n == 0 {
			nic.Ipv4Addresses = []string{c.address(i) + "/16"}
		}
		inventory.Interfaces = append(inventory.Interfaces, nic)
	}
	for n := range 36 {
		inventory.Disks = append(inventory.Disks, wire.Disk{
			ID: fmt.Sprintf("/dev/disk/by-id/wwn-%d-%d", i, n), Path: fmt.Sprintf("/dev/sd%d", n), Name: fmt.Sprintf("sd%d", n), DriveType: wire.DriveTypeSsd,
			SizeBytes: 500e9, Smart: strings.Repeat("s", 300), InstallationEligibility: wire.DiskInstallationEligibility{Eligible: true},
		})
	}
	return c.text(inventory)
}

// connectivityText is a report in which all is well; rtt is its round trip in ms.
func (c *crowded) connectivityText(from int, rtt float64) string {
	report := wire.ConnectivityReport{}
	for to, k := range c.keys {
		if to == from {
			continue
		}
		report.RemoteHosts = append(report.RemoteHosts, wire.ConnectivityRemoteHost{
			HostID: k.HostID,
			L2Connectivity: []wire.L2Connectivity{{
				OutgoingNIC: "eno1", OutgoingIPAddress: c.address(from), RemoteIPAddress: c.address(to), RemoteMAC: fmt.Sprintf("02:00:00:00:%02x:%02x", to>>8, to&0xff), Successful: true,
			}},
			L3Connectivity: []wire.L3Connectivity{{OutgoingNIC: "eno1", RemoteIPAddress: c.address(to), AverageRttMs: rtt, Successful: true}},
			MTUReport:      []wire.MTUReport{{OutgoingNIC: "eno1", RemoteIPAddress: c.address(to), MTUSuccessful: true}},
		})
	}
	return c.text(report)
}

func (c *crowded) text(v any) string {
	raw, err := json.Marshal(v)
	c.must(err)
	return string(raw)
}

// inventory sends an inventory of the host that differs from all before.
func (c *crowded) inventory(i int) {
	c.tb.Helper()
	c.turns++
	c.must(c.Reply(c.tb.Context(), c.keys[i], wire.StepReply{StepType: wire.StepTypeInventory, Output: c.inventoryText(i, c.turns)}))
}

// memory sends an inventory of the host with that much memory, in bytes.
func (c *crowded) memory(i int, bytes int64) {
	c.tb.Helper()
	text := strings.Replace(c.inventoryText(i, 0), fmt.Sprint(64<<30), fmt.Sprint(bytes), 1)
	c.must(c.Reply(c.tb.Context(), c.keys[i], wire.StepReply{StepType: wire.StepTypeInventory, Output: text}))
}

// sources sends time sources of the host that differ from all before.
func (c *crowded) sources(i int) {
	c.tb.Helper()
	c.turns++
	c.must(c.Reply(c.tb.Context(), c.keys[i], wire.StepReply{
		StepType: wire.StepTypeNTPSynchronizer, Output: fmt.Sprintf(`{"ntp_sources":[{"source_name":"ntp-%d","source_state":"synced"}]}`, c.turns),
	}))
}

// connectivity sends what the host sees of the others, which differs from all before.
func (c *crowded) connectivity(i int) {
	c.tb.Helper()
	c.turns++
	c.must(c.Reply(c.tb.Context(), c.keys[i], wire.StepReply{StepType: wire.StepTypeConnectivityCheck, Output: c.connectivityText(i, 0.2+float64(c.turns)/1e6)}))
}

// allocations counts what n changed replies of different hosts allocate, each.
func (c *crowded) allocations(send func(*crowded, int), n int) uint64 {
	for i := range n {
		send(c, i) // brings the hosts to rest
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range n {
		send(c, i)
	}
	runtime.ReadMemStats(&after)
	return (after.Mallocs - before.Mallocs) / uint64(n)
}

// TestAChangedReplyCostsTheSameInALargeCluster: at most twice the work for a
// hundred times the hosts. Work is counted in allocations: each document that is
// decoded and each host that is judged takes hundreds of them.
func TestAChangedReplyCostsTheSameInALargeCluster(t *testing.T) {
	small, large := crowdedOf(t, 5), crowdedOf(t, 500)
	for name, send := range map[string]func(*crowded, int){
		"inventory": (*crowded).inventory,
		"sources":   (*crowded).sources,
		"memory":    func(c *crowded, i int) { c.turns++; c.memory(i, int64(1+c.turns%2)<<33) },
	} {
		few, many := small.allocations(send, 5), large.allocations(send, 5)
		t.Logf("%s: %d allocations in a cluster of 5, %d in one of 500", name, few, many)
		gomega.NewWithT(t).Expect(many).To(gomega.BeNumerically("<=", 2*few), name)
	}
}

// TestAChangeOfAClusterLeavesUnreadWhomItsHostsReach: that is most of what is stored of a large cluster,
// and is in memory already. Here it is much longer than all else.
func TestAChangeOfAClusterLeavesUnreadWhomItsHostsReach(t *testing.T) {
	const hosts, each = 20, 2 << 20
	g, c := gomega.NewWithT(t), crowdedOf(t, hosts)
	long := func(i int) string {
		return strings.Replace(c.connectivityText(i, 0.3), "eno1", strings.Repeat("e", each), 1)
	}
	for i := range hosts {
		c.must(c.Reply(t.Context(), c.keys[i], wire.StepReply{StepType: wire.StepTypeConnectivityCheck, Output: long(i)}))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	changed, err := c.UpdateCluster(t.Context(), crowdedCluster, wire.V2ClusterUpdateParams{AdditionalNTPSource: new("192.0.2.1")})
	runtime.ReadMemStats(&after)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(after.TotalAlloc - before.TotalAlloc).To(gomega.BeNumerically("<", hosts*each/2))

	all, err := c.Hosts(t.Context(), store.HostFilter{ClusterID: changed.ID})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(all).To(gomega.HaveLen(len(c.keys)))
	for i, h := range all {
		g.Expect(h.Connectivity == long(i)).To(gomega.BeTrue(), "it is there for who asks")
	}
}

// BenchmarkChangedReply is what one reply costs that differs from the one before,
// by the size of the host's cluster.
func BenchmarkChangedReply(b *testing.B) {
	for name, send := range map[string]func(*crowded, int){"inventory": (*crowded).inventory, "sources": (*crowded).sources, "connectivity": (*crowded).connectivity} {
		for _, n := range []int{5, 50, 500} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				c := crowdedOf(b, n)
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					send(c, i%n)
				}
			})
		}
	}
}

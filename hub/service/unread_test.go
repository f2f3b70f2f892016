package service_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// TestReportsThatWereLeftUnreadStay: changes of a cluster as a whole leave the reports on connectivity of its hosts
// unread. Whatever else two replicas are asked for in between, and however often they start anew, each host keeps what
// it has told last, nobody is shown anything else, and all are judged by it.
func TestReportsThatWereLeftUnreadStay(t *testing.T) {
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			g := NewWithT(t)
			s, random, hubs, c := twoReplicas(t, seed, 23)
			told := map[string]string{}
			tell := func(i int) {
				text := c.text(c.troubled(i, random))
				if c.Reply(t.Context(), c.keys[i], wire.StepReply{StepType: wire.StepTypeConnectivityCheck, Output: text}) == nil {
					told[c.keys[i].HostID] = text
				}
			}
			c.Hub = hubs[0]
			for i := range c.keys {
				c.other(i, random, told)
				c.inventory(i)
				tell(i)
			}
			for n := range 60 {
				turn := random.IntN(len(hubs))
				c.Hub = hubs[turn]
				switch i := random.IntN(len(c.keys)); random.IntN(8) {
				case 0:
					hubs[turn] = timeless(t, s)
				case 1, 2, 3:
					c.changed(random)
				case 4, 5:
					tell(i)
				default:
					c.other(i, random, told)
				}
				if n%6 != 5 {
					continue
				}
				hosts, err := c.Hosts(t.Context(), store.HostFilter{ClusterID: crowdedCluster})
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(hosts).NotTo(BeEmpty())
				for _, h := range hosts {
					g.Expect(h.Connectivity).To(Equal(told[h.ID]), "after %d calls", n+1)
				}
				before := c.judged(g)
				_, err = timeless(t, s).SetIgnoredValidations(t.Context(), crowdedCluster, wire.IgnoredValidations{})
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(c.judged(g)).To(Equal(before), "after %d calls", n+1)
			}
		})
	}
}

// changed has something of the cluster changed that all hosts are read for, and most of them written.
func (c *crowded) changed(random *rand.Rand) {
	c.tb.Helper()
	p := wire.V2ClusterUpdateParams{DiskEncryption: &wire.DiskEncryption{EnableOn: new([]string{"all", "none"}[random.IntN(2)])}}
	if random.IntN(4) == 0 { // who reaches whom is another matter then
		p = wire.V2ClusterUpdateParams{MachineNetworks: []wire.MachineNetwork{{CIDR: []wire.Subnet{"10.0.0.0/16", "198.51.100.0/24"}[random.IntN(2)]}}}
	}
	_, err := c.UpdateCluster(c.tb.Context(), crowdedCluster, p)
	c.must(err)
}

// other does something else with a host, or has it come or go.
func (c *crowded) other(i int, random *rand.Rand, told map[string]string) {
	c.tb.Helper()
	k, ctx := c.keys[i], c.tb.Context()
	if _, err := c.Host(ctx, k); service.IsNotFound(err) {
		_, err := c.RegisterHost(ctx, service.Registration{InfraEnvID: k.InfraEnvID, HostID: k.HostID})
		c.must(err)
		delete(told, k.HostID)
		return
	}
	switch random.IntN(4) {
	case 0:
		name := fmt.Sprintf("node-%d", random.IntN(len(c.keys)))
		h, err := c.UpdateHost(ctx, k, wire.HostUpdateParams{HostName: &name})
		c.must(err)
		if h.Connectivity != told[k.HostID] {
			c.tb.Errorf("the answer has %q", h.Connectivity)
		}
	case 1:
		c.must(c.DeleteHost(ctx, k))
		delete(told, k.HostID)
	default:
		c.inventory(i)
	}
}

//go:build e2e

package agentbased

import (
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/units"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/systemd/systemdtest"
)

// TestUnitsOnARealSystemd: three machines boot the image of an automated installation, and
// systemd does the rest by its units: who is node zero, its hub, registration, start, agents.
// Node zero loses its power before the installation, and its hub is killed at ten random
// moments.
func TestUnitsOnARealSystemd(t *testing.T) {
	input := four.dynamic(3)                                         // DHCP is played here
	input["hub.env"] = "IRONFLOW_HUB_STAGE_TIMEOUTS=Rebooting=20s\n" // nobody comes back from a pretended installation
	r := newRack(t, units.Automated, input, "--rendezvous-ip", four.address(0))
	for i := range 3 {
		r.machines = append(r.machines, r.power(i))
	}
	r.cable()
	r.reach(r.machines[0], four.address(0))
	begin := time.Now()
	for _, m := range r.machines {
		r.starts(m)
	}
	r.Eventually(r.statuses, patience, look).Should(Not(BeEmpty()), r.journals)
	took := r.registered().Sub(begin)
	t.Log("from the start of the units to the first agent's registration:", took.Round(100*time.Millisecond))
	r.Expect(took).To(BeNumerically("<=", registration), r.journals)

	r.unplug()
	r.machines[0].Kill() // with its memory, all that its hub knew
	r.machines[0] = r.power(0)
	r.cable()
	r.reach(r.machines[0], four.address(0))
	r.starts(r.machines[0])

	killed := r.kills(r.machines[0])
	r.Eventually(r.statuses, 2*patience, look).Should(And(HaveLen(3), HaveEach(wire.HostStatusInstalled)), r.journals)
	killed()
	r.Eventually(func() string {
		return r.machines[0].Run(t, "systemctl", "show", "--property=Result,SubState", "start-cluster-installation.service")
	}, patience, look).Should(And(ContainSubstring("Result=success"), ContainSubstring("SubState=exited")), r.journals)
	zero := r.zero()
	r.Expect([]any{zero.Bootstrap, string(zero.Role), zero.InstallationDiskPath}).To(Equal([]any{true, "master", "/dev/nvme0n1"}))
	r.Expect(hostfile.Dir{Root: r.machines[1].Host.Root}.Path("/etc/assisted/node0")).NotTo(BeAnExistingFile())
	for _, m := range r.machines[1:] {
		out, _ := m.Command(t.Context(), "systemctl", "is-active", "assisted-service.service").CombinedOutput()
		r.Expect(strings.TrimSpace(string(out))).To(Equal("inactive"), "only node zero has a hub")
	}
}

// registration is how long the first agent may take from the boot to its registration: that of
// node zero, whose address is there at once, so that nothing of it is the network's. It is a
// promise to users, and not a patience of the test.
const registration = 10 * time.Second

// registered is when the first agent has registered, by the hub's clock, which is this computer's.
func (r *rack) registered() (first time.Time) {
	r.Helper()
	var all []wire.Cluster
	r.Expect(r.get("/clusters?with_hosts=true", &all)).To(Succeed())
	for _, c := range all {
		for _, h := range c.Hosts {
			if first.IsZero() || h.CreatedAt.Before(first) {
				first = h.CreatedAt
			}
		}
	}
	r.Expect(first.IsZero()).To(BeFalse())
	return first
}

// kills ends the hub of a machine ten times, each at a random moment of its life, also a short
// one; what it returns waits for the last time. A hub that is not there cannot be killed, so it
// is waited for, and each time has to have hit it: systemd has started another one.
func (r *rack) kills(m *systemdtest.Machine) (wait func()) {
	r.Helper()
	done, hits := make(chan struct{}), 0
	go func() {
		defer close(done)
		g := NewGomega(func(text string, _ ...int) {
			if r.Context().Err() == nil { // the test has not ended
				r.Errorf("kill %d of 10: %s", hits+1, text)
			}
			runtime.Goexit()
		})
		pid := ""
		starts := func() {
			before := pid
			g.Eventually(func() string {
				out, _ := m.Command(r.Context(), "systemctl", "show", "--value", "--property=MainPID", units.HubUnit).Output() // without an answer it is asked again
				pid = strings.TrimSpace(string(out))
				return pid
			}).WithContext(r.Context()).WithTimeout(patience).WithPolling(look).Should(And(MatchRegexp(`^[1-9]`), Not(Equal(before))), "the hub is started")
		}
		for starts(); hits < 10; hits++ {
			select {
			case <-r.Context().Done():
			case <-time.After(time.Duration(rand.IntN(9000)) * time.Millisecond):
			}
			out, err := m.Command(r.Context(), "sh", "-c", "kill -KILL "+pid).CombinedOutput()
			g.Expect(err).NotTo(HaveOccurred(), "the hub was not there any more: %s", out)
			starts()
		}
	}()
	r.Cleanup(func() { <-done })
	return func() {
		r.Helper()
		<-done
		r.Expect(hits).To(Equal(10), "the hub is killed so many times")
	}
}

// unplug takes the cables of the machines that run on away, as the loss of the switch's power
// does: its network may stay a while in the kernel, with the last sockets.
func (r *rack) unplug() {
	r.Helper()
	for _, m := range r.machines[1:] {
		r.pull(m)
	}
}

// pull takes the card of a machine out.
func (r *rack) pull(m *systemdtest.Machine) {
	r.Helper()
	ns, link := r.namespace(m)
	card, err := link.LinkByName("eno1")
	r.Expect(err).NotTo(HaveOccurred())
	r.Expect(link.LinkDel(card)).To(Succeed())
	link.Close()
	r.Expect(ns.Close()).To(Succeed())
}

// TestAddedNodesOnARealSystemd: the units of that workflow, on each of the machines by itself. The
// hub of each is killed at ten random moments.
func TestAddedNodesOnARealSystemd(t *testing.T) {
	r := newRack(t, units.AddNodes, nodes(3))
	for i := range 3 {
		r.machines = append(r.machines, r.power(i))
	}
	r.cable()
	var killed []func()
	for _, m := range r.machines {
		r.starts(m)
		killed = append(killed, r.kills(m))
	}
	for i, m := range r.machines {
		r.reach(m, four.address(i))
		r.Eventually(r.statuses, patience, look).Should(And(HaveLen(1), HaveKeyWithValue(mac(i), wire.HostStatusAddedToExistingCluster)), r.journals)
		r.Eventually(func() string {
			return m.Run(t, "systemctl", "show", "--property=Result,SubState", "agent-add-node.service")
		}, patience, look).Should(And(ContainSubstring("Result=success"), ContainSubstring("SubState=exited")), r.journals)
		killed[i]()
		r.Eventually(r.statuses, patience, look).Should(HaveKeyWithValue(mac(i), wire.HostStatusAddedToExistingCluster), "it is so after the last kill, too")
	}
}

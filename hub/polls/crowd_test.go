package polls

import (
	"fmt"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/unit"
)

// deskAt has a clock that the test turns.
func deskAt(now *time.Time) *Desk {
	units := &settle.Units{Units: &unit.Units{Now: func() time.Time { return *now }}}
	return New(units, nil, nil, nil)
}

// poll lets n hosts poll once.
func poll(d *Desk, n int) (last time.Duration) {
	for i := range n {
		_, last = d.Pause(store.HostKey{InfraEnvID: "e", HostID: fmt.Sprint(i)}, time.Minute)
	}
	return last
}

func TestTheGapGrowsWithTheFleet(t *testing.T) {
	for hosts, want := range map[int]time.Duration{1: time.Second, 100: time.Second, 101: 2 * time.Second, 2000: 20 * time.Second, 5000: 50 * time.Second, 50_000: time.Minute} {
		t.Run(fmt.Sprint(hosts), func(t *testing.T) {
			now := time.Unix(1000, 0)
			d := deskAt(&now)
			gomega.NewWithT(t).Expect(poll(d, hosts)).To(gomega.Equal(want))
		})
	}
}

func TestTheGapFollowsTheFleet(t *testing.T) {
	g := gomega.NewWithT(t)
	now := time.Unix(1000, 0)
	d := deskAt(&now)
	poll(d, 2000)
	poll(d, 2000)
	now = now.Add(61 * time.Second)
	g.Expect(poll(d, 1)).To(gomega.Equal(20*time.Second), "a new window does not forget the fleet, and nobody counts twice")
	now = now.Add(61 * time.Second)
	g.Expect(poll(d, 1)).To(gomega.Equal(time.Second), "the others have gone")
	poll(d, 2000)
	now = now.Add(time.Hour)
	g.Expect(poll(d, 1)).To(gomega.Equal(time.Second))
}

// TestAHostOnItsWayIsNotHeldUpByThoseAtRest: only those that hurry as well count.
func TestAHostOnItsWayIsNotHeldUpByThoseAtRest(t *testing.T) {
	g := gomega.NewWithT(t)
	now := time.Unix(1000, 0)
	d := deskAt(&now)
	hurried := func(n int) (last time.Duration) {
		for i := range n {
			_, last = d.Pause(store.HostKey{InfraEnvID: "e", HostID: fmt.Sprint(i)}, 2*time.Second)
		}
		return last
	}
	g.Expect(poll(d, 10_000)).To(gomega.Equal(time.Minute))
	g.Expect(hurried(1)).To(gomega.Equal(time.Second))
	g.Expect(hurried(10_000)).To(gomega.Equal(time.Minute), "a whole fleet that hurries shares the hub")
}

// TestACrowdDoesNotStayTogether: hosts that are answered at the same time are not told the same time.
func TestACrowdDoesNotStayTogether(t *testing.T) {
	g := gomega.NewWithT(t)
	now := time.Unix(1000, 0)
	pauses := func(hosts int, delay time.Duration) map[time.Duration]int {
		d, seen := deskAt(&now), map[time.Duration]int{}
		poll(d, hosts)
		for i := range hosts {
			pause, _ := d.Pause(store.HostKey{InfraEnvID: "e", HostID: fmt.Sprint(i)}, delay)
			g.Expect(pause).To(gomega.Equal(pause.Truncate(time.Second)), "the protocol knows whole seconds")
			seen[pause]++
		}
		return seen
	}
	g.Expect(pauses(100, time.Minute)).To(gomega.HaveLen(1), "few hosts are told the time that is meant")
	many := pauses(10_000, time.Minute)
	g.Expect(len(many)).To(gomega.BeNumerically(">=", 6), "%v", many)
	for pause := range many {
		g.Expect(pause).To(gomega.And(gomega.BeNumerically(">=", 54*time.Second), gomega.BeNumerically("<=", time.Minute)))
	}
	g.Expect(pauses(10_000, 0)).To(gomega.HaveKeyWithValue(time.Duration(0), 10_000), "who is not to come back is not told to")
}

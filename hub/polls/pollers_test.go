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

// answererAt has a clock that the test turns.
func answererAt(now *time.Time) *Answerer {
	units := &settle.Units{Units: &unit.Units{Now: func() time.Time { return *now }}}
	return New(units, nil, nil, nil)
}

// poll lets n hosts poll once.
func poll(d *Answerer, n int) (last time.Duration) {
	for i := range n {
		_, last = d.Pause(store.HostKey{InfraEnvID: "e", HostID: fmt.Sprint(i)}, time.Minute)
	}
	return last
}

func TestTheGapGrowsWithTheFleet(t *testing.T) {
	for hosts, want := range map[int]time.Duration{
		1: time.Second, 100: time.Second,
		101: 2 * time.Second, 1000: 10 * time.Second,
		1001: 20 * time.Second, 2000: 20 * time.Second,
		5000: 50 * time.Second, 50_000: time.Minute,
	} {
		t.Run(fmt.Sprint(hosts), func(t *testing.T) {
			now := time.Unix(1000, 0)
			d := answererAt(&now)
			gomega.NewWithT(t).Expect(poll(d, hosts)).To(gomega.Equal(want))
		})
	}
}

func TestTheGapFollowsTheFleet(t *testing.T) {
	g := gomega.NewWithT(t)
	now := time.Unix(1000, 0)
	d := answererAt(&now)
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
	d := answererAt(&now)
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

// TestACrowdDoesNotStayTogether: hosts that were once answered together come evenly spread a few polls
// later, and from then on at the longest pause.
func TestACrowdDoesNotStayTogether(t *testing.T) {
	g := gomega.NewWithT(t)
	const hosts, minutes = 6000, 4
	now := time.Unix(1000, 0)
	d, due := answererAt(&now), map[int64][]int{now.Unix(): nil}
	poll(d, hosts)
	for i := range hosts {
		due[now.Unix()] = append(due[now.Unix()], i)
	}
	begin := now
	for second := range int64(60 * minutes) {
		now = begin.Add(time.Duration(second) * time.Second)
		coming := due[now.Unix()]
		if second >= 60*(minutes-1) {
			g.Expect(len(coming)).To(gomega.BeNumerically("~", hosts/60, 50), "second %d", second)
		}
		for _, i := range coming {
			pause, _ := d.Pause(store.HostKey{InfraEnvID: "e", HostID: fmt.Sprint("host-", i)}, time.Minute)
			g.Expect(pause).To(gomega.And(gomega.BeNumerically(">=", 30*time.Second), gomega.BeNumerically("<=", time.Minute)))
			if second >= 60*(minutes-1) {
				g.Expect(pause).To(gomega.Equal(time.Minute), "second %d", second)
			}
			next := now.Add(pause).Unix() // the protocol knows whole seconds
			due[next] = append(due[next], i)
		}
	}
}

func TestFewHostsAndThoseThatAreNotToComeBack(t *testing.T) {
	g := gomega.NewWithT(t)
	now := time.Unix(1000, 0)
	d := answererAt(&now)
	pause, gap := d.Pause(store.HostKey{InfraEnvID: "e", HostID: "a"}, time.Minute)
	g.Expect([]time.Duration{pause, gap}).To(gomega.Equal([]time.Duration{time.Minute, time.Second}), "few hosts are told the time that is meant")
	poll(d, 10_000)
	pause, _ = d.Pause(store.HostKey{InfraEnvID: "e", HostID: "a"}, 0)
	g.Expect(pause).To(gomega.BeZero())
}

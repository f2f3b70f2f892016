package polls

import (
	"fmt"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/instructions"
	"github.com/ironflow/ironflow/hub/snapshots"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

func hostWith(id string, results ...wire.StepType) *snapshots.Host {
	s := &snapshots.Host{Key: store.HostKey{InfraEnvID: "e", HostID: id}, Results: map[wire.StepType]uint64{}}
	for _, step := range results {
		s.Results[step] = 1
	}
	return s
}

func asks(wait time.Duration, types ...wire.StepType) wire.Steps {
	out := wire.Steps{NextInstructionSeconds: int64(wait / time.Second)}
	for _, t := range types {
		out.Instructions = append(out.Instructions, wire.Step{StepType: t})
	}
	return out
}

// waiting is a host whose turn it is not.
func waiting(now time.Time) string {
	for i := 0; ; i++ {
		if id := fmt.Sprint("host-", i); !isTurn(store.HostKey{InfraEnvID: "e", HostID: id}, now) {
			return id
		}
	}
}

// TestAHubThatIsBehindAsksLess: first it does without what it has, then without checks that nobody waits for to evaluate the
// host. What was ordered, and a first inventory, are never put off.
func TestAHubThatIsBehindAsksLess(t *testing.T) {
	const (
		inventory, ntp, names = wire.StepTypeInventory, wire.StepTypeNTPSynchronizer, wire.StepTypeDomainResolution
		lease, install        = wire.StepTypeDHCPLeaseAllocate, wire.StepTypeInstall
	)
	now := time.Unix(1_000_000, 0)
	id := waiting(now)
	longest := instructions.BackedOff
	for name, tc := range map[string]struct {
		behind time.Duration
		has    []wire.StepType
		asks   wire.Steps
		want   wire.Steps
	}{
		"not behind":                         {repeatsBehind, []wire.StepType{inventory, ntp}, asks(10*time.Second, inventory, ntp), asks(10*time.Second, inventory, ntp)},
		"all of it is known":                 {2 * repeatsBehind, []wire.StepType{inventory, ntp}, asks(time.Minute, inventory, ntp), asks(longest)},
		"something is not known":             {2 * repeatsBehind, []wire.StepType{inventory, ntp}, asks(10*time.Second, inventory, ntp, names), asks(10*time.Second, names)},
		"… and the hub is further behind":    {2 * checksBehind, []wire.StepType{inventory, ntp}, asks(10*time.Second, inventory, ntp, names), asks(longest)},
		"the first inventory":                {time.Hour, nil, asks(2*time.Second, inventory, ntp), asks(2*time.Second, inventory)},
		"on its way to an installation":      {time.Hour, []wire.StepType{inventory, ntp}, asks(instructions.Soon, inventory, ntp), asks(instructions.Soon)},
		"a lease that ends":                  {time.Hour, []wire.StepType{inventory}, asks(time.Minute, inventory, lease), asks(time.Minute, lease)},
		"an installation":                    {time.Hour, []wire.StepType{inventory}, asks(10*time.Second, install), asks(10*time.Second, install)},
		"logs, and to stop what it is doing": {time.Hour, nil, asks(longest, wire.StepTypeLogsGather, wire.StepTypeStopInstallation), asks(longest, wire.StepTypeLogsGather, wire.StepTypeStopInstallation)},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			d := answererAt(&now)
			d.behind = func() time.Duration { return tc.behind }
			got := d.putOff(tc.asks, hostWith(id, tc.has...), now)
			g.Expect(got.NextInstructionSeconds).To(gomega.Equal(tc.want.NextInstructionSeconds))
			g.Expect(got.Instructions).To(gomega.HaveLen(len(tc.want.Instructions)))
			for i, step := range tc.want.Instructions {
				g.Expect(got.Instructions[i].StepType).To(gomega.Equal(step.StepType))
			}
		})
	}
}

// TestOnlyRepeatsCanWait: a host is told to come later only where all that it is asked for are checks whose results the
// hub has. A first result, an order, and whatever a host tells that is asked for nothing, are never refused.
func TestOnlyRepeatsCanWait(t *testing.T) {
	for name, tc := range map[string]struct {
		asks wire.Steps
		want bool
	}{
		"all is known":            {asks(time.Minute, wire.StepTypeInventory, wire.StepTypeNTPSynchronizer), true},
		"something is not known":  {asks(time.Minute, wire.StepTypeInventory, wire.StepTypeDomainResolution), false},
		"a lease that ends":       {asks(time.Minute, wire.StepTypeInventory, wire.StepTypeDHCPLeaseAllocate), false},
		"an installation":         {asks(time.Minute, wire.StepTypeInstall), false},
		"it is asked for nothing": {asks(time.Minute), false},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			now := time.Unix(1_000_000, 0)
			d := answererAt(&now)
			d.cache = &snapshots.Cache{}
			s := hostWith("a", wire.StepTypeInventory, wire.StepTypeNTPSynchronizer)
			s.Steps = tc.asks
			d.cache.Put(s, d.cache.Now())
			g.Expect(d.OnlyRepeats(t.Context(), s.Key)).To(gomega.Equal(tc.want))
		})
	}
}

// TestEveryHostHasItsTurn, however long the hub is behind: no result gets older than ten minutes and a poll, and not all
// hosts have their turn at once.
func TestEveryHostHasItsTurn(t *testing.T) {
	g := gomega.NewWithT(t)
	const hosts = 1000
	now := time.Unix(1_000_000, 0)
	d := answererAt(&now)
	d.behind = func() time.Duration { return time.Hour }
	begin, last := now, map[string]time.Time{}
	for ; now.Sub(begin) < time.Hour; now = now.Add(instructions.BackedOff) {
		asked := 0
		for i := range hosts {
			id := fmt.Sprint("host-", i)
			steps := d.putOff(asks(time.Minute, wire.StepTypeInventory), hostWith(id, wire.StepTypeInventory), now)
			if len(steps.Instructions) == 0 {
				continue
			}
			asked++
			if before, ok := last[id]; ok {
				g.Expect(now.Sub(before)).To(gomega.BeNumerically("<=", turns*turnLasts))
			}
			last[id] = now
		}
		g.Expect(asked).To(gomega.BeNumerically("~", hosts/turns, hosts/20))
	}
	g.Expect(last).To(gomega.HaveLen(hosts))
}

// TestWhoIsPutOffDoesNotComeSooner: agents come after the gap when they are told something else than before.
func TestWhoIsPutOffDoesNotComeSooner(t *testing.T) {
	g := gomega.NewWithT(t)
	now := time.Unix(1_000_000, 0)
	d := answererAt(&now)
	gapOf := func(behind, delay time.Duration) time.Duration {
		d.behind = func() time.Duration { return behind }
		_, gap := d.Pause(store.HostKey{InfraEnvID: "e", HostID: "a"}, delay)
		return gap
	}
	const quarter = putOffGap / 4 // by which agents come later
	g.Expect(gapOf(time.Hour, instructions.BackedOff)).To(gomega.And(gomega.BeNumerically(">", 30*time.Second), gomega.BeNumerically("<=", time.Minute-quarter)))
	g.Expect(gapOf(0, instructions.BackedOff)).To(gomega.Equal(time.Second), "the hub has time")
	g.Expect(gapOf(time.Hour, instructions.Soon)).To(gomega.Equal(time.Second), "it is on its way")
}

// TestHostsThatArePutOffAreSpread over the longest pause, so that they do not come back together.
func TestHostsThatArePutOffAreSpread(t *testing.T) {
	g := gomega.NewWithT(t)
	const hosts = 6000
	now := time.Unix(1_000_000, 0)
	d := answererAt(&now)
	poll(d, hosts)
	seconds := map[time.Duration]int{}
	for i := range hosts {
		pause, _ := d.Pause(store.HostKey{InfraEnvID: "e", HostID: fmt.Sprint(i)}, instructions.BackedOff)
		g.Expect(pause).To(gomega.And(gomega.BeNumerically(">=", time.Minute), gomega.BeNumerically("<=", instructions.BackedOff)))
		seconds[pause]++
	}
	g.Expect(len(seconds)).To(gomega.BeNumerically(">", 50))
}

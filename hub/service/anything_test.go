package service_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/clustermachine"
	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/wire"
)

// randomRun is what happens to the hosts of a cluster, in any order.
type randomRun struct {
	*world
	*rand.Rand
	// cluster is the one that hosts are bound to.
	cluster string
	done    []string
	// seen are the statuses that hosts have been in, in all runs.
	seen map[string]bool
}

// happenings are all that agents, people and controllers may do, by name.
var happenings = map[string]func(*randomRun, string) error{
	"registers": func(f *randomRun, h string) error {
		_, err := f.RegisterHost(f.ctx, service.Registration{InfraEnvID: envID, HostID: h})
		if err == nil {
			f.Expect(f.status(h)).NotTo(BeElementOf(awaited), "a host came, and nobody noticed")
		}
		return err
	},
	"is seen": func(f *randomRun, h string) error { f.inventory(h, nil); return nil },
	"is too small": func(f *randomRun, h string) error {
		f.inventory(h, func(i *wire.Inventory) { i.CPU.Count = 0 })
		return nil
	},
	"disk is well":   func(f *randomRun, h string) error { f.checkDisk(h); return nil },
	"loses medium":   func(f *randomRun, h string) error { f.losesMedium(h); return nil },
	"install fails":  func(f *randomRun, h string) error { return f.installFails(h) },
	"reaches stage":  func(f *randomRun, h string) error { return f.stage(h, f.anyStage()) },
	"says it failed": func(f *randomRun, h string) error { return f.stage(h, wire.HostStageFailed) },
	"is told failed": func(f *randomRun, h string) error { return f.FailHost(f.ctx, key(h), "told") },
	"is told done":   func(f *randomRun, h string) error { return f.CompleteHost(f.ctx, key(h)) },
	"is bound":       func(f *randomRun, h string) error { _, err := f.BindHost(f.ctx, key(h), f.cluster); return err },
	"is unbound":     func(f *randomRun, h string) error { _, err := f.UnbindHost(f.ctx, key(h)); return err },
	"is reset":       func(f *randomRun, h string) error { _, err := f.ResetHost(f.ctx, key(h)); return err },
	"is approved":    func(f *randomRun, h string) error { return f.ApproveHost(f.ctx, key(h), f.IntN(3) > 0) },
	"is removed":     func(f *randomRun, h string) error { return f.DeleteHost(f.ctx, key(h)) },
	"is installed":   func(f *randomRun, h string) error { _, err := f.InstallHost(f.ctx, key(h)); return err },
	"installation":   func(f *randomRun, _ string) error { _, err := f.StartInstallation(f.ctx, f.cluster); return err },
	"cancel":         func(f *randomRun, _ string) error { _, err := f.CancelInstallation(f.ctx, f.cluster); return err },
	"reset":          func(f *randomRun, _ string) error { _, err := f.ResetCluster(f.ctx, f.cluster); return err },
	"more hosts":     func(f *randomRun, _ string) error { _, err := f.AllowAddHosts(f.ctx, f.cluster); return err },
	"a moment":       func(*randomRun, string) error { pass(time.Second); return nil },
	"silence":        func(*randomRun, string) error { pass(4 * time.Minute); return nil },
	"an hour": func(f *randomRun, _ string) error {
		f.live(time.Hour, f.here()...)
		return nil
	},
}

// often are what makes installations go on; they happen more often than the rest.
var often = []string{"registers", "is seen", "disk is well", "reaches stage", "a moment", "is bound"}

// awaited are the statuses that only a registration ends.
var awaited = []string{
	wire.HostStatusBinding, wire.HostStatusUnbinding, wire.HostStatusUnbindingPendingUserAction, wire.HostStatusResettingPendingUserAction,
}

// resting are the statuses in which a host may stay for ever when nothing happens any
// more: each says whose turn it is.
var resting = slices.Concat(awaited, []string{
	wire.HostStatusDisconnected, wire.HostStatusDisconnectedUnbound, wire.HostStatusError, wire.HostStatusCancelled,
	wire.HostStatusInstalled, wire.HostStatusAddedToExistingCluster,
})

var restingClusters = []string{
	wire.ClusterStatusInsufficient, wire.ClusterStatusPendingForInput, wire.ClusterStatusReady, wire.ClusterStatusInstalled,
	wire.ClusterStatusAddingHosts, wire.ClusterStatusError, wire.ClusterStatusCancelled,
}

func (f *randomRun) installFails(host string) error {
	return f.Reply(f.ctx, key(host), wire.StepReply{StepType: wire.StepTypeInstall, ExitCode: 1, Error: "no space"})
}

func (f *randomRun) anyStage() wire.HostStage {
	stages := hostmachine.Stages(wire.HostRoleMaster, f.IntN(2) == 0, false)
	return stages[f.IntN(len(stages))]
}

// here are the hosts that the hub knows.
func (f *randomRun) here() (hosts []string) {
	for _, h := range all {
		if _, err := f.Host(f.ctx, key(h)); err == nil {
			hosts = append(hosts, h)
		}
	}
	return hosts
}

// next has one thing happen, and looks at what it led to.
func (f *randomRun) next(names []string) {
	name, host := names[f.IntN(len(names))], all[f.IntN(len(all))]
	if f.IntN(2) == 0 {
		name = often[f.IntN(len(often))]
	}
	if name != "registers" && !slices.Contains(f.here(), host) {
		return
	}
	f.done = append(f.done, fmt.Sprintf("%s %s", host[len(host)-1:], name))
	if err := happenings[name](f, host); err != nil {
		// Refused on purpose, for good or for now.
		f.Expect(service.Code(err)).To(Or(BeNumerically("<", 500), Equal(503)), "%v\n%s", err, f.done)
	}
	for _, h := range f.here() {
		f.Expect(hostmachine.Machine.States).To(ContainElement(f.status(h)), "%s", f.done)
		f.seen[f.status(h)] = true
	}
	c, err := f.Cluster(f.ctx, f.cluster, false)
	f.Expect(err).NotTo(HaveOccurred())
	f.Expect(clustermachine.Machine.States).To(ContainElement(c.Status), "%s", f.done)
}

// begins are the situations in which the hosts are at first.
var begins = []func(*testing.T, service.Timers) *world{
	func(t *testing.T, timers service.Timers) *world {
		w := start(t, service.Options{Timers: timers}, &service.InfraEnvSpec{AutoApprove: true})
		_, err := w.EnsureCluster(w.ctx, service.ClusterSpec{ID: sharedCluster, Name: "edge", Masters: 1})
		w.Expect(err).NotTo(HaveOccurred())
		return w
	},
	func(t *testing.T, timers service.Timers) *world {
		w := shared(t, service.Options{Timers: timers}, service.ClusterSpec{Masters: 3})
		for _, h := range all {
			w.register(h)
			w.inventory(h, nil)
		}
		return w
	},
	func(t *testing.T, timers service.Timers) *world { return team(t, timers, 3, 0) },
	func(t *testing.T, timers service.Timers) *world {
		w := shared(t, service.Options{Timers: timers}, service.ClusterSpec{})
		w.installing(hostA)
		w.reaches(hostA, wire.HostStageDone)
		return w
	},
}

// TestAnythingMayHappen: whatever happens in whatever order, no call fails for the hub's
// own reasons, a host that registers is noticed, and a host that falls silent comes to
// a status that says whose turn it is, as its cluster does.
func TestAnythingMayHappen(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	var names []string
	for name := range happenings {
		names = append(names, name)
	}
	slices.Sort(names)
	seen := map[string]bool{}
	for i := range 16 {
		synctest.Test(t, func(t *testing.T) {
			w := begins[i%len(begins)](t, service.Timers{Soft: i%8 > 3, Renewal: time.Hour})
			running.Store("") // what decides here is left to chance
			f := &randomRun{world: w, Rand: rand.New(rand.NewPCG(seed, uint64(i))), cluster: sharedCluster, seen: seen}
			for range 40 {
				f.next(names)
			}
			pass(30 * time.Hour)
			for _, h := range f.here() {
				w.Expect(resting).To(ContainElement(w.status(h)), "host %s: %s\n%s", h, w.info(h), f.done)
			}
			w.Expect(restingClusters).To(ContainElement(w.clusterStatus()), "%s", f.done)
		})
	}
	NewWithT(t).Expect(len(seen)).To(BeNumerically(">=", 10), "too little happened: %v", seen)
}

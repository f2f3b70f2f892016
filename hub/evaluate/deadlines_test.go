package evaluate_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/clustermachine"
	"github.com/ironflow/ironflow/hub/evaluate"
	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/rules"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

// generator makes records of any age.
type generator struct {
	*rand.Rand
	now time.Time
}

func (d generator) coin() bool { return d.IntN(2) == 0 }

func pick[T any](d generator, of ...T) T { return of[d.IntN(len(of))] }

// before is some time ago, mostly near one of the limits.
func (d generator) before() wire.DateTime {
	limits := []time.Duration{0, time.Minute, 3 * time.Minute, 5 * time.Minute, 10 * time.Minute, 17 * time.Minute, 20 * time.Minute, 40 * time.Minute, time.Hour, 5 * time.Hour, 24 * time.Hour}
	return wire.At(d.now.Add(-pick(d, limits...) - time.Duration(d.IntN(1200)-600)*time.Second))
}

func (d generator) host() *store.Host {
	h := &store.Host{API: wire.Host{
		Status: pick(d, hostmachine.Machine.States...), StatusUpdatedAt: d.before(), CheckedInAt: d.before(), Bootstrap: d.coin(),
		ConnectionTimedOut: d.coin(), LogsInfo: pick(d, "", wire.LogsStateRequested, wire.LogsStateCollecting, wire.LogsStateCompleted), LogsStartedAt: d.before(),
		Role: pick(d, wire.HostRoleMaster, wire.HostRoleWorker),
	}}
	if d.coin() {
		h.API.Progress = &wire.HostProgressInfo{CurrentStage: pick(d, hostmachine.Stages(h.API.Role, d.coin(), d.coin())...), StageStartedAt: d.before(), StageUpdatedAt: d.before(), StageTimedOut: d.coin()}
	}
	return h
}

func (d generator) cluster() *store.Cluster {
	c := &store.Cluster{Masters: pick(d, 1, 3), API: wire.Cluster{Status: pick(d, clustermachine.Machine.States...), StatusUpdatedAt: d.before()}}
	if d.coin() {
		c.PreparedAt = d.before().Time
	}
	if d.coin() {
		c.API.Kind, c.API.Status = wire.ClusterKindAddHostsCluster, wire.ClusterStatusAddingHosts
	}
	if d.coin() {
		c.API.Progress = &wire.ClusterProgressInfo{
			FinalizingStage: pick(d, evaluate.FinalizingStages...), FinalizingStageStartedAt: d.before(), FinalizingStageTimedOut: d.coin(),
		}
	}
	c.API.LogsInfo, c.API.ControllerLogsStartedAt = pick(d, "", wire.LogsStateRequested, wire.LogsStateCollecting, wire.LogsStateCompleted), d.before()
	return c
}

func (d generator) evaluator(soft bool) evaluate.Evaluator {
	timers := evaluate.Timers{Soft: soft}.WithDefaults()
	return evaluate.Evaluator{Rules: &evaluate.Rules{Timers: timers, Needs: validations.OpenShift}, Moment: evaluate.Moment{Now: d.now, Started: d.before().Time}}
}

// TestNothingChangesBeforeItsDeadline: whatever time alone decides about a host or a
// cluster is decided after the deadline that was known before.
func TestNothingChangesBeforeItsDeadline(t *testing.T) {
	g := NewWithT(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	changed := map[string]bool{}
	for i := range 30_000 {
		d := generator{rand.New(rand.NewPCG(seed, uint64(i))), time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)}
		now := d.evaluator(d.coin())
		later := now
		later.Now = later.Now.Add(time.Duration(d.IntN(100_000_000)) * time.Millisecond)
		h, c := d.host(), d.cluster()
		if d.coin() {
			c = nil
		}
		due, patience := now.HostDeadline(h, c)
		if patience > 0 {
			heard := h.API.CheckedInAt.Time
			if heard.Before(now.Started) {
				heard = now.Started
			}
			if silent := heard.Add(patience); due.IsZero() || silent.Before(due) {
				due = silent
			}
		}
		outcome := validations.HostOutcome{HasInventory: d.coin(), MinimumHardware: true, NetworkDefined: d.coin(), Others: d.coin()}
		facts := validations.Decode(&h.API, validations.Known{})
		spared := d.coin()
		decide := func(j evaluate.Evaluator) (rules.Decision, error) {
			f := j.HostFacts(h, c, facts, outcome)
			f.ClusterWithoutHost = spared
			return hostmachine.Machine.Decide(hostmachine.Refresh, h.API.Status, f)
		}
		before, err := decide(now)
		if err == nil && !before.Changed && len(before.Effects) == 0 { // a record at rest
			after, _ := decide(later)
			if before.To != after.To || !slices.Equal(before.Effects, after.Effects) {
				changed[h.API.Status] = true
				g.Expect(due.IsZero()).To(BeFalse(), "%d: host %s", i, h.API.Status)
				g.Expect(due).To(BeTemporally("<", later.Now), "%d: host %s", i, h.API.Status)
			}
		}

		c = d.cluster()
		due = now.ClusterDeadline(c)
		decideCluster := func(j evaluate.Evaluator) (rules.Decision, error) {
			f, _ := j.ClusterFacts(c, []*evaluate.Member{j.MemberOf(h, c, facts)}, validations.ClusterOutcome{Pass: true})
			return clustermachine.Machine.Decide(clustermachine.Refresh, c.API.Status, f)
		}
		before, err = decideCluster(now)
		g.Expect(err).NotTo(HaveOccurred())
		after, _ := decideCluster(later)
		rests := !before.Changed && len(before.Effects) == 0
		if rests && (before.To != after.To || !slices.Equal(before.Effects, after.Effects)) || c.API.Status == wire.ClusterStatusReady && now.MayRepeat(c) != later.MayRepeat(c) {
			changed[c.API.Status] = true
			g.Expect(due.IsZero()).To(BeFalse(), "%d: cluster %s", i, c.API.Status)
			g.Expect(due).NotTo(BeTemporally(">", later.Now), "%d: cluster %s", i, c.API.Status)
		}
	}
	for _, status := range []string{
		wire.HostStatusDiscovering, wire.HostStatusKnownUnbound, wire.HostStatusPreparingForInstallation, wire.HostStatusInstalling,
		wire.HostStatusInstallingInProgress, wire.HostStatusInstallingPendingUserAction, wire.HostStatusReclaiming, wire.HostStatusError,
		wire.ClusterStatusReady, wire.ClusterStatusFinalizing, wire.ClusterStatusCancelled,
	} {
		g.Expect(changed).To(HaveKey(status), "time was never what decided")
	}
}

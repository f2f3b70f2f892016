//go:build e2e

package e2e

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/hub/wire"
)

// seedVariable repeats a run: its value is the seed that a failed test has printed.
const seedVariable = "IRONFLOW_E2E_SEED"

// chance is the source of a test's random moments.
func chance(t *testing.T) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	if text := os.Getenv(seedVariable); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s: %v", seedVariable, err)
		}
	}
	t.Logf("%s=%d has the same moments again", seedVariable, seed)
	name := fnv.New64a()
	fmt.Fprint(name, t.Name())
	return rand.New(rand.NewPCG(seed, name.Sum64()))
}

// installation is one of three hosts on the way to a cluster.
type installation struct {
	*world
	p      *pool
	id     string
	inside *inside
	chance *rand.Rand
}

// newInstallation makes three hosts whose installation stays for a while in these stages.
func newInstallation(t *testing.T, lasting ...wire.HostStage) *installation {
	t.Helper()
	w := newWorld(t)
	i := &installation{world: w, id: w.newCluster(3), chance: chance(t)}
	i.p = w.newPool(i.id)
	for range 3 {
		w.boot(i.p, func(s *scenario.Scenario) {
			s.Install.Stages = map[string]scenario.Duration{}
			for _, stage := range lasting {
				s.Install.Stages[string(stage)] = scenario.Duration{Duration: 15 * time.Second}
			}
		})
	}
	return i
}

// pass lets a random time pass.
func (i *installation) pass(most time.Duration) {
	<-time.After(time.Duration(i.chance.Int64N(int64(most))))
}

// begin asks for the installation.
func (i *installation) begin() {
	i.Helper()
	i.install(i.p, i.id)
}

// beginHanging does so while openshift-install does not come to an end.
func (i *installation) beginHanging() {
	i.Helper()
	i.installer.Behave("hang")
	i.begin()
	i.Eventually(i.installer.Child, patience, look).ShouldNot(BeZero(), "%s", story{i.world, i.p})
}

// untilStage waits until so many hosts are in the stage.
func (i *installation) untilStage(hosts int, stage wire.HostStage) {
	i.Helper()
	i.Eventually(func() (n int) {
		for _, h := range i.hosts(i.p) {
			if h.Progress != nil && h.Progress.CurrentStage == stage {
				n++
			}
		}
		return n
	}, patience, look).Should(BeNumerically(">=", hosts), "%s", story{i.world, i.p})
}

// rebooted waits until all machines have left the live image, and has the cluster begin to run.
func (i *installation) rebooted() {
	i.Helper()
	i.installs(i.p)
	i.untilStage(3, wire.HostStageRebooting)
	i.inside = i.startInside(i.id)
}

// finalizing has all nodes be Ready, while the cluster's operators are not.
func (i *installation) finalizing() {
	i.Helper()
	for _, h := range i.hosts(i.p) {
		i.kubelet(h)
	}
	i.untilCluster(i.p, i.id, wire.ClusterStatusFinalizing)
	i.Eventually(func() wire.FinalizingStage {
		if c := i.cluster(i.id); c.Progress != nil {
			return c.Progress.FinalizingStage
		}
		return ""
	}, patience, look).Should(Equal(wire.FinalizingStageWaitingForClusterOperators))
}

// told are the events of the cluster and its hosts.
func (i *installation) told() (all wire.EventList) {
	i.Helper()
	i.do(http.MethodGet, "/events?cluster_id="+i.id, nil, &all)
	return all
}

// stages are the stages of hosts and cluster that were told so far.
func (i *installation) stages() (all []string) {
	i.Helper()
	for _, e := range i.told() {
		if slices.Contains([]string{"host_install_progress_updated", "cluster_finalizing_stage_updated"}, e.Name) {
			all = append(all, e.Message)
		}
	}
	return all
}

// moment is a state of an installation.
type moment struct {
	// lasting are the stages that have to last for it.
	lasting []wire.HostStage
	// comes takes an installation there that nobody has asked for yet.
	comes func(*installation)
	// own tells that it needs operators that are not available.
	own bool
}

// tenMoments are, in every part of an installation.
var tenMoments = map[string]moment{
	"preparing":             {comes: (*installation).begin},
	"waiting-for-the-job":   {comes: (*installation).beginHanging},
	"writing":               {lasting: []wire.HostStage{wire.HostStageWritingImageToDisk}, comes: reaching(2, wire.HostStageWritingImageToDisk)},
	"bootstrap-waits":       {lasting: []wire.HostStage{wire.HostStageWaitingForControlPlane}, comes: reaching(1, wire.HostStageWaitingForControlPlane)},
	"bootstrap-waits-again": {lasting: []wire.HostStage{wire.HostStageWaitingForController}, comes: reaching(1, wire.HostStageWaitingForController)},
	"one-reboots":           {lasting: []wire.HostStage{wire.HostStageWaitingForControlPlane}, comes: reaching(1, wire.HostStageRebooting)},
	"all-reboot":            {comes: func(i *installation) { i.begin(); i.rebooted() }},
	"one-joined": {comes: func(i *installation) {
		i.begin()
		i.rebooted()
		i.joins(i.hosts(i.p)[0])
		i.untilStage(1, wire.HostStageJoined)
	}},
	"finalizing": {own: true, comes: func(i *installation) {
		i.begin()
		i.rebooted()
		i.finalizing()
	}},
	"whenever": {lasting: []wire.HostStage{wire.HostStageWritingImageToDisk}, comes: func(i *installation) {
		i.begin()
		i.pass(20 * time.Second)
	}},
}

// reaching begins, and waits for so many hosts in the stage.
func reaching(hosts int, stage wire.HostStage) func(*installation) {
	return func(i *installation) {
		i.begin()
		i.untilStage(hosts, stage)
	}
}

//go:build e2e

package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/hub/wire"
)

// slow lets a stage last, so that something can happen in it.
func slow(stage wire.HostStage, d time.Duration) func(*scenario.Scenario) {
	return func(s *scenario.Scenario) {
		s.Install.Stages = map[string]scenario.Duration{string(stage): {Duration: d}}
	}
}

// fails lets the installation fail once.
func fails(stage wire.HostStage, reason string) func(*scenario.Scenario) {
	return func(s *scenario.Scenario) {
		s.Faults = []scenario.Fault{{Kind: scenario.FaultInstall, Stage: string(stage), Text: reason}}
	}
}

// untilWriting waits until a host writes its disk.
func (w *world) untilWriting(p *pool) {
	w.Helper()
	w.Eventually(func() bool {
		for _, h := range w.hosts(p) {
			if h.Progress != nil && h.Progress.CurrentStage == wire.HostStageWritingImageToDisk {
				return true
			}
		}
		return false
	}, patience, look).Should(BeTrue(), "%s", story{w, p})
}

// TestUnbindAndBind: a host of the pool is bound, let go, and bound to another cluster,
// which is then installed. Its machine is never booted anew.
func TestUnbindAndBind(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.newPool("")
	a := w.boot(p)
	w.until(p, wire.HostStatusKnownUnbound)
	host := "/infra-envs/" + p.id + "/hosts/" + w.host(a).ID
	first, second := w.newCluster(1), w.newCluster(1)
	w.do(http.MethodPost, host+"/actions/bind", wire.BindHostParams{ClusterID: first}, nil)
	w.untilCluster(p, first, wire.ClusterStatusReady)
	w.do(http.MethodPost, host+"/actions/unbind", nil, nil)
	w.until(p, wire.HostStatusKnownUnbound)
	w.Expect(w.cluster(first).Status).NotTo(Equal(wire.ClusterStatusReady))
	w.do(http.MethodPost, host+"/actions/bind", wire.BindHostParams{ClusterID: second}, nil)
	w.install(p, second)
	w.installs(p)
	w.finish(p, second)
	w.Expect(w.written(w.host(a).ID)).To(Equal(1))
}

// TestCancelAndReset in mid installation: the agents hear of it and end; after the
// reset the machines boot the live image again and are installed.
func TestCancelAndReset(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.newCluster(3)
	p := w.newPool(id)
	for range 3 {
		w.boot(p, slow(wire.HostStageWritingImageToDisk, 20*time.Second))
	}
	w.install(p, id)
	w.untilWriting(p)
	w.do(http.MethodPost, "/clusters/"+id+"/actions/cancel", nil, nil)
	w.untilCluster(p, id, wire.ClusterStatusCancelled)
	w.until(p, wire.HostStatusCancelled)
	for _, a := range p.agents {
		w.Expect(a.code()).To(Equal(91), "cancelled: %s", a.said)
	}
	begun := map[string]int{}
	for _, h := range w.hosts(p) {
		begun[h.ID] = w.written(h.ID)
	}
	w.do(http.MethodPost, "/clusters/"+id+"/actions/reset", nil, nil)
	for _, a := range p.agents {
		a.reboot()
	}
	w.install(p, id)
	w.installs(p)
	w.finish(p, id)
	for _, h := range w.hosts(p) {
		w.Expect(w.written(h.ID)).To(Equal(begun[h.ID]+1), "begun once more after the reset")
	}
}

// TestAHostFails: its reason is at the host and in the events, the cluster ends in
// an error. After a reset it is installed.
func TestAHostFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.newCluster(1)
	p := w.newPool(id)
	a := w.boot(p, fails(wire.HostStageWritingImageToDisk, "disk write failed: input/output error at sector 4242"))
	w.install(p, id)
	w.Expect(a.code()).To(Equal(90), "failed for good: %s", a.said)
	w.until(p, wire.HostStatusError)
	w.Expect(w.host(a).StatusInfo).To(ContainSubstring("sector 4242"))
	w.untilCluster(p, id, wire.ClusterStatusError)
	var events wire.EventList
	w.do(http.MethodGet, "/events?host_id="+w.host(a).ID, nil, &events)
	w.Expect(events).To(ContainElement(Satisfy(func(e wire.Event) bool { return strings.Contains(e.Message, "sector 4242") })))

	w.do(http.MethodPost, "/clusters/"+id+"/actions/reset", nil, nil)
	a.reboot()
	w.install(p, id)
	w.installs(p)
	w.finish(p, id)
}

//go:build e2e

package e2e

import (
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
)

// TestCancelAtAnyMoment, and TestResetAtAnyMoment: nothing goes on that was called off, and the
// same cluster is installed afterwards.
func TestCancelAtAnyMoment(t *testing.T) { atAnyMoment(t, "cancel") }

func TestResetAtAnyMoment(t *testing.T) { atAnyMoment(t, "reset") }

func atAnyMoment(t *testing.T, action string) {
	for name, m := range tenMoments {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := newInstallation(t, m.lasting...)
			if m.own {
				i.ownInner()
			}
			m.comes(i)
			i.pass(time.Second)
			before := i.hosts(i.p)
			i.do(http.MethodPost, "/clusters/"+i.id+"/actions/"+action, nil, nil)
			i.ended(before)
			i.again(action == "reset")
		})
	}
}

// ended expects that nothing goes on, after a call that ended the installation of the hosts.
func (i *installation) ended(before []wire.Host) {
	i.Helper()
	status, stages := i.cluster(i.id).Status, i.stages()
	i.Expect(status).To(BeElementOf(wire.ClusterStatusReady, wire.ClusterStatusCancelled, wire.ClusterStatusInsufficient))

	for _, h := range before {
		a := i.agentOf(h)
		if a.ended != nil && h.Status == wire.HostStatusInstallingInProgress {
			want := []int{91}
			if i.reached(h.ID, wire.HostStageRebooting) {
				want = append(want, 0) // it had left
			}
			i.Expect(want).To(ContainElement(a.code()), "%s was at %v: %s", h.ID, h.Progress, a.said)
		}
		var late wire.Steps // what an agent is told that asks only now
		path := "/infra-envs/" + i.p.id + "/hosts/" + h.ID + "/instructions"
		var own hostfile.OwnToken // the infra-env's token opens nothing of a host that has its own
		i.Expect((hostfile.Dir{Root: a.root}).Read(hostfile.HostToken, &own)).To(Succeed())
		i.as(i.user.As(wire.HeaderAgentToken, own.Token), http.MethodGet, path, nil, &late)
		for _, s := range late.Instructions {
			i.Expect(s.StepType).NotTo(BeElementOf(wire.StepTypeInstall, wire.StepTypeInstallationDiskSpeedCheck), "of "+h.ID)
		}
	}
	if child := i.installer.Child(); child != 0 {
		i.Eventually(func() error { return syscall.Kill(child, 0) }, patience, look).Should(MatchError(syscall.ESRCH), "openshift-install and what it has started")
	}
	i.Eventually(func() ([]string, error) {
		return filepath.Glob(filepath.Join(i.hub.Data, "openshift-install", "run-*"))
	}, patience, look).Should(BeEmpty())
	switch {
	case i.inside == nil:
	case status == wire.ClusterStatusCancelled:
		i.inside.over()
		i.Expect(i.inside.said.String()).To(ContainSubstring(`"end":"cancelled"`))
		i.inside.kill() // its cluster goes
	default:
		i.inside.says("the cluster is " + wire.ClusterStatusInsufficient)
		i.inside.kill() // its cluster goes
	}
	i.Expect(i.stages()).To(Equal(stages), "stages after the end")
}

// reached tells whether the hub has heard that the host was in the stage.
func (i *installation) reached(host string, stage wire.HostStage) bool {
	i.Helper()
	return slices.ContainsFunc(i.told(), func(e wire.Event) bool {
		return wire.Value(e.HostID) == host && strings.HasSuffix(e.Message, "reached stage "+string(stage))
	})
}

// agentOf finds the machine of the host.
func (i *installation) agentOf(h wire.Host) *agent {
	i.Helper()
	for _, a := range i.p.agents {
		machine, err := scenario.Load(a.scenario())
		i.Expect(err).NotTo(HaveOccurred())
		if strings.Contains(h.Inventory, `"`+machine.Hardware.System.Serial+`"`) {
			return a
		}
	}
	i.Fatal("no machine of host " + h.ID)
	return nil
}

// again expects that the cluster is installed to its end, once.
func (i *installation) again(reset bool) {
	i.Helper()
	i.installer.Behave("")
	i.wipe(i.p)
	status, begun := i.cluster(i.id).Status, map[string]int{}
	for _, h := range i.hosts(i.p) {
		begun[h.ID] = i.written(h.ID)
	}
	if status == wire.ClusterStatusCancelled {
		i.do(http.MethodPost, "/clusters/"+i.id+"/actions/reset", nil, nil)
		reset = true
	}
	if reset { // one that was called off before it began is as it was
		for _, a := range i.p.agents {
			machine, err := scenario.Load(a.scenario())
			i.Expect(err).NotTo(HaveOccurred())
			machine.Install.Stages = nil
			i.Expect(machine.Save(a.scenario())).To(Succeed())
			a.reboot()
		}
	}
	i.Expect(i.inner.Up(i.Context(), version)).To(Succeed())
	i.install(i.p, i.id)
	i.installs(i.p)
	i.finish(i.p, i.id)
	for _, h := range i.hosts(i.p) {
		i.Expect(i.written(h.ID)).To(Equal(begun[h.ID]+1), "begun once more")
	}
}

package flow_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/flow/dryhost"
	"github.com/ironflow/ironflow/test/hub/testhub"
	"github.com/ironflow/ironflow/test/scenario/generate"
)

// patience bounds what takes a few seconds on an idle machine.
const patience = time.Minute

var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "flow-")
	if err != nil {
		panic(err)
	}
	if binary, err = dryhost.Build(context.Background(), dir); err != nil {
		panic(fmt.Sprint(err))
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// rig is a hub, an infra-env and a machine with its agent.
type rig struct {
	g       *WithT
	t       *testing.T
	hub     *testhub.Hub
	env     string
	token   string
	machine *dryhost.Machine
	way     *way // between agent and hub; nil: directly
	log     bytes.Buffer
}

func newRig(t *testing.T, index int, faults ...scenario.Fault) *rig {
	return newRigWith(t, testhub.Options{}, index, faults...)
}

func newRigWith(t *testing.T, o testhub.Options, index int, faults ...scenario.Fault) *rig {
	g := NewWithT(t)
	hub := testhub.Start(t, o)
	r := &rig{g: g, t: t, hub: hub}
	r.env, r.token = hub.InfraEnv(t, "pool")
	r.machine = newMachine(t, index, faults...)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("hub:\n%s\nagent:\n%s", r.hub.Timeline(t), r.log.String())
		}
	})
	return r
}

func newMachine(t *testing.T, index int, faults ...scenario.Fault) *dryhost.Machine {
	t.Helper()
	s := generate.Machine(index, generate.Options{})
	s.Install = scenario.Install{DefaultStage: duration(50 * time.Millisecond), Stages: map[string]scenario.Duration{"Writing image to disk": duration(time.Second)}}
	s.Faults = faults
	m, err := dryhost.New(t.TempDir(), binary, s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func duration(d time.Duration) scenario.Duration { return scenario.Duration{Duration: d} }

// start starts the agent; the returned function waits for its end.
func (r *rig) start(ctx context.Context) (*exec.Cmd, func() int) {
	url := r.hub.URL
	if r.way != nil {
		url = r.way.URL
	}
	cmd, err := r.machine.Agent(ctx, dryhost.Hub{URL: url, CA: r.hub.CAFile, InfraEnv: r.env, Token: r.token})
	r.g.Expect(err).NotTo(HaveOccurred())
	cmd.Stderr = &r.log
	r.g.Expect(cmd.Start()).To(Succeed())
	return cmd, func() int {
		code, err := dryhost.ExitCode(cmd.Wait())
		r.g.Expect(err).NotTo(HaveOccurred())
		return code
	}
}

func (r *rig) run() int {
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	_, wait := r.start(ctx)
	return wait()
}

func (r *rig) mac() string { return r.machine.Scenario.Hardware.NICs[0].MAC }

func (r *rig) view() service.HostView {
	view, _, err := r.hub.HostByMAC(r.t.Context(), r.env, r.mac())
	r.g.Expect(err).NotTo(HaveOccurred())
	return view
}

func (r *rig) reason() hostfile.Reason {
	var reason hostfile.Reason
	r.g.Expect(r.machine.Dir.Read(hostfile.ReasonFile, &reason)).To(Succeed())
	return reason
}

func (r *rig) marker() error {
	return r.machine.Dir.Read(hostfile.InstalledFile, &hostfile.Installed{})
}

// eventually waits for something that the hub shows.
func (r *rig) eventually(what string, is func(service.HostView) bool) {
	r.g.Eventually(func() bool { return is(r.view()) }).WithTimeout(patience).WithPolling(20*time.Millisecond).Should(BeTrue(), what)
}

// TestHostIsInstalled: the agent tells all of it up to the restart. Nobody is inside the
// cluster, so that the hub ends it when its patience with the restart is over.
func TestHostIsInstalled(t *testing.T) {
	t.Parallel() // most of the time is waiting between polls
	restart := map[wire.HostStage]time.Duration{wire.HostStageRebooting: 5 * time.Second}
	r := newRigWith(t, testhub.Options{Timers: service.Timers{Stages: restart}}, 1)
	start := time.Now()
	r.g.Expect(r.run()).To(Equal(exitcode.AgentInstalled))
	t.Logf("from the start of the agent to the done marker: %s", time.Since(start).Round(time.Millisecond))
	r.g.Expect(r.marker()).To(Succeed())

	view := r.view()
	r.g.Expect(r.hub.Timeline(t)).To(ContainSubstring("reached stage "+string(wire.HostStageRebooting)), "the agent's last word")
	r.g.Expect(view.Name).To(Equal(r.machine.Scenario.Name))
	_, host, err := r.hub.View(t.Context(), view.Key)
	r.g.Expect(err).NotTo(HaveOccurred())
	r.g.Expect(host.LogsInfo).To(Equal(wire.LogsStateCompleted))
	logs, err := r.hub.HostLogs(t.Context(), view.Key)
	r.g.Expect(err).NotTo(HaveOccurred())
	r.g.Expect(logs.Close()).To(Succeed())
	r.eventually("the hub says that the host is installed", func(v service.HostView) bool { return v.Installed })
	r.g.Expect(r.hub.Timeline(t)).To(ContainSubstring("nobody tells the hub whether its system came up"), "and how much is known of it")
}

func TestFailureReachesTheHubAndTheNextBootSucceeds(t *testing.T) {
	t.Parallel() // most of the time is waiting between polls
	const why = "disk write failed: input/output error at sector 4242"
	r := newRig(t, 2, scenario.Fault{Kind: scenario.FaultInstall, Stage: "Writing image to disk", Text: why})
	r.g.Expect(r.run()).To(Equal(exitcode.AgentFailed))
	r.g.Expect(r.reason().Text).To(Equal(why))
	r.g.Expect(r.reason().Stage).To(Equal("Writing image to disk"))
	view := r.view()
	r.g.Expect(view.Failed).To(BeTrue())
	r.g.Expect(view.Reason).To(Equal("Writing image to disk: " + why))

	r.g.Expect(r.machine.Boot()).To(Succeed())
	r.g.Expect(r.run()).To(Equal(exitcode.AgentInstalled))
	r.g.Expect(r.view().Attempts).To(Equal(2))
}

func TestAgentGoesOnAfterItsDeath(t *testing.T) {
	t.Parallel() // most of the time is waiting between polls
	for name, tc := range map[string]struct {
		deaths int
		exit   int
	}{
		"once":                {1, exitcode.AgentInstalled},
		"as often as allowed": {2, exitcode.AgentInstalled},
		"too often":           {3, exitcode.AgentFailed},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 3, scenario.Fault{Kind: scenario.FaultAgentDies, Stage: "Writing image to disk", Times: tc.deaths})
			for range tc.deaths {
				r.g.Expect(r.run()).To(Equal(-1), "the agent dies by a signal")
			}
			r.g.Expect(r.run()).To(Equal(tc.exit))
			if tc.exit == exitcode.AgentFailed {
				r.g.Expect(r.reason().Text).To(ContainSubstring("3 times without a last word"))
				r.g.Expect(r.view().Failed).To(BeTrue())
				return
			}
			r.g.Expect(r.marker()).To(Succeed())
			r.g.Expect(r.view().Failed).To(BeFalse())
			r.g.Expect(r.view().Attempts).To(Equal(1), "for the hub it is one installation")
		})
	}
}

func TestHubEndsTheInstallation(t *testing.T) {
	t.Parallel() // most of the time is waiting between polls
	r := newRig(t, 4)
	r.machine.Scenario.Install.DefaultStage = duration(time.Minute)
	r.g.Expect(r.machine.Save()).To(Succeed())
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	_, wait := r.start(ctx)
	r.eventually("the installation begins", func(v service.HostView) bool { return v.Stage != "" })
	_, err := r.hub.CancelInstallation(t.Context(), r.view().ClusterID)
	r.g.Expect(err).NotTo(HaveOccurred())
	r.g.Expect(wait()).To(Equal(exitcode.AgentCancelled))
	r.g.Expect(r.reason().Text).To(Equal("the hub ended the installation"))
	r.g.Expect(r.marker()).To(MatchError(hostfile.ErrNoState))
}

func TestHubDiesInTheMiddle(t *testing.T) {
	t.Parallel() // most of the time is waiting between polls
	g := NewWithT(t)
	dir := t.TempDir()
	first := testhub.Start(t, testhub.Options{Dir: dir})
	way := newWay(t)
	way.to(first)
	r := &rig{g: g, t: t, hub: first, way: way, machine: newMachine(t, 5)}
	r.env, r.token = first.InfraEnv(t, "pool")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, wait := r.start(ctx)
	r.eventually("the image is written", func(v service.HostView) bool { return v.Stage == wire.HostStageWritingImageToDisk })
	way.to(nil)
	first.Stop()
	t.Log("the hub is dead")

	second := testhub.Start(t, testhub.Options{Dir: dir})
	way.to(second)
	r.hub = second
	g.Expect(wait()).To(Equal(exitcode.AgentInstalled), "%s", &r.log)
	g.Expect(r.marker()).To(Succeed())
	g.Expect(r.view().Stage).To(Equal(wire.HostStageRebooting), "the second hub has heard the rest")
	g.Expect(r.view().Attempts).To(Equal(1))
}

func TestSignalEndsTheAgentSoon(t *testing.T) {
	t.Parallel() // most of the time is waiting between polls
	r := newRig(t, 6)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd, wait := r.start(ctx)
	r.eventually("the host is registered", func(v service.HostView) bool { return v.Key.HostID != "" })
	start := time.Now()
	r.g.Expect(cmd.Process.Signal(os.Interrupt)).To(Succeed())
	r.g.Expect(wait()).To(Equal(exitcode.AgentCancelled))
	r.g.Expect(time.Since(start)).To(BeNumerically("<", 10*time.Second))
	r.g.Expect(r.reason().Text).To(ContainSubstring("interrupt"))
}

func TestManyHostsAtOnce(t *testing.T) {
	t.Parallel() // most of the time is waiting between polls
	const hosts = 8
	g := NewWithT(t)
	hub := testhub.Start(t, testhub.Options{})
	env, token := hub.InfraEnv(t, "pool")
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	codes := make(chan int, hosts)
	for i := range hosts {
		r := &rig{g: g, t: t, hub: hub, env: env, token: token, machine: newMachine(t, 100+i)}
		_, wait := r.start(ctx)
		go func() { codes <- wait() }()
	}
	for range hosts {
		g.Expect(<-codes).To(Equal(exitcode.AgentInstalled))
	}
	list, err := hub.Hosts(t.Context(), store.HostFilter{InfraEnvID: env})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(list).To(HaveLen(hosts))
	g.Expect(list).To(HaveEach(HaveField("Progress.CurrentStage", wire.HostStageRebooting)))
}

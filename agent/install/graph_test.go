package install_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/install"
	"github.com/ironflow/ironflow/agent/state"
	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/hub/wire"
)

// script is a graph whose tasks take time; it notes when each begins and ends.
type script struct {
	tasks []install.Task
	mu    sync.Mutex
	began map[string]time.Duration
	ended []string
	start time.Time
}

func (s *script) Tasks(context.Context, install.Job) ([]install.Task, error) { return s.tasks, nil }

// add adds a task that takes a time, reports 50 and 100 percent when it is asked to, and fails with err.
func (s *script) add(name string, stage wire.HostStage, takes time.Duration, err error, after ...string) {
	s.tasks = append(s.tasks, install.Task{Name: name, Stage: stage, After: after, Run: func(ctx context.Context, report install.Report) error {
		s.mu.Lock()
		s.began[name] = time.Since(s.start)
		s.mu.Unlock()
		select {
		case <-time.After(takes / 2):
		case <-ctx.Done():
			s.mu.Lock()
			defer s.mu.Unlock()
			s.ended = append(s.ended, name+" cancelled")
			return ctx.Err()
		}
		report(50, name)
		<-time.After(takes / 2)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.ended = append(s.ended, name)
		return err
	}})
}

func newScript() *script { return &script{began: map[string]time.Duration{}, start: time.Now()} }

func bootstrapJob() install.Job {
	request := order()
	request.Role, request.ControlPlaneCount = wire.HostRoleBootstrap, 3
	return install.Job{Request: request, Disk: "/dev/sda"}
}

// TestBootstrapServicesRunBesideTheDisk: what has no order among itself runs at
// once; stages are told in the protocol's order all the same.
func TestBootstrapServicesRunBesideTheDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		s := newScript()
		s.add("check", wire.HostStageStartingInstallation, 2*time.Second, nil)
		s.add("services", wire.HostStageWaitingForControlPlane, 10*time.Second, nil, "check")
		s.add("clean", wire.HostStageInstalling, 2*time.Second, nil, "check")
		s.add("write", wire.HostStageWritingImageToDisk, 60*time.Second, nil, "clean")
		s.add("nodes", wire.HostStageWaitingForControlPlane, 4*time.Second, nil, "services")
		s.add("bootkube", wire.HostStageWaitingForBootkube, 30*time.Second, nil, "services")
		s.add("controller", wire.HostStageWaitingForController, 2*time.Second, nil, "nodes", "write")
		b := newBench(t, s)
		g.Expect(b.Start(t.Context(), bootstrapJob())).To(Succeed())
		g.Expect((<-b.ends).Installed).To(BeTrue())
		g.Expect(s.began["services"]).To(Equal(s.began["clean"]), "services and disk begin together")
		g.Expect(s.began["controller"]).To(Equal(64*time.Second), "and are joined by who waits for both")
		g.Expect(b.told()).To(Equal([]string{
			"Starting installation", "Starting installation 50%", "Installing", "Installing 50%", "Writing image to disk", "Writing image to disk 50%",
			"Copying registry data to disk", "Waiting for control plane", "Waiting for bootkube", "Waiting for controller", "Waiting for controller 50%", "Rebooting",
		}), "percent of tasks whose stage is not the shown one is not told")
	})
}

func TestAFailureCancelsTheOthersAndIsTheReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		s := newScript()
		s.add("write", wire.HostStageWritingImageToDisk, 10*time.Minute, nil)
		s.add("services", wire.HostStageWaitingForControlPlane, 2*time.Second, errors.New("bootkube.service is not in bootstrap.ign"))
		s.add("later", wire.HostStageRebooting, time.Second, nil, "write")
		b := newBench(t, s)
		g.Expect(b.Start(t.Context(), bootstrapJob())).To(Succeed())
		end := <-b.ends
		g.Expect(end.Exit).To(Equal(exitcode.AgentFailed))
		g.Expect(end.Text).To(Equal("bootkube.service is not in bootstrap.ign"))
		g.Expect(end.Stage).To(Equal("Waiting for control plane"))
		g.Expect(s.ended).To(Equal([]string{"services", "write cancelled"}), "and what waits for them never begins")
		g.Expect(b.told()).To(ContainElement("Failed Waiting for control plane: bootkube.service is not in bootstrap.ign"))
	})
}

func TestGraphsThatCannotBe(t *testing.T) {
	task := func(name string, stage wire.HostStage, after ...string) install.Task {
		return install.Task{Name: name, Stage: stage, After: after, Run: func(context.Context, install.Report) error { return nil }}
	}
	for name, tc := range map[string]struct {
		tasks []install.Task
		want  string
	}{
		"circle":            {[]install.Task{task("a", wire.HostStageInstalling, "b"), task("b", wire.HostStageInstalling, "a")}, "in a circle"},
		"waits for nobody":  {[]install.Task{task("a", wire.HostStageInstalling, "z")}, "waits for z"},
		"twice":             {[]install.Task{task("a", wire.HostStageInstalling), task("a", wire.HostStageInstalling)}, "two tasks"},
		"stage of no order": {[]install.Task{task("a", wire.HostStageWaitingForIgnition)}, "no stage"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				b := newBench(t, &script{tasks: tc.tasks})
				g.Expect(b.Start(t.Context(), job())).To(Succeed())
				g.Expect((<-b.ends).Text).To(ContainSubstring(tc.want))
			})
		})
	}
}

// TestAnotherDiskIsNeverWritten: a name that means another disk after a crash ends the order.
func TestAnotherDiskIsNeverWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		s := newScript()
		s.add("write", wire.HostStageWritingImageToDisk, time.Second, nil)
		b := newBench(t, s)
		g.Expect(b.State.SetInstall(&state.Install{Request: order(), Attempt: 1, Stage: wire.HostStageWritingImageToDisk, Disk: "/dev/sdb"})).To(Succeed())
		g.Expect(b.Resume(t.Context(), func(wire.InstallCmdRequest) (install.Job, error) { return job(), nil })).To(BeTrue())
		end := <-b.ends
		g.Expect(end.Exit).To(Equal(exitcode.AgentFailed))
		g.Expect(end.Text).To(ContainSubstring("meant the disk /dev/sdb before the agent crashed and means /dev/sda now"))
		g.Expect(s.began).To(BeEmpty())
	})
}

func TestWhatAnEarlierProcessDid(t *testing.T) {
	g := NewWithT(t)
	g.Expect(install.Found(state.Install{Attempt: 1})).To(Equal("attempt 1 had come to no stage"))
	g.Expect(install.Found(state.Install{Attempt: 2, Stage: "Writing image to disk", Effects: []state.Effect{
		{Name: "wipe-signatures", Target: "/dev/sda", Done: true}, {Name: "write-image", Target: "/dev/sda"},
	}})).To(Equal(`attempt 2 had come to stage "Writing image to disk": done wipe-signatures /dev/sda, begun write-image /dev/sda`))
}

// TestEveryRoleHasTheProtocolsStages, as far as the installer reports them.
func TestEveryRoleHasTheProtocolsStages(t *testing.T) {
	for role, want := range map[wire.HostRole][]wire.HostStage{
		wire.HostRoleBootstrap: {
			"Starting installation", "Installing", "Writing image to disk", "Copying registry data to disk", "Waiting for control plane", "Waiting for bootkube",
			"Waiting for controller", "Rebooting",
		},
		wire.HostRoleMaster:  {"Starting installation", "Installing", "Writing image to disk", "Copying registry data to disk", "Rebooting"},
		wire.HostRoleArbiter: {"Starting installation", "Installing", "Writing image to disk", "Copying registry data to disk", "Rebooting"},
		wire.HostRoleWorker:  {"Starting installation", "Installing", "Writing image to disk", "Waiting for control plane", "Rebooting"},
	} {
		request := order()
		request.Role = role
		NewWithT(t).Expect(install.Sequence(request)).To(Equal(want), string(role))
	}
	single := order()
	single.Role, single.ControlPlaneCount = wire.HostRoleBootstrap, 1
	NewWithT(t).Expect(slices.Index(install.Sequence(single), wire.HostStageWaitingForBootkube)).To(Equal(2), "a single node waits before it writes")
}

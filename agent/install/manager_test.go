package install_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/agent/install"
	"github.com/ironflow/ironflow/agent/outcome"
	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/agent/state"
	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
)

// bench is a manager with everything around it recorded.
type bench struct {
	*install.Manager
	mu       sync.Mutex
	progress []wire.HostProgress
	statuses []hostfile.Status
	ends     chan *outcome.End
	put      func(wire.HostProgress) error
	logs     int
}

func newBench(t *testing.T, installer install.Installer) *bench {
	b := &bench{ends: make(chan *outcome.End, 1), put: func(wire.HostProgress) error { return nil }}
	b.Manager = &install.Manager{
		Installer: installer, State: state.Open(hostfile.Dir{Root: t.TempDir()}), Log: slog.New(slog.DiscardHandler),
		Put: func(_ context.Context, p wire.HostProgress) error {
			if err := b.put(p); err != nil {
				return err
			}
			b.mu.Lock()
			defer b.mu.Unlock()
			b.progress = append(b.progress, p)
			return nil
		},
		Status: func(s hostfile.Status) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.statuses = append(b.statuses, s)
		},
		SendLogs: func(context.Context, wire.InstallCmdRequest) error { b.logs++; return errors.New("logs are full") },
		Finish:   func(e *outcome.End) { b.ends <- e },
	}
	return b
}

func (b *bench) told() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []string
	for _, p := range b.progress {
		text := string(p.CurrentStage)
		if p.ProgressInfo != "" {
			text += " " + p.ProgressInfo
		}
		out = append(out, text)
	}
	return out
}

func dry(stages map[string]time.Duration) *install.DryRun {
	s := &scenario.Scenario{Install: scenario.Install{Stages: map[string]scenario.Duration{}, DefaultStage: scenario.Duration{Duration: time.Second}}}
	for name, d := range stages {
		s.Install.Stages[name] = scenario.Duration{Duration: d}
	}
	return &install.DryRun{Scenario: s, Mishaps: install.Mishaps{Log: slog.New(slog.DiscardHandler)}}
}

func job() install.Job { return install.Job{Request: order(), Disk: "/dev/sda"} }

func TestStagesAndPercentReachTheHubInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		b := newBench(t, dry(map[string]time.Duration{"Writing image to disk": 100 * time.Second}))
		start := time.Now()
		g.Expect(b.Start(t.Context(), job())).To(Succeed())
		g.Expect(b.Start(t.Context(), job())).To(MatchError(`the container name "assisted-installer" is already in use`))
		end := <-b.ends
		g.Expect(*end).To(Equal(outcome.End{Exit: exitcode.AgentInstalled, Installed: true, Text: "installed to /dev/sda", Stage: "Rebooting", Percent: 100, Disk: "/dev/sda"}))
		g.Expect(time.Since(start)).To(Equal(104 * time.Second))
		want := []string{"Starting installation", "Installing", "Writing image to disk"}
		for p := 5; p <= 100; p += 5 {
			want = append(want, fmt.Sprintf("Writing image to disk %d%%", p))
		}
		g.Expect(b.told()).To(Equal(append(want, "Copying registry data to disk", "Rebooting")))
		g.Expect(b.statuses).To(ContainElement(hostfile.Status{Part: "installing", Stage: "Writing image to disk", Percent: 45, Text: "to /dev/sda"}))
		g.Expect(b.logs).To(Equal(1), "logs that cannot be sent do not matter")
	})
}

func TestASlowHubGetsEveryStageAndTheNewestPercent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		b := newBench(t, dry(map[string]time.Duration{"Writing image to disk": 20 * time.Second}))
		outage := time.Now().Add(15 * time.Second)
		b.put = func(wire.HostProgress) error {
			if time.Now().Before(outage) {
				return errors.New("connection refused")
			}
			return nil
		}
		g.Expect(b.Start(t.Context(), job())).To(Succeed())
		end := <-b.ends
		g.Expect(end.Installed).To(BeTrue())
		told := b.told()
		g.Expect(told[:2]).To(Equal([]string{"Starting installation", "Installing"}))
		g.Expect(told[2]).To(HavePrefix("Writing image to disk"))
		g.Expect(told).NotTo(ContainElement("Writing image to disk 5%"), "old figures of the outage are not sent one by one")
		g.Expect(told).To(ContainElements("Writing image to disk 100%", "Copying registry data to disk", "Rebooting"))
	})
}

func TestAnAbsentHubDoesNotHoldUpTheInstallation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		b := newBench(t, dry(nil))
		b.put = func(wire.HostProgress) error { return errors.New("no route to host") }
		start := time.Now()
		g.Expect(b.Start(t.Context(), job())).To(Succeed())
		end := <-b.ends
		g.Expect(end.Installed).To(BeTrue())
		g.Expect(time.Since(start)).To(Equal(5*time.Second + 2*time.Minute))
	})
}

func TestARefusedReportIsNotRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		b, calls := newBench(t, dry(nil)), 0
		b.put = func(wire.HostProgress) error { calls++; return &hubclient.StatusError{Code: 409} }
		g.Expect(b.Start(t.Context(), job())).To(Succeed())
		<-b.ends
		g.Expect(calls).To(BeNumerically("<", 30), "one try for each stage and figure")
	})
}

// broken fails or panics at a stage.
type broken struct {
	*install.DryRun
	at  wire.HostStage
	err error
}

func (b broken) Tasks(ctx context.Context, j install.Job) ([]install.Task, error) {
	tasks, err := b.DryRun.Tasks(ctx, j)
	for i, t := range tasks {
		if t.Stage != b.at {
			continue
		}
		tasks[i].Run = func(_ context.Context, report install.Report) error {
			if b.err == nil {
				panic("nil map")
			}
			report(30, "")
			return b.err
		}
	}
	return tasks, err
}

// refusing knows no tasks.
type refusing struct{}

func (refusing) Tasks(context.Context, install.Job) ([]install.Task, error) {
	return nil, errors.New("this live image has no coreos-installer")
}

func TestFailuresForGood(t *testing.T) {
	for name, tc := range map[string]struct {
		installer install.Installer
		stage     string
		text      string
		percent   int
	}{
		"an error": {broken{dry(nil), wire.HostStageWritingImageToDisk, errors.New("no space left")}, "Writing image to disk", "no space left", 30},
		"a panic":  {broken{dry(nil), wire.HostStageInstalling, nil}, "Installing", "nil map", 0},
		"no tasks": {refusing{}, "", "no coreos-installer", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				b := newBench(t, tc.installer)
				g.Expect(b.Start(t.Context(), job())).To(Succeed())
				end := <-b.ends
				g.Expect(end.Exit).To(Equal(exitcode.AgentFailed))
				g.Expect(end.Installed).To(BeFalse())
				g.Expect(end.Text).To(ContainSubstring(tc.text))
				g.Expect(end.Stage).To(Equal(tc.stage))
				g.Expect(end.Percent).To(Equal(tc.percent))
				told := b.told()
				g.Expect(told[len(told)-1]).To(HavePrefix("Failed " + strings.TrimPrefix(tc.stage+": ", ": ")))
			})
		})
	}
}

func TestAFailureIsKnownSoonEvenWithoutAHub(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		b := newBench(t, broken{dry(nil), wire.HostStageStartingInstallation, errors.New("no")})
		b.put = func(wire.HostProgress) error { return errors.New("no route to host") }
		start := time.Now()
		g.Expect(b.Start(t.Context(), job())).To(Succeed())
		<-b.ends
		g.Expect(time.Since(start)).To(BeNumerically("<=", 5*time.Second))
		g.Expect(b.logs).To(BeZero(), "a hub that does not hear the failure does not take logs either")
	})
}

func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		b := newBench(t, dry(map[string]time.Duration{"Installing": time.Hour}))
		g.Expect(b.Stop(t.Context())).To(BeFalse(), "nothing runs yet")
		g.Expect(b.Start(t.Context(), job())).To(Succeed())
		<-time.After(time.Minute)
		g.Expect(b.Stop(t.Context())).To(BeTrue())
		synctest.Wait()
		g.Expect(b.ends).To(BeEmpty(), "who stops it says how it ends")
	})
}

func TestAStopDoesNotChangeAConclusion(t *testing.T) {
	for name, tc := range map[string]struct {
		installer install.Installer
		exit      int
	}{
		"failed":    {broken{dry(nil), wire.HostStageInstalling, errors.New("disk broke")}, exitcode.AgentFailed},
		"installed": {dry(nil), exitcode.AgentInstalled},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				b := newBench(t, tc.installer)
				last := map[int]wire.HostStage{exitcode.AgentFailed: wire.HostStageFailed, exitcode.AgentInstalled: wire.HostStageRebooting}[tc.exit]
				b.put = func(p wire.HostProgress) error {
					if p.CurrentStage == last {
						return errors.New("the hub is busy") // so that the farewell takes time
					}
					return nil
				}
				g.Expect(b.Start(t.Context(), job())).To(Succeed())
				for b.Conclusion() == nil {
					<-time.After(10 * time.Millisecond)
				}
				b.Stop(t.Context())
				g.Expect((<-b.ends).Exit).To(Equal(tc.exit))
			})
		})
	}
}

// TestAnInstallationThatIsCalledOffAtItsEnd: the hub does not take the last stage, and its order to stop comes a moment later.
func TestAnInstallationThatIsCalledOffAtItsEnd(t *testing.T) {
	refused := &hubclient.StatusError{Code: 409}
	for name, tc := range map[string]struct {
		stops bool
		exit  int
	}{
		"the order comes":     {true, -1},
		"no order ever comes": {false, exitcode.AgentInstalled},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				b, asked := newBench(t, dry(nil)), make(chan struct{})
				b.put = func(p wire.HostProgress) error {
					if p.CurrentStage == wire.HostStageRebooting {
						close(asked)
						return refused
					}
					return nil
				}
				g.Expect(b.Start(t.Context(), job())).To(Succeed())
				<-asked
				if tc.stops {
					<-time.After(10 * time.Second) // the hub's answer to the next poll
					g.Expect(b.Conclusion()).To(BeNil())
					g.Expect(b.Stop(t.Context())).To(BeTrue())
					synctest.Wait()
					g.Expect(b.ends).To(BeEmpty(), "who stops it says how it ends")
					return
				}
				g.Expect((<-b.ends).Exit).To(Equal(tc.exit))
			})
		})
	}
}

func TestScenarioFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		faults := scenario.Faults{Path: t.TempDir() + "/s", List: []scenario.Fault{
			{Kind: scenario.FaultAgentDies, Stage: "Installing"},
			{Kind: scenario.FaultInstall, Stage: "Rebooting"},
		}}
		died := 0
		d := dry(nil)
		d.Mishaps.Faults, d.Mishaps.Die = faults, func() { died++ }
		b := newBench(t, d)
		g.Expect(b.Start(t.Context(), job())).To(Succeed())
		end := <-b.ends
		g.Expect(died).To(Equal(1))
		g.Expect(end.Text).To(Equal("the scenario lets the installation fail"))
		g.Expect(end.Stage).To(Equal("Rebooting"))
	})
}

func TestTheScenarioKnowsItsDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		d := dry(nil)
		d.Scenario.Install.Disk = "nvme0n1"
		b := newBench(t, d)
		g.Expect(b.Start(t.Context(), job())).To(Succeed())
		g.Expect((<-b.ends).Text).To(ContainSubstring("expects its disk nvme0n1"))
	})
}

func TestPercentOutOfOrderDoesNoHarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		b := newBench(t, jumpy{})
		g.Expect(b.Start(t.Context(), job())).To(Succeed())
		<-b.ends
		told := slices.DeleteFunc(b.told(), func(s string) bool { return s[len(s)-1] != '%' })
		g.Expect(told).To(HaveEach(Not(ContainSubstring("-"))))
		g.Expect(told).To(HaveEach(Not(ContainSubstring("400"))))
	})
}

// jumpy reports nonsense.
type jumpy struct{}

func (jumpy) Tasks(_ context.Context, j install.Job) ([]install.Task, error) {
	return install.Chain(install.Sequence(j.Request), func(_ context.Context, _ wire.HostStage, report install.Report) error {
		for _, p := range []int{-1, 50, 20, 400, -7, 100, 100} {
			report(p, "")
		}
		return nil
	}), nil
}

package assisted

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/step"
	"github.com/ironflow/ironflow/customdeploy/systemd"
)

// atWork is what our agent says all the time that a foreign hub's installer runs
// (agent/service/foreign.go); that one reports its stages to the hub by itself.
var atWork = hostfile.Status{Part: hostfile.PartInstalling, Percent: -1, Text: "the hub's own installer is at work: quay.example/assisted-installer:v2"}

// TestAForeignInstallerHasNoStageToBeLateIn: two hours, for a worker that waits for its
// control plane, are nothing unusual, and less than the total deadline.
func TestAForeignInstallerHasNoStageToBeLateIn(t *testing.T) {
	g := NewWithT(t)
	o := running()
	o.Unit.StatusText = atWork.String()
	o.Status = hostfile.ParseStatus(o.Unit.StatusText)
	o.Clocks.Installing, o.Clocks.Stage = now.Add(-120*minute), now.Add(-120*minute)
	g.Expect(Decide(o).Action).To(Equal(Wait), "%+v", Decide(o))
	o.Limits.Stage = time.Hour
	g.Expect(Decide(o).Action).To(Equal(Wait), "a limit for stages binds no installation without: %+v", Decide(o))
}

// says writes the agent's status file, as the run of that id does, and shows the text.
func (s *scene) says(invocation string, status hostfile.Status) {
	s.t.Helper()
	status.At = time.Now()
	file := hostfile.AgentStatus{BootID: fakeBoot, InvocationID: invocation, Status: status}
	if err := s.host.Write(hostfile.StatusFile, file); err != nil {
		s.t.Fatal(err)
	}
	s.units.status(status.String())
}

// TestTheStageIsAField: a stage that reads like the rest of a sentence is one, a
// sentence that reads like a stage is none, and a file of another run is not believed.
func TestTheStageIsAField(t *testing.T) {
	odd := hostfile.Status{Part: hostfile.PartInstalling, Stage: "Writing 50% (part 2)", Percent: 12, Text: "to /dev/sda"}
	for name, tc := range map[string]struct {
		says   func(s *scene)
		reason string
		after  time.Duration
	}{
		"the file's": {
			func(s *scene) { s.says("aa", odd) }, `stage "Writing 50% (part 2)" took longer than 1h10m0s`, 71 * time.Minute,
		},
		"none in the file": {
			func(s *scene) { s.says("aa", atWork) }, "(total deadline)", 4*time.Hour + time.Minute,
		},
		"the text of an agent without a file": {
			func(s *scene) { s.units.status(installingAt("Rebooting", -1)) }, `stage "Rebooting" took longer than 50m0s`, 51 * time.Minute,
		},
		"a file of an earlier run": {
			func(s *scene) { s.says("bb", odd); s.units.status(installingAt("Rebooting", -1)) }, `stage "Rebooting" took longer than 50m0s`, 51 * time.Minute,
		},
		"a file that is broken": {
			func(s *scene) {
				_ = s.host.Write(hostfile.StatusFile, "x")
				s.units.status(installingAt("Rebooting", -1))
			}, `stage "Rebooting" took longer than 50m0s`, 51 * time.Minute,
		},
	} {
		for _, restarts := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					g := NewWithT(t)
					s := newScene(t)
					s.becomesReady(0)
					begin := time.Now()
					s.run()
					pass(time.Minute)
					tc.says(s)
					if restarts {
						pass(time.Minute)
						s.ipaRestarts(g, false)
					}
					go s.livesOn(t)
					r := <-s.ended
					g.Expect(r.Outcome).To(Equal(step.Deadline))
					g.Expect(r.Reason).To(ContainSubstring(tc.reason))
					g.Expect(time.Since(begin)).To(Equal(tc.after))
				})
			})
		}
	}
}

// livesOn renews the status as an agent does, until the unit is stopped.
func (s *scene) livesOn(t *testing.T) {
	for {
		select {
		case <-time.After(2 * time.Minute):
		case <-s.units.stopping:
			return
		case <-t.Context().Done():
			return
		}
		s.units.set(func(p *systemd.Properties) {
			text, _, _ := strings.Cut(p.StatusText, " [")
			p.StatusText = text + time.Now().UTC().Format(" [15:04:05]")
		})
	}
}

// TestWhoGivesUpStopsTheContainer: it outlives the agent's unit, and would go on writing.
func TestWhoGivesUpStopsTheContainer(t *testing.T) {
	removed := "removed while the unit is inactive" // before the start, of an earlier attempt
	for name, tc := range map[string]struct {
		play func(s *scene)
		want []string
		text string
	}{
		"a deadline": {
			func(s *scene) {
				s.says("aa", atWork)
				s.units.onStop = func() (string, error) { // an agent takes the stop for the installer's
					_ = s.host.Write(hostfile.ReasonFile, hostfile.Reason{BootID: fakeBoot, Exit: exitcode.AgentInstalled, Text: "the end of its container counts"})
					s.units.state("inactive", "dead")
					return systemd.JobDone, nil
				}
			},
			[]string{removed, "stopped while the unit is inactive"},
			"(idle deadline); its last status: installing: (the hub's own installer is at work",
		},
		"cancelled": {
			func(s *scene) { s.cancel(errors.New("the signal terminated")) },
			[]string{removed, "stopped while the unit is inactive"},
			"cancelled by the signal terminated",
		},
		"stopped by a person": {
			func(s *scene) { s.units.state("inactive", "dead") },
			[]string{removed, "asked while the unit is inactive", "stopped while the unit is inactive"},
			"stopped before the installation was done",
		},
		"the agent gives up": {
			func(s *scene) { s.fail(exitcode.AgentFailed) },
			[]string{removed, "stopped while the unit is failed"},
			"installation failed",
		},
		"it is done": {
			func(s *scene) { s.container.installed = true; s.units.state("inactive", "dead") },
			[]string{removed, "asked while the unit is inactive"},
			"",
		},
		"ours is done": {
			func(s *scene) { s.mark(); s.units.state("inactive", "dead") },
			[]string{removed},
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				s := newScene(t)
				s.becomesReady(0)
				s.run()
				pass(time.Minute)
				tc.play(s)
				r := <-s.ended
				g.Expect(r.Reason).To(ContainSubstring(tc.text))
				g.Expect(s.container.did).To(Equal(tc.want))
			})
		})
	}
}

// TestAContainerThatIsNotStopped is named in the report: a person must look after it.
func TestAContainerThatIsNotStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		s := newScene(t)
		s.becomesReady(0)
		s.run()
		pass(time.Minute)
		s.container.fails = errors.New("podman did not stop it")
		s.fail(exitcode.AgentFailed)
		r := <-s.ended
		g.Expect(r.Detail).To(ContainElement("the container of another hub's installer may still be at work, and write the disk: podman did not stop it"))
	})
}

// TestNothingIsStartedBesideAnotherInstaller: one of an earlier attempt may be writing
// the disk just now, and a second one would write it too.
func TestNothingIsStartedBesideAnotherInstaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		s := newScene(t)
		s.container.fails = errors.New("podman did not stop it")
		s.becomesReady(0)
		s.run()
		r := <-s.ended
		g.Expect(r.Outcome).To(Equal(step.Failed))
		g.Expect(r.Reason).To(And(ContainSubstring("the container of an earlier attempt"), ContainSubstring("podman did not stop it")))
		g.Expect(s.units.started).To(BeZero())
		g.Expect(s.host.GateOpen()).To(BeFalse())
	})
}

// TestAStepWithoutSystemdSaysWhatGoesOn: the container cannot be reached without it.
func TestAStepWithoutSystemdSaysWhatGoesOn(t *testing.T) {
	for name, tc := range map[string]struct {
		status hostfile.Status
		want   bool
	}{
		"a foreign installer": {atWork, true},
		"our own":             {hostfile.Status{Part: hostfile.PartInstalling, Stage: "Rebooting", Percent: -1}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				s := newScene(t)
				s.becomesReady(0)
				s.run()
				pass(time.Minute)
				s.says("aa", tc.status)
				pass(time.Minute)
				s.units.disconnect(errors.New("no system bus"))
				r := <-s.ended
				g.Expect(strings.Contains(strings.Join(r.Detail, "\n"), "may still be at work, and write the disk: systemd does not answer")).To(Equal(tc.want), "%v", r.Detail)
				g.Expect(s.container.did).To(HaveLen(1), "nothing but the removal at the start")
			})
		})
	}
}

// TestAStepThatWasKilledLeavesNoOwnerlessContainer: confirm_install finds a unit that
// has ended, and a container that has not ended well.
func TestAStepThatWasKilledLeavesNoOwnerlessContainer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		s := newScene(t)
		s.units.state("inactive", "dead")
		state := hostfile.StepState{BootID: fakeBoot, Step: Name, InvocationID: "aa", StartedAt: time.Now()}
		unit, _ := s.units.Unit(t.Context(), "")
		r := s.step.Explain(t.Context(), s.req, s.host, state, unit)
		g.Expect(r.Outcome).To(Equal(step.Failed))
		g.Expect(s.container.did).To(Equal([]string{"asked while the unit is inactive", "stopped while the unit is inactive"}))
	})
}

// TestAContainersBeginningIsComparedByTheSameClock: the clock of the day may be set in
// mid step, forwards or backwards, and podman knows no other.
func TestAContainersBeginningIsComparedByTheSameClock(t *testing.T) {
	for name, set := range map[string]time.Duration{"not at all": 0, "two hours forward": 2 * time.Hour, "two hours back": -2 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				s := newScene(t)
				f := s.step.newFollower(s.req, s.host, Defaults)
				pass(10 * time.Minute)
				now := time.Now()
				f.state.StartedAt = now.Add(-10*time.Minute - set) // as the clock was then
				g.Expect(f.began()).To(BeTemporally("<=", f.state.StartedAt))
				g.Expect(f.began()).To(BeTemporally("<=", now.Add(-10*time.Minute)))
			})
		})
	}
}

// TestAStepThatTakesOverLeavesTheContainerAtWork: the agent still owns it, and goes on.
func TestAStepThatTakesOverLeavesTheContainerAtWork(t *testing.T) {
	for _, confirm := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			g := NewWithT(t)
			s := newScene(t)
			s.becomesReady(0)
			s.run()
			pass(time.Minute)
			s.says("aa", atWork)
			pass(time.Minute)
			s.ipaRestarts(g, confirm)
			pass(time.Minute)
			g.Expect(s.container.did).To(Equal([]string{"removed while the unit is inactive"}), "nothing but at the start")
			s.container.installed = true
			s.units.state("inactive", "dead")
			r := <-s.ended
			g.Expect(r.Outcome).To(Equal(step.Done), "%+v", r)
		})
	}
}

package assisted

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/step"
	"github.com/ironflow/ironflow/customdeploy/systemd"
)

// scenes are runs of the whole executor under a fake clock.
var scenes = map[string]struct {
	play    func(g *WithT, s *scene)
	outcome step.Outcome
	reason  string // a part of it
	after   time.Duration
	stops   int // of the unit, at most; 0 stands for 1
}{
	"installed": {
		play: func(g *WithT, s *scene) {
			s.becomesReady(20 * time.Second)
			s.run()
			pass(time.Minute)
			g.Expect(s.host.GateOpen()).To(BeTrue())
			s.units.status("installing: Writing image to disk 40%")
			pass(time.Minute)
			s.mark()
			pass(time.Second)
			s.units.state("inactive", "dead")
		},
		outcome: step.Done, after: 2*time.Minute + time.Second,
	},
	"installed, then the agent crashes": {
		play: func(g *WithT, s *scene) {
			s.becomesReady(0)
			s.run()
			pass(time.Minute)
			s.mark()
			s.fail(2)
		},
		outcome: step.Done, reason: "installed, but the agent then failed: exited with status 2", after: time.Minute,
	},
	"installed, then the agent crashes and systemd starts it again": {
		play: func(g *WithT, s *scene) {
			s.becomesReady(0)
			s.run()
			pass(time.Minute)
			s.mark()
			s.units.set(func(p *systemd.Properties) {
				p.ActiveState, p.SubState, p.Result, p.ExecMainCode, p.ExecMainStatus = "activating", "auto-restart", "exit-code", systemd.Exited, 3
			})
			pass(time.Second)
			g.Expect(s.units.stopped).To(Equal(1), "before the agent writes the disk again")
			var state hostfile.StepState
			g.Expect(s.host.Read(hostfile.StepFile, &state)).To(Succeed())
			g.Expect(state.InvocationID).To(Equal("aa"), "that of the marker, which confirm_install looks for")
		},
		outcome: step.Done, reason: "installed, but the agent then failed: exited with status 3", after: time.Minute + time.Second,
	},
	"installed, and the agent is at work again already": {
		play: func(g *WithT, s *scene) {
			s.becomesReady(0)
			s.run()
			pass(time.Minute)
			g.Expect(s.host.Write(hostfile.InstalledFile, hostfile.Installed{BootID: fakeBoot, InvocationID: "aa"})).To(Succeed())
			s.units.set(func(p *systemd.Properties) { p.ActiveState, p.SubState, p.InvocationID = "activating", "start", "bb" })
			pass(time.Second)
			s.changed <- struct{}{}
			pass(time.Second)
			var state hostfile.StepState
			g.Expect(s.host.Read(hostfile.StepFile, &state)).To(Succeed())
			g.Expect(state.InvocationID).To(Equal("aa"))
			g.Expect(s.units.stopped).To(Equal(1))
		},
		outcome: step.Done, after: time.Minute + 2*time.Second,
	},
	"installed, but the agent stays": {
		play: func(g *WithT, s *scene) {
			s.becomesReady(0)
			s.run()
			pass(time.Minute)
			s.mark()
		},
		outcome: step.Done, after: 90 * time.Second,
	},
	"the agent gives up": {
		play: func(g *WithT, s *scene) {
			s.becomesReady(0)
			s.run()
			pass(time.Minute)
			s.units.status("installing: Writing image to disk 40%")
			g.Expect(s.host.Write(hostfile.ReasonFile, hostfile.Reason{BootID: fakeBoot, Stage: "Writing image to disk", Percent: 45, Exit: 90, Text: "no space left on /dev/vda"})).To(Succeed())
			s.fail(90)
		},
		outcome: step.Failed, reason: `installation failed at "Writing image to disk" (45 %): no space left on /dev/vda`, after: time.Minute,
	},
	"never ready, and it said why": {
		play: func(g *WithT, s *scene) {
			s.becomesReady(time.Hour)
			s.units.onStop = func() (string, error) {
				text := `the agent was stopped by the signal "terminated"`
				g.Expect(s.host.Write(hostfile.ReasonFile, hostfile.Reason{BootID: fakeBoot, Exit: 91, Text: text})).To(Succeed())
				s.units.status("starting: " + text)
				s.fail(91)
				return systemd.JobDone, nil
			}
			s.run()
			pass(time.Minute)
			s.units.status("starting: https://hub.example: connection refused")
		},
		outcome: step.Deadline, reason: "agent.service was not ready after 15m0s (start deadline); its last status: starting: https://hub.example: connection refused", after: 15 * time.Minute,
	},
	"never ready": {
		play:    func(_ *WithT, s *scene) { s.becomesReady(time.Hour); s.run() },
		outcome: step.Deadline, reason: "agent.service was not ready after 15m0s (start deadline)", after: 15 * time.Minute,
	},
	"waits for a day, then falls silent": {
		play: func(_ *WithT, s *scene) {
			s.becomesReady(0)
			s.run()
			for range 24 * 12 {
				s.units.status("waiting: approve the host [" + time.Now().Format(time.TimeOnly) + "]")
				pass(5 * time.Minute)
			}
		},
		outcome: step.Deadline, reason: "no sign of the agent for 20m0s", after: 24*time.Hour + 15*time.Minute,
	},
	"a stage takes too long although its percent moves": {
		play: func(_ *WithT, s *scene) {
			s.becomesReady(0)
			s.run()
			pass(time.Second)
			for i := range 50 {
				s.units.status(hostfile.Status{Part: hostfile.PartInstalling, Stage: "Writing image to disk", Percent: i}.String())
				pass(time.Minute)
			}
		},
		outcome: step.Deadline, reason: `stage "Writing image to disk" took longer than 40m0s`, after: 50*time.Minute + time.Second,
	},
	"cancelled by a signal": {
		play: func(_ *WithT, s *scene) {
			s.becomesReady(0)
			s.run()
			pass(time.Minute)
			s.cancel(errors.New("the signal terminated"))
		},
		outcome: step.Cancelled, reason: "cancelled by the signal terminated", after: time.Minute,
	},
	"cancelled by the stop file": {
		play: func(g *WithT, s *scene) {
			s.becomesReady(0)
			s.run()
			pass(time.Minute)
			g.Expect(os.WriteFile(s.host.Path(hostfile.StopFile), []byte("a person\n"), 0o600)).To(Succeed())
			s.changed <- struct{}{}
		},
		outcome: step.Cancelled, reason: "cancelled by a person", after: time.Minute,
	},
	"cancelled, but the unit does not stop": {
		play: func(_ *WithT, s *scene) {
			s.becomesReady(0)
			s.units.onStop = func() (string, error) { s.units.state("deactivating", "stop-sigterm"); return "", errors.New("no") }
			s.run()
			pass(time.Minute)
			s.cancel(errors.New("the signal terminated"))
		},
		outcome: step.Cancelled, after: 90 * time.Second,
	},
	"cancelled before the start job was queued": {
		play: func(_ *WithT, s *scene) {
			s.units.onStart = func() (string, error) {
				pass(time.Second) // the stop finds nothing to stop
				s.units.state("active", "running")
				return systemd.JobDone, nil
			}
			s.run()
			s.cancel(errors.New("the signal terminated"))
		},
		outcome: step.Cancelled, after: time.Second, stops: 2,
	},
	"stopped by a person": {
		play: func(_ *WithT, s *scene) {
			s.becomesReady(0)
			s.run()
			pass(time.Minute)
			s.units.state("inactive", "dead")
		},
		outcome: step.Failed, reason: "agent.service was stopped before the installation was done", after: time.Minute,
	},
	"a foreign installer ends well": {
		play: func(_ *WithT, s *scene) {
			s.container.installed = true
			s.becomesReady(0)
			s.run()
			pass(time.Minute)
			s.units.state("inactive", "dead")
		},
		outcome: step.Done, after: time.Minute,
	},
	"the condition is not met": {
		play: func(_ *WithT, s *scene) {
			s.units.onStart = func() (string, error) { return systemd.JobDone, nil }
			s.run()
		},
		outcome: step.ImageUnfit, reason: "one of its conditions is not met",
	},
	"systemd refuses the job": {
		play: func(_ *WithT, s *scene) {
			s.units.onStart = func() (string, error) { return "", errors.New("transaction is destructive") }
			s.run()
		},
		outcome: step.Failed, reason: "systemd did not start agent.service: transaction is destructive",
	},
	"no unit in the image": {
		play: func(g *WithT, s *scene) {
			s.units.unit.LoadState = "not-found"
			s.run()
		},
		outcome: step.ImageUnfit, reason: "this live image has no agent.service",
	},
	"systemd is lost": {
		play: func(_ *WithT, s *scene) {
			s.becomesReady(0)
			s.run()
			pass(time.Minute)
			s.units.disconnect(errors.New("no system bus for 1m0s"))
		},
		outcome: step.Failed, reason: "the connection to systemd was lost", after: time.Minute,
	},
	"systemd is lost after the marker": {
		play: func(g *WithT, s *scene) {
			s.becomesReady(0)
			s.run()
			pass(time.Minute)
			g.Expect(s.host.Write(hostfile.InstalledFile, hostfile.Installed{BootID: fakeBoot, InvocationID: "aa"})).To(Succeed())
			s.units.disconnect(errors.New("no system bus for 1m0s"))
		},
		outcome: step.Done, reason: "installed, but systemd could not be asked how the agent ended: no system bus for 1m0s", after: time.Minute,
	},
	"started by hand": {
		play: func(_ *WithT, s *scene) {
			s.units.state("active", "running")
			s.run()
		},
		outcome: step.Failed, reason: "already running before the step opened its gate",
	},
	"IPA was restarted: followed, not started": {
		play: func(g *WithT, s *scene) {
			g.Expect(s.host.Write(hostfile.StepFile, hostfile.StepState{BootID: fakeBoot, Step: Name, StartedAt: time.Now(), InvocationID: "aa"})).To(Succeed())
			s.units.state("active", "running")
			s.run()
			pass(time.Hour)
			s.mark()
			s.units.state("inactive", "dead")
			g.Expect(s.units.started).To(BeZero())
		},
		outcome: step.Done, after: time.Hour,
	},
	"a step file of another boot does not count": {
		play: func(g *WithT, s *scene) {
			g.Expect(s.host.Write(hostfile.StepFile, hostfile.StepState{BootID: "other", Step: Name})).To(Succeed())
			s.units.state("active", "running")
			s.run()
		},
		outcome: step.Failed, reason: "already running before the step opened its gate",
	},
	"a marker that an earlier step left does not count": {
		play: func(g *WithT, s *scene) {
			s.mark()
			<-s.changed
			s.becomesReady(0)
			s.run()
			pass(time.Minute)
			s.units.state("inactive", "dead")
		},
		outcome: step.Failed, reason: "stopped before the installation was done", after: time.Minute,
	},
	"crash loop": {
		play: func(_ *WithT, s *scene) {
			s.units.onStart = func() (string, error) { s.units.state("activating", "auto-restart"); return systemd.JobFailed, nil }
			s.run()
			for i := range 5 {
				pass(3 * time.Second)
				s.units.set(func(p *systemd.Properties) {
					p.SubState, p.Result, p.ExecMainCode, p.ExecMainStatus, p.NRestarts = "auto-restart", "exit-code", systemd.Exited, 2, i+1
				})
			}
		},
		outcome: step.Failed, reason: "agent.service ended badly again and again and was stopped (5 restarts within 12s): the agent exited with status 2", after: 15 * time.Second,
	},
}

func TestStep(t *testing.T) {
	for name, tc := range scenes {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				s := newScene(t)
				begin := time.Now()
				tc.play(g, s)
				r := <-s.ended
				g.Expect(r.Outcome).To(Equal(tc.outcome), "%+v", r)
				g.Expect(r.Reason).To(ContainSubstring(tc.reason))
				g.Expect(time.Since(begin)).To(Equal(tc.after))
				g.Expect(s.host.GateOpen()).To(BeFalse(), "the gate must be closed at the end")
				synctest.Wait()
				g.Expect(s.units.stopped).To(BeNumerically("<=", max(1, tc.stops)), "stops of the unit")
			})
		})
	}
}

func TestFailureCarriesItsEvidence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		s := newScene(t)
		for range 20 {
			s.units.journal = append(s.units.journal, "line \x1b[31m\xff token=x agent_token=hunter2 "+strings.Repeat("x", 10))
		}
		s.becomesReady(0)
		s.run()
		pass(time.Minute)
		s.units.status("installing: Writing image to disk 40% (to /dev/vda)")
		pass(time.Minute)
		s.units.set(func(p *systemd.Properties) {
			p.ActiveState, p.SubState, p.Result, p.ExecMainCode, p.ExecMainStatus = "failed", "failed", "signal", systemd.Killed, 9
		})
		r := <-s.ended
		g.Expect(r.Reason).To(HavePrefix(`agent.service failed at "Writing image to disk" (40 %): the agent was killed by signal 9 (SIGKILL)`))
		g.Expect(r.Detail).To(ContainElements(
			"unit: agent.service failed/failed, result signal, 0 restarts, invocation aa",
			"main process: was killed by signal 9 (SIGKILL)",
			"last status: installing: Writing image to disk 40% (to /dev/vda)",
			"journal: line [31m\uFFFD token=*** agent_token=*** xxxxxxxxxx",
		))
		g.Expect(s.stages).To(ContainElement("Writing image to disk: to /dev/vda"))
		_, err := json.Marshal(r)
		g.Expect(err).NotTo(HaveOccurred())
	})
}

func TestTwoStepsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		s := newScene(t)
		s.becomesReady(0)
		s.run()
		pass(time.Second)
		second := (&Step{Units: s.units}).Run(t.Context(), s.req)
		g.Expect(second.Outcome).To(Equal(step.Failed))
		g.Expect(second.Reason).To(ContainSubstring("another step program"))
		g.Expect(s.host.GateOpen()).To(BeTrue(), "the second step must not close the first one's gate")
		s.units.state("inactive", "dead")
		g.Expect((<-s.ended).Outcome).To(Equal(step.Failed))
	})
}

// pass lets fake time go by.
func pass(d time.Duration) { <-time.After(d) }

// TestWhatTheNodeSkipsIsToldToTheAgent, by the step file; where it cannot be found out,
// nobody starts to write.
func TestWhatTheNodeSkipsIsToldToTheAgent(t *testing.T) {
	for name, fails := range map[string]error{"known": nil, "not known": errors.New("lsblk hangs")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				s := newScene(t)
				s.step.Kept = func(context.Context, step.Node) (map[string]string, error) {
					return map[string]string{"/dev/sdb": "the node skips it"}, fails
				}
				s.becomesReady(0)
				s.run()
				if fails == nil {
					pass(time.Minute)
					s.mark()
					s.units.state("inactive", "dead")
				}
				r := <-s.ended
				state, _, _ := s.host.State()
				if fails == nil {
					g.Expect(r.Outcome).To(Equal(step.Done), "%+v", r)
					g.Expect(state.Kept).To(Equal(map[string]string{"/dev/sdb": "the node skips it"}))
					return
				}
				g.Expect(r.Outcome).To(Equal(step.Failed))
				g.Expect(r.Reason).To(ContainSubstring("lsblk hangs"))
				g.Expect(s.units.started).To(BeZero())
			})
		})
	}
}

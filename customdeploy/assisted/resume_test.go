package assisted

import (
	"encoding/json"
	"errors"
	"os"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/step"
	"github.com/ironflow/ironflow/customdeploy/systemd"
)

// ipaRestarts ends the step's program as the end of IPA's container does: its files
// stay as they are, and the unit goes on. Another program takes over. Meanwhile the
// clock of the day was set.
func (s *scene) ipaRestarts(g *WithT, confirm bool) {
	s.t.Helper()
	synctest.Wait()
	raw, err := os.ReadFile(s.host.Path(hostfile.StepFile))
	g.Expect(err).NotTo(HaveOccurred())
	select {
	case r := <-s.ended:
		s.t.Fatalf("the step has ended before: %+v", r)
	default:
	}
	s.units.disconnect(errors.New("the program is gone"))
	<-s.ended
	s.units.followers = nil
	var state hostfile.StepState
	g.Expect(json.Unmarshal(raw, &state)).To(Succeed())
	state.StartedAt = state.StartedAt.Add(-10 * 365 * 24 * time.Hour)
	g.Expect(s.host.Write(hostfile.StepFile, state)).To(Succeed())
	g.Expect(s.host.OpenGate()).To(Succeed())
	if !confirm {
		s.run()
		return
	}
	s.req.Args = nil
	unit, err := s.units.Unit(s.t.Context(), hostfile.AgentUnit)
	g.Expect(err).NotTo(HaveOccurred())

	go func() { s.ended <- s.step.Follow(s.t.Context(), s.req, s.host, state, unit) }()
}

func installingAt(stage string, percent int) string {
	return hostfile.Status{Part: hostfile.PartInstalling, Stage: stage, Percent: percent}.String()
}

// TestDeadlinesSurviveARestartOfIPA: they count from the step's own beginnings,
// however often its program is started anew.
func TestDeadlinesSurviveARestartOfIPA(t *testing.T) {
	for name, tc := range map[string]struct {
		ready  time.Duration
		play   func(g *WithT, s *scene, restart func())
		reason string
		after  time.Duration
	}{
		"starting": {
			ready: time.Hour,
			play: func(_ *WithT, _ *scene, restart func()) {
				pass(10 * time.Minute)
				restart()
			},
			reason: "start deadline", after: 15 * time.Minute,
		},
		"waiting": {
			play: func(_ *WithT, s *scene, restart func()) {
				pass(time.Minute)
				s.units.status("waiting: approve the host [12:05:31]")
				pass(15 * time.Minute)
				restart()
			},
			reason: "no sign of the agent for 20m0s", after: 21 * time.Minute,
		},
		"a status that came while IPA was away is a sign": {
			play: func(_ *WithT, s *scene, restart func()) {
				pass(time.Minute)
				s.units.status("waiting: approve the host [12:05:31]")
				pass(15 * time.Minute)
				s.units.quiet(func(p *systemd.Properties) { p.StatusText = "waiting: approve the host [12:20:31]" })
				restart()
			},
			reason: "no sign of the agent for 20m0s", after: 36 * time.Minute,
		},
		"a stage whose percent moves": {
			play: func(_ *WithT, s *scene, restart func()) {
				pass(time.Minute)
				for i := range 50 {
					if i == 20 || i == 35 {
						restart()
					}
					s.units.status(installingAt("Writing image to disk", i))
					pass(time.Minute)
				}
			},
			reason: `stage "Writing image to disk" took longer than 40m0s`, after: 41 * time.Minute,
		},
		"the installation as a whole": {
			play: func(_ *WithT, s *scene, restart func()) {
				pass(time.Minute)
				for i := range 22 { // a new stage every ten minutes
					s.units.status(installingAt("part "+string(rune('a'+i)), 0))
					pass(5 * time.Minute)
					restart()
					pass(5 * time.Minute)
				}
			},
			reason: "total deadline", after: 4*time.Hour + time.Minute,
		},
		"without the time of other machines": {
			play: func(_ *WithT, s *scene, restart func()) {
				pass(time.Minute)
				s.units.status(installingAt("Waiting for control plane", 0))
				pass(30 * time.Minute)
				restart()
				pass(20 * time.Minute)
				for i := range 20 {
					s.units.status(installingAt("part "+string(rune('a'+i)), 0))
					pass(10 * time.Minute)
					restart()
				}
			},
			reason: "total deadline", after: 4*time.Hour + 51*time.Minute,
		},
		"an agent that never says anything": {
			play: func(_ *WithT, _ *scene, restart func()) {
				for range 3 {
					pass(time.Hour)
					restart()
				}
			},
			reason: "total deadline", after: 4 * time.Hour,
		},
		"a crash loop": {
			play: func(_ *WithT, s *scene, restart func()) {
				for i := range 5 {
					pass(time.Minute)
					s.units.set(func(p *systemd.Properties) {
						p.ActiveState, p.SubState, p.Result, p.ExecMainCode, p.ExecMainStatus, p.NRestarts = "activating", "auto-restart", "exit-code", systemd.Exited, 2, i+1
					})
					if i == 2 {
						restart()
					}
				}
			},
			reason: "5 restarts within 4m0s", after: 5 * time.Minute,
		},
		"an end that hangs": {
			play: func(g *WithT, s *scene, restart func()) {
				pass(time.Minute)
				s.mark()
				pass(20 * time.Second)
				restart()
			},
			after: 90 * time.Second, // the unit's 20 s and 10 s more
		},
	} {
		for by, confirm := range map[string]bool{"the step": false, "confirm_install": true} {
			t.Run(name+", followed by "+by, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					g := NewWithT(t)
					s := newScene(t)
					begin := time.Now()
					s.becomesReady(tc.ready)
					s.run()
					pass(0)
					tc.play(g, s, func() { s.ipaRestarts(g, confirm) })
					r := <-s.ended
					g.Expect(r.Reason).To(ContainSubstring(tc.reason), "%+v", r)
					g.Expect(s.units.stoppedAt.Sub(begin)).To(Equal(tc.after))
				})
			})
		}
	}
}

// TestDeadlinesThatWereAskedForSurvive: confirm_install has no arguments of its own.
func TestDeadlinesThatWereAskedForSurvive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		s := newScene(t)
		s.req.Args = step.Args{"idle_s": []byte("90")}
		s.becomesReady(0)
		s.run()
		pass(time.Minute)
		s.units.status("waiting: approve the host [12:05:31]")
		pass(time.Minute)
		s.ipaRestarts(g, true)
		g.Expect((<-s.ended).Reason).To(ContainSubstring("no sign of the agent for 1m30s"))
	})
}

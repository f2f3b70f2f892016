package simulator

import (
	"context"
	"net/http"
	"slices"
	"time"
)

// The boot progress that is shown (ComputerSystem.BootProgress.LastState).
const (
	notStarted   = "None"
	initializing = "PrimaryProcessorInitializationStarted"
	osRunning    = "OSRunning"
)

// effect says what a reset type does to a machine in a power state: the state
// afterwards, and whether there is anything to do.
type effect func(now PowerState) (after PowerState, acts bool)

func switchTo(after PowerState) effect {
	return func(now PowerState) (PowerState, bool) { return after, now != after }
}

func restart(PowerState) (PowerState, bool) { return On, true }

func toggle(now PowerState) (PowerState, bool) {
	if now == On {
		return Off, true
	}
	return On, true
}

func nothing(now PowerState) (PowerState, bool) { return now, false }

// resets is what each reset type does. A restart of a machine that is off
// switches it on, as sushy-tools' emulator does.
var resets = map[ResetType]effect{
	ResetOn: switchTo(On), ResetForceOn: switchTo(On),
	ResetForceOff: switchTo(Off), ResetGracefulShutdown: switchTo(Off),
	ResetGracefulRestart: restart, ResetForceRestart: restart, ResetPowerCycle: restart,
	ResetPushPowerButton: toggle, ResetNmi: nothing,
}

// graceful are the reset types that ask the operating system.
var graceful = []ResetType{ResetGracefulShutdown, ResetGracefulRestart}

// resetTypes are those that a system lists; the lock is held.
func (sys *system) resetTypes() []ResetType {
	list := []ResetType{
		ResetOn, ResetForceOn, ResetForceOff, ResetGracefulShutdown, ResetGracefulRestart, ResetForceRestart, ResetPowerCycle,
		ResetPushPowerButton, ResetNmi,
	}
	if sys.has(GracefulUnsupported) {
		list = slices.DeleteFunc(list, func(t ResetType) bool { return slices.Contains(graceful, t) })
	}
	return list
}

// power is the PowerState that the resource shows, nil for null; the lock is held.
func (sys *system) power() any {
	if sys.strikes(NoPowerState) {
		return nil
	}
	shown := sys.state.Power
	if sys.transition != "" {
		shown = sys.transition
	}
	return shown
}

func resetSystem(c *call) (reply, error) {
	kind, _ := c.body["ResetType"].(string)
	reset := ResetType(kind)
	c.s.mu.Lock()
	known := slices.Contains(c.sys.resetTypes(), reset)
	now := c.sys.state.Power
	ignored := known && c.sys.ignores(reset, now)
	c.s.mu.Unlock()
	switch {
	case kind == "":
		return reply{}, faultAt("ResetType", missingParameter, "The action ComputerSystem.Reset requires the parameter ResetType.")
	case !known:
		return reply{}, faultAt("ResetType", wrongParameter, "The value '%s' for the parameter ResetType is not in the list of acceptable values.", kind)
	case ignored:
		return done()
	}
	if err := c.s.reset(c.r.Context(), c.sys, reset); err != nil {
		return reply{}, err
	}
	return done()
}

// ignores asks the quirks that swallow a reset; the lock is held.
func (sys *system) ignores(reset ResetType, now PowerState) bool {
	if _, acts := resets[reset](now); !acts {
		return false
	}
	return slices.Contains(graceful, reset) && sys.strikes(GracefulIgnored) || isRestart(reset) && sys.has(RestartHangs)
}

// reset carries a reset out once the machine agrees.
func (s *Server) reset(ctx context.Context, sys *system, reset ResetType) error {
	s.mu.Lock()
	_, acts := resets[reset](sys.state.Power)
	s.mu.Unlock()
	if !acts {
		return nil
	}
	err := s.change(ctx, sys, func(state *State) error {
		state.Power, _ = resets[reset](state.Power)
		return nil
	}, func(m Machine, state State) error { return m.PowerChanged(ctx, state, reset) })
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.powered(sys, sys.delays.Power)
	return nil
}

// powered lets a switch of the power that has been agreed take effect after a
// delay; the lock is held. Whatever was under way on the machine ends.
func (s *Server) powered(sys *system, delay time.Duration) {
	sys.epoch++
	epoch, after := sys.epoch, sys.state.Power
	if delay > 0 {
		sys.transition = map[PowerState]PowerState{On: PoweringOn, Off: PoweringOff}[after]
	}
	sys.progress = notStarted
	s.after(delay, func() {
		if sys.epoch != epoch {
			return
		}
		sys.transition = ""
		s.note(sys, Event{
			Type: "StatusChange", MessageID: "ResourceEvent.1.3.ResourcePowerStateChanged", Severity: "OK",
			Message: "The power state of system " + sys.Name + " is " + string(after) + ".",
		})
		if after == On {
			s.post(sys)
		}
	})
}

// post is the work of the firmware after a switch to On; the lock is held.
func (s *Server) post(sys *system) {
	epoch := sys.epoch
	sys.progress = initializing
	s.after(sys.delays.POST, func() {
		if sys.epoch != epoch {
			return
		}
		sys.progress = osRunning
		if len(sys.bios.pending) > 0 && !sys.bios.idle {
			sys.bios.apply(sys.strikes(BIOSNotApplied))
		}
		sys.secure.current = sys.state.SecureBoot
		sys.useBoot()
		s.tasks.reset(s, sys)
	})
}

// useBoot forgets a one-time boot override; the lock is held. The machine, which
// has used it, is not told.
func (sys *system) useBoot() {
	boot := &sys.state.Boot
	if boot.Enabled == "Once" || (boot.Enabled == "Continuous" && sys.strikes(BootLost)) {
		boot.Target, boot.Enabled, boot.HTTPURI = "None", "Disabled", ""
	}
}

func resetManager(c *call) (reply, error) {
	kind, _ := c.body["ResetType"].(string)
	if kind != "" && kind != string(ResetForceRestart) && kind != string(ResetGracefulRestart) {
		return reply{}, faultAt("ResetType", wrongParameter, "The value '%s' for the parameter ResetType is not in the list of acceptable values.", kind)
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.restart(c.sys)
	return reply{status: http.StatusNoContent}, nil
}

// restart makes the BMC unavailable for a while; the lock is held. On a BMC of
// its own, the system's sessions are gone.
func (s *Server) restart(sys *system) {
	s.resetSubscriptions(sys)
	delete(sys.quirks, RootLinksVanish)
	if s.nextKeys != nil {
		s.keys, s.nextKeys = s.nextKeys, nil
	}
	if sys.delays.Restart == 0 {
		return
	}
	sys.restarting = time.Now().Add(sys.delays.Restart)
	if s.only() == sys {
		clear(s.sessions)
	}
}

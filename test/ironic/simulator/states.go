package simulator

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
)

func setProvision(s *Server, r *http.Request) (int, any, error) {
	n, err := s.nodeOf(r)
	if err != nil {
		return 0, nil, err
	}
	want := request{minor: minorOf(r)}
	if err := decode(r, &want); err != nil {
		return 0, nil, err
	}
	start := actions[want.Target][n.provision]
	switch {
	case actions[want.Target] == nil:
		return 0, nil, fault(http.StatusBadRequest, `The requested action "%s" can not be performed on node "%s" while it is in state "%s".`, want.Target, n.uuid, n.provision)
	case n.reservation != "":
		return 0, nil, locked(n)
	case start == nil:
		return 0, nil, invalidAction(n, want.Target, n.provision)
	case want.Target != "clean" && len(want.CleanSteps) > 0:
		return 0, nil, fault(http.StatusBadRequest, `"clean_steps" is only valid when setting target provision state to clean`)
	}
	if err := want.checkSteps(); err != nil {
		return 0, nil, err
	}
	p, err := start(s, n, want)
	if errors.Is(err, errAccepted) {
		return http.StatusAccepted, nil, nil
	}
	if err != nil {
		return 0, nil, err
	}
	s.run(n, p)
	return http.StatusAccepted, nil, nil
}

// powerResults are the power states that actions end in.
var powerResults = map[string]string{
	"power on": "power on", "power off": "power off", "soft power off": "power off",
	"rebooting": "power on", "soft rebooting": "power on",
}

// cleaningStates forbid power actions.
var cleaningStates = []string{"cleaning", "clean wait"}

func setPower(s *Server, r *http.Request) (int, any, error) {
	n, err := s.nodeOf(r)
	if err != nil {
		return 0, nil, err
	}
	var body struct {
		Target  string `json:"target"`
		Timeout int    `json:"timeout"`
	}
	if err := decode(r, &body); err != nil {
		return 0, nil, err
	}
	result, known := powerResults[body.Target]
	switch {
	case !known:
		return 0, nil, invalidAction(n, body.Target, n.power)
	case slices.Contains(cleaningStates, n.provision):
		return 0, nil, invalidAction(n, body.Target, n.provision)
	case result == "power off" && n.disablePowerOff:
		return 0, nil, fault(http.StatusInternalServerError, "Failed to set node power state to %s.", body.Target)
	case n.reservation != "":
		return 0, nil, locked(n)
	}
	s.power(n, body.Target, result)
	return http.StatusAccepted, nil, nil
}

// power starts a power action. It does not end the node's operation: a ramdisk
// that is cut off by it starts anew.
func (s *Server) power(n *node, target, result string) {
	n.targetPower, n.reservation, n.lastError = result, conductor, ""
	s.changed(n)
	outcome := s.behave(n, "power", target)
	delay := s.opts.Delays.Power
	if outcome.Delay != 0 {
		delay = outcome.Delay
	}
	s.after(n, delay, func() {
		n.targetPower, n.reservation = "", ""
		if outcome.Error != "" {
			n.lastError = fmt.Sprintf("Failed to change power state to '%s': %s", target, outcome.Error)
			s.record(n, "ERROR", "power", n.lastError)
		} else {
			n.power = result
			n.agentLost = n.agentLost && target != "rebooting"
		}
		s.changed(n)
	})
}

func setRAID(s *Server, r *http.Request) (int, any, error) {
	n, err := s.nodeOf(r)
	if err != nil {
		return 0, nil, err
	}
	var body map[string]any
	if err := decode(r, &body); err != nil {
		return 0, nil, err
	}
	switch {
	case n.interfaces["raid_interface"] == "no-raid":
		return 0, nil, fault(http.StatusNotFound, "Driver %s does not support raid (disabled or not implemented).", n.driver)
	case n.reservation != "":
		return 0, nil, locked(n)
	}
	n.targetRAID = body
	s.changed(n)
	return http.StatusNoContent, nil, nil
}

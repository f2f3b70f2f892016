package simulator

import (
	"cmp"
	"fmt"
	"time"
)

// phase is one stretch of an operation: a provision state that holds for a
// while, with or without the node's lock.
type phase struct {
	state  string
	locked bool
	hold   time.Duration
	enter  func(*node)        // sets what is seen during the phase
	done   func(*node) string // what it has changed; a text is why it failed
}

// program is an operation on a node: phases, then either the end or a failure.
type program struct {
	name   string // of the operation, and of its events in the history
	target string // target_provision_state meanwhile
	phases []phase
	fails  string // state in which a failure leaves the node
	flaw   string // why the operation fails whatever the machine does; empty for none
	ends   string // state after success
	finish func(*node)
}

// verb starts an operation for a node in a state that allows it.
type verb func(*Server, *node, request) (program, error)

// actions is the state machine: what may be asked for in which state.
var actions = map[string]map[string]verb{
	"manage": {
		"enroll": verify, "available": manageAtOnce, "clean failed": manageAtOnce, "inspect failed": manageAtOnce,
		"adopt failed": manageAtOnce,
	},
	"inspect": {"manageable": inspect, "inspect failed": inspect},
	"clean":   {"manageable": manualClean},
	"provide": {"manageable": provide},
	"active":  {"available": deploy, "deploy failed": deploy},
	"rebuild": {"active": deploy, "error": deploy, "deploy failed": deploy},
	"deleted": {
		"active": undeploy, "deploy failed": undeploy, "wait call-back": undeploy, "error": undeploy, "service wait": undeploy,
		"service failed": undeploy,
	},
	"adopt":   {"manageable": adopt, "adopt failed": adopt},
	"service": {"active": service, "service failed": service},
	"abort": {
		"inspect wait": abort, "clean wait": abort, "wait call-back": abort, "service wait": abort,
		"service failed": abort,
	},
}

// run carries a program out, phase by phase; the lock is held.
func (s *Server) run(n *node, p program) {
	n.epoch++
	n.lastError, n.targetProv = "", p.target
	n.deployStep, n.cleanStep, n.serviceRuns = nil, nil, false
	s.record(n, "INFO", p.name, p.name+"_start")
	s.enter(n, p, 0)
}

func (s *Server) enter(n *node, p program, i int) {
	if i == len(p.phases) {
		s.end(n, p)
		return
	}
	current := p.phases[i]
	s.move(n, current.state)
	n.reservation = ""
	if current.locked {
		n.reservation = conductor
	}
	if current.enter != nil {
		current.enter(n)
	}
	s.changed(n)
	hold := current.hold
	outcome := s.behave(n, p.name, stepName(n))
	if outcome.Delay != 0 {
		hold = outcome.Delay
	}
	if !current.locked {
		s.beat(n, p)
	}
	s.after(n, hold, func() { s.leave(n, p, i, cmp.Or(outcome.Error, p.flaw)) })
}

// behave asks how an operation goes.
func (s *Server) behave(n *node, operation, step string) Outcome {
	if s.opts.Behave == nil {
		return Outcome{}
	}
	return s.opts.Behave(Operation{Name: operation, Step: step, Node: s.view(n)})
}

// leave ends a phase, unless the ramdisk that should end it was lost.
func (s *Server) leave(n *node, p program, i int, failure string) {
	waiting := !p.phases[i].locked
	if done := p.phases[i].done; done != nil && failure == "" && !n.agentLost && !n.stepEnds {
		failure = done(n)
	}
	switch {
	case waiting && n.agentLost:
		s.after(n, s.opts.CallbackTimeout, func() {
			s.fail(n, p.name, p.fails, "Timeout reached while waiting for callback for node "+n.uuid)
		})
	case waiting && n.stepEnds:
		n.epoch++
		s.fail(n, p.name, p.fails, "The operation was aborted by request at the end of the running step.")
	case failure != "":
		n.epoch++
		byPerson := n.maintenance
		s.fail(n, p.name, p.fails, failure)
		if waiting && erased[p.fails] {
			if n.lastError = ""; !byPerson {
				n.fault, n.maintenance, n.maintenanceReason = "", false, ""
			}
		}
	default:
		s.enter(n, p, i+1)
	}
}

func (s *Server) end(n *node, p program) {
	s.move(n, p.ends)
	n.targetProv, n.reservation, n.stepEnds = "", "", false
	n.deployStep, n.cleanStep = nil, nil
	if p.fails == "service failed" {
		n.serviceStep = nil // only the end of servicing takes it away
	}
	if p.finish != nil {
		p.finish(n)
	}
	s.record(n, "INFO", p.name, p.name+"_end")
	s.changed(n)
	if len(p.phases) > 0 {
		s.news(n, p.name) // what ends with its request is no news
	}
}

// erased are the failure states whose last_error and maintenance do not outlive
// the power-off that follows a failed in-band step, with virtual media, as on the
// real one. The history has the text.
var erased = map[string]bool{"deploy failed": true, "service failed": true}

// fail leaves a node in a failure state.
func (s *Server) fail(n *node, operation, state, text string) {
	s.record(n, "ERROR", operation, text)
	s.move(n, state)
	n.lastError, n.reservation, n.stepEnds = text, "", false
	n.deployStep, n.cleanStep = nil, nil
	switch state {
	case "clean failed":
		n.fault, n.maintenance, n.maintenanceReason = "clean failure", true, cmp.Or(n.maintenanceReason, text)
	case "service failed":
		n.fault, n.maintenance, n.maintenanceReason = "service failure", true, cmp.Or(n.maintenanceReason, text)
		if n.serviceStep["interface"] != ramdiskInterface {
			n.serviceStep = nil // the ramdisk's own is left behind
		}
	case "enroll", "error":
		n.targetProv = "" // stable states aim at nothing
	}
	s.changed(n)
	s.news(n, operation)
}

func (s *Server) move(n *node, state string) {
	if n.provision != state {
		n.provision, n.provUpdated = state, time.Now()
	}
}

// record adds an entry to the node's history.
func (s *Server) record(n *node, severity, kind, text string) {
	n.history = append(n.history, event{uuid: newUUID(), created: time.Now(), severity: severity, kind: kind, text: text})
	if len(n.history) > historyLimit {
		n.history = n.history[1:]
	}
}

// historyLimit is how many entries Ironic keeps for a node.
const historyLimit = 300

// beat lets the ramdisk call in at the start of a waiting phase and regularly
// during it.
func (s *Server) beat(n *node, p program) {
	if n.agentLost {
		return
	}
	n.internalSet("agent_url", "https://192.0.2.1:9999")
	n.internalSet("agent_version", "11.0.0")
	n.internalSet("agent_last_heartbeat", time.Now().UTC().Format("2006-01-02T15:04:05.999999"))
	s.changed(n)
	if s.opts.Heartbeat == 0 {
		return
	}
	state := n.provision
	s.after(n, s.opts.Heartbeat, func() {
		if n.provision == state && n.reservation == "" {
			s.beat(n, p)
		}
	})
}

// internalSet writes a key of driver_internal_info.
func (n *node) internalSet(key string, value any) {
	if n.internal == nil {
		n.internal = map[string]any{}
	}
	n.internal[key] = value
}

// stepName names the running step for hooks.
func stepName(n *node) string {
	running := []map[string]any{n.deployStep, n.cleanStep}
	if n.serviceRuns {
		running = append(running, n.serviceStep)
	}
	for _, step := range running {
		if len(step) > 0 {
			return fmt.Sprintf("%v.%v", step["interface"], step["step"])
		}
	}
	return ""
}

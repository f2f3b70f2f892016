package simulator

import (
	"fmt"
	"net/http"
	"time"
)

// Fault is what happens to one request instead of, or around, its handling.
type Fault struct {
	// Delay is waited first; a request whose client gives up meanwhile is not handled.
	Delay time.Duration
	// Status, unless zero, is answered with Text as Ironic's fault text.
	Status int
	Text   string
	// Cut drops the connection: without an answer, and without handling unless
	// AfterHandling is set.
	Cut bool
	// AfterHandling lets the request take effect before Status or Cut.
	AfterHandling bool
}

// Intercept sets a function that sees each request first and may return a
// fault for it. Nil removes it. The function may call the server's methods.
func (s *Server) Intercept(f func(*http.Request) *Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.intercept = f
}

// LoseAgent makes the ramdisk of a node silent, as if the machine had been
// switched off behind Ironic's back, or heard again.
func (s *Server) LoseAgent(ident string, lost bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.find(ident); n != nil {
		n.agentLost = lost
	}
}

// Edit changes fields of a node as somebody else would, and marks it as
// changed: names are those of the API, values are what Ironic would store.
func (s *Server) Edit(ident string, values map[string]any) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.find(ident)
	if n == nil {
		return false
	}
	for name, value := range values {
		if !n.set(name, value) {
			return false
		}
		if name == "provision_state" {
			n.provUpdated = time.Now()
			n.epoch++
		}
	}
	s.changed(n)
	return true
}

// LoseBMC does what Ironic's power sync does after its last try to reach a BMC:
// the node's power state becomes unknown, and it is in maintenance with the fault
// "power failure" until [Server.FindBMC].
func (s *Server) LoseBMC(ident, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.find(ident)
	if n == nil {
		return
	}
	text := fmt.Sprintf("During sync_power_state, max retries exceeded for node %s, node state None does not match expected state '%s'. "+
		"Updating DB state to 'None' Switching node to maintenance mode. Error: %s", n.uuid, n.power, why)
	n.power, n.lastError = "", text
	n.maintenance, n.maintenanceReason, n.fault = true, text, powerFailure
	s.record(n, "ERROR", "power sync", text)
	s.changed(n)
}

// FindBMC does what Ironic's recovery does once a BMC answers again: the node has
// the power state that the BMC tells, and neither fault nor maintenance.
func (s *Server) FindBMC(ident, power string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.find(ident)
	if n == nil || n.fault != powerFailure {
		return
	}
	n.power = power
	n.maintenance, n.maintenanceReason, n.fault = false, "", ""
	s.changed(n)
}

// powerFailure is the fault of a node whose BMC does not answer.
const powerFailure = "power failure"

// SetBIOS and SetFirmware store what the machine would report.
func (s *Server) SetBIOS(ident string, settings []map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.find(ident); n != nil {
		n.bios = settings
	}
}

// SetFirmware stores the components and versions that the machine would report.
func (s *Server) SetFirmware(ident string, components []map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.find(ident); n != nil {
		n.firmware = components
	}
}

// Wipe loses the database: all nodes and ports are gone.
func (s *Server) Wipe() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.nodes {
		n.epoch++
	}
	clear(s.nodes)
	clear(s.names)
	clear(s.ports)
	s.sorted, s.order = nil, order{}
}

// Remove takes one node out of the database, as somebody else would.
func (s *Server) Remove(ident string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.find(ident); n != nil {
		s.drop(n)
	}
}

// restartFails maps the states that a starting conductor cannot resume to those
// in which it leaves the nodes.
var restartFails = map[string]string{
	"deploying": "deploy failed", "cleaning": "clean failed", "inspecting": "inspect failed",
	"verifying": "enroll", "deleting": "error", "adopting": "adopt failed", "servicing": "service failed",
}

// Restart is a restart of the conductor: operations that it was working on fail,
// those that wait for a ramdisk go on.
func (s *Server) Restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.sorted {
		target, cut := restartFails[n.provision]
		n.targetPower, n.reservation = "", ""
		if !cut {
			continue
		}
		text := "The " + n.provision + " state can't be resumed by conductor " + conductor + ". Moving to fail state."
		n.epoch++
		s.fail(n, n.provision, target, text)
	}
}

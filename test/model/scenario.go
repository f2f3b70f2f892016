package model

import (
	"slices"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/ironic"
)

// Scenario is a world that histories begin in.
type Scenario struct {
	Name string
	// change edits the world before the controller sees it.
	change func(w *World, h *metal3.BareMetalHost)
	// until has Ironic come to a state first; empty for none.
	until ironic.ProvisionState
	// settled lets the world come to rest first, without counting that.
	settled bool
	// then is what a user changes when it has settled; nil for nothing.
	then func(h *metal3.BareMetalHost)
	// second is made then; nil for none.
	second func(w *World) *metal3.BareMetalHost
	// after are steps that are made last, as a story has them; atRest lets the world go on by itself.
	after []string
	// about are the moves of users and the disturbances that it is about; nil for all.
	about []string
}

// atRest is the step by which a scenario lets its world go on to where it rests.
const atRest = "and so on"

// Scenarios are all that there are.
func Scenarios() []Scenario { return slices.Concat(ofOne(), ofTwo(), ofNobodysWish()) }

// ofMost are those that the widest search begins in.
func ofMost() []Scenario { return append(ofOne(), ofTwo()...) }

// ofOne are the scenarios of one host.
func ofOne() []Scenario {
	return []Scenario{
		{Name: "new", change: func(*World, *metal3.BareMetalHost) {}},
		{Name: "a wrong password", change: func(w *World, _ *metal3.BareMetalHost) {
			w.machines[machineOne] = machine{Password: "not that of the Secret"}
		}},
		{Name: "provisioned", settled: true, change: func(_ *World, h *metal3.BareMetalHost) { h.Spec.Image = image("A") }},
		{Name: "available", settled: true, change: func(*World, *metal3.BareMetalHost) {}},
		{Name: "provisioned by a method", settled: true, change: func(_ *World, h *metal3.BareMetalHost) {
			h.Spec.CustomDeploy = &metal3.CustomDeploy{Method: "M"}
		}},
		{Name: "externally provisioned", settled: true, change: func(w *World, h *metal3.BareMetalHost) {
			h.Spec.ExternallyProvisioned = true
			w.machines[machineOne] = machine{On: true, Disk: outside, Password: "right"}
		}},
		{Name: "an image that redirects", change: func(w *World, h *metal3.BareMetalHost) {
			h.Spec.Image, w.redirect = image("A"), true
		}},
		{Name: "provisioned, with a backup of when it was off", settled: true, change: func(_ *World, h *metal3.BareMetalHost) {
			h.Spec.Online = false
		}, then: func(h *metal3.BareMetalHost) { h.Spec.Image, h.Spec.Online = image("A"), true }},
		{Name: "inspecting", until: ironic.StateInspectWait, change: func(*World, *metal3.BareMetalHost) {}},
		{Name: "deploying", until: ironic.StateDeployWait, change: func(_ *World, h *metal3.BareMetalHost) { h.Spec.Image = image("A") }},
		{Name: "deploying by a method", until: ironic.StateDeployWait, change: func(_ *World, h *metal3.BareMetalHost) {
			h.Spec.CustomDeploy = &metal3.CustomDeploy{Method: "M"}
		}},
		{Name: "given back", settled: true, change: func(_ *World, h *metal3.BareMetalHost) { h.Spec.Image = image("A") }, then: func(h *metal3.BareMetalHost) {
			h.Spec.Image = image("B")
		}, until: ironic.StateDeleting},
		{Name: "never off", settled: true, change: func(_ *World, h *metal3.BareMetalHost) {
			h.Spec.Image, h.Spec.DisablePowerOff = image("A"), true
		}},
	}
}

// ofTwo are the scenarios of two hosts that have something in common: the first one is
// provisioned when the second one is made.
func ofTwo() []Scenario {
	provisioned := func(_ *World, h *metal3.BareMetalHost) { h.Spec.Image = image("A") }
	return []Scenario{
		{Name: "two hosts of one BMC", settled: true, change: provisioned, second: func(w *World) *metal3.BareMetalHost {
			h := newHost("b", "2")
			h.Spec.BMC.Address = bmcHost + machineOne
			return h
		}},
		{Name: "two hosts of one MAC address", settled: true, change: provisioned, second: func(w *World) *metal3.BareMetalHost {
			h := newHost("b", "2")
			h.Spec.BootMACAddress = "52:54:00:00:00:01"
			return h
		}},
		{Name: "two hosts of one Secret", settled: true, change: provisioned, second: func(w *World) *metal3.BareMetalHost {
			return newHost("b", "2")
		}},
		{Name: "two hosts of one limit", settled: true, change: limited, second: func(*World) *metal3.BareMetalHost {
			return newHost("b", "2")
		}},
		{Name: "one at work, and one in line", until: ironic.StateDeployWait, change: limited, second: func(*World) *metal3.BareMetalHost {
			return newHost("b", "2")
		}},
	}
}

// limited is a host with an image where one host may work at a time.
func limited(w *World, h *metal3.BareMetalHost) { h.Spec.Image, w.limited = image("A"), true }

// begin makes the scenario's world.
func (s Scenario) begin(r *run, users, faults int) *World {
	w := NewWorld()
	h := newHost("a", "1")
	w.machines[machineOne] = machine{Password: "right"}
	w.put(newSecret("bmc"))
	s.change(w, h)
	w.put(h)
	w.asked[named("a")] = asked{Inspections: 1, Off: !h.Spec.Online}
	w.woken[named("a")] = true
	r.world, r.upset = w, upset{}
	r.toRest(w)
	if s.then != nil || s.until == "" {
		s.settle(r, w)
	}
	if s.then != nil {
		w.edit("a", s.then)
		r.toRest(w)
		if s.until == "" {
			s.settle(r, w)
		}
	}
	s.comeTo(r, w)
	if s.second != nil {
		b := s.second(w)
		if _, there := w.machines[systemOf(b)]; !there {
			w.machines[systemOf(b)] = machine{Password: "right"}
		}
		w.put(b)
		w.asked[named("b")] = asked{Inspections: 1, Off: !b.Spec.Online}
		w.woken[named("b")] = true
		r.world, r.upset = w, upset{}
		r.toRest(w)
	}
	s.makeSteps(r, w)
	w.users, w.faults = users, faults
	if s.second != nil {
		w.faults = max(faults-1, 0) // there is twice as much that can happen
	}
	return w
}

// makeSteps makes the scenario's last steps.
func (s Scenario) makeSteps(r *run, w *World) {
	for _, line := range s.after {
		w.users, w.faults = 1, 2
		if line == atRest {
			s.settle(r, w)
			continue
		}
		st, err := w.stepOf(line)
		if err != nil {
			w.breaks("NO SCENARIO: %s: %v", s.Name, err)
			return
		}
		r.make(w, st)
	}
}

// settle lets a world come to rest, if that is the scenario's.
func (s Scenario) settle(r *run, w *World) {
	for range longLife {
		m, more := w.fair()
		if !more || !s.settled {
			return
		}
		r.make(w, step{move: m})
	}
}

// comeTo lets a world go on until its node is in the state that the scenario begins in.
func (s Scenario) comeTo(r *run, w *World) {
	for range longLife {
		m, more := w.fair()
		if !more || s.until == "" || slices.ContainsFunc(sortedKeys(w.nodes), func(id string) bool { return w.nodes[id].ProvisionState == s.until }) {
			return
		}
		r.make(w, step{move: m})
	}
}

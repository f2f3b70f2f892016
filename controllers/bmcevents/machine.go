package bmcevents

import (
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/bmc/address"
	"github.com/ironflow/ironflow/bmc/events/meaning"
)

// machine is a system of a BMC; the zero value for one that is not named. Letters are
// small: a BMC that writes a path in two ways means one system.
type machine struct{ bmc, system string }

// machineOf is the system that a host's address names. Where it names none, the BMC has
// but one.
func machineOf(h *metal3.BareMetalHost) machine {
	a, err := address.Parse(h.Spec.BMC.Address)
	if err != nil {
		return machine{}
	}
	if system := meaning.SystemOf(a.SystemPath()); system != "" {
		return machine{strings.ToLower(baseOf(h)), strings.ToLower(system)}
	}
	return machine{}
}

// move notes which machine a host has; the lock of the dispatcher is held.
func (d *Dispatcher) move(h *host, to machine) {
	if d.machines[h.machine]--; d.machines[h.machine] <= 0 {
		delete(d.machines, h.machine)
	}
	if h.machine = to; to != (machine{}) {
		d.machines[to]++
	}
}

// elsewhere reports what a BMC tells of another host's machine. A system that no host
// names may be a part of this one, as the board of its accelerators is: that is heard.
func (d *Dispatcher) elsewhere(own machine, system string) bool {
	about := machine{own.bmc, strings.ToLower(system)}
	if own == (machine{}) || system == "" || about == own {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.machines[about] > 0
}

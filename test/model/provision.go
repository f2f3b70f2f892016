package model

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/ironic"
)

// verb is what Ironic does about a request for a provision state.
type verb struct {
	from []ironic.ProvisionState
	// fulfilled are the states in which a request counts as taken before, as
	// ironic.Gateway reads them.
	fulfilled []ironic.ProvisionState
	start     func(w *World, id string, t ironic.Transition)
	touches   bool // refused in maintenance
}

var verbs map[ironic.Target]verb

func init() {
	verbs = map[ironic.Target]verb{
		ironic.TargetManage: {
			from:      []ironic.ProvisionState{ironic.StateEnroll, ironic.StateAvailable, ironic.StateInspectFailed, ironic.StateCleanFailed, ironic.StateAdoptFailed},
			fulfilled: []ironic.ProvisionState{ironic.StateVerifying, ironic.StateManageable},
			start:     manage,
		},
		ironic.TargetInspect: {
			from:      []ironic.ProvisionState{ironic.StateManageable, ironic.StateInspectFailed},
			fulfilled: []ironic.ProvisionState{ironic.StateInspecting, ironic.StateInspectWait},
			start:     inspect, touches: true,
		},
		ironic.TargetClean: {
			from:  []ironic.ProvisionState{ironic.StateManageable},
			start: func(w *World, id string, _ ironic.Transition) { w.clean(id, ironic.StateManageable) }, touches: true,
		},
		ironic.TargetProvide: {
			from:      []ironic.ProvisionState{ironic.StateManageable},
			fulfilled: []ironic.ProvisionState{ironic.StateAvailable},
			start:     provide, touches: true,
		},
		ironic.TargetActive: {
			from:      []ironic.ProvisionState{ironic.StateAvailable, ironic.StateDeployFailed},
			fulfilled: []ironic.ProvisionState{ironic.StateDeploying, ironic.StateDeployWait, ironic.StateActive},
			start:     deploy, touches: true,
		},
		ironic.TargetDeleted: {
			from: []ironic.ProvisionState{
				ironic.StateActive, ironic.StateDeployFailed, ironic.StateError, ironic.StateDeployWait, ironic.StateServiceWait, ironic.StateServiceFailed,
			},
			fulfilled: []ironic.ProvisionState{ironic.StateDeleting, ironic.StateAvailable},
			start: func(w *World, id string, t ironic.Transition) {
				w.checkCutOff(w.nodes[id], "undeploys")
				w.checkCleaning(w.nodes[id])
				undeploy(w, id, t)
			},
		},
		ironic.TargetAdopt: {
			from:      []ironic.ProvisionState{ironic.StateManageable, ironic.StateAdoptFailed},
			fulfilled: []ironic.ProvisionState{ironic.StateAdopting, ironic.StateActive},
			start: func(w *World, id string, _ ironic.Transition) {
				w.change(id, func(n *node) { n.ProvisionState, n.Reservation = ironic.StateAdopting, conductor })
			},
		},
		ironic.TargetService: {
			from:      []ironic.ProvisionState{ironic.StateActive, ironic.StateServiceFailed},
			fulfilled: []ironic.ProvisionState{ironic.StateServicing, ironic.StateServiceWait},
			start:     service, touches: true,
		},
		ironic.TargetAbort: {
			from: []ironic.ProvisionState{
				ironic.StateInspectWait, ironic.StateCleanWait, ironic.StateDeployWait, ironic.StateServiceWait, ironic.StateServiceFailed,
			},
			start: func(w *World, id string, _ ironic.Transition) {
				w.checkCutOff(w.nodes[id], "aborts")
				if abortService(w, id) {
					return
				}
				w.fail(id, "the operation was aborted by request")
			},
		},
	}
}

// provisionState begins what is noted of a request for a provision state.
const provisionState = "provision state "

// conductor holds the lock of a node that Ironic works on.
const conductor = "conductor"

// Transition implements ironics.Actions.
func (g gateway) Transition(_ context.Context, id string, t ironic.Transition) error {
	v := verbs[t.Target]
	if n, found := g.world().nodes[id]; found && slices.Contains(v.fulfilled, n.ProvisionState) && !slices.Contains(v.from, n.ProvisionState) {
		return nil
	}
	return g.write(provisionState+string(t.Target), id, func(w *World) error {
		n := w.nodes[id]
		if !slices.Contains(v.from, n.ProvisionState) {
			return failed(ironic.Rejected, "provision", "the requested action "+string(t.Target)+" can not be performed on a node in state "+string(n.ProvisionState))
		}
		if n.Maintenance && v.touches {
			return failed(ironic.Rejected, "provision", "the node is in maintenance")
		}
		if v.touches || t.Target == ironic.TargetDeleted {
			w.checkOwner(g.run.host, n, string(t.Target))
		}
		w.checkLimit(id, t.Target)
		v.start(w, id, t)
		return nil
	})
}

func manage(w *World, id string, _ ironic.Transition) {
	w.change(id, func(n *node) {
		if n.LastError = ""; n.ProvisionState == ironic.StateEnroll {
			n.ProvisionState, n.Reservation = ironic.StateVerifying, conductor
			return
		}
		n.ProvisionState = ironic.StateManageable
	})
}

func inspect(w *World, id string, _ ironic.Transition) {
	w.checkInspection(w.nodes[id])
	w.boot(id, "inspects")
	w.change(id, func(n *node) { n.ProvisionState, n.LastError, n.inspect = ironic.StateInspectWait, "", false })
}

func provide(w *World, id string, _ ironic.Transition) {
	w.checkCleaning(w.nodes[id])
	if clean := w.nodes[id].AutomatedClean; clean != nil && !*clean {
		w.change(id, func(n *node) { n.ProvisionState, n.LastError = ironic.StateAvailable, "" })
		return
	}
	w.clean(id, ironic.StateAvailable)
}

// clean boots the live image, which wipes the disk.
func (w *World) clean(id string, target ironic.ProvisionState) {
	w.wipe(id, "cleans")
	w.change(id, func(n *node) {
		n.ProvisionState, n.TargetProvisionState, n.LastError, n.Reservation = ironic.StateCleanWait, target, "", ""
	})
}

// deploy writes what instance_info asks for.
func deploy(w *World, id string, t ironic.Transition) {
	n := w.nodes[id]
	w.wipe(id, "deploys over")
	wish := deployedWish(n, t)
	w.checkDeployment(n, wish)
	for _, key := range w.ownersOf(n.address) {
		if w.fresh[key] {
			w.works[key]++
			delete(w.fresh, key)
		}
		a := w.asked[key]
		a.Restarts = 0                  // what was asked for before is not meant for what comes
		before, hidden := w.before[key] // what the cache does not show may be meant for this one
		a.Anew = w.host(key).DeletionTimestamp != nil || differs(w.host(key), wish) || hidden && anew(before, w.host(key))
		w.asked[key] = a
	}
	w.machines[n.address] = w.machines[n.address].with(partial)
	w.change(id, func(n *node) {
		n.ProvisionState, n.TargetProvisionState, n.LastError, n.wish = ironic.StateDeployWait, ironic.StateActive, "", wish
		n.restarts, n.unabortable = 0, false
		n.DeployStep = ironic.Step{Interface: "deploy", Name: "deploy"}
		if url, is := n.InstanceInfo["image_source"].(string); is && w.redirect {
			n.InstanceInfo = maps.Clone(n.InstanceInfo)
			n.InstanceInfo["image_source"] = mirror + strings.TrimPrefix(url, mirror)
		}
	})
}

// mirror is what addresses redirect to, which Ironic writes over them.
const mirror = "http://mirror/?of="

// deployedWish is what a deployment installs.
func deployedWish(n *node, t ironic.Transition) string {
	url, _ := n.InstanceInfo["image_source"].(string)
	url = strings.TrimPrefix(url, mirror)
	if iso, is := n.InstanceInfo["boot_iso"].(string); is {
		url = iso
	}
	method := ""
	if len(t.DeploySteps) > 0 {
		method = t.DeploySteps[0].Name
	}
	return url + " with " + method
}

// undeploy takes the instance away.
func undeploy(w *World, id string, _ ironic.Transition) {
	w.boot(id, "undeploys")
	if address := w.nodes[id].address; w.mayGo(address) {
		w.set(address, func(m *machine) { m.Nobodys = true })
	}
	w.change(id, func(n *node) {
		n.ProvisionState, n.LastError, n.Reservation = ironic.StateDeleting, "", conductor
		n.InstanceUUID, n.InstanceInfo, n.DeployStep = "", map[string]any{}, ironic.Step{}
	})
}

// fail ends what a node does.
func (w *World) fail(id, why string) {
	w.change(id, func(n *node) {
		n.Reservation, n.TargetPowerState, n.DeployStep, n.silent = "", "", ironic.Step{}, false
		n.LastError = why
		switch n.ProvisionState {
		case ironic.StateVerifying:
			n.ProvisionState = ironic.StateEnroll
		case ironic.StateInspectWait:
			n.ProvisionState = ironic.StateInspectFailed
		case ironic.StateCleanWait:
			if n.ProvisionState = ironic.StateCleanFailed; !strings.Contains(why, "abort") {
				n.faulty("clean failure", why)
			}
		case ironic.StateDeployWait:
			n.ProvisionState = ironic.StateDeployFailed
		case ironic.StateServiceWait:
			n.ProvisionState = ironic.StateServiceFailed
			n.faulty("service failure", why)
		case ironic.StateDeleting:
			n.ProvisionState = ironic.StateError
		case ironic.StateAdopting:
			n.ProvisionState = ironic.StateAdoptFailed
		default: // nothing was under way
		}
	})
}

// faulty has a node in maintenance for a failure. A reason that is there stays.
func (n *node) faulty(fault, why string) {
	n.Maintenance, n.Fault, n.MaintenanceReason = true, fault, cmp.Or(n.MaintenanceReason, why)
}

// works reports whether Ironic is at work on a node so that it goes on by itself.
func (n *node) works() bool {
	return n.TargetPowerState != "" || n.ProvisionState.Busy()
}

// goOn ends what a node does with success, or, for what depends on the BMC, as that has it.
func (w *World) goOn(id string) {
	n := w.nodes[id]
	if n.TargetPowerState != "" {
		w.switched(id)
		return
	}
	switch n.ProvisionState {
	case ironic.StateVerifying:
		if n.password != w.machines[n.address].Password {
			w.fail(id, "Failed to get power state: unauthorized")
			return
		}
		w.change(id, func(n *node) {
			n.ProvisionState, n.Reservation, n.PowerState = ironic.StateManageable, "", power(w.machines[n.address].On)
		})
	case ironic.StateInspectWait:
		w.set(n.address, func(m *machine) { m.On = false })
		w.change(id, func(n *node) {
			n.ProvisionState, n.PowerState, n.inspect, n.InspectionFinishedAt = ironic.StateManageable, ironic.PowerOff, true, w.stamp()
		})
	case ironic.StateServiceWait:
		serviced(w, id)
	case ironic.StateCleanWait:
		w.set(n.address, func(m *machine) {
			if m.On = false; n.TargetProvisionState == ironic.StateManageable && w.firmware == isAskedFor {
				m.Booting = bootingAsked // manual cleaning, for whatever reason
			}
		})
		w.change(id, func(n *node) {
			n.ProvisionState, n.TargetProvisionState, n.PowerState = n.TargetProvisionState, "", ironic.PowerOff
		})
	case ironic.StateDeployWait:
		w.set(n.address, func(m *machine) { m.On, m.Disk, m.Nobodys = true, n.wish, false })
		w.change(id, func(n *node) {
			n.ProvisionState, n.TargetProvisionState, n.PowerState, n.DeployStep = ironic.StateActive, "", ironic.PowerOn, ironic.Step{}
		})
		w.installed(n)
	case ironic.StateDeleting:
		if clean := n.AutomatedClean; clean != nil && !*clean {
			w.set(n.address, func(m *machine) { m.On = false })
			w.change(id, func(n *node) {
				n.ProvisionState, n.Reservation, n.PowerState = ironic.StateAvailable, "", ironic.PowerOff
			})
			return
		}
		w.clean(id, ironic.StateAvailable)
	case ironic.StateAdopting:
		w.change(id, func(n *node) { n.ProvisionState, n.Reservation = ironic.StateActive, "" })
	default: // it rests
	}
}

func (w *World) set(address string, edit func(*machine)) {
	m := w.machines[address]
	edit(&m)
	w.machines[address] = m
}

func (m machine) with(disk string) machine {
	m.Disk, m.On = disk, true
	return m
}

func power(on bool) ironic.PowerState {
	if on {
		return ironic.PowerOn
	}
	return ironic.PowerOff
}

// SetPower implements ironics.Actions.
func (g gateway) SetPower(_ context.Context, id string, r ironic.PowerRequest) error {
	return g.write(string(r.Target), id, func(w *World) error {
		if m := w.machines[w.nodes[id].address]; power(m.On) == r.Target && w.nodes[id].PowerState == r.Target {
			return nil
		}
		w.checkOwner(g.run.host, w.nodes[id], string(r.Target))
		w.checkPower(w.nodes[id], r.Target)
		w.change(id, func(n *node) {
			n.TargetPowerState, n.Reservation, n.LastError = r.Target, conductor, ""
			if n.ProvisionState == ironic.StateDeployWait {
				n.restarts++
			}
		})
		if n := w.nodes[id]; n.restarts > 1 {
			w.breaks("RESTARTED TWICE: the machine of node %s is restarted for the second time in one deployment", n.Name)
		}
		return nil
	})
}

// switched ends a change of power.
func (w *World) switched(id string) {
	n := w.nodes[id]
	on := switchesOn(n.TargetPowerState)
	if m := w.machines[n.address]; m.On && m.installed() && n.TargetPowerState != ironic.PowerOn {
		w.restarted(n.address)
	}
	w.set(n.address, func(m *machine) { m.On = on })
	w.change(id, func(n *node) { n.PowerState, n.TargetPowerState, n.Reservation = power(on), "", "" })
}

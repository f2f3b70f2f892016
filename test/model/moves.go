package model

import (
	"slices"
	"strings"
	"time"

	"github.com/ironflow/ironflow/controllers/host/memory"
	"github.com/ironflow/ironflow/ironic"
)

// kind says which budget a move is paid from.
type kind int

const (
	free  kind = iota // what goes on by itself
	user              // somebody's change of an object
	fault             // what goes wrong, or is done behind our back
)

// move is one thing that may happen.
type move struct {
	kind kind
	name string
	// about is the host or the node that it happens to; empty for the world.
	about string
	may   func(w *World, about string) bool
	do    func(w *World, about string)
}

func (m move) String() string { return strings.TrimSpace(m.name + " " + m.about) }

// moves are those that a world may make now.
func (w *World) moves() []move {
	var list []move
	add := func(from []move, about string) {
		for _, m := range from {
			if m.kind == user && w.users == 0 || m.kind == fault && w.faults == 0 || m.kind != free && w.only != nil && !slices.Contains(w.only, m.name) {
				continue
			}
			if m.about = about; m.may(w, about) {
				list = append(list, m)
			}
		}
	}
	add(worldMoves, "")
	for _, id := range sortedKeys(w.nodes) {
		add(nodeMoves, id)
	}
	for _, key := range w.hosts() {
		add(hostMoves, key.Name)
	}
	return list
}

// fair is what happens next if the world answers and nobody does anything; false at rest.
func (w *World) fair() (move, bool) {
	if _, woken := w.nextWoken(); woken {
		return worldMoves[1], true
	}
	if w.rows != nil {
		return caughtUp, true
	}
	for _, id := range sortedKeys(w.nodes) {
		if w.nodes[id].works() {
			m := nodeMoves[0]
			if m.about = id; w.nodes[id].silent {
				m = agentBack
				m.about = id
			}
			return m, true
		}
	}
	for _, id := range sortedKeys(w.nodes) {
		if w.blind(id) {
			m := powerSeen
			m.about = id
			return m, true
		}
	}
	if len(w.timers) > 0 {
		return worldMoves[0], true
	}
	return move{}, false
}

// steps of the clock.
const (
	moment  = 2 * time.Second // a user's change
	working = time.Minute     // what Ironic does
)

// ironicLooks is within what time Ironic has looked at a machine's power by itself.
const ironicLooks = 2 * time.Minute

// later moves the clock, and wakes whoever is due.
func (w *World) later(d time.Duration) {
	w.Now = w.Now.Add(d)
	for _, id := range sortedKeys(w.nodes) {
		if n := w.nodes[id]; n.unseen && w.blind(id) && w.Now.Sub(n.cameOn) >= ironicLooks {
			w.seePower(id)
		}
	}
	for key, due := range w.timers {
		if !due.After(w.Now) {
			delete(w.timers, key)
			w.woken[key] = true
		}
	}
}

// due is when the first host is to be looked at.
func (w *World) due() time.Time {
	var next time.Time
	for _, due := range w.timers {
		if next.IsZero() || due.Before(next) {
			next = due
		}
	}
	return next
}

// worldMoves happen to no host in particular.
var worldMoves = []move{
	{
		free, "time goes by", "", func(w *World, _ string) bool { return len(w.timers) > 0 },
		func(w *World, _ string) {
			w.later(max(w.due().Sub(w.Now), 0).Truncate(time.Second) + time.Second) // statuses hold whole seconds
		},
	},
	{free, "the controller is back", "", func(w *World, _ string) bool { _, woken := w.nextWoken(); return woken }, func(w *World, _ string) { w.later(moment) }},
	{
		fault, "Ironic's database is lost", "", func(w *World, _ string) bool { return len(w.nodes) > 0 },
		func(w *World, _ string) {
			w.later(moment)
			for _, id := range sortedKeys(w.nodes) {
				w.vanish(id)
			}
			for _, key := range w.hosts() {
				a := w.asked[key]
				a.Inspections++
				w.asked[key] = a
			}
		},
	},
	{
		fault, "the watch falls behind", "", func(w *World, _ string) bool { return w.rows == nil },
		func(w *World, _ string) { w.later(moment); w.rows = w.shows() },
	},
	caughtUp,
	{fault, "the controller restarts", "", always, func(w *World, _ string) { w.later(moment); w.restart() }},
}

func always(*World, string) bool { return true }

// caughtUp has the watch see what it has missed.
var caughtUp = move{
	free, "the watch catches up", "", func(w *World, _ string) bool { return w.rows != nil },
	func(w *World, _ string) { w.later(moment); w.catchUp() },
}

// agentBack has an agent call again.
var agentBack = move{
	free, "the agent calls again on", "", func(w *World, id string) bool { return w.nodes[id].silent },
	func(w *World, id string) {
		w.later(moment)
		w.change(id, func(n *node) { n.silent, n.Agent.LastHeartbeat = false, w.stamp() })
	},
}

// powerSeen has Ironic ask the BMC again.
var powerSeen = move{
	free, "Ironic sees the power of", "", func(w *World, id string) bool { return w.blind(id) },
	func(w *World, id string) {
		w.later(moment)
		w.seePower(id)
	},
}

// seePower has Ironic know whether a machine is on.
func (w *World) seePower(id string) {
	w.change(id, func(n *node) { n.PowerState, n.unseen = power(w.machines[n.address].On), false })
}

// blind reports whether Ironic does not know whether a machine is on that it looks after.
func (w *World) blind(id string) bool {
	n := w.nodes[id]
	unseen := n.unseen && n.PowerState != power(w.machines[n.address].On)
	return (n.PowerState == "" || unseen) && !n.works() && n.ProvisionState != ironic.StateEnroll
}

// lostSight is the error of a query of power that Ironic makes itself.
const lostSight = "During sync_power_state, max retries exceeded: the BMC did not answer"

// byHand is why a person takes a node into maintenance.
const byHand = "somebody works on it"

// cutOffText is in the error of what a conductor fails as it starts.
const cutOffText = "state can't be resumed by conductor"

// inspectAgain allows another inspection of a node's machine.
func (w *World) inspectAgain(id string) {
	for _, key := range w.ownersOf(w.nodes[id].address) {
		a := w.asked[key]
		a.Inspections++
		w.asked[key] = a
	}
}

// vanish takes a node away behind the controller's back.
func (w *World) vanish(id string) {
	if address := w.nodes[id].address; w.machines[address].Disk == partial {
		w.set(address, func(m *machine) { m.Disk = "" })
	}
	w.lose(id)
}

// comesOn has a machine come on by itself, as after a loss of mains. Its BMC tells of that, where its
// host is known; Ironic has it as off until it looks.
func (w *World) comesOn(id string) {
	w.doubt.Pressed = true
	w.set(w.nodes[id].address, func(m *machine) { m.On = true })
	if !w.nodes[id].begun {
		w.switchedByHand(w.nodes[id].address)
	}
	w.change(id, func(n *node) { n.unseen, n.cameOn = true, w.Now })
	for _, key := range w.ownersOf(w.nodes[id].address) {
		if w.host(key).Status.Provisioning.ID == id {
			m := w.memories[key]
			m.Told++
			w.memories[key], w.woken[key] = m, true
		}
	}
}

// switchedByHand takes down what is said by that, or by a loss of mains: a machine that is switched off, and of which its
// host shows nothing, is free until it comes on.
func (w *World) switchedByHand(address string) {
	for _, key := range w.ownersOf(address) {
		a := w.asked[key]
		a.Free = !w.machines[address].On && showsNothing(w.host(key))
		w.asked[key] = a
	}
}

// nodeMoves happen to a node.
var nodeMoves = []move{
	{
		free, "Ironic goes on with", "", func(w *World, id string) bool { return w.nodes[id].works() && !w.nodes[id].silent },
		func(w *World, id string) { w.later(working); w.goOn(id) },
	},
	agentBack,
	{
		fault, "Ironic fails with", "", func(w *World, id string) bool { return w.nodes[id].works() },
		func(w *World, id string) {
			w.later(working)
			if w.nodes[id].ProvisionState == ironic.StateInspectWait {
				w.inspectAgain(id)
			}
			if w.nodes[id].TargetPowerState != "" {
				w.change(id, func(n *node) { n.TargetPowerState, n.Reservation, n.LastError = "", "", "Failed to change power state" })
				return
			}
			w.fail(id, "it failed")
		},
	},
	{
		fault, "a restart of Ironic cuts off", "", func(w *World, id string) bool {
			return w.nodes[id].works() && w.nodes[id].TargetPowerState == ""
		},
		func(w *World, id string) {
			w.later(working)
			w.inspectAgain(id)
			w.fail(id, "The deployment "+cutOffText)
		},
	},
	{
		fault, "somebody takes into maintenance", "", func(w *World, id string) bool { return w.nodes[id].MaintenanceReason != byHand },
		func(w *World, id string) {
			w.later(moment)
			w.change(id, func(n *node) { n.Maintenance, n.MaintenanceReason = true, byHand })
		},
	},
	{
		fault, "somebody removes", "", func(w *World, id string) bool { return w.nodes[id].Reservation == "" },
		func(w *World, id string) { w.later(moment); w.inspectAgain(id); w.vanish(id) },
	},
	{
		fault, "Ironic loses sight of the power of", "", func(w *World, id string) bool { n := w.nodes[id]; return n.PowerState != "" && !n.works() },
		func(w *World, id string) {
			w.later(moment)
			w.change(id, func(n *node) { n.PowerState, n.LastError = "", lostSight })
		},
	},
	powerSeen,
	{
		fault, "the agent falls silent on", "", func(w *World, id string) bool {
			n := w.nodes[id]
			return n.ProvisionState == ironic.StateDeployWait && !n.silent
		},
		func(w *World, id string) {
			w.later(working)
			n := w.change(id, func(n *node) { n.silent, n.DeployStep = true, ironic.Step{Interface: "deploy", Name: "write_image"} })
			for _, key := range w.hosts() {
				if w.host(key).Status.Provisioning.ID == id {
					m := w.memories[key]
					m.LostAgent = memory.Silence{Node: id, Last: n.Agent.LastHeartbeat}
					w.memories[key] = m
				}
			}
		},
	},
	{
		fault, "somebody undeploys", "", func(w *World, id string) bool { return w.nodes[id].ProvisionState == ironic.StateActive },
		func(w *World, id string) {
			w.later(moment)
			w.set(w.nodes[id].address, func(m *machine) { m.Disk = "" })
			w.doubt.Undeployed = w.limited
			undeploy(w, id, ironic.Transition{})
		},
	},
	{
		fault, "somebody renames", "", func(w *World, id string) bool { return w.nodes[id].Reservation == "" && w.nodes[id].Name != "renamed" },
		func(w *World, id string) {
			w.later(moment)
			w.change(id, func(n *node) { n.Name, n.abandoned = "renamed", true })
		},
	},
	{
		fault, "by itself comes on the machine of", "", func(w *World, id string) bool {
			n := w.nodes[id]
			return n.PowerState == ironic.PowerOff && !n.works() && !w.machines[n.address].On
		},
		func(w *World, id string) { w.later(moment); w.comesOn(id) },
	},
	{
		fault, "somebody presses the button of", "", func(w *World, id string) bool { return w.nodes[id].PowerState != "" && !w.nodes[id].works() },
		func(w *World, id string) {
			w.later(moment)
			w.doubt.Pressed = true
			w.set(w.nodes[id].address, func(m *machine) { m.On = !m.On })
			w.switchedByHand(w.nodes[id].address)
			w.change(id, func(n *node) { n.PowerState = power(w.machines[n.address].On) })
		},
	},
}

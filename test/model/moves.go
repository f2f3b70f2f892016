package model

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/memory"
	"github.com/ironflow/ironflow/controllers/host/policy"
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
			if m.kind == user && w.users == 0 || m.kind == fault && w.faults == 0 {
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

// later moves the clock, and wakes whoever is due.
func (w *World) later(d time.Duration) {
	w.Now = w.Now.Add(d)
	for key, due := range w.timers {
		if !due.After(w.Now) {
			delete(w.timers, key)
			w.woken[key] = true
		}
	}
}

// worldMoves happen to no host in particular.
var worldMoves = []move{
	{
		free, "time goes by", "", func(w *World, _ string) bool { return len(w.timers) > 0 },
		func(w *World, _ string) {
			var next time.Time
			for _, due := range w.timers {
				if next.IsZero() || due.Before(next) {
					next = due
				}
			}
			w.later(max(next.Sub(w.Now), 0))
		},
	},
	{
		fault, "Ironic's database is lost", "", func(w *World, _ string) bool { return len(w.nodes) > 0 },
		func(w *World, _ string) {
			w.later(moment)
			for _, id := range sortedKeys(w.nodes) {
				n := w.nodes[id]
				if w.machines[n.address].Disk == partial {
					w.set(n.address, func(m *machine) { m.Disk = "" })
				}
				w.lose(id)
			}
			for _, key := range w.hosts() {
				a := w.asked[key]
				a.Inspections++
				a.Forgotten = a.Forgotten || w.host(key).Status.Provisioning.State == ""
				w.asked[key] = a
			}
		},
	},
	{fault, "the controller restarts", "", always, func(w *World, _ string) { w.later(moment); w.restart() }},
}

func always(*World, string) bool { return true }

// agentBack has an agent call again.
var agentBack = move{
	free, "the agent calls again on", "", func(w *World, id string) bool { return w.nodes[id].silent },
	func(w *World, id string) {
		w.later(moment)
		w.change(id, func(n *node) { n.silent, n.Agent.LastHeartbeat = false, w.stamp() })
	},
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
			for _, key := range w.ownersOf(w.nodes[id].address) {
				if a := w.asked[key]; w.nodes[id].ProvisionState == ironic.StateInspectWait {
					a.Inspections++
					w.asked[key] = a
				}
			}
			if w.nodes[id].TargetPowerState != "" {
				w.change(id, func(n *node) { n.TargetPowerState, n.Reservation, n.LastError = "", "", "Failed to change power state" })
				return
			}
			w.fail(id, "it failed")
		},
	},
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
			undeploy(w, id, ironic.Transition{})
		},
	},
	{
		fault, "somebody renames", "", func(w *World, id string) bool { return w.nodes[id].Reservation == "" && w.nodes[id].Name != "renamed" },
		func(w *World, id string) { w.later(moment); w.change(id, func(n *node) { n.Name = "renamed" }) },
	},
	{
		fault, "somebody presses the button of", "", func(w *World, id string) bool { return w.nodes[id].PowerState != "" && !w.nodes[id].works() },
		func(w *World, id string) {
			w.later(moment)
			w.set(w.nodes[id].address, func(m *machine) { m.On = !m.On })
			w.change(id, func(n *node) { n.PowerState = power(w.machines[n.address].On) })
		},
	},
}

// edit changes a host as a user does.
func (w *World) edit(about string, change func(h *metal3.BareMetalHost)) {
	w.later(moment)
	key := named(about)
	before := w.host(key)
	after := before.DeepCopy()
	change(after)
	if !sameJSON(before.Spec, after.Spec) {
		after.Generation++
	}
	obj := objectKey{"BareMetalHost", key}
	w.replace(obj, after)
	w.before[key] = before
	w.wakeFor(obj, before, after)
	w.hear(key, before, after)
}

// hear takes down what a user's change asks for.
func (w *World) hear(key types.NamespacedName, before, after *metal3.BareMetalHost) {
	a, m := w.asked[key], w.machineOf(after)
	wasOff, isOff := keptOff(before), keptOff(after)
	switch {
	case isOff:
		a.Off = true
	case wasOff && m.On:
		a.Off, a.Restarts = false, a.Restarts+1 // it may have been asked for already
	case wasOff:
		a.Off = false
	}
	if more := reboots(after) - reboots(before); more > 0 {
		a.Restarts += more
		a.Inspections += len(policy.ForcedReboots(after)) // one under way is begun anew
	}
	if _, was := before.Annotations[names.Inspect]; !was {
		if _, is := after.Annotations[names.Inspect]; is {
			a.Inspections++
		}
	}
	a.Destroy = a.Destroy || m.installed() && !sameJSON(before.Spec, after.Spec) && differs(after, m.Disk)
	w.asked[key] = a
}

// keptOff reports whether a host's machine is asked to be off for as long as that stands.
func keptOff(h *metal3.BareMetalHost) bool {
	for key := range h.Annotations {
		if strings.HasPrefix(key, names.Reboot+"/") {
			return true
		}
	}
	return !h.Spec.Online
}

// named is the host of a name.
func named(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "lab", Name: name}
}

// annotate is the two moves that put an annotation on a host and take it off.
func annotate(what, key, value string) []move {
	has := func(w *World, about string) bool { _, is := w.host(named(about)).Annotations[key]; return is }
	return []move{
		{
			user, "annotation " + what + " on", "", func(w *World, about string) bool { return !has(w, about) },
			func(w *World, about string) {
				w.edit(about, func(h *metal3.BareMetalHost) {
					h.Annotations = maps.Clone(h.Annotations)
					if h.Annotations == nil {
						h.Annotations = map[string]string{}
					}
					h.Annotations[key] = cmp.Or(value, "")
				})
			},
		},
		{
			user, "annotation " + what + " off", "", has,
			func(w *World, about string) {
				w.edit(about, func(h *metal3.BareMetalHost) { delete(h.Annotations, key) })
			},
		},
	}
}

// set is the move that gives a spec a value, unless it has it.
func set(what string, change func(s *metal3.BareMetalHostSpec)) move {
	return move{
		user, what, "", func(w *World, about string) bool {
			spec := w.host(named(about)).Spec.DeepCopy()
			change(spec)
			return !sameJSON(spec, w.host(named(about)).Spec)
		},
		func(w *World, about string) {
			w.edit(about, func(h *metal3.BareMetalHost) { change(&h.Spec) })
		},
	}
}

// image is an image of a wish.
func image(name string) *metal3.Image {
	if name == "" {
		return nil
	}
	return &metal3.Image{URL: "http://images/" + name, Checksum: "sum-" + name, ChecksumType: metal3.SHA256}
}

// hostMoves happen to a host. They are filled in by init, which joins them.
var hostMoves []move

func init() {
	hostMoves = []move{
		set("image A for", func(s *metal3.BareMetalHostSpec) { s.Image = image("A") }),
		set("image B for", func(s *metal3.BareMetalHostSpec) { s.Image = image("B") }),
		set("no image for", func(s *metal3.BareMetalHostSpec) { s.Image = nil }),
		set("method M for", func(s *metal3.BareMetalHostSpec) { s.CustomDeploy = &metal3.CustomDeploy{Method: "M"} }),
		set("no method for", func(s *metal3.BareMetalHostSpec) { s.CustomDeploy = nil }),
		set("online", func(s *metal3.BareMetalHostSpec) { s.Online = true }),
		set("offline", func(s *metal3.BareMetalHostSpec) { s.Online = false }),
		set("no power-off for", func(s *metal3.BareMetalHostSpec) { s.DisablePowerOff = true }),
		set("no cleaning for", func(s *metal3.BareMetalHostSpec) { s.AutomatedCleaningMode = metal3.CleaningModeDisabled }),
		set("not externally provisioned", func(s *metal3.BareMetalHostSpec) { s.ExternallyProvisioned = false }),
		{
			user, "delete", "", func(w *World, about string) bool { return w.host(named(about)).DeletionTimestamp == nil },
			func(w *World, about string) {
				w.later(moment)
				key := named(about)
				a := w.asked[key]
				a.Destroy, a.Off = true, true
				w.asked[key] = a
				w.remove(objectKey{"BareMetalHost", key})
				w.woken[key] = true
			},
		},
		{
			user, "another password in the Secret of", "", always,
			func(w *World, about string) { w.secret(about, "other") },
		},
		{
			user, "the right password in the Secret of", "", always,
			func(w *World, about string) { w.secret(about, "right") },
		},
		{
			user, "a label on the Secret of", "", always,
			func(w *World, about string) {
				w.later(moment)
				w.changeSecret(about, func(s *corev1.Secret) { s.Labels = with(s.Labels, "some", strconv.Itoa(len(s.Labels["some"]))) })
			},
		},
		{
			user, "retry", "", always,
			func(w *World, about string) {
				w.edit(about, func(h *metal3.BareMetalHost) {
					h.Annotations = with(h.Annotations, names.Retry, h.Annotations[names.Retry]+"i")
				})
			},
		},
	}
	for _, a := range [][3]string{
		{"reboot", names.Reboot, ""}, {"hard forced reboot", names.Reboot, `{"mode":"hard","force":true}`}, {"reboot by a client", names.Reboot + "/client", ""},
		{"inspect", names.Inspect, ""}, {"paused", names.Paused, ""}, {"hold", names.Hold, ""},
		{"detached", names.Detached, ""}, {"detached by force", names.Detached, `{"force":true}`}, {"other", "somebody/else", "x"},
	} {
		hostMoves = append(hostMoves, annotate(a[0], a[1], a[2])...)
	}
	hostMoves = append(hostMoves, copies...)
}

func with(m map[string]string, key, value string) map[string]string {
	if m = maps.Clone(m); m == nil {
		m = map[string]string{}
	}
	m[key] = value
	return m
}

// secret changes the password in a host's Secret.
func (w *World) secret(about, password string) {
	w.later(moment)
	w.changeSecret(about, func(s *corev1.Secret) {
		s.Data = map[string][]byte{"username": []byte("admin"), "password": []byte(password)}
	})
}

func (w *World) changeSecret(about string, change func(*corev1.Secret)) {
	key := objectKey{"Secret", named(w.host(named(about)).Spec.BMC.CredentialsName)}
	before, is := w.objects[key].(*corev1.Secret)
	if !is {
		return
	}
	after := before.DeepCopy()
	change(after)
	w.replace(key, after)
	w.wakeFor(key, before, after)
}

// copies are what is done to a host as a whole: moves to another cluster, and backups.
var copies = []move{
	{
		fault, "moved to another cluster with its status:", "", func(w *World, about string) bool { return w.host(named(about)).DeletionTimestamp == nil },
		func(w *World, about string) { w.transfer(about, true) },
	},
	{
		fault, "moved to another cluster without its status:", "", func(w *World, about string) bool { return w.host(named(about)).DeletionTimestamp == nil },
		func(w *World, about string) { w.transfer(about, false) },
	},
	{
		fault, "restored from a backup of when it was available:", "",
		func(w *World, about string) bool { return w.saved[named(about)] != nil },
		func(w *World, about string) {
			w.later(moment)
			key := named(about)
			old := w.saved[key].DeepCopy()
			old.Generation = w.host(key).Generation + 1
			w.replace(objectKey{"BareMetalHost", key}, old)
			a := w.asked[key]
			a.Destroy, a.Off, a.Restarts = false, false, 0
			w.asked[key] = a
			w.restart()
		},
	},
}

// transfer makes a host anew, as in another cluster.
func (w *World) transfer(about string, withStatus bool) {
	w.later(moment)
	key := named(about)
	old := w.host(key)
	h := &metal3.BareMetalHost{Spec: *old.Spec.DeepCopy()}
	h.Namespace, h.Name, h.Labels = old.Namespace, old.Name, maps.Clone(old.Labels)
	h.UID, h.Annotations = old.UID+"+", maps.Clone(old.Annotations)
	if withStatus {
		raw, err := json.Marshal(old.Status)
		if err != nil {
			panic(fmt.Sprintf("a status that has no JSON: %v", err))
		}
		h.Annotations = with(h.Annotations, names.Status, string(raw))
	}
	w.changeSecret(about, func(s *corev1.Secret) { s.Finalizers, s.OwnerReferences, s.Labels = nil, nil, nil })
	for _, kind := range []string{"BareMetalHost", "HardwareData", "PreprovisioningImage"} {
		delete(w.objects, objectKey{kind, key})
	}
	w.put(h)
	a := w.asked[key]
	a.Inspections++
	a.Forgotten = a.Forgotten || !withStatus && len(w.nodes) == 0
	w.asked[key] = a
	w.restart()
}

package model

import (
	"maps"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/controllers/host/capacity"
	"github.com/ironflow/ironflow/controllers/host/memory"
	"github.com/ironflow/ironflow/ironic"
)

// World is one point of a history. What a map or pointer of it leads to is never
// changed, only replaced, so that a copy of the maps is a copy of the world.
type World struct {
	Now time.Time

	// objects are what the API server has; before is a host as it was before the last
	// change of a user, while the cache may still show that.
	objects map[objectKey]client.Object
	before  map[types.NamespacedName]*metal3.BareMetalHost
	// saved are hosts as a backup has them, by when it was made.
	saved map[backup]saved

	nodes    map[string]*node
	ports    map[string]string // MAC address to node
	machines map[string]machine
	// tenants are the hosts for which what is on a machine was installed: nobody else's
	// wish counts for that.
	tenants map[string]types.NamespacedName
	// installs count what was installed on each machine.
	installs map[string]int
	// works count the deployments of each host, with its attempts as one; fresh means that it is
	// about to be deployed for the first time in this phase.
	works map[types.NamespacedName]int
	fresh map[types.NamespacedName]bool
	// rows are what the watch shows while it is behind; nil while it is not.
	rows     map[string]ironic.Row
	made     int // changes of nodes so far
	removed  int // nodes
	redirect bool
	// firmware says whether somebody keeps the firmware resources of hosts, and what they ask for.
	firmware firmware
	// limited means that one host may be at work at a time; line is who is, and who waits for that.
	limited bool
	line    capacity.Line
	// resumed means that the hosts have what they had in line before the process began.
	resumed bool

	// The controller's process: what it remembers, whom it will look at, and when.
	memories map[types.NamespacedName]memory.Memory
	woken    map[types.NamespacedName]bool
	timers   map[types.NamespacedName]time.Time
	errors   map[types.NamespacedName]int // passes in a row that ended in an error

	asked map[types.NamespacedName]asked
	doubt doubt

	// left are the moves of users and the disturbances that this history may still have.
	users, faults int
	// only names the moves of users and the disturbances that there are; nil for all.
	only []string

	broken string // the invariant that does not hold; empty for none
	told   []string
}

// backup names a backup: of which host, and of which state that was in for the first time.
type backup struct {
	host  types.NamespacedName
	state metal3.ProvisioningState
}

// saved is what a backup holds: a host, whether what was installed might go by what was asked
// for until then, and what that was.
type saved struct {
	host     *metal3.BareMetalHost
	destroy  bool
	installs int
	works    int // of which deployment it tells
}

// objectKey names an object.
type objectKey struct {
	kind string
	types.NamespacedName
}

// epoch is when histories begin.
var epoch = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// NewWorld is a world with nothing in it.
func NewWorld() *World {
	return &World{
		Now: epoch, objects: map[objectKey]client.Object{}, before: map[types.NamespacedName]*metal3.BareMetalHost{},
		saved: map[backup]saved{}, installs: map[string]int{}, works: map[types.NamespacedName]int{}, fresh: map[types.NamespacedName]bool{}, tenants: map[string]types.NamespacedName{},
		nodes: map[string]*node{}, ports: map[string]string{}, machines: map[string]machine{},
		memories: map[types.NamespacedName]memory.Memory{}, woken: map[types.NamespacedName]bool{},
		timers: map[types.NamespacedName]time.Time{}, errors: map[types.NamespacedName]int{},
		asked: map[types.NamespacedName]asked{},
	}
}

// copy is a world that goes on by itself.
func (w *World) copy() *World {
	c := *w
	c.objects, c.before, c.saved = maps.Clone(w.objects), maps.Clone(w.before), maps.Clone(w.saved)
	c.nodes, c.ports, c.machines = maps.Clone(w.nodes), maps.Clone(w.ports), maps.Clone(w.machines)
	c.memories, c.woken, c.timers, c.errors = maps.Clone(w.memories), maps.Clone(w.woken), maps.Clone(w.timers), maps.Clone(w.errors)
	c.asked, c.tenants, c.rows = maps.Clone(w.asked), maps.Clone(w.tenants), maps.Clone(w.rows)
	c.installs, c.works, c.fresh, c.told = maps.Clone(w.installs), maps.Clone(w.works), maps.Clone(w.fresh), nil
	return &c
}

// host returns a host as it is stored; nil for none. It must not be changed.
func (w *World) host(key types.NamespacedName) *metal3.BareMetalHost {
	h, _ := w.objects[objectKey{"BareMetalHost", key}].(*metal3.BareMetalHost)
	return h
}

// hosts are the hosts' names, in order.
func (w *World) hosts() []types.NamespacedName {
	var list []types.NamespacedName
	for _, key := range hostKeys {
		if w.host(key) != nil {
			list = append(list, key)
		}
	}
	return list
}

// hostKeys are the hosts that a world may have.
var hostKeys = []types.NamespacedName{{Namespace: "lab", Name: "a"}, {Namespace: "lab", Name: "b"}}

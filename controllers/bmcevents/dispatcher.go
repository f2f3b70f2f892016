package bmcevents

import (
	"strings"
	"sync"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"golang.org/x/time/rate"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ironflow/ironflow/bmc/events"
	"github.com/ironflow/ironflow/bmc/events/meaning"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// Reasons of events.
const (
	EventAlertWarning  = "BMCAlertWarning"
	EventAlertCritical = "BMCAlertCritical"
	EventAlertWell     = "BMCAlertWell"
)

const (
	// alertBurst alerts of one host are told at once, then one each alertPause: a BMC
	// that goes mad does not fill the cluster with events.
	alertBurst = 20
	alertPause = 30 * time.Second
)

// Dispatcher takes what BMCs tell, and wakes who waits for it. Its methods may be called by many
// at once; none blocks.
type Dispatcher struct {
	receiver *events.Receiver
	recorder reconcile.Recorder
	counts   *counts
	now      func() time.Time
	// leads tells whether this replica works on hosts; the others leave notes.
	leads func() bool
	notes *notes

	mu       sync.Mutex
	hosts    map[types.UID]*host
	machines map[machine]int // how many hosts name each; those that none names are not there
	onHost   []func(key types.NamespacedName, power bool)
	onHealth []func(key types.NamespacedName)
}

var _ events.Sink = (*Dispatcher)(nil)

// host is a host whose BMC is listened to.
type host struct {
	key types.NamespacedName
	uid types.UID
	// source is what deliveries of its BMC come under.
	source   string
	newest   int // generation of the key
	machine  machine
	underWay bool
	// heard is when a delivery last arrived, here or at another replica.
	heard time.Time
	// waiting are told of the next one.
	waiting []chan time.Time
	alerts  *rate.Limiter
}

// OnHost implements schedule.Events of the host controller.
func (d *Dispatcher) OnHost(tell func(key types.NamespacedName, power bool)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.onHost = append(d.onHost, tell)
}

// OnHealth has somebody told of hosts whose parts are to be read anew.
func (d *Dispatcher) OnHealth(tell func(key types.NamespacedName)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.onHealth = append(d.onHealth, tell)
}

// Wake implements events.Sink.
func (d *Dispatcher) Wake(w events.Wake) {
	h, known := d.hostOf(w.Host)
	if !known || d.elsewhere(h.machine, w.System) {
		return
	}
	d.counts.wakes.WithLabelValues(string(w.Kind)).Inc()
	if !d.leads() {
		d.notes.leave(h.key, w.Kind)
		return
	}
	d.wake(h.key, h.underWay, w.Kind)
}

// wake tells those who do the reads that an event causes. A host at rest waits for
// nothing but its power.
func (d *Dispatcher) wake(key types.NamespacedName, underWay bool, kind meaning.Kind) {
	node, health := false, false
	for _, read := range meaning.Reads[kind] {
		node = node || read == meaning.ReadNode
		health = health || read == meaning.ReadHealth || read == meaning.ReadLog
	}
	power := kind == meaning.Power
	d.mu.Lock()
	onHost, onHealth := d.onHost, d.onHealth
	d.mu.Unlock()
	if node && (power || underWay) {
		for _, tell := range onHost {
			tell(key, power)
		}
	}
	if health {
		for _, tell := range onHealth {
			tell(key)
		}
	}
}

// Alert implements events.Sink: a person may see it with the host.
func (d *Dispatcher) Alert(a events.Alert) {
	h, known := d.hostOf(a.Host)
	if !known {
		return
	}
	if d.elsewhere(h.machine, a.System) {
		d.counts.alerts.WithLabelValues("elsewhere").Inc()
		return
	}
	if !h.alerts.AllowN(d.now(), 1) {
		d.counts.alerts.WithLabelValues("held").Inc()
		return
	}
	d.counts.alerts.WithLabelValues("told").Inc()
	reason := EventAlertWell
	switch a.Severity {
	case meaning.Warning:
		reason = EventAlertWarning
	case meaning.Critical:
		reason = EventAlertCritical
	default:
	}
	about := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: h.key.Namespace, Name: h.key.Name, UID: h.uid}}
	d.recorder.Record(about, nil, reconcile.Event{Warning: a.Severity != meaning.OK, Reason: reason, Message: a.Message})
}

// heard notes that a delivery of a host has arrived. Other replicas tell the leader,
// which may wait for a test event.
func (d *Dispatcher) heard(source string, at time.Time) {
	d.mu.Lock()
	h := d.of(source)
	if h != nil {
		h.arrived(at)
	}
	d.mu.Unlock()
	if h != nil && !d.leads() {
		d.notes.leave(h.key, meaning.Other)
	}
}

// arrived tells those who wait; the lock of the dispatcher is held.
func (h *host) arrived(at time.Time) {
	h.heard = at
	for _, waiter := range h.waiting {
		waiter <- at // each has room for the one that it gets
	}
	h.waiting = nil
}

// await reports the next delivery of a host, once.
func (d *Dispatcher) await(uid types.UID) <-chan time.Time {
	waiter := make(chan time.Time, 1)
	d.mu.Lock()
	defer d.mu.Unlock()
	if h := d.hosts[uid]; h != nil {
		h.waiting = append(h.waiting[:min(len(h.waiting), mostWaiting-1)], waiter)
	}
	return waiter
}

// mostWaiting is how many wait for a delivery of a host: one as a rule, and some that
// have given up.
const mostWaiting = 8

// lastHeard is when a host's BMC was last heard of; zero for never.
func (d *Dispatcher) lastHeard(uid types.UID) time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	if h := d.hosts[uid]; h != nil {
		return h.heard
	}
	return time.Time{}
}

// take reads the note of another replica: what was told there.
func (d *Dispatcher) take(uid types.UID, note string) {
	d.mu.Lock()
	h := d.hosts[uid]
	if h == nil {
		d.mu.Unlock()
		return
	}
	h.arrived(d.now())
	key, busy := h.key, h.underWay
	d.mu.Unlock()
	kinds, _, _ := strings.Cut(note, " ")
	for kind := range strings.SplitSeq(kinds, ",") {
		d.wake(key, busy, meaning.Kind(kind))
	}
}

// of is the host that a source belongs to; nil for nobody's. The lock of the dispatcher is held.
func (d *Dispatcher) of(source string) *host {
	uid, _, _ := strings.Cut(source, " ")
	if h := d.hosts[types.UID(uid)]; h != nil && h.source == source {
		return h
	}
	return nil
}

// hostOf is a copy of what is known of a host.
func (d *Dispatcher) hostOf(source string) (host, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if h := d.of(source); h != nil {
		return *h, true
	}
	return host{}, false
}

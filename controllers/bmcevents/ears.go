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

// Ears take what BMCs tell, and wake who waits for it. Its methods may be called by many
// at once; none blocks.
type Ears struct {
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

var _ events.Sink = (*Ears)(nil)

// host is a host whose BMC is listened to.
type host struct {
	key types.NamespacedName
	uid types.UID
	// voice is what deliveries of its BMC come under.
	voice    string
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
func (e *Ears) OnHost(tell func(key types.NamespacedName, power bool)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.onHost = append(e.onHost, tell)
}

// OnHealth has somebody told of hosts whose parts are to be read anew.
func (e *Ears) OnHealth(tell func(key types.NamespacedName)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.onHealth = append(e.onHealth, tell)
}

// Wake implements events.Sink.
func (e *Ears) Wake(w events.Wake) {
	h, known := e.hostOf(w.Host)
	if !known || e.elsewhere(h.machine, w.System) {
		return
	}
	e.counts.wakes.WithLabelValues(string(w.Kind)).Inc()
	if !e.leads() {
		e.notes.leave(h.key, w.Kind)
		return
	}
	e.wake(h.key, h.underWay, w.Kind)
}

// wake tells those who do the reads that an event causes. A host at rest waits for
// nothing but its power.
func (e *Ears) wake(key types.NamespacedName, underWay bool, kind meaning.Kind) {
	node, health := false, false
	for _, read := range meaning.Reads[kind] {
		node = node || read == meaning.ReadNode
		health = health || read == meaning.ReadHealth || read == meaning.ReadLog
	}
	power := kind == meaning.Power
	e.mu.Lock()
	onHost, onHealth := e.onHost, e.onHealth
	e.mu.Unlock()
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
func (e *Ears) Alert(a events.Alert) {
	h, known := e.hostOf(a.Host)
	if !known {
		return
	}
	if e.elsewhere(h.machine, a.System) {
		e.counts.alerts.WithLabelValues("elsewhere").Inc()
		return
	}
	if !h.alerts.AllowN(e.now(), 1) {
		e.counts.alerts.WithLabelValues("held").Inc()
		return
	}
	e.counts.alerts.WithLabelValues("told").Inc()
	reason := EventAlertWell
	switch a.Severity {
	case meaning.Warning:
		reason = EventAlertWarning
	case meaning.Critical:
		reason = EventAlertCritical
	default:
	}
	about := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: h.key.Namespace, Name: h.key.Name, UID: h.uid}}
	e.recorder.Record(about, nil, reconcile.Event{Warning: a.Severity != meaning.OK, Reason: reason, Message: a.Message})
}

// heard notes that a delivery of a host has arrived. Other replicas tell the leader,
// which may wait for a test event.
func (e *Ears) heard(voice string, at time.Time) {
	e.mu.Lock()
	h := e.of(voice)
	if h != nil {
		h.arrived(at)
	}
	e.mu.Unlock()
	if h != nil && !e.leads() {
		e.notes.leave(h.key, meaning.Other)
	}
}

// arrived tells those who wait; the lock of the ears is held.
func (h *host) arrived(at time.Time) {
	h.heard = at
	for _, waiter := range h.waiting {
		waiter <- at // each has room for the one that it gets
	}
	h.waiting = nil
}

// await reports the next delivery of a host, once.
func (e *Ears) await(uid types.UID) <-chan time.Time {
	waiter := make(chan time.Time, 1)
	e.mu.Lock()
	defer e.mu.Unlock()
	if h := e.hosts[uid]; h != nil {
		h.waiting = append(h.waiting[:min(len(h.waiting), mostWaiting-1)], waiter)
	}
	return waiter
}

// mostWaiting is how many wait for a delivery of a host: one as a rule, and some that
// have given up.
const mostWaiting = 8

// lastHeard is when a host's BMC was last heard of; zero for never.
func (e *Ears) lastHeard(uid types.UID) time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	if h := e.hosts[uid]; h != nil {
		return h.heard
	}
	return time.Time{}
}

// take reads the note of another replica: what was told there.
func (e *Ears) take(uid types.UID, note string) {
	e.mu.Lock()
	h := e.hosts[uid]
	if h == nil {
		e.mu.Unlock()
		return
	}
	h.arrived(e.now())
	key, busy := h.key, h.underWay
	e.mu.Unlock()
	kinds, _, _ := strings.Cut(note, " ")
	for kind := range strings.SplitSeq(kinds, ",") {
		e.wake(key, busy, meaning.Kind(kind))
	}
}

// of is the host that a voice belongs to; nil for nobody's. The lock of the ears is held.
func (e *Ears) of(voice string) *host {
	uid, _, _ := strings.Cut(voice, " ")
	if h := e.hosts[types.UID(uid)]; h != nil && h.voice == voice {
		return h
	}
	return nil
}

// hostOf is a copy of what is known of a host.
func (e *Ears) hostOf(voice string) (host, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if h := e.of(voice); h != nil {
		return *h, true
	}
	return host{}, false
}

package media

import (
	"context"
	"sync"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/controllers/host"
	"github.com/ironflow/ironflow/controllers/host/policy"
)

// Gate is where the host controller asks for a host's media before it starts the
// machine, and before a machine that was given back is used again. It implements host.MediaGate; none of its methods blocks.
type Gate struct {
	client client.Reader

	mu       sync.Mutex
	visits   map[types.NamespacedName]visit
	wake     func(types.NamespacedName) // this package's controller
	tellHost func(types.NamespacedName)
}

// visit is the time between the wish to start a machine and its start, or that in which
// a machine is emptied of what was attached for its former use.
type visit struct {
	of        use
	since     time.Time
	restart   bool
	settled   bool   // the host may go on
	note      string // what is waited for
	confirmed string // address that was seen inserted
	trial     Trial
	due       time.Time // of the next attempt
	tried     string    // what the object said when the last attempt failed
}

// use is what a host was asked for: of another host, or by a machine in another use, it
// says nothing.
type use struct {
	host  types.UID
	inUse bool
}

// useOf is that of a host as it is now; the zero value for none.
func useOf(h *metal3.BareMetalHost) use {
	if h == nil {
		return use{}
	}
	return use{h.UID, InUse(h)}
}

var _ host.MediaGate = (*Gate)(nil)

// NewGate makes a gate that reads DataImages with c, a cache as a rule.
func NewGate(c client.Reader) *Gate {
	nobody := func(types.NamespacedName) {}
	return &Gate{client: c, visits: map[types.NamespacedName]visit{}, wake: nobody, tellHost: nobody}
}

// Media implements host.MediaGate. A machine that is not in use waits only for the
// ejection of what is known to have been attached.
func (g *Gate) Media(ctx context.Context, h *metal3.BareMetalHost) (policy.Media, error) {
	key, image := client.ObjectKeyFromObject(h), &metal3.DataImage{}
	err := g.client.Get(ctx, key, image)
	if client.IgnoreNotFound(err) != nil {
		return policy.Media{}, err
	}
	if err != nil || !InUse(h) && image.Status.AttachedImage.URL == "" {
		return policy.Media{}, nil //nolint:nilerr // no DataImage, or none that was attached: nothing to wait for
	}
	v, asked := g.visit(key, h)
	return policy.Media{Pending: !v.settled, Asked: asked, Note: v.note}, nil
}

// Ask implements host.MediaGate.
func (g *Gate) Ask(h *metal3.BareMetalHost, restart bool) {
	key := client.ObjectKeyFromObject(h)
	g.mu.Lock()
	if v, there := g.visits[key]; !there || v.of != useOf(h) {
		g.visits[key] = visit{of: useOf(h), since: time.Now(), restart: restart}
	}
	wake := g.wake
	g.mu.Unlock()
	wake(key)
}

// Started implements host.MediaGate.
func (g *Gate) Started(key types.NamespacedName) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.visits, key)
}

// OnSettled implements host.MediaGate.
func (g *Gate) OnSettled(tell func(types.NamespacedName)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tellHost = tell
}

// onAsked registers who does the work.
func (g *Gate) onAsked(wake func(types.NamespacedName)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.wake = wake
}

// visit returns what is remembered; open is false when the host does not wait.
func (g *Gate) visit(key types.NamespacedName, h *metal3.BareMetalHost) (visit, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	v, there := g.visits[key]
	if !there || v.of != useOf(h) {
		return visit{}, false
	}
	return v, true
}

// update changes a visit that still lasts, and tells the host when it is news to it.
func (g *Gate) update(key types.NamespacedName, change func(*visit)) {
	g.mu.Lock()
	v, open := g.visits[key]
	before := v
	if open {
		change(&v)
		g.visits[key] = v
	}
	tell := g.tellHost
	g.mu.Unlock()
	if open && (before.settled != v.settled || before.note != v.note) {
		tell(key)
	}
}

// gone ends the visit of an object that does not exist any more.
func (g *Gate) gone(key types.NamespacedName) {
	g.mu.Lock()
	_, open := g.visits[key]
	delete(g.visits, key)
	tell := g.tellHost
	g.mu.Unlock()
	if open {
		tell(key)
	}
}

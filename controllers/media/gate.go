package media

import (
	"context"
	"sync"
	"time"

	"github.com/ironflow/ironflow/controllers/host/policy"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/controllers/host"
)

// Gate is where the host controller asks for a host's media before it starts the
// machine. It implements host.MediaGate; none of its methods blocks.
type Gate struct {
	client client.Reader

	mu       sync.Mutex
	visits   map[types.NamespacedName]visit
	wake     func(types.NamespacedName) // this package's controller
	tellHost func(types.NamespacedName)
}

// visit is the time between the wish to start a machine and its start.
type visit struct {
	restart   bool
	settled   bool   // the machine may start
	note      string // what is waited for
	confirmed string // address that was seen inserted
	trial     Trial
	due       time.Time // of the next attempt
	tried     string    // what the object said when the last attempt failed
}

var _ host.MediaGate = (*Gate)(nil)

// NewGate makes a gate that reads DataImages with c, a cache as a rule.
func NewGate(c client.Reader) *Gate {
	nobody := func(types.NamespacedName) {}
	return &Gate{client: c, visits: map[types.NamespacedName]visit{}, wake: nobody, tellHost: nobody}
}

// Media implements host.MediaGate.
func (g *Gate) Media(ctx context.Context, key types.NamespacedName) (policy.Media, error) {
	err := g.client.Get(ctx, key, &metal3.DataImage{})
	if client.IgnoreNotFound(err) != nil {
		return policy.Media{}, err
	}
	if err != nil {
		return policy.Media{}, nil // no DataImage: nothing to wait for
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	v, asked := g.visits[key]
	return policy.Media{Pending: !v.settled, Asked: asked, Note: v.note}, nil
}

// Ask implements host.MediaGate.
func (g *Gate) Ask(key types.NamespacedName, restart bool) {
	g.mu.Lock()
	if _, there := g.visits[key]; !there {
		g.visits[key] = visit{restart: restart}
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
func (g *Gate) visit(key types.NamespacedName) (v visit, open bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	v, open = g.visits[key]
	return v, open
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

package firmware

import (
	"sync"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// unread are the hosts that were inspected or registered since what Ironic knows of their
// firmware was last taken over. The host controller reads before a host is available; who
// is left is read by the controller of this package. It is kept in memory: without it, only
// what was never read is.
type unread struct {
	mu    sync.Mutex
	hosts map[types.NamespacedName]left
}

// left is what is left to be read of a host.
type left struct{ settings, components bool }

// examined notes a host that Ironic looks at.
func (u *unread) examined(h *metal3.BareMetalHost) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.hosts == nil {
		u.hosts = map[types.NamespacedName]left{}
	}
	u.hosts[client.ObjectKeyFromObject(h)] = left{settings: true, components: true}
}

// of returns what is left to be read of a host.
func (u *unread) of(h *metal3.BareMetalHost) left {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.hosts[client.ObjectKeyFromObject(h)]
}

// read notes what was read of a host.
func (u *unread) read(h *metal3.BareMetalHost, what left) {
	u.mu.Lock()
	defer u.mu.Unlock()
	key := client.ObjectKeyFromObject(h)
	l := u.hosts[key]
	l.settings, l.components = l.settings && !what.settings, l.components && !what.components
	if l == (left{}) {
		delete(u.hosts, key)
		return
	}
	u.hosts[key] = l
}

// forget drops a host that is gone.
func (u *unread) forget(key types.NamespacedName) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.hosts, key)
}

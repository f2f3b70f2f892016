package host

import (
	"context"
	"strconv"
	"sync"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// written keeps hosts as this program has written them until the watch shows that
// version, so that a machine does not wait for the watch of a busy API server. A
// write names the version that it was made from: what was written is what is stored,
// and a host that was changed since is refused by the API server as any old copy is.
type written struct {
	mu    sync.Mutex
	hosts map[types.NamespacedName]*metal3.BareMetalHost // never changed
	shown map[types.NamespacedName]uint64                // the newest version that the watch has shown
}

func newWritten() *written {
	return &written{hosts: map[types.NamespacedName]*metal3.BareMetalHost{}, shown: map[types.NamespacedName]uint64{}}
}

// put keeps a host as it was written.
func (w *written) put(h *metal3.BareMetalHost) {
	key := client.ObjectKeyFromObject(h)
	w.mu.Lock()
	defer w.mu.Unlock()
	if versionOf(h) > w.shown[key] {
		w.hosts[key] = h
	}
}

// show notes what the watch shows.
func (w *written) show(h client.Object) {
	key, version := client.ObjectKeyFromObject(h), versionOf(h)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.shown[key] = max(w.shown[key], version)
	if ours := w.hosts[key]; ours != nil && versionOf(ours) <= version {
		delete(w.hosts, key)
	}
}

// newest returns the newer of what the cache has and what was written: a copy that
// may be changed.
func (w *written) newest(cached *metal3.BareMetalHost) *metal3.BareMetalHost {
	w.mu.Lock()
	ours := w.hosts[client.ObjectKeyFromObject(cached)]
	w.mu.Unlock()
	if ours == nil || ours.UID != cached.UID || versionOf(ours) <= versionOf(cached) {
		return cached
	}
	return ours.DeepCopy()
}

// forget drops a host that is gone.
func (w *written) forget(key types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.hosts, key)
	delete(w.shown, key)
}

// versionOf is an object's resource version, which grows with each write; 0 for one
// that is no number.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions
func versionOf(o client.Object) uint64 {
	version, err := strconv.ParseUint(o.GetResourceVersion(), 10, 64)
	if err != nil {
		return 0
	}
	return version
}

// read gets a host from the cache, or as it was written where the cache is behind.
func (r *Reconciler) read(ctx context.Context, key types.NamespacedName) (*metal3.BareMetalHost, error) {
	h := &metal3.BareMetalHost{}
	if err := r.client.Get(ctx, key, h, client.DisableReadYourWritesConsistency); err != nil {
		return nil, err
	}
	return r.written.newest(h), nil
}

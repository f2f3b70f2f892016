package image

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// firstPass watches over the start: the store, which comes back with the images
// of its last run, knows all that is wanted as soon as every object has had a
// pass. What was kept for objects that vanished in the meantime is given up.
type firstPass struct {
	client client.Reader
	store  Store
	// namespaces are those that are watched, none for all.
	namespaces []string
	// kept are the images that the store came back with.
	kept []string

	mu      sync.Mutex
	passed  map[types.NamespacedName]bool
	waiting map[types.NamespacedName]bool // nil before the objects are listed
	synced  bool
}

func newFirstPass(c client.Reader, o Options) *firstPass {
	return &firstPass{client: c, store: o.Store, namespaces: o.Namespaces, kept: o.Store.Keys(), passed: map[types.NamespacedName]bool{}}
}

// Start implements manager.Runnable. It runs on the leader, as the controller does.
func (f *firstPass) Start(ctx context.Context) error {
	var list metal3v1.PreprovisioningImageList
	if err := f.client.List(ctx, &list); err != nil {
		if ctx.Err() != nil {
			return nil // the program ends
		}
		return fmt.Errorf("list the images that are wanted: %w", err)
	}
	wanted := map[types.NamespacedName]bool{}
	for i := range list.Items {
		wanted[client.ObjectKeyFromObject(&list.Items[i])] = true
	}
	for _, key := range f.kept {
		namespace, name, _ := strings.Cut(key, "/")
		if wanted[types.NamespacedName{Namespace: namespace, Name: name}] || !f.watched(namespace) {
			continue
		}
		if err := f.store.Remove(key); err != nil { // no reason to stop; the next start tries again
			ctrl.LoggerFrom(ctx).Error(err, "cannot give up the image of a host that is gone", "image", key)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting = wanted
	for key := range f.passed {
		delete(f.waiting, key)
	}
	f.check()
	return nil
}

// watched tells whether the images of a namespace are this program's.
func (f *firstPass) watched(namespace string) bool {
	return len(f.namespaces) == 0 || slices.Contains(f.namespaces, namespace)
}

// pass notes that an object has had a pass, whatever came of it.
func (f *firstPass) pass(key types.NamespacedName) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.synced {
		return
	}
	f.passed[key] = true
	delete(f.waiting, key)
	f.check()
}

// check tells the store once nothing is waited for any more.
func (f *firstPass) check() {
	if f.synced || f.waiting == nil || len(f.waiting) > 0 {
		return
	}
	f.synced, f.passed = true, nil
	f.store.MarkSynced()
}

// Package observe keeps what this program has to know of the cluster in memory, by
// watches: of each object only the few fields that somebody decides by. A change of
// anything else, such as the heartbeat of a node, wakes nobody.
package observe

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"net/url"
	"reflect"
	"sync"
	"time"

	"github.com/ironflow/ironflow/cluster/csr"
	"github.com/ironflow/ironflow/cluster/facts"
	"github.com/ironflow/ironflow/cluster/kube"
)

// Cache is what is known of one kind. The zero value is empty.
type Cache[T any] struct {
	decode  func(json.RawMessage) (string, T, error)
	changed func()

	mu      sync.Mutex
	objects map[string]T
	// present tells that the kind was listed; absent that the cluster does not have it.
	present, absent bool
}

// All is a copy of the objects; nil while the kind was not listed or is absent.
func (c *Cache[T]) All() map[string]T {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.present {
		return nil
	}
	out := make(map[string]T, len(c.objects))
	maps.Copy(out, c.objects)
	return out
}

// Known tells that it was heard whether there are any.
func (c *Cache[T]) Known() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.present || c.absent
}

// List implements [kube.Sink].
func (c *Cache[T]) List() (add func(json.RawMessage), done func()) {
	fresh := map[string]T{}
	add = func(raw json.RawMessage) {
		if name, value, err := c.decode(raw); err == nil {
			fresh[name] = value
		}
	}
	return add, func() { c.replace(fresh) }
}

// replace has the cache have these objects alone.
func (c *Cache[T]) replace(fresh map[string]T) {
	c.mu.Lock()
	same := c.present && reflect.DeepEqual(fresh, c.objects)
	c.objects, c.present, c.absent = fresh, true, false
	c.mu.Unlock()
	if !same {
		c.changed()
	}
}

// Set implements [kube.Sink].
func (c *Cache[T]) Set(raw json.RawMessage) {
	name, value, err := c.decode(raw)
	switch {
	case errors.Is(err, errNotKept):
		c.remove(name)
		return
	case err != nil:
		return
	}
	c.mu.Lock()
	old, had := c.objects[name]
	same := had && reflect.DeepEqual(old, value)
	c.objects[name] = value
	c.mu.Unlock()
	if !same {
		c.changed()
	}
}

// Delete implements [kube.Sink].
func (c *Cache[T]) Delete(raw json.RawMessage) {
	if name, _, err := c.decode(raw); err == nil || errors.Is(err, errNotKept) {
		c.remove(name)
	}
}

// remove has the cache forget an object, if it has it.
func (c *Cache[T]) remove(name string) {
	c.mu.Lock()
	_, had := c.objects[name]
	delete(c.objects, name)
	c.mu.Unlock()
	if had {
		c.changed()
	}
}

// Absent implements [kube.Sink].
func (c *Cache[T]) Absent() {
	c.mu.Lock()
	was := c.absent
	c.objects, c.present, c.absent = nil, false, true
	c.mu.Unlock()
	if !was {
		c.changed()
	}
}

// Caches are all kinds that are followed.
type Caches struct {
	Requests      Cache[csr.Listed]
	Nodes         Cache[facts.Node]
	Operators     Cache[facts.Operator]
	Versions      Cache[facts.Operator]
	Subscriptions Cache[facts.Subscription]
	Services      Cache[facts.Service]
	Pods          Cache[facts.Pod]

	// Changed has an element when something has changed since it was last emptied.
	Changed chan struct{}
}

// New returns empty caches.
func New() *Caches {
	c := &Caches{Changed: make(chan struct{}, 1)}
	set(&c.Requests, c, request)
	set(&c.Nodes, c, node)
	set(&c.Operators, c, operator)
	set(&c.Versions, c, version)
	set(&c.Subscriptions, c, subscription)
	set(&c.Services, c, service)
	set(&c.Pods, c, pod)
	return c
}

func set[T any](cache *Cache[T], c *Caches, decode func(json.RawMessage) (string, T, error)) {
	cache.decode, cache.changed = decode, c.Wake
}

// Wake has whoever waits for a change look again.
func (c *Caches) Wake() {
	select {
	case c.Changed <- struct{}{}:
	default:
	}
}

// Paths of the collections that are followed.
const (
	Requests      = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
	Nodes         = "/api/v1/nodes"
	Pods          = "/api/v1/namespaces/kube-system/pods"
	Operators     = "/apis/config.openshift.io/v1/clusteroperators"
	Versions      = "/apis/config.openshift.io/v1/clusterversions"
	Subscriptions = "/apis/operators.coreos.com/v1alpha1/subscriptions"
	Services      = "/apis/operators.coreos.com/v1alpha1/clusterserviceversions"
)

// notCopied leaves out what the lifecycle manager copies of a service that works for all namespaces
// into each of them: of a few operators, hundreds of objects of 100 KiB and more. None of them is where
// a subscription is.
const notCopied = "!olm.copiedFrom"

// Follow keeps the caches up to date until the context ends. absent is how long to wait
// before it is asked again for a kind that is not there.
func (c *Caches) Follow(ctx context.Context, client *kube.Client, log *slog.Logger, absent func() time.Duration) {
	var running sync.WaitGroup
	for path, sink := range map[string]kube.Sink{
		Requests: &c.Requests, Nodes: &c.Nodes, Pods: &c.Pods, Operators: &c.Operators, Versions: &c.Versions,
		Subscriptions: &c.Subscriptions, Services: &c.Services,
	} {
		query := url.Values{}
		if path == Services {
			query.Set("labelSelector", notCopied)
		}
		running.Go(func() {
			client.Follow(ctx, path, query, sink, absent, func(err error) { log.Warn("the cluster cannot be watched; trying again", "path", path, "error", err) })
		})
	}
	running.Wait()
}

// Ready tells that all kinds have been heard of.
func (c *Caches) Ready() bool {
	return c.Requests.Known() && c.Nodes.Known() && c.Pods.Known() && c.Operators.Known() && c.Versions.Known() && c.Subscriptions.Known() && c.Services.Known()
}

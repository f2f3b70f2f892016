package drain

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// oneLook bounds all calls of one look at a cluster.
const oneLook = 2 * time.Minute

var errTooLong = errors.New("the cluster answers too slowly")

// Checker asks clusters, beside whoever wants to know. The zero value is ready.
type Checker struct {
	// Reach opens a cluster; nil for [Open].
	Reach func(kubeconfig []byte, server string) (client.Client, error)

	mu    sync.Mutex
	looks map[types.NamespacedName]*look
}

// look is the last one for a machine.
type look struct {
	running bool
	heard   *Progress
}

// Heard is what the last look at the machine's cluster came to; nil for none.
func (d *Checker) Heard(host types.NamespacedName) *Progress {
	d.mu.Lock()
	defer d.mu.Unlock()
	if l := d.looks[host]; l != nil {
		return l.heard
	}
	return nil
}

// Tell notes what is known without a look.
func (d *Checker) Tell(host types.NamespacedName, found Progress) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.looks == nil {
		d.looks = map[types.NamespacedName]*look{}
	}
	d.looks[host] = &look{heard: &found}
}

// Forget drops what was heard.
func (d *Checker) Forget(host types.NamespacedName) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.looks, host)
}

// Look begins a look, unless one is under way.
func (d *Checker) Look(ctx context.Context, host types.NamespacedName, job Job) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.looks == nil {
		d.looks = map[types.NamespacedName]*look{}
	}
	l := d.looks[host]
	if l == nil {
		l = &look{}
		d.looks[host] = l
	}
	if l.running {
		return
	}
	l.running = true
	go func() {
		found := d.look(ctx, job)
		d.mu.Lock()
		defer d.mu.Unlock()
		l.running, l.heard = false, &found
	}()
}

func (d *Checker) look(ctx context.Context, job Job) Progress {
	ctx, cancel := context.WithTimeoutCause(ctx, oneLook, errTooLong)
	defer cancel()
	reach := d.Reach
	if reach == nil {
		reach = Open
	}
	c, err := reach(job.Kubeconfig, job.Server)
	if err != nil {
		return Progress{Forced: job.Force, Says: err.Error()}
	}
	return Node(ctx, c, job, time.Now())
}

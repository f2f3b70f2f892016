package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/test/bench/follow"
	"github.com/ironflow/ironflow/test/shipped"
)

const (
	// namespace holds the hosts.
	namespace = "fleet"
	// hands is how many requests the bench makes at once.
	hands = 8
	// talk is the pause between two lines of progress.
	talk = 5 * time.Second
)

// seen is a host or a BMC as far as the bench looks at it.
type seen struct {
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Status struct {
		Provisioning struct {
			State metal3.ProvisioningState `json:"state"`
			ID    string                   `json:"ID"`
		} `json:"provisioning"`
		PoweredOn    bool   `json:"poweredOn"`
		ErrorMessage string `json:"errorMessage"`
		Report       *struct {
			Requests int `json:"requests"`
		} `json:"report"`
		Conditions []struct {
			Type   string `json:"type"`
			Status string `json:"status"`
		} `json:"conditions"`
	} `json:"status"`
}

// has reports a condition that is True.
func (s *seen) has(kind string) bool {
	for _, c := range s.Status.Conditions {
		if c.Type == kind && c.Status == "True" {
			return true
		}
	}
	return false
}

// hosts is the user, who makes hosts and watches what becomes of them and of their BMCs.
type hosts struct {
	kube client.Client
	web  *http.Client
	base string

	mu    sync.Mutex
	hosts map[string]seen
	bmcs  map[string]seen
	moved chan struct{} // capacity 1
}

// newHosts prepares an empty fleet and starts to watch it.
func newHosts(ctx context.Context, config *rest.Config) (*hosts, error) {
	kube, err := shipped.NewClient(config)
	if err != nil {
		return nil, err
	}
	web, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	h := &hosts{kube: kube, web: web, base: config.Host, hosts: map[string]seen{}, bmcs: map[string]seen{}, moved: make(chan struct{}, 1)}
	if err := kube.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		return nil, err
	}
	go h.follow(ctx, metal3.GroupVersion.String()+"/namespaces/"+namespace+"/baremetalhosts", h.hosts)
	go h.follow(ctx, v1alpha1.GroupVersion.String()+"/namespaces/"+namespace+"/bmcs", h.bmcs)
	return h, nil
}

// follow keeps what the API has at a place.
func (h *hosts) follow(ctx context.Context, place string, into map[string]seen) {
	keep := func(kind watch.EventType, o seen) {
		h.mu.Lock()
		defer h.mu.Unlock()
		if kind == watch.Deleted {
			delete(into, o.Metadata.Name)
		} else {
			into[o.Metadata.Name] = o
		}
		select {
		case h.moved <- struct{}{}:
		default:
		}
	}
	objects := follow.Objects[seen]{Web: h.web, URL: h.base + "/apis/" + place, Changed: keep, Known: func(all []seen) {
		for _, o := range all {
			keep(watch.Added, o)
		}
	}}
	for ctx.Err() == nil {
		if err := objects.Follow(ctx); err != nil && ctx.Err() == nil {
			say("the objects cannot be watched: %v", err)
			pause(ctx, time.Second)
		}
	}
}

// create makes a host for each machine, with its Secret.
func (h *hosts) create(ctx context.Context, systems []string) error {
	next, errs := make(chan int), make([]error, hands)
	var workers sync.WaitGroup
	for w := range hands {
		workers.Go(func() {
			for i := range next {
				for _, o := range objectsOf(i, systems[i]) {
					errs[w] = errors.Join(errs[w], h.kube.Create(ctx, o))
				}
			}
		})
	}
	for i := range systems {
		next <- i
	}
	close(next)
	workers.Wait()
	return errors.Join(errs...)
}

func name(i int) string { return fmt.Sprintf("host-%05d", i) }

// objectsOf are a host and what it needs.
func objectsOf(i int, system string) []client.Object {
	return []client.Object{
		&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name(i) + "-bmc"},
			Data:       map[string][]byte{"username": []byte(username), "password": []byte(password)},
		},
		&metal3.BareMetalHost{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name(i)},
			Spec: metal3.BareMetalHostSpec{
				Online: true, BootMACAddress: fmt.Sprintf("52:54:01:%02x:%02x:%02x", i>>16&0xff, i>>8&0xff, i&0xff),
				BMC: metal3.BMCDetails{Address: "redfish-virtualmedia+" + system, CredentialsName: name(i) + "-bmc"},
			},
		},
	}
}

// count is how many hosts are available and on, and how many BMCs were probed; and what
// is wrong with a host, if anything.
func (h *hosts) count() (available, probed int, fault string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, o := range h.hosts {
		if o.Status.Provisioning.State == metal3.StateAvailable && o.Status.PoweredOn {
			available++
		}
		if o.Status.ErrorMessage != "" {
			fault = "; " + o.Metadata.Name + ": " + o.Status.ErrorMessage
		}
	}
	for _, o := range h.bmcs {
		if o.Status.Report != nil {
			probed++
		}
	}
	return available, probed, fault
}

// until waits until there are so many that are available and that were probed. It
// returns how long each took.
func (h *hosts) until(ctx context.Context, limit time.Duration, available, probed int) (allAvailable, allProbed time.Duration, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not all hosts are available and probed within %s", limit))
	defer cancel()
	begin := time.Now()
	tick := time.NewTicker(talk)
	defer tick.Stop()
	for {
		a, p, fault := h.count()
		if a >= available && allAvailable == 0 {
			allAvailable = time.Since(begin)
		}
		if p >= probed && allProbed == 0 {
			allProbed = time.Since(begin)
		}
		if allAvailable != 0 && allProbed != 0 {
			return allAvailable, allProbed, nil
		}
		select {
		case <-h.moved:
		case <-tick.C:
			say("%d hosts are available, %d BMCs were probed%s", a, p, fault)
		case <-ctx.Done():
			return 0, 0, fmt.Errorf("%w: %d and %d are%s", context.Cause(ctx), a, p, fault)
		}
	}
}

// mostRequests is what the largest report of all took.
func (h *hosts) mostRequests() (most int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, o := range h.bmcs {
		if o.Status.Report != nil {
			most = max(most, o.Status.Report.Requests)
		}
	}
	return most
}

// subscribed is how many BMCs push their events.
func (h *hosts) subscribed() (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, o := range h.bmcs {
		if o.has(v1alpha1.Subscribed) {
			n++
		}
	}
	return n
}

// node is the UUID of a host's node in Ironic.
func (h *hosts) node(i int) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.hosts[name(i)].Status.Provisioning.ID
}

// pause waits for a time, or until the context ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "bench bmc: "+format+"\n", args...)
}

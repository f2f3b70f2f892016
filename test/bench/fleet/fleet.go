package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// namespace holds the fleet.
	namespace = "fleet"
	// hands is how many requests the bench makes at once.
	hands = 8
	// talk is the pause between two lines of progress.
	talk = 5 * time.Second
)

// fleet is the user: it makes hosts, changes them and watches what becomes of them.
type fleet struct {
	options
	kube     client.Client
	web      *http.Client // to the API server
	hostsURL string
	start    time.Time
	mu       sync.Mutex
	states   map[string]state // by host
	moved    chan struct{}    // capacity 1
}

// newFleet prepares an empty fleet and starts to watch it.
func newFleet(ctx context.Context, s *surroundings, o options) (*fleet, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), metal3.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	config := s.lab.ControlPlane.Config()
	kube, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, err
	}
	web, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	f := &fleet{
		options: o, kube: kube, web: web, hostsURL: hostsURL(config), start: time.Now(), states: map[string]state{}, moved: make(chan struct{}, 1),
	}
	if err := kube.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		return nil, err
	}
	go func() {
		for ctx.Err() == nil {
			if err := f.follow(ctx); err != nil && ctx.Err() == nil {
				f.say("the hosts cannot be watched: %v", err)
				pause(ctx, time.Second)
			}
		}
	}()
	return f, nil
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

// create makes the hosts with their Secrets and waits until they can be used.
func (f *fleet) create(ctx context.Context) error {
	making := make(chan error, 1)
	go func() {
		making <- f.each(func(i int) error {
			if err := f.kube.Create(ctx, secret(i)); err != nil {
				return err
			}
			return f.kube.Create(ctx, host(i))
		})
	}()
	return errors.Join(f.until(ctx, stageAvailable, f.Hosts, func(s state) bool { return s.phase == metal3.StateAvailable && s.on }), <-making)
}

// provision asks for an image on every host and waits until it is there.
func (f *fleet) provision(ctx context.Context) error {
	const wish = `{"spec":{"image":{"url":"http://images.example/system.qcow2","checksum":"http://images.example/system.qcow2.sha256sum"}}}`
	asking := make(chan error, 1)
	go func() {
		asking <- f.each(func(i int) error {
			// As metadata, so that the answer is short.
			h := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name(i)}}
			h.SetGroupVersionKind(metal3.GroupVersion.WithKind("BareMetalHost"))
			return f.kube.Patch(ctx, h, client.RawPatch(types.MergePatchType, []byte(wish)))
		})
	}()
	return errors.Join(f.until(ctx, stageProvisioned, f.Hosts, func(s state) bool { return s.phase == metal3.StateProvisioned }), <-asking)
}

// rest leaves the fleet alone.
func (f *fleet) rest(ctx context.Context) error {
	f.say("%d hosts rest for %s", f.Hosts, f.options.rest)
	timer := time.NewTimer(f.options.rest)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// remove deletes the hosts and waits until they are gone.
func (f *fleet) remove(ctx context.Context) error {
	deleting := make(chan error, 1)
	go func() {
		deleting <- f.each(func(i int) error {
			return f.kube.Delete(ctx, &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name(i)}})
		})
	}()
	return errors.Join(f.until(ctx, stageDeleted, 0, nil), <-deleting)
}

// each does something for every host, several at once.
func (f *fleet) each(do func(i int) error) error {
	next := make(chan int)
	errs := make([]error, hands)
	var workers sync.WaitGroup
	for w := range hands {
		workers.Go(func() {
			for i := range next {
				errs[w] = errors.Join(errs[w], do(i))
			}
		})
	}
	for i := range f.Hosts {
		next <- i
	}
	close(next)
	workers.Wait()
	return errors.Join(errs...)
}

// until waits until as many hosts are as wanted, or, without a wish, until none
// is left.
func (f *fleet) until(ctx context.Context, what string, wanted int, is func(state) bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, f.Limit, fmt.Errorf("not all hosts are %s within %s", what, f.Limit))
	defer cancel()
	tick := time.NewTicker(talk)
	defer tick.Stop()
	for {
		done, all, text := f.count(is)
		if is == nil && all == 0 || is != nil && done == wanted {
			f.say("all hosts are %s", what)
			return nil
		}
		select {
		case <-f.moved:
		case <-tick.C:
			f.say("%s", text)
		case <-ctx.Done():
			return fmt.Errorf("%w; they are: %s", context.Cause(ctx), text)
		}
	}
}

// count counts the hosts that are as wanted, and describes all.
func (f *fleet) count(is func(state) bool) (done, all int, text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	phases, fault := map[string]int{}, ""
	for _, s := range f.states {
		if is != nil && is(s) {
			done++
		}
		phase := string(s.phase)
		if phase == "" {
			phase = "new"
		}
		phases[phase]++
		if s.fault != "" {
			phases["with an error"]++
			fault = "; such as: " + s.fault
		}
	}
	var parts []string
	for phase, n := range phases {
		parts = append(parts, fmt.Sprintf("%d %s", n, phase))
	}
	slices.Sort(parts)
	return done, len(f.states), strings.Join(parts, ", ") + fault
}

func (f *fleet) say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%5.0f s  %s\n", time.Since(f.start).Seconds(), fmt.Sprintf(format, args...))
}

func name(i int) string { return fmt.Sprintf("host-%05d", i) }

func secret(i int) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name(i) + "-bmc"},
		Data:       map[string][]byte{"username": []byte("admin"), "password": fmt.Appendf(nil, "password-%d", i)},
	}
}

func host(i int) *metal3.BareMetalHost {
	return &metal3.BareMetalHost{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name(i)},
		Spec: metal3.BareMetalHostSpec{
			Online: true, BootMACAddress: fmt.Sprintf("52:54:01:%02x:%02x:%02x", i>>16&0xff, i>>8&0xff, i&0xff),
			BMC: metal3.BMCDetails{
				Address:         fmt.Sprintf("redfish-virtualmedia://192.0.2.1/redfish/v1/Systems/%d", i),
				CredentialsName: name(i) + "-bmc",
			},
		},
	}
}

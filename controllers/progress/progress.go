// Package progress joins what others know about a host at work: the hub (stages
// of the installation, as the host's agent reports them) and the image server
// (how far the BMC has read the live image).
//
// [Source] answers the host controller from memory and tells which host has
// news. It writes nothing but an event about a BMC that stops reading.
package progress

import (
	"context"
	"strings"
	"time"

	"github.com/go-logr/logr"
	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/controllers/hubid"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/imagecustomization/images"
)

// Hub is the part of the hub that is used here; *service.Hub implements it.
type Hub interface {
	View(ctx context.Context, key store.HostKey) (service.HostView, wire.Host, error)
	HostByMAC(ctx context.Context, infraEnvID, mac string, images ...string) (service.HostView, bool, error)
	Subscribe() (<-chan service.Event, func())
}

// Images is the part of the image store that is used here; *images.Store implements it.
type Images interface {
	Progress(key string) (images.ReadProgress, bool)
	Watch(ctx context.Context) <-chan images.Event
}

// Source knows how far hosts are. Make one with New and run it.
type Source struct {
	hub    Hub
	images Images
	client client.Reader
	log    logr.Logger
	// Changed delivers the hosts that have news.
	Changed chan types.NamespacedName
	// Events takes events about hosts; the zero value drops them. It must be set before Start.
	Events reconcile.Recorder

	views *views
}

// New returns a source. The client must read from a cache.
func New(hub Hub, images Images, c client.Reader, log logr.Logger) *Source {
	return &Source{hub: hub, images: images, client: c, log: log, Changed: make(chan types.NamespacedName), views: newViews()}
}

// Start implements manager.Runnable: it follows the hub and the image server.
func (s *Source) Start(ctx context.Context) error {
	events, cancel := s.hub.Subscribe()
	defer cancel()
	s.views.follow()
	reads := s.images.Watch(ctx)
	for {
		select {
		case <-ctx.Done():
			return nil
		case e := <-events:
			switch {
			case e.What == service.ChangedAll:
				for _, h := range s.views.forgetAll() {
					s.tell(ctx, h)
				}
			case e.HostID != "":
				s.fromHub(ctx, e)
			}
		case e, ok := <-reads:
			if !ok {
				return nil
			}
			if namespace, name, ok := strings.Cut(e.Key, "/"); ok {
				s.fromImages(ctx, types.NamespacedName{Namespace: namespace, Name: name}, e)
			}
		}
	}
}

// fromImages takes the news of one image and wakes its BareMetalHost.
func (s *Source) fromImages(ctx context.Context, key types.NamespacedName, e images.Event) {
	tellStall(ctx, s.client, s.Events, key, e)
	s.tell(ctx, key)
}

// fromHub takes the news of one registered host and wakes its BareMetalHost.
func (s *Source) fromHub(ctx context.Context, e service.Event) {
	key := store.HostKey{InfraEnvID: e.InfraEnvID, HostID: e.HostID}
	view, record, err := s.hub.View(ctx, key)
	var concerned []types.NamespacedName
	switch {
	case service.IsNotFound(err):
		concerned = s.views.forget(key)
	case err != nil:
		s.log.Error(err, "cannot read a host of the hub", "host", e.HostID)
		concerned = s.views.forget(key) // who asks next asks the hub
	default:
		concerned = s.views.update(key, view, macsOf(&record))
	}
	for _, h := range concerned {
		s.tell(ctx, h)
	}
}

func (s *Source) tell(ctx context.Context, key types.NamespacedName) {
	select {
	case s.Changed <- key:
	case <-ctx.Done():
	}
}

// HostProgress implements observe.Progress. It answers from memory; the hub
// is asked once for an address that nothing is remembered of.
func (s *Source) HostProgress(key types.NamespacedName) (policy.Progress, bool) {
	h := &metal3v1.BareMetalHost{}
	if err := s.client.Get(context.Background(), key, h); err != nil {
		return policy.Progress{}, false
	}
	if at, ok := s.address(h); ok {
		if view, ok := s.view(at, key); ok {
			return fromView(view), true
		}
	}
	read, ok := s.images.Progress(key.String())
	if !ok || !reading(read) {
		return policy.Progress{}, false
	}
	return policy.Progress{Stage: "BMC reads the live image", Percent: int(read.Percent), Reading: true}, true
}

// Leave implements observe.Progress.
func (s *Source) Leave(key types.NamespacedName) { s.views.leave(key) }

// readingFor is how long after its last range a BMC still counts as reading.
const readingFor = time.Minute

// reading tells whether a BMC is at work on the image. One that has what it needs
// stops in the middle: from then on, others say what the host does.
func reading(p images.ReadProgress) bool {
	return p.Bytes > 0 && p.Bytes < p.Size && (p.Readers > 0 || time.Since(p.LastRead) < readingFor)
}

// address is where the hub knows the host's machine: in the infra-env that the
// host's label names. What machines of others say about themselves is not about it.
func (s *Source) address(h *metal3v1.BareMetalHost) (address, bool) {
	mac, name := strings.ToLower(h.Spec.BootMACAddress), h.Labels[names.InfraEnvLabel]
	if mac == "" || name == "" {
		return address{}, false
	}
	env := &agentv1.InfraEnv{}
	if err := s.client.Get(context.Background(), types.NamespacedName{Namespace: h.Namespace, Name: name}, env); err != nil {
		if client.IgnoreNotFound(err) != nil {
			s.log.Error(err, "cannot read the InfraEnv of a host", "infraEnv", name)
		}
		return address{}, false
	}
	return address{infraEnv: hubid.InfraEnv(env), mac: mac}, true
}

// view returns what is remembered of the address, or asks the hub.
func (s *Source) view(at address, asker types.NamespacedName) (service.HostView, bool) {
	view, found, ask, news := s.views.get(at, asker)
	if !ask {
		return view, found
	}
	view, found, err := s.hub.HostByMAC(context.Background(), at.infraEnv, at.mac, asker.String()) // which names its image as long as it has no address
	if err != nil {
		s.log.Error(err, "cannot ask the hub for a host", "mac", at.mac)
		return service.HostView{}, false
	}
	if view.Shared { // any machine of the infra-env can say that it has the address; the host's own has booted its own image
		view, found = service.HostView{}, false
	}
	s.views.put(at, view, found, news)
	return view, found
}

// fromView turns the hub's view into the host controller's.
func fromView(v service.HostView) policy.Progress {
	p := policy.Progress{Stage: string(v.Stage), Percent: v.Percent, Text: v.StageInfo, WaitingFor: v.Waiting, CutOff: v.CutOff}
	if p.Stage == "" {
		p.Stage = v.Status
	}
	if v.Failed || v.Cancelled {
		p.Failure, p.FailedAt = v.Reason, v.StatusSince
		if p.Failure == "" {
			p.Failure = v.Info
		}
	}
	return p
}

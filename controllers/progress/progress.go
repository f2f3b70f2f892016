// Package progress joins what others know about a host at work: the hub (stages
// of the installation, as the host's agent reports them) and the image server
// (how far the BMC has read the live image).
//
// [Source] answers the host controller from memory and tells which host has
// news. It writes nothing.
package progress

import (
	"context"
	"strings"
	"sync"

	"github.com/go-logr/logr"
	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/controllers/host"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/imagecustomization/images"
)

// Hub is the part of the hub that is used here; *service.Hub implements it.
type Hub interface {
	View(ctx context.Context, key store.HostKey) (service.HostView, wire.Host, error)
	HostByMAC(ctx context.Context, mac string) (service.HostView, bool, error)
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

	mu    sync.Mutex
	views map[string]service.HostView // by boot MAC address, lower case
}

// New returns a source. The client must read from a cache.
func New(hub Hub, images Images, c client.Reader, log logr.Logger) *Source {
	return &Source{hub: hub, images: images, client: c, log: log, Changed: make(chan types.NamespacedName), views: map[string]service.HostView{}}
}

// Start implements manager.Runnable: it follows the hub and the image server.
func (s *Source) Start(ctx context.Context) error {
	events, cancel := s.hub.Subscribe()
	defer cancel()
	reads := s.images.Watch(ctx)
	for {
		select {
		case <-ctx.Done():
			return nil
		case e := <-events:
			if e.HostID != "" {
				s.fromHub(ctx, e)
			}
		case e, ok := <-reads:
			if !ok {
				return nil
			}
			if namespace, name, ok := strings.Cut(e.Key, "/"); ok {
				s.tell(ctx, types.NamespacedName{Namespace: namespace, Name: name})
			}
		}
	}
}

// fromHub takes the news of one registered host.
func (s *Source) fromHub(ctx context.Context, e service.Event) {
	view, record, err := s.hub.View(ctx, store.HostKey{InfraEnvID: e.InfraEnvID, HostID: e.HostID})
	if err != nil && !service.IsNotFound(err) {
		s.log.Error(err, "cannot read a host of the hub", "host", e.HostID)
		return
	}
	hosts, err := s.hostsOf(ctx, e, view, &record)
	if err != nil {
		s.log.Error(err, "cannot find the BareMetalHost of a host", "host", e.HostID)
		return
	}
	for _, h := range hosts {
		s.tell(ctx, h)
	}
}

// hostsOf remembers the view under the boot MAC address of each BareMetalHost
// that it belongs to, and returns them. A host that is gone is forgotten.
func (s *Source) hostsOf(ctx context.Context, e service.Event, view service.HostView, record *wire.Host) ([]types.NamespacedName, error) {
	var list metal3v1.BareMetalHostList
	if err := s.client.List(ctx, &list); err != nil {
		return nil, err
	}
	macs := macsOf(record)
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []types.NamespacedName
	for i := range list.Items {
		mac := strings.ToLower(list.Items[i].Spec.BootMACAddress)
		known, ours := s.views[mac]
		switch {
		case mac == "":
			continue
		case e.What == service.ChangedDeleted:
			if !ours || known.Key.HostID != e.HostID {
				continue
			}
			delete(s.views, mac)
		case !macs[mac]:
			continue
		default:
			s.views[mac] = view
		}
		found = append(found, client.ObjectKeyFromObject(&list.Items[i]))
	}
	return found, nil
}

func (s *Source) tell(ctx context.Context, key types.NamespacedName) {
	select {
	case s.Changed <- key:
	case <-ctx.Done():
	}
}

// HostProgress implements host.ProgressSource.
func (s *Source) HostProgress(key types.NamespacedName) (host.Progress, bool) {
	h := &metal3v1.BareMetalHost{}
	if err := s.client.Get(context.Background(), key, h); err != nil {
		return host.Progress{}, false
	}
	if view, ok := s.view(strings.ToLower(h.Spec.BootMACAddress)); ok {
		return fromView(view), true
	}
	read, ok := s.images.Progress(key.String())
	if !ok || read.Bytes == 0 || read.Bytes >= read.Size {
		return host.Progress{}, false
	}
	return host.Progress{Stage: "BMC reads the live image", Percent: int(read.Percent)}, true
}

// view returns what is remembered, or asks the hub once after a restart.
func (s *Source) view(mac string) (service.HostView, bool) {
	if mac == "" {
		return service.HostView{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if v, ok := s.views[mac]; ok {
		return v, true
	}
	v, ok, err := s.hub.HostByMAC(context.Background(), mac)
	if err != nil || !ok {
		return service.HostView{}, false
	}
	s.views[mac] = v
	return v, true
}

// fromView turns the hub's view into the host controller's.
func fromView(v service.HostView) host.Progress {
	p := host.Progress{Stage: string(v.Stage), Percent: v.Percent, Text: v.StageInfo, WaitingFor: v.Waiting}
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

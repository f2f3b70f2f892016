package main

import (
	"context"
	"errors"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/api/config/topics"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/claim"
	"github.com/ironflow/ironflow/controllers/firmware"
	"github.com/ironflow/ironflow/controllers/host"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/media"
	"github.com/ironflow/ironflow/controllers/progress"
	"github.com/ironflow/ironflow/controllers/subscription"
	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/ironic/configured"
)

// hostPart is the controllers of BareMetalHosts and of the kinds around them, with the way to Ironic.
type hostPart struct {
	*program

	// alone is without an image server of ours: live images come from elsewhere.
	alone bool
	// byArch are the live images of single architectures, which Check reads.
	byArch map[string]nodespec.LiveImageURLs
}

// Name implements part.
func (*hostPart) Name() string { return "controllers" }

// Flags implements part.
func (h *hostPart) Flags() []settings.Group {
	s := &h.settings
	groups := []settings.Group{topics.Hosts(&s.Hosts), topics.Ironic(&s.Ironic)}
	if h.alone {
		groups = append(groups, topics.DeployImages(&s.DeployImages))
	}
	return groups
}

// Check implements part.
func (h *hostPart) Check() error {
	s := &h.settings
	if !h.alone {
		return errors.Join(configured.Check(s.Ironic), h.checkHosts())
	}
	return errors.Join(h.readLiveImages(), h.checkHosts(), configured.Check(s.Ironic), s.checkPublished())
}

// Setup implements part: the host controller, and those of the kinds that go with a host.
func (h *hostPart) Setup(ctx context.Context) error {
	if err := h.makeIronics(ctx); err != nil {
		return err
	}
	o := host.Options{Settings: h.decisions()}
	if h.hub != nil && h.images != nil {
		source := progress.New(h.hub.core, h.images.Store, h.manager.GetClient(), h.log.WithName("progress"))
		source.Events = imageEvents(h.manager)
		o.Progress, o.ProgressChanged, o.Reads = source, source.Changed, h.images
		if err := h.manager.Add(source); err != nil {
			return err
		}
	}
	gate, err := h.makeKinds()
	if err != nil {
		return err
	}
	keeper, err := firmware.Setup(h.manager, firmware.Options{Gateway: ironic.FirmwareReader{Endpoints: h.ironics}})
	if err != nil {
		return err
	}
	o.Ironics, o.Limits, o.Media, o.Firmware = h.ironics, h.limits(), gate, keeper
	o.Metrics, o.HostSeries, o.Concurrency = metrics.Registry, h.settings.Hosts.MetricSeries, h.settings.Hosts.Concurrency
	if h.bmcs.preflights != nil {
		o.Preflights = h.bmcs.preflights
	}
	if h.bmcs.dispatcher != nil {
		o.Events = h.bmcs.dispatcher
	}
	return host.Setup(h.manager, o)
}

// makeKinds registers the controllers of the kinds around a host, and returns
// the gate at which the host controller asks for data images.
func (h *hostPart) makeKinds() (*media.Gate, error) {
	gate := media.NewGate(h.manager.GetClient())
	err := errors.Join(
		media.Setup(h.manager, func(host *metal3.BareMetalHost) (media.Gateway, error) { return h.ironicOf(host) }, gate),
		subscription.Setup(h.manager, func(host *metal3.BareMetalHost) (subscription.Gateway, error) { return h.ironicOf(host) }),
	)
	if h.settings.Hosts.HostClaims {
		err = errors.Join(err, claim.Setup(h.manager))
	}
	return gate, err
}

// makeIronics builds the gateways and their watches, which the manager runs.
func (p *hostPart) makeIronics(ctx context.Context) error {
	configs, err := configured.All(p.settings.Ironic)
	if err != nil {
		return err
	}
	p.ironics = ironic.NewEndpoints()
	for _, c := range configs {
		c.Registerer = metrics.Registry
		gateway, err := ironic.New(ctx, c)
		if err != nil {
			return err
		}
		log := p.log.WithName("node-watch").WithValues("ironic", gateway.Name())
		if _, err := p.ironics.Add(gateway, ironic.WatchOptions{Log: log, HeartbeatTimeout: p.settings.Ironic.HeartbeatTimeout.Duration}); err != nil {
			return err
		}
	}
	return p.manager.Add(manager.RunnableFunc(p.ironics.Run))
}

// ironicOf finds the Ironic that a host was assigned to.
func (p *program) ironicOf(h *metal3.BareMetalHost) (*ironic.Gateway, error) {
	e, err := p.ironics.Get(h.Annotations[names.Ironic])
	if errors.Is(err, ironic.ErrUnknownEndpoint) && h.Annotations[names.Ironic] == "" {
		e, err = p.ironics.OfNode(h.Status.Provisioning.ID)
	}
	if err != nil {
		return nil, err
	}
	return e.Gateway, nil
}

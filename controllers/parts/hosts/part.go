// Package hosts is the part of the program that works on BareMetalHosts and the kinds around them, and
// has the way to Ironic. Its type is Part.
package hosts

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
	"github.com/ironflow/ironflow/controllers/parts"
	"github.com/ironflow/ironflow/controllers/parts/bmcs"
	"github.com/ironflow/ironflow/controllers/parts/hub"
	"github.com/ironflow/ironflow/controllers/parts/images"
	"github.com/ironflow/ironflow/controllers/progress"
	"github.com/ironflow/ironflow/controllers/selfcheck"
	"github.com/ironflow/ironflow/controllers/subscription"
	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/ironic/configured"
)

// Part is the controllers of BareMetalHosts and of the kinds around them, with the way to Ironic.
type Part struct {
	*parts.Program

	// Alone is without an image server of ours: live images come from elsewhere.
	Alone bool
	// Hub and Images tell how far installations are; both nil for a process without them.
	Hub    *hub.Part
	Images *images.Part
	// BMCs tells what is heard of BMCs; nil for a process without them.
	BMCs *bmcs.Part

	ironics *ironic.Endpoints
	// byArch are the live images of single architectures, which Check reads.
	byArch map[string]nodespec.LiveImageURLs
}

// Name implements parts.Part.
func (*Part) Name() string { return "controllers" }

// Needs implements parts.Part.
func (*Part) Needs() parts.Needs { return parts.Needs{Handover: true} }

// Flags implements parts.Part.
func (p *Part) Flags() []settings.Group {
	s := &p.Settings
	groups := []settings.Group{topics.Hosts(&s.Hosts), topics.Ironic(&s.Ironic)}
	if p.Alone {
		groups = append(groups, topics.DeployImages(&s.DeployImages))
	}
	return groups
}

// Check implements parts.Part.
func (p *Part) Check() error {
	s := &p.Settings
	if !p.Alone {
		return errors.Join(configured.Check(s.Ironic), p.checkHosts())
	}
	return errors.Join(p.readLiveImages(), p.checkHosts(), configured.Check(s.Ironic), parts.CheckPublished(s))
}

// Setup implements parts.Part: the host controller, and those of the kinds that go with a host.
func (p *Part) Setup(ctx context.Context) error {
	if err := p.makeIronics(ctx); err != nil {
		return err
	}
	o := host.Options{Settings: p.Decisions()}
	if p.Hub != nil && p.Images != nil {
		source := progress.New(p.Hub.Core(), p.Images.Service().Store, p.Manager.GetClient(), p.Log.WithName("progress"))
		source.Events = images.Events(p.Manager)
		o.Progress, o.ProgressChanged, o.Reads = source, source.Changed, p.Images
		if err := p.Manager.Add(source); err != nil {
			return err
		}
	}
	gate, err := p.makeKinds()
	if err != nil {
		return err
	}
	keeper, err := firmware.Setup(p.Manager, firmware.Options{Gateway: ironic.FirmwareReader{Endpoints: p.ironics}})
	if err != nil {
		return err
	}
	o.Ironics, o.Limits, o.Media, o.Firmware = p.ironics, p.limits(), gate, keeper
	o.Metrics, o.HostSeries, o.Concurrency = metrics.Registry, p.Settings.Hosts.MetricSeries, p.Settings.Hosts.Concurrency
	if p.BMCs != nil && p.BMCs.Preflights != nil {
		o.Preflights = p.BMCs.Preflights
	}
	if p.BMCs != nil && p.BMCs.Dispatcher != nil {
		o.Events = p.BMCs.Dispatcher
	}
	return host.Setup(p.Manager, o)
}

// makeKinds registers the controllers of the kinds around a host, and returns
// the gate at which the host controller asks for data images.
func (p *Part) makeKinds() (*media.Gate, error) {
	gate := media.NewGate(p.Manager.GetClient())
	err := errors.Join(
		media.Setup(p.Manager, func(host *metal3.BareMetalHost) (media.Gateway, error) { return p.IronicOf(host) }, gate),
		subscription.Setup(p.Manager, func(host *metal3.BareMetalHost) (subscription.Gateway, error) { return p.IronicOf(host) }),
	)
	if p.Settings.Hosts.HostClaims {
		err = errors.Join(err, claim.Setup(p.Manager))
	}
	return gate, err
}

// makeIronics builds the gateways and their watches, which the manager runs.
func (p *Part) makeIronics(ctx context.Context) error {
	configs, err := configured.All(p.Settings.Ironic)
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
		log := p.Log.WithName("node-watch").WithValues("ironic", gateway.Name())
		if _, err := p.ironics.Add(gateway, ironic.WatchOptions{Log: log, HeartbeatTimeout: p.Settings.Ironic.HeartbeatTimeout.Duration}); err != nil {
			return err
		}
	}
	return p.Manager.Add(manager.RunnableFunc(p.ironics.Run))
}

// IronicOf finds the Ironic that a host was assigned to.
func (p *Part) IronicOf(h *metal3.BareMetalHost) (*ironic.Gateway, error) {
	e, err := p.ironics.Get(h.Annotations[names.Ironic])
	if errors.Is(err, ironic.ErrUnknownEndpoint) && h.Annotations[names.Ironic] == "" {
		e, err = p.ironics.OfNode(h.Status.Provisioning.ID)
	}
	if err != nil {
		return nil, err
	}
	return e.Gateway, nil
}

// Checks implements parts.Watchful.
func (p *Part) Checks() []selfcheck.Check {
	if p.ironics == nil {
		return nil
	}
	var list []selfcheck.Ironic
	for _, e := range p.ironics.All() {
		list = append(list, e.Gateway)
	}
	return []selfcheck.Check{selfcheck.Ironics(list)}
}

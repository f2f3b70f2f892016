package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/api/config/topics"
	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/controllers/hubimages"
	"github.com/ironflow/ironflow/controllers/link"
	"github.com/ironflow/ironflow/hub/configured"
	"github.com/ironflow/ironflow/hub/store"
	imagesconfigured "github.com/ironflow/ironflow/imagecustomization/configured"
)

// hubPart is the hub's REST API, with the controllers of its resources.
type hubPart struct{ *program }

// Name implements part.
func (*hubPart) Name() string { return "hub" }

// Flags implements part.
func (p *hubPart) Flags() []settings.Group {
	s := &p.settings
	return slices.Concat([]settings.Group{topics.Store(&s.Store)}, topics.OfHub(&s.IronflowConfiguration), settings.Only(topics.OfImages(&s.IronflowConfiguration), "images-publish-url", "live-nmstatectl"))
}

// Check implements part: what the hub cannot do without.
func (p *hubPart) Check() error {
	s := &p.settings
	return errors.Join(imagesconfigured.CheckNmstatectl(s.LiveSystem.Nmstatectl), s.checkAddresses(), s.work().Check())
}

// Setup implements part.
func (p *hubPart) Setup(ctx context.Context) error {
	if err := p.openHub(ctx, configured.OpenStore); err != nil {
		return err
	}
	p.hub.live.images = p.images
	if err := p.manager.AddReadyzCheck("hub", p.hub.door.check); err != nil {
		return err
	}
	serve := everywhere(func(ctx context.Context) error {
		return p.hub.serve(ctx, p.settings.Hub.Address, p.settings.Hub.PlainAddress)
	})
	return errors.Join(p.manager.Add(serve), p.hub.setup(p.manager), link.Setup(p.manager, p.hub.core, link.Options{Pause: p.settings.HubInstallation.PauseProvisionedHosts}))
}

// openHub opens the hub's core on the data folder.
func (p *program) openHub(ctx context.Context, open func(context.Context, v1alpha1.Store) (store.Store, error)) error {
	return p.alone(func() error {
		records, err := open(ctx, p.settings.Store)
		if err != nil {
			return fmt.Errorf("the hub's store: %w", err)
		}
		p.hub, err = newHubOver(ctx, records, p.settings, p.cert, hubimages.URLs(p.settings.Images.PublishURL, p.bases), metrics.Registry, newSlog(p.settings.Monitoring.LogLevel).With("logger", "hub"))
		return err
	})
}

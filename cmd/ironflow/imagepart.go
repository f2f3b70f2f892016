package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/api/config/topics"
	"github.com/ironflow/ironflow/controllers/image"
	"github.com/ironflow/ironflow/controllers/progress"
	"github.com/ironflow/ironflow/hub/configured"
	imagesconfigured "github.com/ironflow/ironflow/imagecustomization/configured"
	"github.com/ironflow/ironflow/imagecustomization/hubpaths"
)

// imagePart is the image server, with the controller that fills it.
type imagePart struct {
	*program

	// alone is without the hub, whose store it reads for infra-envs and tokens then; it
	// writes only why an image of an infra-env cannot be made.
	alone bool
}

// Name implements part.
func (*imagePart) Name() string { return "images" }

// Flags implements part.
func (p *imagePart) Flags() []settings.Group {
	s := &p.settings
	return slices.Concat([]settings.Group{topics.Store(&s.Store)}, settings.Only(topics.OfHub(&s.IronflowConfiguration), append([]string{"hub-publish-url"}, configured.AuthFlags...)...), topics.OfImages(&s.IronflowConfiguration))
}

// Check implements part: what live images cannot do without.
func (p *imagePart) Check() error {
	s := &p.settings
	if len(s.LiveSystem.IronicBaseURLs) == 0 {
		s.LiveSystem.IronicBaseURLs = settings.Split(s.Ironic.Endpoint)
	}
	if s.LiveSystem.IronicCAFile == "" {
		s.LiveSystem.IronicCAFile = s.Ironic.CAFile
	}
	if s.Images.BaseImage == "" && s.Images.BaseImageList == "" {
		return errors.New("no base image: set --base-image or DEPLOY_ISO to a live ISO or a folder of them, or --base-image-list to a list of URLs")
	}
	if len(s.LiveSystem.IronicBaseURLs) == 0 {
		return errors.New("no Ironic for the machines: set --ironic-base-url or IRONIC_BASE_URL to the URLs by which they reach it")
	}
	if v := s.LiveSystem.VLANInterfaces; v != "" && v != image.VLANAlways && v != image.VLANNever {
		return fmt.Errorf("--ironic-agent-vlan-interfaces %q is neither %s nor %s", v, image.VLANAlways, image.VLANNever)
	}
	return errors.Join(imagesconfigured.CheckNmstatectl(s.LiveSystem.Nmstatectl), s.checkAddresses())
}

// Setup implements part.
func (p *imagePart) Setup(ctx context.Context) error {
	if p.alone {
		if err := p.openHub(ctx, configured.OpenStoreBeside); err != nil {
			return err
		}
	}
	var err error
	if p.images, err = newImages(ctx, p.settings, p.cert, metrics.Registry, p.log.WithName("images")); err != nil {
		return err
	}
	p.images.hosts = p.manager.GetClient()
	p.images.Resolver = hubpaths.New(p.envImages(), p.images.Store)
	if p.alone {
		stalls := &progress.Stalls{Images: p.images.Store, Client: p.manager.GetClient(), Events: imageEvents(p.manager)}
		closing := everywhere(func(ctx context.Context) error {
			<-ctx.Done()
			return errors.Join(p.hub.store.Close(), p.hub.files.Close())
		})
		if err := errors.Join(p.manager.Add(stalls), p.manager.Add(closing)); err != nil {
			return err
		}
	}
	return errors.Join(p.serve(), p.makeImages())
}

// serve has the manager run the image server.
func (p *imagePart) serve() error {
	p.images.Leads = func() bool {
		select {
		case <-p.manager.Elected():
			return true
		default:
			return false
		}
	}
	if err := errors.Join(p.manager.AddReadyzCheck("images", p.images.door.check), p.manager.AddReadyzCheck("base-images", p.hasBase())); err != nil {
		return err
	}
	return p.manager.Add(everywhere(func(ctx context.Context) error {
		return p.images.serve(ctx, p.settings.Images.Address, p.settings.Images.TLSAddress)
	}))
}

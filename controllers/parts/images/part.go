// Package images is the part of the program that serves live images, with the controller that makes those of
// hosts. Its type is Part. How images are made and served lies in the packages below imagecustomization.
package images

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/api/config/topics"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/controllers/image"
	"github.com/ironflow/ironflow/controllers/parts"
	"github.com/ironflow/ironflow/controllers/parts/hub"
	"github.com/ironflow/ironflow/controllers/progress"
	"github.com/ironflow/ironflow/controllers/selfcheck"
	"github.com/ironflow/ironflow/hub/configured"
	imagesconfigured "github.com/ironflow/ironflow/imagecustomization/configured"
	"github.com/ironflow/ironflow/imagecustomization/hubpaths"
	"github.com/ironflow/ironflow/imagecustomization/serving"
)

// Part is the image server, with the controller that fills it.
type Part struct {
	*parts.Program

	// Hub knows infra-envs and their tokens.
	Hub *hub.Part
	// Alone is without a hub that serves: its store is read, and written to only why an
	// image of an infra-env cannot be made.
	Alone bool

	served *Server
}

// Service is the image server, once it is set up; nil before.
func (p *Part) Service() *serving.Service {
	if p.served == nil {
		return nil
	}
	return p.served.Service
}

// ImageRead implements observe.ImageReads.
func (p *Part) ImageRead(key types.NamespacedName) policy.ImageRead { return p.served.imageRead(key) }

// Name implements parts.Part.
func (*Part) Name() string { return "images" }

// Needs implements parts.Part.
func (*Part) Needs() parts.Needs { return parts.Needs{Addresses: true} }

// Flags implements parts.Part.
func (p *Part) Flags() []settings.Group {
	s := &p.Settings
	return slices.Concat([]settings.Group{topics.Store(&s.Store)}, settings.Only(topics.OfHub(s), append([]string{"hub-publish-url"}, configured.AuthFlags...)...), topics.OfImages(s))
}

// Check implements parts.Part: what live images cannot do without.
func (p *Part) Check() error {
	s := &p.Settings
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
	return errors.Join(imagesconfigured.CheckNmstatectl(s.LiveSystem.Nmstatectl), parts.CheckAddresses(s))
}

// Setup implements parts.Part.
func (p *Part) Setup(ctx context.Context) error {
	if p.Alone {
		if err := p.Hub.Open(ctx, configured.OpenStoreBeside); err != nil {
			return err
		}
	}
	var err error
	if p.served, err = New(ctx, &p.Settings, p.Cert, metrics.Registry, p.Log.WithName("images")); err != nil {
		return err
	}
	p.served.hosts = p.Manager.GetClient()
	p.served.Resolver = hubpaths.New(p.Hub.EnvImages(), p.served.Store)
	if p.Alone {
		stalls := &progress.Stalls{Images: p.served.Store, Client: p.Manager.GetClient(), Events: Events(p.Manager)}
		closing := parts.Everywhere(func(ctx context.Context) error {
			<-ctx.Done()
			return p.Hub.Close()
		})
		if err := errors.Join(p.Manager.Add(stalls), p.Manager.Add(closing)); err != nil {
			return err
		}
	}
	return errors.Join(p.serve(), p.makeImages())
}

// serve has the manager run the image server.
func (p *Part) serve() error {
	p.served.Leads = func() bool {
		select {
		case <-p.Manager.Elected():
			return true
		default:
			return false
		}
	}
	if err := errors.Join(p.Manager.AddReadyzCheck("images", p.served.door.Check), p.Manager.AddReadyzCheck("base-images", p.hasBase())); err != nil {
		return err
	}
	return p.Manager.Add(parts.Everywhere(func(ctx context.Context) error {
		return p.served.serve(ctx, p.Settings.Images.Address, p.Settings.Images.TLSAddress)
	}))
}

// Checks implements parts.Watchful.
func (p *Part) Checks() []selfcheck.Check {
	if p.served == nil {
		return nil
	}
	return []selfcheck.Check{selfcheck.Media(p.lookAtMedia), selfcheck.AgentImage(AgentImages(&p.Settings), nil)}
}

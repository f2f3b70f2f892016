package hub

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/api/config/topics"
	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/controllers/agentlabels"
	"github.com/ironflow/ironflow/controllers/agents"
	"github.com/ironflow/ironflow/controllers/cluster"
	"github.com/ironflow/ironflow/controllers/hubimages"
	"github.com/ironflow/ironflow/controllers/infraenv"
	"github.com/ironflow/ironflow/controllers/link"
	"github.com/ironflow/ironflow/controllers/parts"
	"github.com/ironflow/ironflow/hub/configured"
	"github.com/ironflow/ironflow/hub/pki"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	imagesconfigured "github.com/ironflow/ironflow/imagecustomization/configured"
	"github.com/ironflow/ironflow/imagecustomization/media"
	"github.com/ironflow/ironflow/imagecustomization/network"
	"github.com/ironflow/ironflow/imagecustomization/serving"
)

// Part is the hub's REST API, with the controllers of its resources.
type Part struct {
	*parts.Program

	// Images are those that the same process serves; nil, or none, where another one does.
	Images func() *serving.Service

	server *Server
}

// Name implements parts.Part.
func (*Part) Name() string { return "hub" }

// Needs implements parts.Part.
func (*Part) Needs() parts.Needs { return parts.Needs{Addresses: true} }

// Flags implements parts.Part.
func (p *Part) Flags() []settings.Group {
	s := &p.Settings
	return slices.Concat([]settings.Group{topics.Store(&s.Store)}, topics.OfHub(s), settings.Only(topics.OfImages(s), "images-publish-url", "live-nmstatectl"))
}

// Check implements parts.Part: what the hub cannot do without.
func (p *Part) Check() error {
	s := &p.Settings
	return errors.Join(imagesconfigured.CheckNmstatectl(s.LiveSystem.Nmstatectl), parts.CheckAddresses(s), NodeZero{}.Work(s).Check())
}

// Setup implements parts.Part.
func (p *Part) Setup(ctx context.Context) error {
	if err := p.Open(ctx, configured.OpenStore); err != nil {
		return err
	}
	if err := p.Manager.AddReadyzCheck("hub", p.server.door.Check); err != nil {
		return err
	}
	serve := parts.Everywhere(func(ctx context.Context) error {
		return p.server.Serve(ctx, p.Settings.Hub.Address, p.Settings.Hub.PlainAddress)
	})
	return errors.Join(p.Manager.Add(serve), p.controllers(), link.Setup(p.Manager, p.Core(), link.Options{Pause: p.Settings.HubInstallation.PauseProvisionedHosts}))
}

// controllers registers those of the hub's resources.
func (p *Part) controllers() error {
	core, url := p.Core(), p.Settings.Hub.PublishURL
	core.AskMemory(agents.Memory{Client: p.Manager.GetClient()})
	var bases <-chan struct{} // those of another process change unheard
	if served := p.images(); served != nil {
		bases = served.ChangedForEnvs
	}
	return errors.Join(
		infraenv.Setup(p.Manager, core, url, Live(&p.Settings, p.Bases), bases),
		cluster.Setup(p.Manager, core, p.server.lookup, url),
		agents.Setup(p.Manager, core, link.Behind(p.Manager.GetClient())),
		agentlabels.Setup(p.Manager),
	)
}

// Open opens the hub's core on the data folder.
func (p *Part) Open(ctx context.Context, open func(context.Context, v1alpha1.Store) (store.Store, error)) error {
	return p.Exclusively(func() error {
		records, err := open(ctx, p.Settings.Store)
		if err != nil {
			return fmt.Errorf("the hub's store: %w", err)
		}
		p.server, err = over(ctx, records, Options{
			Settings: p.Settings, Cert: p.Cert, Bases: p.Bases, ImageURLs: hubimages.URLs(p.Settings.Images.PublishURL, p.Bases),
			Metrics: metrics.Registry, Log: parts.NewSlog(p.Settings.Monitoring.LogLevel).With("logger", "hub"),
		})
		return err
	})
}

// Close closes what Open has opened, for who does not serve it.
func (p *Part) Close() error { return p.server.Close() }

// Core is the hub itself, once it is open.
func (p *Part) Core() *service.Hub { return p.server.Core }

// EnvImages are the images of infra-envs.
func (p *Part) EnvImages() hubimages.Images {
	return Images(&p.Settings, p.Cert, p.Core, p.Bases, p.Log)
}

// Bases are the base images that this process serves; nil for none.
func (p *Part) Bases() *media.Registry {
	if served := p.images(); served != nil {
		return served.Media
	}
	return nil
}

func (p *Part) images() *serving.Service {
	if p.Images == nil {
		return nil
	}
	return p.Images()
}

// Images are the images of infra-envs that a hub knows.
func Images(s *v1alpha1.IronflowConfiguration, cert pki.Files, core func() *service.Hub, bases func() *media.Registry, log logr.Logger) hubimages.Images {
	return hubimages.Images{
		Hub: core, Unauthenticated: s.Hub.Auth == configured.AuthNone, URL: s.Hub.PublishURL, Cert: cert,
		AgentImage: s.LiveSystem.AgentImage, Live: Live(s, bases), Log: log,
	}
}

// Live tells what is known of the live system of the base image that fits.
func Live(s *v1alpha1.IronflowConfiguration, bases func() *media.Registry) func(ctx context.Context, arch, version string) network.Live {
	return func(ctx context.Context, arch, version string) network.Live {
		var registry *media.Registry
		if bases != nil {
			registry = bases()
		}
		if registry == nil {
			return imagesconfigured.Live(s.LiveSystem.Nmstatectl, nil)
		}
		return imagesconfigured.Live(s.LiveSystem.Nmstatectl, func() (*media.Medium, error) { return registry.Select(ctx, arch, version) })
	}
}

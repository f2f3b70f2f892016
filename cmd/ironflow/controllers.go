package main

import (
	"context"

	"github.com/ironflow/ironflow/controllers/host"
	"github.com/ironflow/ironflow/controllers/link"
	"github.com/ironflow/ironflow/controllers/progress"
)

// makeControllers registers every controller with the manager.
func (p *program) makeControllers(context.Context) error {
	p.images.hosts = p.manager.GetClient()
	source := progress.New(p.hub.core, p.images.store, p.manager.GetClient(), p.log.WithName("progress"))
	source.Events = imageEvents(p.manager)
	for _, setup := range []func() error{
		func() error {
			return p.makeHosts(host.Options{
				Progress: source, ProgressChanged: source.Changed, Reads: p.images,
				Settings: p.settings.decisions(true),
			})
		},
		p.makeImages,
		func() error {
			return link.Setup(p.manager, p.hub.core, link.Options{Pause: p.settings.HubInstallation.PauseProvisionedHosts})
		},
		func() error { return p.hub.setup(p.manager) },
		func() error { return p.manager.Add(source) },
	} {
		if err := setup(); err != nil {
			return err
		}
	}
	return nil
}

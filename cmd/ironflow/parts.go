package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/api/config/topics"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/api/version"
	"github.com/ironflow/ironflow/controllers/image"
	"github.com/ironflow/ironflow/controllers/link"
	"github.com/ironflow/ironflow/controllers/progress"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/imagecustomization/hubpaths"
)

// part is one of the program's parts that can run apart from the others.
type part struct {
	// use and short are those of its command.
	use, short string
	// lease is the lease of its leader: parts beside each other must not wait for one another.
	lease string
	// flags are its settings.
	flags func(*configuration) []settings.Group
	// complete refuses settings that cannot work.
	complete func(*configuration) error
	// make builds and registers it.
	make func(*program, context.Context) error
	// records opens the hub's store for it.
	records func(context.Context, configuration) (store.Store, error)
}

// parts are those that run apart, besides the host controllers (see newControllersCommand).
var parts = []part{
	{
		use: "hub", short: "Run the hub alone: its REST API and the controllers of its resources",
		lease: names.HubLease, flags: func(s *configuration) []settings.Group {
			return slices.Concat(topics.Process(&s.IronflowConfiguration), []settings.Group{topics.Store(&s.Store)}, topics.OfHub(&s.IronflowConfiguration), settings.Only(topics.OfImages(&s.IronflowConfiguration), "images-publish-url", "live-nmstatectl"))
		},
		complete: (*configuration).completeHub, make: (*program).makeHubPart, records: openStore,
	},
	{
		use: "images", short: "Run the image server alone, with the controller that builds live images",
		lease: names.ImagesLease, flags: func(s *configuration) []settings.Group {
			return slices.Concat(topics.Process(&s.IronflowConfiguration), []settings.Group{topics.Store(&s.Store)}, settings.Only(topics.OfHub(&s.IronflowConfiguration), "hub-publish-url", "hub-auth"), topics.OfImages(&s.IronflowConfiguration))
		},
		complete: (*configuration).completeImages, make: (*program).makeImagesPart, records: openStoreBeside,
	},
}

// newPartCommands makes a command for each part.
func newPartCommands() []*cobra.Command {
	var commands []*cobra.Command
	for _, p := range parts {
		var s configuration
		command := &cobra.Command{
			Use: p.use, Short: p.short, Args: flagsOnly,
			RunE: func(cmd *cobra.Command, _ []string) error {
				if err := p.complete(&s); err != nil {
					return err
				}
				return runPart(cmd.Context(), p, s)
			},
		}
		s.addSettings(command, p.flags(&s))
		if p.use == "hub" {
			command.AddCommand(newBackupCommand(), newRestoreCommand(), newAgentBasedCommand(), newClusterTokenCommand())
		}
		commands = append(commands, command)
	}
	return commands
}

// flagsOnly refuses arguments. The tools for live images were below `ironflow images`
// once, which is the image server.
func flagsOnly(c *cobra.Command, args []string) error {
	if len(args) > 0 && c.Name() == "images" {
		return fmt.Errorf("unknown command %q of %q, which is the image server: the tools for live images are below %q", args[0], c.CommandPath(), "ironflow image")
	}
	return cobra.NoArgs(c, args)
}

// runPart wires a part and runs it until ctx ends.
func runPart(ctx context.Context, part part, s configuration) error {
	p := &program{settings: s, log: newLogger(s.Monitoring.LogLevel), lease: part.lease}
	ctrl.SetLogger(p.log)
	p.log.Info("ironflow "+part.use, "version", version.Release())
	err := p.alone(func() error {
		if err := p.publish(ctx); err != nil {
			return err
		}
		return p.openHub(ctx, part)
	})
	if err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{
		p.makeManager, func(ctx context.Context) error { return part.make(p, ctx) }, func(context.Context) error { return p.tellSurroundings(part.use, true) },
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return p.manager.Start(ctx)
}

// alone does what makes files in the data folder while no other part does: two
// that start together must not make two CAs.
func (p *program) alone(do func() error) error {
	if err := os.MkdirAll(p.settings.Store.DataDir, 0o700); err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(p.settings.Store.DataDir, ".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("lock the data folder: %w", err)
	}
	defer lock.Close() // which ends the lock
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return fmt.Errorf("lock the data folder: %w", err)
	}
	return do()
}

// openHub opens the hub's core on the data folder.
func (p *program) openHub(ctx context.Context, part part) error {
	records, err := part.records(ctx, p.settings)
	if err != nil {
		return fmt.Errorf("the hub's store: %w", err)
	}
	p.hub, err = newHubOver(ctx, records, p.settings, p.cert, p.imageURLs(), metrics.Registry, newSlog(p.settings.Monitoring.LogLevel).With("logger", "hub"))
	return err
}

// makeHubPart is the hub with its resources.
func (p *program) makeHubPart(context.Context) error {
	return errors.Join(p.serveHub(), p.hub.setup(p.manager), link.Setup(p.manager, p.hub.core, link.Options{Pause: p.settings.HubInstallation.PauseProvisionedHosts}))
}

// makeImagesPart is the image server with the controller that fills it. It reads
// the hub's store for infra-envs and tokens, and writes only why an image of an
// infra-env cannot be made.
func (p *program) makeImagesPart(ctx context.Context) error {
	var err error
	if p.images, err = newImages(ctx, p.settings, p.cert, metrics.Registry, p.log.WithName("images")); err != nil {
		return err
	}
	p.images.hosts = p.manager.GetClient()
	p.images.resolver = hubpaths.New(hubImages{p}, p.images.store)
	stalls := &progress.Stalls{Images: p.images.store, Client: p.manager.GetClient(), Events: imageEvents(p.manager)}
	closing := everywhere(func(ctx context.Context) error {
		<-ctx.Done()
		return errors.Join(p.hub.store.Close(), p.hub.files.Close())
	})
	return errors.Join(p.serveImages(), p.makeImages(), p.manager.Add(stalls), p.manager.Add(closing))
}

// completeHub checks what the hub cannot do without.
func (s *configuration) completeHub() error {
	return errors.Join(checkNmstatectl(s.LiveSystem.Nmstatectl), s.completeAddresses(), s.work().check())
}

// completeImages checks what live images cannot do without.
func (s *configuration) completeImages() error {
	if s.Images.BaseImage == "" && s.Images.BaseImageList == "" {
		return fmt.Errorf("no base image: set --base-image or DEPLOY_ISO to a live ISO or a folder of them, or --base-image-list to a list of URLs")
	}
	if len(s.LiveSystem.IronicBaseURLs) == 0 {
		return fmt.Errorf("no Ironic for the machines: set --ironic-base-url or IRONIC_BASE_URL to the URLs by which they reach it")
	}
	if v := s.LiveSystem.VLANInterfaces; v != "" && v != image.VLANAlways && v != image.VLANNever {
		return fmt.Errorf("--ironic-agent-vlan-interfaces %q is neither %s nor %s", v, image.VLANAlways, image.VLANNever)
	}
	return errors.Join(checkNmstatectl(s.LiveSystem.Nmstatectl), s.completeAddresses())
}

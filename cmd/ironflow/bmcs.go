package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/api/config/topics"
	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/images"
	"github.com/ironflow/ironflow/bmc/probe"
	"github.com/ironflow/ironflow/bmc/quirks"
	"github.com/ironflow/ironflow/bmc/quirks/site"
	"github.com/ironflow/ironflow/controllers/bmc"
	bmcmetrics "github.com/ironflow/ironflow/controllers/bmc/metrics"
	"github.com/ironflow/ironflow/controllers/bmcevents"
	"github.com/ironflow/ironflow/controllers/bmchealth"
	"github.com/ironflow/ironflow/controllers/bmcrotation"
)

// bmcPart is the controllers that ask BMCs over Redfish, where that is asked for.
type bmcPart struct {
	*program

	// hosts decide which live image a machine boots.
	hosts *hostPart
	// dataDir says that there is a data folder for what is not given.
	dataDir bool
}

// bmcParts are what the host controller hears of BMCs by; both nil for nothing.
type bmcParts struct {
	preflights *bmc.Verdicts
	dispatcher *bmcevents.Dispatcher
}

// Name implements part.
func (p *bmcPart) Name() string {
	if !p.settings.BMC.Enabled {
		return "no BMCs"
	}
	return "BMCs"
}

// Flags implements part.
func (p *bmcPart) Flags() []settings.Group {
	s := &p.settings
	return []settings.Group{topics.BMC(&s.BMC), topics.BMCEvents(&s.BMCEvents), topics.BMCCredentials(&s.BMCCredentials)}
}

// Check implements part.
func (p *bmcPart) Check() error { return checkEvents(p.settings.BMC, p.settings.BMCEvents, p.dataDir) }

// Setup implements part.
func (p *bmcPart) Setup(context.Context) error {
	b := p.settings.BMC
	if !b.Enabled {
		return nil
	}
	var ca []byte
	if b.CAFile != "" {
		var err error
		if ca, err = os.ReadFile(b.CAFile); err != nil {
			return fmt.Errorf("--bmc-ca: %w", err)
		}
	}
	table := &site.File{Path: b.QuirksFile}
	if _, err := table.Table(); err != nil {
		return fmt.Errorf("--bmc-quirks: %w", err)
	}
	counts, err := bmcmetrics.New(metrics.Registry)
	if err != nil {
		return err
	}
	if err := bmcmetrics.RegisterFleet(metrics.Registry, p.manager.GetClient()); err != nil {
		return err
	}
	asking := client.Options{Asked: counts.Requested}
	pool := client.NewPool(asking)
	options := bmc.Options{
		BMCs: bmcrotation.Guard{Pool: pool, Reader: p.manager.GetClient()}, CA: ca, Now: time.Now, Metrics: counts, LiveImage: p.hosts.decisions().LiveISO,
		Probe: func(ctx context.Context, c *client.Client, t client.Target) (*v1alpha1.BMCReport, error) {
			return probe.Probe(ctx, c, probe.Options{
				Address: t.URL, System: t.System, Username: t.Username,
				Quirks: func(id probe.Identity) []v1alpha1.AppliedQuirk { return p.quirksOf(table, id) },
			})
		},
	}
	if b.ImageSizes {
		sizes := images.NewSizeCache(images.Client(), time.Now)
		if err := p.manager.Add(sizes); err != nil {
			return err
		}
		options.Sizes = sizes
	}
	p.bmcs.preflights = &bmc.Verdicts{Client: p.manager.GetClient(), LiveImage: options.LiveImage}
	dispatcher, err := p.makeEvents(options, asking)
	if err != nil {
		return err
	}
	health := bmchealth.Options{Connect: bmc.Connect(p.manager, options), Interval: b.HealthEvery.Duration, Now: options.Now}
	if dispatcher != nil {
		p.bmcs.dispatcher, health.Events, health.WithEvents = dispatcher, dispatcher, p.settings.BMCEvents.HealthEvery.Duration
	}
	err = errors.Join(p.manager.Add(closing(pool)), bmc.Setup(p.manager, options), p.makeRotations(pool, ca))
	if b.HealthEvery.Duration > 0 {
		err = errors.Join(err, bmchealth.Setup(p.manager, health))
	}
	return err
}

// quirksOf are the rows that apply to a BMC. Rows that a site has got wrong are logged
// and not used; those of before stay.
func (p *bmcPart) quirksOf(table *site.File, id probe.Identity) []v1alpha1.AppliedQuirk {
	rows, err := table.Table()
	if err != nil {
		p.log.Error(err, "the file of --bmc-quirks is not used as it is now: correct it; the rows of before stay")
	}
	return rows.Match(quirks.Identity{Vendor: id.Vendor, Model: id.Model, Manager: id.ManagerModel, Version: id.BMCVersion})
}

// closeSessions is how long the end of the program waits for BMCs to end our sessions.
const closeSessions = 5 * time.Second

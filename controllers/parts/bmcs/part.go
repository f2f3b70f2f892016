// Package bmcs is the part of the program that asks BMCs over Redfish: what they are, how they are, what
// they tell by themselves, and new passwords and certificates. Its type is Part.
package bmcs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
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
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/controllers/parts"
	"github.com/ironflow/ironflow/ironic"
)

// Part is the controllers that ask BMCs over Redfish, where that is asked for.
type Part struct {
	*parts.Program

	Hosts Hosts
	// DataDir says that there is a data folder for what is not given.
	DataDir bool

	// Preflights and Dispatcher are what the host controller hears of BMCs by once this
	// is set up; both nil for nothing.
	Preflights *bmc.Verdicts
	Dispatcher *bmcevents.Dispatcher
}

// Hosts are the part of hosts, as far as BMCs need it.
type Hosts interface {
	// Decisions tell which live image a machine boots.
	Decisions() policy.Settings
	// IronicOf finds the Ironic that a host was assigned to.
	IronicOf(h *metal3.BareMetalHost) (*ironic.Gateway, error)
}

// Name implements parts.Part.
func (p *Part) Name() string {
	if !p.Settings.BMC.Enabled {
		return "no BMCs"
	}
	return "BMCs"
}

// Needs implements parts.Part.
func (*Part) Needs() parts.Needs { return parts.Needs{} }

// Flags implements parts.Part.
func (p *Part) Flags() []settings.Group {
	s := &p.Settings
	return []settings.Group{topics.BMC(&s.BMC), topics.BMCEvents(&s.BMCEvents), topics.BMCCredentials(&s.BMCCredentials)}
}

// Check implements parts.Part.
func (p *Part) Check() error { return checkEvents(p.Settings.BMC, p.Settings.BMCEvents, p.DataDir) }

// Setup implements parts.Part.
func (p *Part) Setup(context.Context) error {
	b := p.Settings.BMC
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
	if err := bmcmetrics.RegisterFleet(metrics.Registry, p.Manager.GetClient()); err != nil {
		return err
	}
	asking := client.Options{Asked: counts.Requested}
	pool := client.NewPool(asking)
	options := bmc.Options{
		BMCs: bmcrotation.Guard{Pool: pool, Reader: p.Manager.GetClient()}, CA: ca, Now: time.Now, Metrics: counts, LiveImage: p.Hosts.Decisions().LiveISO,
		Probe: func(ctx context.Context, c *client.Client, t client.Target) (*v1alpha1.BMCReport, error) {
			return probe.Probe(ctx, c, probe.Options{
				Address: t.URL, System: t.System, Username: t.Username,
				Quirks: func(id probe.Identity) []v1alpha1.AppliedQuirk { return p.quirksOf(table, id) },
			})
		},
	}
	if b.ImageSizes {
		sizes := images.NewSizeCache(images.Client(), time.Now)
		if err := p.Manager.Add(sizes); err != nil {
			return err
		}
		options.Sizes = sizes
	}
	p.Preflights = &bmc.Verdicts{Client: p.Manager.GetClient(), LiveImage: options.LiveImage}
	dispatcher, err := p.makeEvents(options, asking)
	if err != nil {
		return err
	}
	health := bmchealth.Options{Connect: bmc.Connect(p.Manager, options), Interval: b.HealthEvery.Duration, Now: options.Now}
	if dispatcher != nil {
		p.Dispatcher, health.Events, health.WithEvents = dispatcher, dispatcher, p.Settings.BMCEvents.HealthEvery.Duration
	}
	err = errors.Join(p.Manager.Add(closing(pool)), bmc.Setup(p.Manager, options), p.makeRotations(pool, ca))
	if b.HealthEvery.Duration > 0 {
		err = errors.Join(err, bmchealth.Setup(p.Manager, health))
	}
	return err
}

// quirksOf are the rows that apply to a BMC. Rows that a site has got wrong are logged
// and not used; those of before stay.
func (p *Part) quirksOf(table *site.File, id probe.Identity) []v1alpha1.AppliedQuirk {
	rows, err := table.Table()
	if err != nil {
		p.Log.Error(err, "the file of --bmc-quirks is not used as it is now: correct it; the rows of before stay")
	}
	return rows.Match(quirks.Identity{Vendor: id.Vendor, Model: id.Model, Manager: id.ManagerModel, Version: id.BMCVersion})
}

// closeSessions is how long the end of the program waits for BMCs to end our sessions.
const closeSessions = 5 * time.Second

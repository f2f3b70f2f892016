package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/probe"
	"github.com/ironflow/ironflow/bmc/quirks"
	"github.com/ironflow/ironflow/controllers/bmc"
	"github.com/ironflow/ironflow/controllers/bmchealth"
	"github.com/ironflow/ironflow/controllers/bmcrotation"
	"github.com/ironflow/ironflow/controllers/host"
)

// bmcSettings tell whether and how BMCs are asked by this program itself.
type bmcSettings struct {
	on bool
	// caFile and quirksFile may be empty.
	caFile, quirksFile string
	// healthEvery is the time between two readings of a host's parts; 0 for never.
	healthEvery time.Duration
	events      eventSettings
	rotation    rotationSettings
}

func (b *bmcSettings) settings() []setting {
	return slices.Concat([]setting{
		{"bmc", "IRONFLOW_BMC", "false", "ask BMCs over Redfish what they are and can do (kind BMC), and check the wishes of hosts against that before their machines are started for them", boolean(&b.on)},
		{"bmc-ca", "IRONFLOW_BMC_CA_FILE", "", "file with the certificates that BMCs are trusted for; empty for the system's; a host's disableCertificateVerification trusts any", text(&b.caFile)},
		{"bmc-quirks", "IRONFLOW_BMC_QUIRKS_FILE", "", "YAML file with a site's own rows of the table of quirks, such as a mounted ConfigMap; see docs/quirks.md", text(&b.quirksFile)},
		{"bmc-health-every", "IRONFLOW_BMC_HEALTH_EVERY", "15m0s", "time between two readings of how the parts of a machine are, by at most 12 requests to its BMC; 0 for never", duration(&b.healthEvery)},
	}, b.events.settings(), b.rotation.settings())
}

// makeBMCs registers the controllers of BMCs, and tells the host controller of them.
func (p *program) makeBMCs(hosts *host.Options) error {
	b := p.settings.bmcs
	var ca []byte
	if b.caFile != "" {
		var err error
		if ca, err = os.ReadFile(b.caFile); err != nil {
			return fmt.Errorf("--bmc-ca: %w", err)
		}
	}
	table := quirks.New()
	if b.quirksFile != "" {
		text, err := os.ReadFile(b.quirksFile)
		if err != nil {
			return fmt.Errorf("--bmc-quirks: %w", err)
		}
		rows, err := quirks.Parse(text)
		if err != nil {
			return fmt.Errorf("--bmc-quirks %s: %w", b.quirksFile, err)
		}
		table = quirks.New(rows)
	}
	pool := client.NewPool(client.Options{})
	options := bmc.Options{
		BMCs: bmcrotation.Guard{Pool: pool, Reader: p.manager.GetClient()}, CA: ca, Now: time.Now,
		Probe: func(ctx context.Context, c *client.Client, t client.Target) (*v1alpha1.BMCReport, error) {
			return probe.Probe(ctx, c, probe.Options{
				Address: t.URL, System: t.System, Username: t.Username,
				Quirks: func(id probe.Identity) []v1alpha1.AppliedQuirk {
					return table.Match(quirks.Identity{Vendor: id.Vendor, Model: id.Model, Manager: id.ManagerModel, Version: id.BMCVersion})
				},
			})
		},
	}
	hosts.Preflights = &bmc.Verdicts{Client: p.manager.GetClient()}
	ears, err := p.makeEvents(options)
	if err != nil {
		return err
	}
	health := bmchealth.Options{Connect: bmc.Connect(p.manager, options), Interval: b.healthEvery, Now: options.Now}
	if ears != nil {
		hosts.Events, health.Events, health.WithEvents = ears, ears, b.events.healthEvery
	}
	err = errors.Join(p.manager.Add(closing(pool)), bmc.Setup(p.manager, options), p.makeRotations(pool, ca))
	if b.healthEvery > 0 {
		err = errors.Join(err, bmchealth.Setup(p.manager, health))
	}
	return err
}

// closeSessions is how long the end of the program waits for BMCs to end our sessions.
const closeSessions = 5 * time.Second

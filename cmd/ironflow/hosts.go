package main

import (
	"context"
	"errors"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"github.com/spf13/cobra"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/ironflow/ironflow/api/version"
	"github.com/ironflow/ironflow/controllers/claim"
	"github.com/ironflow/ironflow/controllers/firmware"
	"github.com/ironflow/ironflow/controllers/host"
	"github.com/ironflow/ironflow/controllers/media"
	"github.com/ironflow/ironflow/controllers/subscription"
	"github.com/ironflow/ironflow/ironic"
)

// newControllersCommand runs the controllers of BareMetalHosts alone.
func newControllersCommand() *cobra.Command {
	var s configuration
	cmd := &cobra.Command{
		Use:   "controllers",
		Short: "Run the BareMetalHost controllers alone, without hub and image server, in the place of baremetal-operator",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := s.completeControllers(); err != nil {
				return err
			}
			return runControllers(cmd.Context(), s)
		},
	}
	s.addSettings(cmd, s.controllersTable())
	return cmd
}

// runControllers wires the controllers and runs them until ctx ends.
func runControllers(ctx context.Context, s configuration) error {
	p := &program{settings: s, log: newLogger(s.Monitoring.LogLevel)}
	ctrl.SetLogger(p.log)
	p.log.Info("ironflow controllers", "version", version.Release())
	for _, step := range []func(context.Context) error{p.handOver, p.makeManager, p.makeIronics, p.makeHostControllers, func(context.Context) error { return p.tellSurroundings("controllers", false) }} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return p.manager.Start(ctx)
}

// makeHostControllers registers the controllers that need nothing but Ironic.
func (p *program) makeHostControllers(context.Context) error {
	return p.makeHosts(host.Options{Settings: p.settings.decisions(p.settings.DeployImages.BuildPreprovisioningImages)})
}

// makeHosts registers the host controller, and those of the kinds that go with a host.
func (p *program) makeHosts(o host.Options) error {
	gate, err := p.makeKinds()
	if err != nil {
		return err
	}
	keeper, err := firmware.Setup(p.manager, firmware.Options{Gateway: ironic.FirmwareReader{Endpoints: p.ironics}})
	if err != nil {
		return err
	}
	o.Ironics, o.Limits, o.Media, o.Firmware = p.ironics, p.settings.limits(), gate, keeper
	o.Metrics, o.HostSeries, o.Concurrency = metrics.Registry, p.settings.Hosts.MetricSeries, p.settings.Hosts.Concurrency
	if p.settings.BMC.Enabled {
		if err := p.makeBMCs(&o); err != nil {
			return err
		}
	}
	return host.Setup(p.manager, o)
}

// makeKinds registers the controllers of the kinds around a host, and returns
// the gate at which the host controller asks for data images.
func (p *program) makeKinds() (*media.Gate, error) {
	gate := media.NewGate(p.manager.GetClient())
	err := errors.Join(
		media.Setup(p.manager, func(h *metal3.BareMetalHost) (media.Gateway, error) { return p.ironicOf(h) }, gate),
		subscription.Setup(p.manager, func(h *metal3.BareMetalHost) (subscription.Gateway, error) { return p.ironicOf(h) }),
	)
	if p.settings.Hosts.HostClaims {
		err = errors.Join(err, claim.Setup(p.manager))
	}
	return gate, err
}

// Package parts runs the program's parts in one process: it has what they share (the way to the API server,
// the manager, the certificate, listeners), checks and sets them up in their order, and has what is around
// them looked at while they run. Each part is a package below: hosts, bmcs, hub and images. Which
// commands run which parts is a table of package main.
package parts

import (
	"context"
	"errors"
	"slices"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/api/config/topics"
	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/api/version"
	"github.com/ironflow/ironflow/controllers/selfcheck"
)

// Part is a piece of the program that runs until it is stopped. A process has one, or several side by side.
type Part interface {
	// Name is what the log calls it.
	Name() string
	// Flags are its settings.
	Flags() []settings.Group
	// Check fills in what follows from other settings, and refuses what cannot work.
	Check() error
	// Setup makes it, and registers it with the manager.
	Setup(ctx context.Context) error
	// Needs are what there has to be before it is set up.
	Needs() Needs
}

// Needs are what there has to be before a part is set up.
type Needs struct {
	// Handover is that no other operator works on the hosts.
	Handover bool
	// Addresses are a data folder, and a certificate for the addresses that machines and BMCs are told.
	Addresses bool
}

// Watchful is a part that has its surroundings looked at again and again.
type Watchful interface {
	Checks() []selfcheck.Check
}

// Process is a command that runs parts.
type Process struct {
	// Use is the command's name, Short its help.
	Use, Short string
	// Lease is the lease of its leader: processes beside each other must not wait for one another.
	Lease string
	// Parts make it up, in the order in which they are set up.
	Parts func(*Program) []Part
}

// Flags are the settings of all parts, each once, in the order of the documentation.
func (c Process) Flags(p *Program) []settings.Group {
	own := topics.Process(&p.Settings)
	for _, part := range c.Parts(p) {
		own = append(own, part.Flags()...)
	}
	has := map[string]bool{}
	for _, row := range settings.Rows(own) {
		has[row.Flag] = true
	}
	return settings.Where(topics.All(&p.Settings), func(r settings.Row) bool { return has[r.Flag] })
}

// Check fills in what follows from other settings for a process, and refuses what cannot work there.
func (c Process) Check(s *v1alpha1.IronflowConfiguration) error {
	p := &Program{Settings: *s}
	err := errors.Join(checkValues(s), check(c.Parts(p)))
	*s = p.Settings
	return err
}

// check has parts check their settings, those first that others are beside. What one refuses may be the cause of what another one would.
func check(parts []Part) error {
	for _, part := range slices.Backward(parts) {
		if err := part.Check(); err != nil {
			return err
		}
	}
	return nil
}

// Run checks the parts, sets them up, and runs them until ctx ends.
func (c Process) Run(ctx context.Context, p *Program) error {
	parts := c.Parts(p)
	if err := checkValues(&p.Settings); err != nil {
		return err
	}
	if err := check(parts); err != nil {
		return err
	}
	p.Log = NewLogger(p.Settings.Monitoring.LogLevel)
	ctrl.SetLogger(p.Log)
	p.Log.Info("ironflow "+c.Use, "version", version.Release())
	var needs Needs
	for _, part := range parts {
		n := part.Needs()
		needs.Handover, needs.Addresses = needs.Handover || n.Handover, needs.Addresses || n.Addresses
	}
	if needs.Handover {
		if err := p.handOver(ctx); err != nil {
			return err
		}
	}
	if needs.Addresses {
		if err := p.Exclusively(p.Publish); err != nil {
			return err
		}
	}
	if err := p.makeManager(); err != nil {
		return err
	}
	for _, part := range parts {
		if err := part.Setup(ctx); err != nil {
			return err
		}
	}
	if err := p.tellSurroundings(parts, needs); err != nil {
		return err
	}
	return p.Manager.Start(ctx)
}

package service

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ironflow/ironflow/agent/install/bootstrap"
	"github.com/ironflow/ironflow/agent/install/coreos"
	"github.com/ironflow/ironflow/agent/install/effect"
	"github.com/ironflow/ironflow/agent/probe/images"
	"github.com/ironflow/ironflow/customdeploy/hostname"
	"github.com/ironflow/ironflow/customdeploy/systemd/sdbus"
)

// finishPatience bounds what is asked of systemd after the done marker.
const finishPatience = 20 * time.Second

// realInstaller is the one that changes this machine.
func (a *agent) realInstaller() *coreos.Installer {
	units := a.cfg.Units
	if units == nil {
		address := sdbus.Address(a.cfg.Dir)
		units = hostUnits{sdbus.New(address, a.cfg.Dir), address}
	}
	role := &bootstrap.Role{
		Dir: a.cfg.Dir, Commands: a.commands, Env: images.Environment(), Hub: a.client, Units: units, Effects: a.effects, Log: a.log,
		Controller: bootstrap.Controller{HubURL: a.cfg.URL, Token: a.client.Secret, CA: a.hubCA(), Insecure: a.cfg.Insecure},
	}
	return &coreos.Installer{
		Dir: a.cfg.Dir, Commands: a.commands, Hub: a.client, Units: units, Effects: a.effects, Log: a.log, Bootstrap: role.Tasks, Resolve: a.orderDevice,
	}
}

// hostUnits is the host's systemd with its host names.
type hostUnits struct {
	*sdbus.Manager
	address string
}

// SetHostname implements bootstrap.Units.
func (u hostUnits) SetHostname(ctx context.Context, name string) error {
	return hostname.Set(ctx, u.address, name)
}

// hubCA is the PEM bundle of the command line; empty without one.
func (a *agent) hubCA() string {
	if a.cfg.CACert == "" {
		return ""
	}
	raw, err := os.ReadFile(a.cfg.Dir.Path(a.cfg.CACert))
	if err != nil {
		return "" // the client has said so
	}
	return string(raw)
}

// orderDevice finds the device of an order, by its name on the host: programs run
// in the host's root.
func (a *agent) orderDevice(path string) (string, error) {
	device, err := a.resolve(path)
	root := filepath.Clean(a.cfg.Dir.Path("/"))
	if inside, ok := strings.CutPrefix(device, root); ok && root != "/" {
		device = inside
	}
	return device, err
}

// writeEnd records the end; that of an installation is an effect.
func (a *agent) writeEnd(end ending) error {
	write := func() error { return end.Write(a.cfg.Dir) }
	if !end.Installed {
		return write()
	}
	return a.effects.Do(context.Background(), effect.WriteEnd, end.Disk, write)
}

// finishInstallation is what comes after the done marker, also when an earlier
// process has died in between.
func (a *agent) finishInstallation() {
	kept := a.state.Get()
	if a.real == nil || kept.Install == nil || !a.installedBefore() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), finishPatience)
	defer cancel()
	if err := a.real.Finish(ctx, kept.Install.Request.ControlPlaneCount == 1); err != nil {
		a.log.Error("installed, but the machine is not restarted; restart it by hand", "error", err)
	}
	if a.real.Converged(ctx) && (a.cfg.Order != nil || a.startedForEver(ctx)) {
		a.stopUnit(ctx)
	}
}

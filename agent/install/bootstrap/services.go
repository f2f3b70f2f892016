package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/agent/install"
	"github.com/ironflow/ironflow/agent/install/effect"
	"github.com/ironflow/ironflow/customdeploy/hostexec"
	"github.com/ironflow/ironflow/customdeploy/hostname"
	"github.com/ironflow/ironflow/customdeploy/systemd"
	"github.com/ironflow/ironflow/hub/wire"
)

const (
	// unpackTries is how often the machine-config operator's image is run.
	unpackTries = 3
	unpackPause = 5 * time.Second
	// unpackLimit bounds one run: it pulls the image first.
	unpackLimit = 30 * time.Minute
	// startPatience is how long a service may take until it counts as under way.
	startPatience = 30 * time.Second
)

// MachineConfigArgs runs the machine-config daemon of the image once, on the live
// system: its files and units become those of bootstrap.ign.
func MachineConfigArgs(image string) []string {
	return []string{
		"podman", "run", "--rm", "--net", "host", "--pid", "host", "--privileged",
		"--volume", "/:/rootfs:rw", "--volume", "/run/dbus/system_bus_socket:/run/dbus/system_bus_socket",
		"--authfile", pullSecret, "--entrypoint", "/usr/bin/machine-config-daemon", image,
		"start", "--node-name", "localhost", "--root-mount", "/rootfs", "--once-from", ignitionFile, "--skip-reboot",
	}
}

// unpack writes bootstrap.ign onto the live system: with the machine-config
// operator's image where the order names one, else by itself.
func (r *Role) unpack(ctx context.Context, request wire.InstallCmdRequest, report install.Report) error {
	if r.begun(ctx) {
		r.Log.Info("the bootstrap services have begun already; the live system stays as it is")
		return nil
	}
	report(-1, "writing bootstrap.ign onto the live system")
	return r.Effects.Do(ctx, effect.WriteMachineConfig, ignitionFile, func() error {
		if request.McoImage == "" {
			raw, err := os.ReadFile(r.Dir.Path(ignitionFile))
			if err != nil {
				return err
			}
			config, err := newLive(raw, r.Dir)
			if err != nil {
				return fmt.Errorf("bootstrap.ign: %w", err)
			}
			return config.apply(ctx, r.Commands)
		}
		return r.runMachineConfig(ctx, request)
	})
}

func (r *Role) runMachineConfig(ctx context.Context, request wire.InstallCmdRequest) error {
	args := MachineConfigArgs(request.McoImage)
	if !exists(r.Dir, pullSecret) {
		i := slices.Index(args, "--authfile")
		args = append(args[:i:i], args[i+2:]...)
	}
	env := append(slices.Clone(r.Env), install.Proxies(request.Proxy)...)
	for try := 1; ; try++ {
		bounded, done := context.WithTimeoutCause(ctx, unpackLimit, fmt.Errorf("no end in %v", unpackLimit))
		_, err := hostexec.Output(bounded, command.Lines(command.WithEnv(r.Commands, env...)), args...)
		done()
		if err == nil || ctx.Err() != nil || try == unpackTries {
			return err
		}
		r.Log.Warn("the machine-config daemon failed; it is run again", "try", try, "error", err)
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(unpackPause):
		}
	}
}

// settle makes systemd and the network know the new files.
func (r *Role) settle(ctx context.Context, request wire.InstallCmdRequest) error {
	if r.begun(ctx) {
		return nil
	}
	if err := r.Effects.Do(ctx, effect.ReloadUnits, "", func() error { return r.Units.Reload(ctx) }); err != nil {
		return err
	}
	raw, err := os.ReadFile(r.Dir.Path("/proc/sys/kernel/hostname"))
	if err == nil && !hostname.IsNode(strings.TrimSpace(string(raw))) {
		name := "host-" + strings.ToLower(request.HostID[:8])
		if err := r.Effects.Do(ctx, effect.SetHostname, name, func() error { return r.Units.SetHostname(ctx, name) }); err != nil {
			return err
		}
	}
	const network = "NetworkManager.service"
	return r.Effects.Do(ctx, effect.RestartNetwork, network, func() error {
		result, err := r.Units.Restart(ctx, network)
		if err == nil && result != systemd.JobDone {
			err = fmt.Errorf("restart %s: the job's result was %q", network, result)
		}
		return err
	})
}

// start starts the services. One that runs, or has done its work, is left alone.
func (r *Role) start(ctx context.Context) error {
	for _, name := range services {
		unit, err := r.Units.Unit(ctx, name)
		switch {
		case err != nil:
			return err
		case !unit.Loaded():
			return fmt.Errorf("%s: %w", name, errNotLoaded)
		case unit.ActiveState == "active" || unit.ActiveState == "activating" || exists(r.Dir, bootkubeDone):
			continue
		}
		if err := r.Effects.Do(ctx, effect.StartBootstrapUnits, name, func() error { return r.startUnit(ctx, name) }); err != nil {
			return err
		}
	}
	return nil
}

var errSlow = errors.New("the service is not up yet")

// startUnit starts a unit; one that takes long is under way, which is enough.
func (r *Role) startUnit(ctx context.Context, name string) error {
	bounded, cancel := context.WithTimeoutCause(ctx, startPatience, errSlow)
	defer cancel()
	result, err := r.Units.Start(bounded, name)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(context.Cause(bounded), errSlow):
		return nil
	case err != nil:
		return err
	case result != systemd.JobDone:
		return fmt.Errorf("start %s: the job's result was %q", name, result)
	}
	return nil
}

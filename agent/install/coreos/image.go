package coreos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	ignition "github.com/coreos/ignition/v2/config/shared/errors"
	"github.com/coreos/ignition/v2/config/v3_6"
	"github.com/coreos/vcontext/report"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/agent/install"
	"github.com/ironflow/ironflow/agent/install/effect"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/coreosinstaller"
	"github.com/ironflow/ironflow/hub/wire"
)

// idle is how long coreos-installer may write nothing.
const idle = 10 * time.Minute

// pauses make three tries, one second apart.
var pauses = []time.Duration{time.Second, time.Second}

// IgnitionFile is the host path of the host's Ignition. A bootstrap host becomes
// a master in the end.
func IgnitionFile(request wire.InstallCmdRequest) string {
	role := request.Role
	if role == wire.HostRoleBootstrap {
		role = wire.HostRoleMaster
	}
	return filepath.Join(hostfile.RunDir, string(role)+"-"+request.HostID+".ign")
}

// ignition fetches what the installed system starts with.
func (i *Installer) ignition(ctx context.Context, job install.Job) error {
	host := hubclient.Host{InfraEnvID: job.Request.InfraEnvID, HostID: job.Request.HostID}
	var raw []byte
	err := install.Persist(ctx, i.Log, "fetch the host's Ignition", func() (err error) {
		raw, err = i.Hub.HostIgnition(ctx, host)
		return err
	})
	if err != nil {
		return err
	}
	if err := isIgnition(raw); err != nil {
		return fmt.Errorf("the hub's Ignition for this host: %w", err)
	}
	path := IgnitionFile(job.Request)
	return i.Effects.Do(ctx, effect.KeepIgnition, path, func() error { return WritePrivate(i.Dir, path, raw) })
}

// isIgnition checks what the installed system is to start with. A version that is not
// known here is looked at from the outside only: the system may be newer.
func isIgnition(raw []byte) error {
	var config struct {
		Ignition *struct {
			Version string `json:"version"`
		} `json:"ignition"`
	}
	if err := json.Unmarshal(raw, &config); err != nil {
		return errors.New("it is not JSON") // not quoted: it may hold secrets
	}
	if config.Ignition == nil || config.Ignition.Version == "" {
		return errors.New("it has no ignition.version")
	}
	_, found, err := v3_6.ParseCompatibleVersion(raw)
	if err == nil || errors.Is(err, ignition.ErrUnknownVersion) {
		return nil
	}
	for _, e := range found.Entries {
		if e.Kind == report.Error {
			return fmt.Errorf("it is not valid: %s: %s", e.Context, e.Message)
		}
	}
	return fmt.Errorf("it is not valid: %w", err)
}

// WritePrivate writes a file that only root can read, completely or not at all.
func WritePrivate(dir hostfile.Dir, path string, raw []byte) error {
	target := dir.Path(path)
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(target), ".ignition-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), target)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// Args is coreos-installer's command line for the order.
func Args(job install.Job, copyNetwork bool) []string {
	args := []string{"coreos-installer", "install", "--insecure", "-i", IgnitionFile(job.Request)}
	args = append(args, job.Args...)
	if copyNetwork && !slices.Contains(job.Args, "--copy-network") && !slices.Contains(job.Args, "-n") {
		args = append(args, "--copy-network")
	}
	return append(args, job.Disk)
}

// write lets coreos-installer write the disk. Right before it, everything that
// forbids it is looked at once more.
func (i *Installer) write(ctx context.Context, job install.Job, report install.Report) error {
	if err := i.forbidden(ctx, job); err != nil {
		return err
	}
	copyNetwork, err := networkConfigured(i.Dir)
	if err != nil {
		i.Log.Warn("whether somebody has set up the network here cannot be found out", "error", err)
	}
	runner := coreosinstaller.Runner{
		Exec: command.Lines(command.WithEnv(i.Commands, install.Proxies(job.Request.Proxy)...)), Idle: idle, Pauses: pauses,
		Disk: job.Disk, Query: command.Exec(i.Commands, i.Log), Again: func(ctx context.Context) error { return i.forbidden(ctx, job) },
		Progress: func(percent int, line string) { report(percent, line) },
		Warn:     func(err error) { i.Log.Warn("coreos-installer failed; it is tried again", "error", err) },
	}
	report(0, "to "+job.Disk)
	err = i.Effects.Do(ctx, effect.WriteImage, job.Disk, func() error { return runner.Install(ctx, Args(job, copyNetwork)) })
	if failed, ok := errors.AsType[*coreosinstaller.Error](err); ok {
		for _, line := range failed.Last {
			i.Log.Error("coreos-installer", "line", line)
		}
		return fmt.Errorf("%s: %w", job.Disk, err) // the installer's own reason seldom names it
	}
	return err
}

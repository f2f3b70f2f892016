package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"

	"github.com/coreos/ignition/v2/config/util"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/hostexec"
)

// unitName is what systemd takes for one, with a name that stays in its folder.
var unitName = regexp.MustCompile(`^[A-Za-z0-9:_.\\@-]+\.[a-z]+$`)

func (l *live) checkUnits() error {
	var errs []error
	for n, u := range l.config.Systemd.Units {
		at := fmt.Sprintf("systemd.units[%d] %s", n, u.Name)
		if !unitName.MatchString(u.Name) {
			errs = append(errs, fmt.Errorf("%s: this is no unit's name", at))
		}
		if util.IsTrue(u.Mask) && u.Contents != nil {
			errs = append(errs, fmt.Errorf("%s: it has contents, and is to be masked", at))
		}
		for _, d := range u.Dropins {
			if !unitName.MatchString(d.Name) {
				errs = append(errs, fmt.Errorf("%s: drop-in %q: this is no name of one", at, d.Name))
			}
		}
	}
	return errors.Join(errs...)
}

// applyUnits writes units, and enables, disables and masks them. Nothing is started: which
// services run is the installation's business.
func (l *live) applyUnits(ctx context.Context, run command.Runner) error {
	for _, u := range l.config.Systemd.Units {
		target := path.Join(hostfile.UnitDir, u.Name)
		if u.Contents != nil {
			if err := writeFile(l.dir, target, []byte(*u.Contents), 0o644); err != nil {
				return fmt.Errorf("unit %s: %w", u.Name, err)
			}
		}
		for _, d := range u.Dropins {
			if d.Contents == nil {
				continue
			}
			if err := writeFile(l.dir, path.Join(target+".d", d.Name), []byte(*d.Contents), 0o644); err != nil {
				return fmt.Errorf("unit %s: %w", u.Name, err)
			}
		}
		if util.IsTrue(u.Mask) {
			if err := mask(l.dir.Path(target)); err != nil {
				return fmt.Errorf("mask unit %s: %w", u.Name, err)
			}
		}
	}
	for _, u := range l.config.Systemd.Units { // once all are there: one may name others
		if u.Enabled == nil || util.IsTrue(u.Mask) {
			continue
		}
		verb := "disable"
		if *u.Enabled {
			verb = "enable"
		}
		if _, err := hostexec.Output(ctx, command.Lines(run), "systemctl", verb, "--", u.Name); err != nil {
			return fmt.Errorf("%s unit %s: %w", verb, u.Name, err)
		}
	}
	return nil
}

func mask(target string) error {
	if to, err := os.Readlink(target); err == nil && to == os.DevNull {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	if err := os.Remove(target); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.Symlink(os.DevNull, target)
}

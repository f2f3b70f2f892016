package booted

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// suite is the Debian release of the root file system.
const suite = "bookworm"

const (
	// Packages are what a root file system holds besides the minimum.
	Packages = "systemd-sysv,dbus"
	// PackagesWithUdev are those of a machine with udev.
	PackagesWithUdev = Packages + ",udev"
)

// ErrNoTool is the error of [Rootfs] where there is no mmdebstrap.
var ErrNoTool = errors.New("a real systemd needs the program mmdebstrap: apt-get install mmdebstrap")

// Rootfs returns the folder of the root file system with these packages. It is made on first
// use, of which say is told.
func Rootfs(ctx context.Context, packages string, say func(format string, args ...any)) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(suite + " " + packages))
	dir := filepath.Join(cache, "ironflow", "systemd-rootfs", suite+"-"+hex.EncodeToString(sum[:6]))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if _, err := exec.LookPath("mmdebstrap"); err != nil {
		return "", ErrNoTool
	}
	unlock, err := lock(dir + ".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(dir); err == nil {
		return dir, nil // somebody else has made it meanwhile
	}
	say("making %s with mmdebstrap, once, about a minute", dir)
	return dir, debootstrap(ctx, packages, dir)
}

func debootstrap(ctx context.Context, packages, dir string) error {
	tmp, err := os.MkdirTemp(filepath.Dir(dir), "making-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	out, err := exec.CommandContext(ctx, "mmdebstrap", "--variant=minbase", "--include="+packages, suite, tmp).CombinedOutput()
	if err == nil {
		err = os.Chmod(tmp, 0o755)
	}
	if err == nil {
		err = os.Rename(tmp, dir)
	}
	if err != nil {
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		return fmt.Errorf("mmdebstrap: %w\n%s", err, strings.Join(lines[max(0, len(lines)-15):], "\n"))
	}
	return nil
}

// lock holds a file lock against other processes.
func lock(path string) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = f.Close() }, nil
}

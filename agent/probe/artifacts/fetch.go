package artifacts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/hub/wire"
)

const (
	// tries and pause are those of each file.
	tries = 5
	pause = time.Minute
	// spare is what stays free on /boot.
	spare = 1 << 20
)

// fetch brings everything to the host's /boot.
func fetch(ctx context.Context, env probe.Env, r wire.DownloadBootArtifactsRequest, arch string) error {
	host := env.Dir.Path(r.HostFsMountDir)
	boot, err := os.OpenRoot(filepath.Join(host, "boot"))
	if err != nil {
		return fmt.Errorf("open the host's /boot: %w", err)
	}
	defer boot.Close() //nolint:errcheck // a folder
	if complete(boot) {
		return nil
	}
	if err := MakeWritable(filepath.Join(host, "boot")); err != nil {
		return err
	}
	for _, folder := range []string{filepath.Dir(Kernel), filepath.Dir(Entry)} {
		if err := boot.MkdirAll(folder, 0o755); err != nil {
			return fmt.Errorf("make a folder in the host's /boot: %w", err)
		}
	}
	room := func(ctx context.Context, size int64) error { return ensureRoom(ctx, env, boot, r.HostFsMountDir, size) }
	for _, f := range []struct{ name, url string }{{Kernel, r.KernelURL}, {Initrd, r.InitrdURL}} {
		d := download{client: env.HTTP, boot: boot, name: f.name, url: f.url, room: room, log: env.Log}
		if err := d.try(ctx); err != nil {
			return fmt.Errorf("download %s: %w", filepath.Base(f.name), err)
		}
	}
	if err := replace(boot, Entry, entry(r.RootfsURL, arch)); err != nil {
		return fmt.Errorf("write the boot loader's entry: %w", err)
	}
	return nil
}

// complete tells whether an earlier run has done everything.
func complete(boot *os.Root) bool {
	for _, name := range []string{Kernel, Initrd, Entry} {
		info, err := boot.Stat(name)
		if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
			return false
		}
	}
	return true
}

// replace writes a file so that it is there as a whole or not at all.
func replace(boot *os.Root, name, text string) error {
	temporary := name + ".part"
	f, err := boot.Create(temporary)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return rename(boot, temporary, name)
}

// rename gives a complete file its name, and waits until the disk has all of it:
// the host boots from it next.
func rename(boot *os.Root, from, to string) error {
	if err := boot.Rename(from, to); err != nil {
		return err
	}
	folder, err := boot.Open(filepath.Dir(to))
	if err != nil {
		return err
	}
	defer folder.Close()
	return unix.Syncfs(int(folder.Fd()))
}

// ensureRoom makes sure that /boot has room for so many bytes more. It is made by
// dropping the deployment that a roll-back would boot.
func ensureRoom(ctx context.Context, env probe.Env, boot *os.Root, host string, size int64) error {
	free, err := freeSpace(boot)
	if err != nil || free >= size+spare {
		return err
	}
	env.Log.Warn("the host's /boot is too small; dropping the roll-back deployment", "free", free, "wanted", size)
	drop := command.Command{Name: "rpm-ostree", Args: []string{"cleanup", "--os=rhcos", "-r"}, Root: host}
	if err := env.Commands.Run(ctx, drop); err != nil {
		return fmt.Errorf("make room on /boot: %w", err)
	}
	if free, err = freeSpace(boot); err != nil || free >= size+spare {
		return err
	}
	return fmt.Errorf("the host's /boot has %d bytes free, %d are needed", free, size+spare)
}

func freeSpace(boot *os.Root) (int64, error) {
	folder, err := boot.Open(".")
	if err != nil {
		return 0, err
	}
	defer folder.Close()
	var s unix.Statfs_t
	if err := unix.Fstatfs(int(folder.Fd()), &s); err != nil {
		return 0, fmt.Errorf("free space of the host's /boot: %w", err)
	}
	return int64(s.Bavail) * int64(s.Bsize), nil //nolint:unconvert // its type differs between machines
}

// Package installed is the record that the image of an agent-based installation leaves on a disk which
// it has installed: a small file on its EFI system partition. A host whose firmware starts the image
// again would be installed again without end, since nothing else outlives the live system. [Leave]
// writes the record once the disk is done, [Find] looks for that of this host at the boot. A disk
// without such a partition, such as on IBM Z and Power, has none.
package installed

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/blockdev"
	"github.com/ironflow/ironflow/customdeploy/efiboot"
	"github.com/ironflow/ironflow/customdeploy/hostexec"
)

const (
	// File is the record, by its path on the partition.
	File = "ironflow/installed.json"
	// Again is the argument of the kernel with which a host is installed again on purpose.
	Again = "ironflow.reinstall=1"
	// patience bounds the look at one partition: a disk that hangs must not keep the host from its
	// installation.
	patience = time.Minute
	// maxRecord bounds what is read.
	maxRecord = 4096
)

// Record says by which image a host was installed.
type Record struct {
	// Image names the image, and says nothing of what is in it.
	Image string `json:"image"`
	// HostID is the host's: others may see the same disk.
	HostID string `json:"host_id"`
	// Disk is as the order to install had it.
	Disk string    `json:"disk"`
	At   time.Time `json:"installed_at"`
}

// image names the image of this host, by its infra-env, its settings and its tokens; empty for a live
// system of another kind. An image that is made again from the same input into the same folder is the
// same one.
func image(dir hostfile.Dir) (string, error) {
	settings, err := places.ImageSettings(dir)
	if settings[places.InfraEnvID] == "" {
		return "", err
	}
	text := strings.Join([]string{"installed by", settings[places.InfraEnvID], settings[places.SettingsDigest], settings[places.UserToken]}, " ")
	return fmt.Sprintf("%x", sha256.Sum256([]byte(text))), nil
}

// IsAgentBased tells whether this live system leaves records.
func IsAgentBased(dir hostfile.Dir) bool {
	name, err := image(dir)
	return err == nil && name != ""
}

// Leave writes the record to the device of a disk, by which the host has been installed to the disk
// of that name now.
func Leave(ctx context.Context, run hostexec.Exec, dir hostfile.Dir, device, disk, hostID string) error {
	name, err := image(dir)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(Record{Image: name, HostID: hostID, Disk: disk, At: time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return err
	}
	esp, err := efiboot.ESP(ctx, run, device)
	if err != nil {
		return err
	}
	return efiboot.OnESP(ctx, run, dir, esp.Path, "rw", func(folder string) error {
		return write(folder, append(raw, '\n'))
	})
}

// write has the whole file below the folder or none, and on the disk when it returns: the host is
// restarted next. FAT knows no modes of files.
func write(folder string, raw []byte) (err error) {
	file := filepath.Join(folder, File)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	defer func() {
		if err != nil { // the partition may be full
			_ = os.Remove(file + ".new")
			_ = os.Remove(filepath.Dir(file)) // if nothing else is in it
		}
	}()
	f, err := os.OpenFile(file+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if _, err := f.Write(raw); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := os.Rename(file+".new", file); err != nil {
		return err
	}
	// The new name of FAT has size and place of the file only when that is synchronised once more.
	return errors.Join(f.Sync(), places.SyncFolder(filepath.Dir(file)), places.SyncFolder(folder))
}

// Find returns the record of this host that its own image has left, the latest one; nil for none, and
// where a person wants it installed again. A partition that cannot be looked at has none.
func Find(ctx context.Context, run hostexec.Exec, dir hostfile.Dir, hostID string, log *slog.Logger) (*Record, error) {
	name, err := image(dir)
	if name == "" {
		return nil, err
	}
	if wanted(dir) {
		log.InfoContext(ctx, "a record of an earlier installation would not count: a person wants this host installed again", "argument", Again)
		return nil, nil
	}
	if _, err := hostexec.Output(ctx, run, "udevadm", "settle", "--timeout=20"); err != nil {
		log.InfoContext(ctx, "no word of udev that all disks are there", "error", err)
	}
	all, err := blockdev.AllPartitions(ctx, run)
	if err != nil {
		return nil, err
	}
	var last *Record
	for _, p := range all {
		if !p.IsESP() {
			continue
		}
		r, err := read(ctx, run, dir, p.Path)
		switch {
		case err != nil:
			log.InfoContext(ctx, "an EFI system partition has no record of an installation", "partition", p.Path, "reason", err)
		case r.Image == name && r.HostID == hostID && (last == nil || r.At.After(last.At)):
			last = &r
		}
	}
	return last, nil
}

// wanted tells that the kernel was started with [Again].
func wanted(dir hostfile.Dir) bool {
	raw, err := os.ReadFile(dir.Path("/proc/cmdline"))
	return err == nil && slices.Contains(strings.Fields(string(raw)), Again)
}

// read returns the record on a partition.
func read(ctx context.Context, run hostexec.Exec, dir hostfile.Dir, device string) (r Record, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("no end in %v", patience))
	defer cancel()
	err = efiboot.OnESP(ctx, run, dir, device, "ro", func(folder string) error {
		root, err := os.OpenRoot(folder)
		if err != nil {
			return err
		}
		defer func() { _ = root.Close() }() // it was only read
		f, err := root.Open(File)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		raw, err := io.ReadAll(io.LimitReader(f, maxRecord))
		if err != nil {
			return err
		}
		return json.Unmarshal(raw, &r)
	})
	return r, err
}

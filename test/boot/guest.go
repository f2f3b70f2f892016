package boot

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/ironflow/ironflow/test/lab/cache"
)

// scripts are what the guest is made with; a change makes it anew.
//
//go:embed all:guest
var scripts embed.FS

// Guest is the untouched medium and the firmware to boot it with.
type Guest struct {
	// ISO is the live ISO.
	ISO string
	// UEFI is the firmware for pflash, NetworkROM the option ROM with iPXE.
	UEFI, NetworkROM string
}

// Make returns the guest, made on first use (about two minutes) and kept in the
// user's cache. It needs root and the programs of test/scripts/boot-tools.sh.
func Make(ctx context.Context) (Guest, error) {
	root, err := cache.DefaultDir()
	if err != nil {
		return Guest{}, err
	}
	key, err := key()
	if err != nil {
		return Guest{}, err
	}
	dir, err := cache.Entry{Dir: root, Name: "boot-guest", Key: key}.Get(ctx, nil, build)
	if err != nil {
		return Guest{}, fmt.Errorf("make the guest of the boot tests: %w", err)
	}
	return Guest{
		ISO: filepath.Join(dir, "live.iso"), UEFI: filepath.Join(dir, "OVMF.fd"), NetworkROM: filepath.Join(dir, "ipxe-virtio.rom"),
	}, nil
}

// key covers the name and content of every script.
func key() (string, error) {
	var parts [][]byte
	err := fs.WalkDir(scripts, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := scripts.ReadFile(path)
		parts = append(parts, []byte(path), raw)
		return err
	})
	return cache.Key(parts...), err
}

// build runs the scripts.
func build(ctx context.Context, dir string) error {
	from, err := os.MkdirTemp("", "ironflow-boot-guest-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(from)
	if err := os.CopyFS(from, scripts); err != nil {
		return err
	}
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, "bash", filepath.Join(from, "guest", "make.sh"), dir)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return errors.Join(err, errors.New(tail(out.String(), 20)))
	}
	return nil
}

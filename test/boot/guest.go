package boot

import (
	"context"
	"embed"
	"path/filepath"

	"github.com/ironflow/ironflow/test/media/debian"
)

// scripts are what the guest is made with; a change makes it anew.
//
//go:embed all:guest
var scripts embed.FS

// armScripts are what the guest for aarch64 is made with.
//
//go:embed all:guest-arm
var armScripts embed.FS

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
	dir, err := debian.Make(ctx, debian.Scripts{Name: "boot-guest", Files: scripts, Dir: "boot", Make: "guest/make.sh"})
	if err != nil {
		return Guest{}, err
	}
	return Guest{
		ISO: filepath.Join(dir, "live.iso"), UEFI: filepath.Join(dir, "OVMF.fd"), NetworkROM: filepath.Join(dir, "ipxe-virtio.rom"),
	}, nil
}

// MakeARM returns the guest for aarch64, which reports out of its initrd.
func MakeARM(ctx context.Context) (Guest, error) {
	dir, err := debian.Make(ctx, debian.Scripts{Name: "boot-guest-arm", Files: armScripts, Dir: "boot", Make: "guest-arm/make.sh"})
	if err != nil {
		return Guest{}, err
	}
	return Guest{ISO: filepath.Join(dir, "live.iso"), UEFI: filepath.Join(dir, "AAVMF.fd")}, nil
}

// Package medium makes what the machines of test/vm boot, out of Debian packages:
// a live ISO in the CoreOS layout whose initrd has the real Ignition engine, and
// the disk image of the system that the real coreos-installer writes, which
// applies its config at the first boot with the same engine. As on real media, the
// live ISO carries that image (osmet), so that an installation downloads nothing.
// The main function is [Make].
//
// The engine is Debian's package ignition (2.14, specifications up to 3.3), with
// the units that it has for dracut. It is built and packaged by others, which
// makes it a better judge of our configs than one that we would build. What is
// not as on CoreOS: there is no OSTree, no SELinux and no Secure Boot, the file
// systems are ext4, and a config with remote parts cannot be fetched.
package medium

import (
	"context"
	"embed"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ironflow/ironflow/test/lab/crate"
	"github.com/ironflow/ironflow/test/media/debian"
)

//go:embed all:guest
var scripts embed.FS

// packages is the script that asks for packages. What it makes is kept apart,
// because it takes the longest and changes the least.
//
//go:embed packages/make.sh
var packages embed.FS

// Media are the files that machines boot; they are not to be changed.
type Media struct {
	// ISO is the live ISO. It says nothing on the serial console unless its initrd
	// fails (a line EMERGENCY); its journal goes to /dev/hvc0.
	ISO string
	// Installed is the raw disk image that the ISO carries, for those who serve it
	// over HTTP. A system that was installed from it says a line INSTALLED on the
	// serial console at each boot.
	Installed string
	// OVMFCode is the firmware for the first pflash, OVMFVars what each machine
	// copies for its second one.
	OVMFCode, OVMFVars string
	// NetworkROM is the option ROM with iPXE for virtio network cards.
	NetworkROM string
}

// Make returns the media, made on first use (two to five minutes) and kept in the
// user's cache. It needs root, loop devices, the programs of
// test/scripts/boot-tools.sh and the real coreos-installer (make coreos-installer).
func Make(ctx context.Context) (Media, error) {
	installer, found := crate.CoreOSInstaller.Find()
	if !found {
		return Media{}, fmt.Errorf("no coreos-installer here: run %s", crate.CoreOSInstaller.Make)
	}
	root, err := packaged(ctx)
	if err != nil {
		return Media{}, err
	}
	program, err := os.ReadFile(installer)
	if err != nil {
		return Media{}, err
	}
	dir, err := debian.Make(ctx, debian.Scripts{
		Name: "vm-medium", Files: scripts, Dir: "vm/medium", Make: "guest/make.sh", Args: []string{root, installer}, Inputs: [][]byte{program},
	})
	if err != nil {
		return Media{}, err
	}
	return Media{
		ISO: filepath.Join(dir, "live.iso"), Installed: filepath.Join(dir, "installed.raw"), NetworkROM: filepath.Join(dir, "efi-virtio.rom"),
		OVMFCode: filepath.Join(dir, "OVMF_CODE.fd"), OVMFVars: filepath.Join(dir, "OVMF_VARS.fd"),
	}, nil
}

// Root returns the folder of the root file system that the media are made from, as
// Debian's packages have it; it is not to be changed. It is made on first use.
func Root(ctx context.Context) (string, error) {
	dir, err := packaged(ctx)
	return filepath.Join(dir, "root"), err
}

func packaged(ctx context.Context) (string, error) {
	return debian.Make(ctx, debian.Scripts{Name: "vm-root", Files: packages, Dir: "vm/medium", Make: "packages/make.sh", Alone: true})
}

package system

import (
	"strings"

	"github.com/ironflow/ironflow/customdeploy/mounts"
	"github.com/ironflow/ironflow/customdeploy/source"
	"github.com/ironflow/ironflow/hub/wire"
)

const (
	efiDir = "/sys/firmware/efi"
	// secureBootVariable is the EFI variable with its vendor's GUID.
	secureBootVariable = efiDir + "/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
	tpmDir             = "/sys/class/tpm/tpm0"
)

// Boot returns the firmware's mode, the kernel's command line with its newline,
// and what the running system was started from.
func Boot(m source.Machine, table []mounts.Mount) *wire.Boot {
	boot := &wire.Boot{CurrentBootMode: "bios", SecureBootState: secureBoot(m)}
	if m.Exists(efiDir) {
		boot.CurrentBootMode = "uefi"
	}
	if raw, err := m.Read("/proc/cmdline"); err == nil {
		boot.CommandLine = string(raw)
		for arg := range strings.FieldsSeq(boot.CommandLine) {
			if nic, ok := strings.CutPrefix(arg, "BOOTIF="); ok {
				boot.PXEInterface = nic
			}
		}
	}
	for _, mount := range table {
		if mount.Target != "/sysroot" {
			continue
		}
		boot.DeviceType = wire.BootDeviceTypePersistent
		if strings.HasPrefix(mount.Source, "/dev/loop") {
			boot.DeviceType = wire.BootDeviceTypeEphemeral
		}
	}
	return boot
}

// secureBoot reads the variable: four bytes of attributes, one of value.
func secureBoot(m source.Machine) wire.SecureBootState {
	raw, err := m.Read(secureBootVariable)
	switch {
	case err != nil:
		return wire.SecureBootStateNotSupported
	case len(raw) == 5 && raw[4] == 1:
		return wire.SecureBootStateEnabled
	case len(raw) == 5 && raw[4] == 0:
		return wire.SecureBootStateDisabled
	default:
		return wire.SecureBootStateUnknown
	}
}

// TPM returns the version of the first TPM.
func TPM(m source.Machine) string {
	switch m.Line(tpmDir, "tpm_version_major") {
	case "1":
		return wire.InventoryTPMVersion12
	case "2":
		return wire.InventoryTPMVersion20
	default:
		return wire.InventoryTPMVersionNone
	}
}

package machine

import (
	"errors"

	"github.com/ironflow/ironflow/test/lab/emulator"
)

// Errors of a firmware that finds nothing to boot.
var (
	errNothingToBoot = errors.New("nothing to boot: no virtual medium is chosen and nothing is installed on the disk")
	errNetworkBoot   = errors.New("asked to boot from the network (PXE), which simulated machines cannot")
)

// bootSource decides what the firmware boots: the address of a medium, or the
// disk when it is empty. As real firmware does, it goes on to the disk when the
// chosen slot is empty.
func bootSource(bmc emulator.SystemChange, installed bool) (medium string, err error) {
	switch slot := bmc.Media[emulator.MediaCd]; {
	case bmc.BootDevice == emulator.BootCd && slot.Inserted:
		return slot.Image, nil
	case bmc.BootDevice == emulator.BootPxe:
		return "", errNetworkBoot
	case !installed:
		return "", errNothingToBoot
	default:
		return "", nil
	}
}

// powerEvent translates a power request of the BMC.
func powerEvent(reset emulator.Reset) Event {
	switch reset {
	case emulator.ResetForceOff, emulator.ResetGracefulShutdown:
		return PowerOff
	case emulator.ResetForceRestart, emulator.ResetGracefulRestart:
		return Restart
	default:
		return PowerOn
	}
}

package vm

import (
	"fmt"
	"net/url"
	"slices"

	"github.com/ironflow/ironflow/test/lab/emulator"
)

// maxURL bounds the address of a medium.
const maxURL = 4096

// plan is how the machine starts next: a decision about what the BMC shows.
type plan struct {
	firmware Firmware
	secure   bool
	// order has each source once, the first one first.
	order []Source
	// medium is the address of the inserted medium, or empty.
	medium string
	// httpBoot is the address of a UEFI HTTP boot, which comes before the order,
	// or empty.
	httpBoot string
}

// decide makes the plan of a machine from what its BMC shows. A forced order is
// the one of a machine that does not do what its BMC says; nil is none.
func decide(config Config, board emulator.SystemChange, forced []Source) plan {
	p := plan{firmware: config.Firmware, secure: board.SecureBoot}
	switch board.BootMode {
	case emulator.BootModeUEFI:
		p.firmware = UEFI
	case emulator.BootModeLegacy:
		p.firmware = BIOS
	}
	if p.firmware == BIOS {
		p.secure = false
	}
	if slot := board.Media[emulator.MediaCd]; slot.Inserted {
		p.medium = slot.Image
	}
	if board.BootDevice == emulator.BootCd && p.medium != "" && p.medium == board.HTTPBootURI && p.firmware == UEFI {
		// The emulator shows an HTTP boot as a CD with the same address.
		p.medium, p.httpBoot = "", board.HTTPBootURI
	}
	if forced != nil {
		p.order, p.httpBoot = slices.Clone(forced), ""
		return p
	}
	if first, ok := sources[board.BootDevice]; ok {
		p.order = append(p.order, first)
	}
	for _, source := range config.Order {
		if !slices.Contains(p.order, source) {
			p.order = append(p.order, source)
		}
	}
	return p
}

// sources are the boot devices as the BMC names them.
var sources = map[emulator.BootDevice]Source{
	emulator.BootHdd: SourceDisk, emulator.BootCd: SourceMedium, emulator.BootPxe: SourceNetwork,
}

// acceptable refuses what this machine's BMC cannot do.
func acceptable(board emulator.SystemChange) error {
	for slot, medium := range board.Media {
		if !medium.Inserted {
			continue
		}
		address, err := url.Parse(medium.Image)
		if err != nil || len(medium.Image) > maxURL || address.Host == "" || address.Scheme != "http" && address.Scheme != "https" {
			return fmt.Errorf("virtual media are read by http and https, from an address of at most %d characters", maxURL)
		}
		if slot != emulator.MediaCd {
			return fmt.Errorf("there is no drive for virtual media in the slot %s, only %s", slot, emulator.MediaCd)
		}
	}
	return nil
}

// state is the machine's power.
type state string

const (
	off state = "off"
	on  state = "on"
	// stopping is on, and asked to switch itself off.
	stopping state = "stopping"
)

// action is what a power request does to the machine.
type action string

const (
	nothing action = "nothing"
	start   action = "start"
	cut     action = "cut"
	// restart is cut and start.
	restart action = "restart"
	// shutdown asks the guest to switch itself off, cycle starts it afterwards.
	shutdown action = "shutdown"
	cycle    action = "shutdown, then start"
	// startLater starts the machine once it has switched itself off.
	startLater action = "start afterwards"
)

// actions holds what each power request does in each state. Both names of a
// request that forces nothing do the same.
var actions = map[emulator.Reset]map[state]action{
	emulator.ResetOn:               {off: start, on: nothing, stopping: startLater},
	emulator.ResetForceOn:          {off: start, on: nothing, stopping: startLater},
	emulator.ResetForceOff:         {off: nothing, on: cut, stopping: cut},
	emulator.ResetGracefulShutdown: {off: nothing, on: shutdown, stopping: nothing},
	emulator.ResetForceRestart:     {off: start, on: restart, stopping: restart},
	emulator.ResetGracefulRestart:  {off: start, on: cycle, stopping: startLater},
}

// end is how a QEMU process came to its end.
type end string

const (
	// endReset is a reset by the guest, endOff its switching off.
	endReset end = "reset by the guest"
	endOff   end = "switched off by the guest"
	// endDied is a QEMU that nobody has asked to end.
	endDied end = "died"
)

// endOf is the end that QEMU's SHUTDOWN event tells with this reason.
func endOf(reason string) end {
	switch reason {
	case "guest-reset":
		return endReset
	default:
		return endOff
	}
}

// String is the plan in one line.
func (p plan) String() string {
	text := fmt.Sprintf("%s, tries %v", p.firmware, p.order)
	if p.secure {
		text += ", secure boot"
	}
	if p.httpBoot != "" {
		text += ", first " + p.httpBoot
	}
	return text
}

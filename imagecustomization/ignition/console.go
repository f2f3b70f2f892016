package ignition

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// kernelConsole is what a console of the kernel is called on its command line.
const kernelConsole = "console="

var (
	// screens are the consoles without settings that coreos-installer knows.
	screens = []string{"tty0", "hvc0", "ttysclp0"}
	// serial is a serial port with speed, parity and data bits.
	serial = regexp.MustCompile(`^(?:ttyS|ttyAMA)([0-9]+)(?:,([0-9]+)(?:[noe][5-8]?)?)?$`)
)

// CheckConsole refuses what coreos-installer would refuse on the machine: it sets up the
// boot loader's console beside the kernel's, so it has to know the device.
func CheckConsole(console string) error {
	if bare, is := strings.CutPrefix(console, kernelConsole); is {
		return fmt.Errorf("%w: console %q: write it without %s: %s", ErrInvalid, console, kernelConsole, bare)
	}
	if slices.Contains(screens, console) {
		return nil
	}
	if m := serial.FindStringSubmatch(console); m != nil && fits(m[1], 8) && fits(m[2], 32) {
		return nil
	}
	return fmt.Errorf("%w: console %q: want one of %s, or a serial port such as ttyS0,115200n8 or ttyAMA0", ErrInvalid, console, strings.Join(screens, ", "))
}

// checkConsoles looks at those of a config of the installer.
func checkConsoles(directives map[string]any) error {
	value, there := directives["console"]
	if !there {
		return nil
	}
	list, is := value.([]any)
	if !is {
		return fmt.Errorf("%w: console: want a list, such as [ttyS0]", ErrInvalid)
	}
	for _, one := range list {
		if err := CheckConsole(fmt.Sprint(one)); err != nil {
			return err
		}
	}
	return nil
}

func fits(number string, bits int) bool {
	_, err := strconv.ParseUint(number, 10, bits)
	return number == "" || err == nil
}

// ConsolesAmong returns the consoles that the kernel arguments name, in their order, where
// all of them are such that the boot loader could be given them as well; else nothing.
func ConsolesAmong(arguments []string) (consoles []string) {
	for _, argument := range arguments {
		console, is := strings.CutPrefix(argument, kernelConsole)
		if !is {
			continue
		}
		if CheckConsole(console) != nil {
			return nil
		}
		consoles = append(consoles, console)
	}
	return consoles
}

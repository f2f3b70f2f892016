package boot

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Machine is a virtual machine with one boot source.
type Machine struct {
	// ARM64 makes it an aarch64 machine, which boots with UEFI from a medium.
	ARM64 bool
	// UEFI boots with this firmware; empty boots with BIOS.
	UEFI string
	// Medium is the CD: a file, or a URL that QEMU reads by ranges, as a BMC with
	// virtual media does. Empty boots from the network.
	Medium string
	// Script is the URL of the iPXE script that DHCP offers, as the guest reaches
	// it; NetworkROM the option ROM that runs it.
	Script, NetworkROM string
	// NICs are the network interfaces, in order. All that are plugged into the
	// same network reach each other; see [NIC].
	NICs []NIC
}

// NIC is a network interface.
type NIC struct {
	// MAC is its address.
	MAC string
	// Network is the number of the network that it is plugged into. Each has a
	// router with DHCP at 10.0.2.2 (network 0), 10.1.2.2 (network 1) and so on,
	// which in network 0 reaches this machine's loopback.
	Network int
}

// memory of the guest in MiB; its initrd and root file system live in it.
const memory = 1024

// bootLimit is how long a boot may take; without hardware virtualization and
// beside other work most of them take one minute or two.
const bootLimit = 9 * time.Minute

// Boot starts the machine, waits until it switches itself off, and returns its
// report. An error holds the end of the console.
func (m Machine) Boot(ctx context.Context) (*Report, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, bootLimit, fmt.Errorf("the guest has not switched itself off within %s", bootLimit))
	defer cancel()
	var console strings.Builder
	program, arguments := "qemu-system-x86_64", m.arguments()
	if m.ARM64 {
		program, arguments = "qemu-system-aarch64", m.armArguments()
	}
	cmd := exec.CommandContext(ctx, program, arguments...)
	cmd.Stdout, cmd.Stderr = &console, &console
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	err := cmd.Run()
	if err != nil {
		err = errors.Join(err, context.Cause(ctx))
	}
	report, unreadable := parseReport(console.String())
	if err = errors.Join(err, unreadable); err != nil {
		return nil, fmt.Errorf("%w; the console ends with:\n%s", err, tail(console.String(), 40))
	}
	return report, nil
}

func (m Machine) arguments() []string {
	args := []string{
		"-M", "q35", "-accel", "tcg", "-smp", "2", "-m", strconv.Itoa(memory), "-nographic", "-no-reboot", "-nodefaults", "-serial", "stdio",
		"-device", "virtio-rng-pci",
	}
	if m.UEFI != "" {
		args = append(args, "-drive", "if=pflash,format=raw,readonly=on,file="+m.UEFI)
	}
	if m.Medium == "" {
		args = append(args, "-boot", "n")
	} else {
		args = append(args, "-boot", "d", "-drive", "if=ide,"+m.drive())
	}
	networks := map[int]bool{}
	for i, nic := range m.NICs {
		hub, port := strconv.Itoa(nic.Network), "port"+strconv.Itoa(i)
		if !networks[nic.Network] {
			networks[nic.Network] = true
			user := fmt.Sprintf("user,id=router%s,net=10.%s.2.0/24", hub, hub)
			if m.Script != "" && nic.Network == 0 {
				user += ",bootfile=" + value(m.Script)
			}
			args = append(args, "-netdev", user, "-netdev", "hubport,id=uplink"+hub+",hubid="+hub+",netdev=router"+hub)
		}
		// Debian's iPXE is for the device's modern id alone.
		device := "virtio-net-pci,disable-legacy=on,netdev=" + port + ",mac=" + nic.MAC
		if m.Medium == "" && i == 0 {
			device += ",bootindex=1,romfile=" + value(m.NetworkROM)
		} else {
			device += ",romfile="
		}
		args = append(args, "-netdev", "hubport,id="+port+",hubid="+hub, "-device", device)
	}
	return args
}

// armArguments are those of a machine without network.
func (m Machine) armArguments() []string {
	return []string{
		"-M", "virt", "-cpu", "cortex-a57", "-accel", "tcg", "-smp", "2", "-m", strconv.Itoa(memory), "-nographic", "-no-reboot", "-nodefaults", "-serial", "stdio",
		"-drive", "if=pflash,format=raw,readonly=on,file=" + m.UEFI,
		"-device", "virtio-scsi-pci", "-device", "scsi-cd,drive=cd,bootindex=0", "-drive", "id=cd,if=none," + m.drive(),
	}
}

// drive is the CD, but for what it is plugged into.
func (m Machine) drive() string {
	const drive = "media=cdrom,readonly=on,format=raw,"
	if strings.Contains(m.Medium, "://") {
		return drive + "file.driver=http,file.url=" + value(m.Medium)
	}
	return drive + "file=" + value(m.Medium)
}

// value writes a value of one of QEMU's comma-separated options.
func value(text string) string { return strings.ReplaceAll(text, ",", ",,") }

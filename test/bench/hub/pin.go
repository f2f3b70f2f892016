package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// pin leaves the hub so many CPUs for itself: this program begins anew on the others, with all that it
// starts beside the hub, and is told which the hub's are.
func pin(cores int) error {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return fmt.Errorf("ask for this program's CPUs: %w", err)
	}
	var cpus []string
	for cpu := range len(set) * strconv.IntSize {
		if set.IsSet(cpu) {
			cpus = append(cpus, strconv.Itoa(cpu))
		}
	}
	if len(cpus) <= cores {
		return fmt.Errorf("this machine has %d CPUs: %d for the hub leave none for the load", len(cpus), cores)
	}
	taskset, err := exec.LookPath("taskset")
	if err != nil {
		return fmt.Errorf("--cores needs taskset, which is part of util-linux: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	args := append([]string{taskset, "-c", strings.Join(cpus[cores:], ","), self}, os.Args[1:]...)
	return syscall.Exec(taskset, append(args, "-hub-cpus", strings.Join(cpus[:cores], ",")), os.Environ()) //nolint:gosec // it is this program
}

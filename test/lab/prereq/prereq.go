// Package prereq checks, before anything is started, that the machine has what
// the lab needs. What is missing is said in one sentence that ends with what to
// do about it. The machine is reached through a [Machine] value only, so that
// every answer can be tested.
package prereq

import (
	"context"
	"errors"
	"fmt"
)

// Needs says what the parts to be started will use.
type Needs struct {
	// Go is needed to build the control plane.
	Go bool
	// Python is needed to run Ironic and the BMCs.
	Python bool
	// CacheDir is where builds are kept, StateDir where the lab runs. Empty
	// means that the part is not used.
	CacheDir, StateDir string
	// Cold says that the cache has still to be filled.
	Cold bool
	// Ports are fixed ports on 127.0.0.1 that a part was told to listen on.
	Ports []int
}

// Limits of what is enough.
const (
	// coldSpace is for the modules, the compiler's cache, the control plane and two
	// Python environments, with room for what is built meanwhile.
	coldSpace = 6 << 30
	// warmSpace is for what a warm start may still rebuild.
	warmSpace = 1 << 30
	// stateSpace is for etcd's preallocated files, databases and logs.
	stateSpace = 1 << 30
	// openFiles is what kube-apiserver, etcd and fifty simulated machines use, with a margin.
	openFiles = 4096
)

// The oldest versions that the pinned parts run on.
const (
	minGo     = "1.26"
	minPython = "3.11"
)

// Check returns what is missing, one error joined for each, or nil. Raising the
// soft limit of open files is the one thing that it does itself.
func Check(ctx context.Context, needs Needs, machine Machine) error {
	checks := []func(context.Context, Needs, Machine) error{
		checkGo, checkPython, checkFolders, checkSpace, checkFiles, checkPorts,
	}
	var missing []error
	for _, check := range checks {
		missing = append(missing, check(ctx, needs, machine))
	}
	return errors.Join(missing...)
}

// checkGo wants a Go tool chain that can build the control plane.
func checkGo(ctx context.Context, needs Needs, machine Machine) error {
	if !needs.Go {
		return nil
	}
	version, err := machine.GoVersion(ctx)
	if err != nil {
		return fmt.Errorf("the Go tool chain, which builds the control plane, does not run (%w): install Go %s or newer from https://go.dev/dl and put it into PATH", err, minGo)
	}
	if older(version, minGo) {
		return fmt.Errorf("the Go tool chain is version %s: install Go %s or newer from https://go.dev/dl and put it first into PATH", version, minGo)
	}
	return nil
}

// checkPython wants an interpreter that is new enough and can make environments.
func checkPython(ctx context.Context, needs Needs, machine Machine) error {
	if !needs.Python {
		return nil
	}
	_, err := FindPython(ctx, machine)
	return err
}

// checkFolders wants to write into both folders.
func checkFolders(_ context.Context, needs Needs, machine Machine) error {
	var missing []error
	for dir, how := range map[string]string{
		needs.CacheDir: "set IRONFLOW_CACHE to a folder of yours",
		needs.StateDir: "choose another folder of state",
	} {
		if dir == "" {
			continue
		}
		if err := machine.Writable(dir); err != nil {
			missing = append(missing, fmt.Errorf("the folder %s cannot be written to (%w): %s", dir, err, how))
		}
	}
	return errors.Join(missing...)
}

// checkSpace wants room on the disks of both folders.
func checkSpace(_ context.Context, needs Needs, machine Machine) error {
	cacheNeed := uint64(warmSpace)
	if needs.Cold {
		cacheNeed = coldSpace
	}
	return errors.Join(
		checkRoom(machine, needs.CacheDir, cacheNeed, "free some, or set IRONFLOW_CACHE to a folder on another disk"),
		checkRoom(machine, needs.StateDir, stateSpace, "free some, or choose a folder of state on another disk"),
	)
}

// checkRoom wants the number of bytes free on the disk of the folder.
func checkRoom(machine Machine, dir string, want uint64, how string) error {
	if dir == "" {
		return nil
	}
	free, err := machine.FreeSpace(dir)
	if err != nil {
		return fmt.Errorf("the free space of the disk with %s cannot be read (%w): %s", dir, err, how)
	}
	if free < want {
		return fmt.Errorf("the disk with %s has %.1f GB free and the lab needs %.1f GB: %s", dir, gigabytes(free), gigabytes(want), how)
	}
	return nil
}

// checkFiles wants enough file handles for this process and its children.
func checkFiles(_ context.Context, _ Needs, machine Machine) error {
	soft, hard, err := machine.FileLimit()
	switch {
	case err != nil:
		return fmt.Errorf("the limit of open files cannot be read (%w): check it with `ulimit -n`", err)
	case soft >= openFiles:
		return nil
	case hard < openFiles:
		return fmt.Errorf("a process may open %d files at most and the lab needs %d: raise the hard limit (`ulimit -Hn %d` as root, LimitNOFILE= of a service, or /etc/security/limits.conf) and start again", hard, openFiles, openFiles)
	}
	if err := machine.SetFileLimit(hard); err != nil {
		return fmt.Errorf("the limit of open files cannot be raised from %d (%w): run `ulimit -n %d` first", soft, err, openFiles)
	}
	return nil
}

// checkPorts wants the fixed ports to be free.
func checkPorts(_ context.Context, needs Needs, machine Machine) error {
	var missing []error
	for _, port := range needs.Ports {
		if port != 0 {
			missing = append(missing, machine.PortFree(port))
		}
	}
	return errors.Join(missing...)
}

// gigabytes is a number of bytes in units of 2^30.
func gigabytes(bytes uint64) float64 { return float64(bytes) / (1 << 30) }

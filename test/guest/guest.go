// Package guest runs a test binary as the only program of a small virtual
// machine with Debian's kernel, for tests of what the kernel here does not have,
// such as bonds and VLANs. The guest is an initial file system with the binary as
// /init and the modules that it loads; [Init] is what the binary does as that
// first process, [Run] what starts it from outside.
package guest

import (
	"bytes"
	"context"
	"debug/elf"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/ironflow/ironflow/imagecustomization/cpio"
	"github.com/ironflow/ironflow/test/lab/cache"
)

// script fetches kernel and modules; a change fetches them anew.
//
//go:embed make.sh
var script []byte

const (
	// limit bounds a run; without hardware virtualization and beside other work
	// it takes one or two minutes.
	limit = 8 * time.Minute
	// verdict begins the line that tells how the tests ended.
	verdict = "GUEST EXIT "
	// modulesDir and argumentsFile are in the guest's file system.
	modulesDir    = "modules"
	argumentsFile = "arguments"
)

// Run runs the test binary in a guest with the arguments and returns what it
// printed. The error tells that it failed. It needs QEMU, apt and kmod; kernel and
// modules are fetched once and kept in the user's cache.
func Run(ctx context.Context, binary string, args ...string) (string, error) {
	if err := static(binary); err != nil {
		return "", err
	}
	kernel, err := files(ctx)
	if err != nil {
		return "", err
	}
	initrd, err := initialFiles(kernel, binary, args)
	if err != nil {
		return "", err
	}
	defer os.Remove(initrd)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("the guest has not ended within %s", limit))
	defer cancel()
	var console strings.Builder
	// Emulation only: there are machines whose /dev/kvm can be opened and then hangs.
	cmd := exec.CommandContext(ctx, "qemu-system-x86_64", "-M", "q35", "-accel", "tcg", "-smp", "2", "-m", "768",
		"-nographic", "-nodefaults", "-no-reboot", "-serial", "stdio", "-device", "virtio-rng-pci",
		"-kernel", filepath.Join(kernel, "vmlinuz"), "-initrd", initrd, "-append", "console=ttyS0 quiet panic=-1 mitigations=off")
	cmd.Stdout, cmd.Stderr = &console, &console
	err = cmd.Run()
	text := strings.ReplaceAll(console.String(), "\r", "")
	switch {
	case err != nil:
		return text, errors.Join(err, context.Cause(ctx))
	case !strings.Contains(text, verdict+"0\n"):
		return text, errors.New("the tests failed in the guest")
	}
	return text, nil
}

// static refuses a binary that needs a loader, which the guest does not have.
func static(binary string) error {
	f, err := elf.Open(binary)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return errors.New("the test binary is not static: build it with CGO_ENABLED=0, as make does")
		}
	}
	return nil
}

// files returns the folder with the kernel and its modules.
func files(ctx context.Context) (string, error) {
	root, err := cache.DefaultDir()
	if err != nil {
		return "", err
	}
	return cache.Entry{Dir: root, Name: "netns-guest", Key: cache.Key(script)}.Get(ctx, nil, func(ctx context.Context, dir string) error {
		var out bytes.Buffer
		cmd := exec.CommandContext(ctx, "bash", "-s", dir)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(script), &out, &out
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("fetch a kernel: %w: %s", err, out.String())
		}
		return nil
	})
}

// initialFiles packs the guest's file system.
func initialFiles(kernel, binary string, args []string) (string, error) {
	f, err := os.CreateTemp("", "ironflow-guest-*.cpio")
	if err != nil {
		return "", err
	}
	w := cpio.NewWriter(f)
	add := func(name string, perm uint32, from string) error {
		raw, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		return w.File(name, perm, raw)
	}
	modules, err := filepath.Glob(filepath.Join(kernel, modulesDir, "*.ko"))
	if err == nil {
		err = add("init", 0o755, binary)
	}
	for _, module := range modules {
		err = errors.Join(err, add(filepath.Join(modulesDir, filepath.Base(module)), 0o644, module))
	}
	err = errors.Join(err, w.File(argumentsFile, 0o644, []byte(strings.Join(args, "\n"))), w.Close(), f.Close())
	if err != nil {
		_ = os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

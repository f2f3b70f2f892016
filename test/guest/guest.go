// Package guest runs a test binary as the only program of a small virtual
// machine with Debian's kernel, for tests of what the kernel here does not have,
// such as bonds, VLANs and device-mapper. The guest is an initial file system
// with the binary as /init and the modules that it loads; [Guest.Run] starts it
// from outside, [Init] is what the binary does as that first process.
package guest

import (
	"bytes"
	"cmp"
	"context"
	"debug/elf"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ironflow/ironflow/test/lab/cache"
	"github.com/ironflow/ironflow/test/needs"
)

// script fetches kernel and modules; a change fetches them anew.
//
//go:embed make.sh
var script []byte

const (
	// limit bounds a run; without hardware virtualization and beside other work
	// most take one or two minutes.
	limit = 20 * time.Minute
	// verdict begins the line that tells how the tests ended.
	verdict = "GUEST EXIT "
	// tag is the name of the shared files on the guest's bus.
	tag = "computer"
	// memory of the guest in MiB, unless told.
	memory = 768
)

// Guest is a virtual machine that runs a test binary.
type Guest struct {
	// Args are the arguments of the test binary, such as -test.run.
	Args []string
	// Env are more environment variables, NAME=value.
	Env []string
	// Files lets the guest see this computer's files as its own, with this test's
	// working directory, PATH and HOME. What it writes is gone with it. Without,
	// it has nothing but the test binary.
	Files bool
	// Console, if set, gets what the guest prints as it comes.
	Console io.Writer
	// MemoryMiB is its memory, which also holds what it writes; 0 means 768.
	MemoryMiB int
}

// Need skips the test where no guest can be run, and says why.
func Need(t *testing.T) {
	t.Helper()
	needs.Program(t, "qemu-system-x86_64", "qemu-system-x86")
	needs.Program(t, "modprobe", "kmod")
}

// Run runs this test binary in the guest and returns what it printed. The error
// tells that it failed. It needs QEMU, apt and kmod; kernel and modules are
// fetched once and kept in the user's cache.
func (m Guest) Run(ctx context.Context) (string, error) {
	binary, err := os.Executable()
	if err != nil {
		return "", err
	}
	if err := static(binary); err != nil {
		return "", err
	}
	kernel, err := files(ctx)
	if err != nil {
		return "", err
	}
	initrd, err := m.initialFiles(kernel, binary)
	if err != nil {
		return "", err
	}
	defer os.Remove(initrd)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("the guest has not ended within %s", limit))
	defer cancel()
	var console strings.Builder
	cmd := exec.CommandContext(ctx, "qemu-system-x86_64", m.arguments(kernel, initrd)...)
	cmd.Stdout = &console
	if m.Console != nil {
		cmd.Stdout = io.MultiWriter(&console, m.Console)
	}
	cmd.Stderr = cmd.Stdout
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
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

func (m Guest) arguments(kernel, initrd string) []string {
	args := []string{
		// Emulation only: there are machines whose /dev/kvm can be opened and then hangs.
		"-M", "q35", "-accel", "tcg", "-smp", "2", "-m", strconv.Itoa(cmp.Or(m.MemoryMiB, memory)),
		"-nographic", "-nodefaults", "-no-reboot", "-serial", "stdio", "-device", "virtio-rng-pci",
		"-kernel", filepath.Join(kernel, "vmlinuz"), "-initrd", initrd, "-append", "console=ttyS0 quiet panic=-1 mitigations=off",
	}
	if m.Files {
		args = append(args, "-fsdev", "local,id="+tag+",path=/,security_model=none,readonly=on,multidevs=remap", "-device", "virtio-9p-pci,fsdev="+tag+",mount_tag="+tag)
	}
	return args
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
	return cache.Entry{Dir: root, Name: "test-guest", Key: cache.Key(script)}.Get(ctx, nil, func(ctx context.Context, dir string) error {
		var out bytes.Buffer
		cmd := exec.CommandContext(ctx, "bash", "-s", dir)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(script), &out, &out
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("fetch a kernel: %w: %s", err, out.String())
		}
		return nil
	})
}

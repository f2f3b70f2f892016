package systemdtest

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/test/systemd/booted"
)

//go:embed node.sh
var nodeScript string

// join puts process 1 into its cgroups of version 1, before a namespace hides their places.
const join = `for group in $GROUPS; do echo 0 >"$group/cgroup.procs"; done; exec unshare --cgroup sh -c "$NODE" "$@"`

// Node is a machine that runs containers: its root file system is a given one, which it
// changes on a disk of its own, and a configuration is applied to it by the real Ignition.
type Node struct {
	// Root is the root file system; it stays as it is.
	Root string
	// Disk is the folder of what the machine writes, on a file system that is none of overlays.
	// A machine that is booted with it once more goes on with it.
	Disk string
	// Ignition is the path of that program, Config that of the configuration, which is applied
	// before the first boot.
	Ignition, Config string
	// Plug gives the machine its network, before systemd starts.
	Plug func(*Machine) error
}

// controllers are those of cgroups without which no kubelet starts.
var controllers = []string{"cpu", "cpuset", "memory", "pids"}

// NeedNode skips the test where no node of a Kubernetes can run, and says what the kernel
// lacks.
func NeedNode(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("a real systemd is no unit test")
	}
	if os.Geteuid() != 0 {
		missing(t, "a real systemd needs root: run this test as root")
	}
	if lacks := nodeLacks(); len(lacks) > 0 {
		missing(t, "this kernel runs no node of a Kubernetes: it has no "+strings.Join(lacks, ", no "))
	}
}

// nodeLacks is what the kernel has not.
func nodeLacks() (lacks []string) {
	have := version2()
	for _, h := range hierarchies() {
		have = append(have, strings.Split(h.options, ",")...)
	}
	for _, c := range controllers {
		if !slices.Contains(have, c) {
			lacks = append(lacks, "controller "+c+" of cgroups")
		}
	}
	for what, path := range map[string]string{"br_netfilter": "/proc/sys/net/bridge/bridge-nf-call-iptables", "/dev/kmsg": "/dev/kmsg", "nf_conntrack": "/proc/sys/net/netfilter/nf_conntrack_max"} {
		if _, err := os.Stat(path); err != nil {
			lacks = append(lacks, what)
		}
	}
	if raw, _ := os.ReadFile("/proc/filesystems"); !strings.Contains(string(raw), "\toverlay\n") {
		lacks = append(lacks, "overlayfs")
	}
	slices.Sort(lacks)
	return lacks
}

// CgroupV1 tells that the kernel's controllers are those of cgroups of version 1, which a
// kubelet takes only when it is told to.
func CgroupV1() bool { return len(hierarchies()) > 0 }

// hierarchy is one of cgroups of version 1 as this computer has it.
type hierarchy struct{ folder, options string }

// hierarchies are those with controllers, and systemd's.
func hierarchies() (all []hierarchy) {
	raw, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return nil
	}
	generic := []string{"rw", "ro", "nosuid", "nodev", "noexec", "relatime", "xattr", "clone_children", "noprefix"}
	for line := range strings.Lines(string(raw)) {
		fields := strings.Fields(line)
		if len(fields) < 4 || fields[2] != "cgroup" {
			continue
		}
		options := slices.DeleteFunc(strings.Split(fields[3], ","), func(o string) bool {
			return slices.Contains(generic, o) || strings.HasPrefix(o, "release_agent=")
		})
		all = append(all, hierarchy{fields[1], strings.Join(options, ",")})
	}
	return all
}

// version2 are the controllers of cgroups of version 2.
func version2() []string {
	raw, _ := os.ReadFile(filepath.Join(booted.Cgroup2(), "cgroup.controllers"))
	return strings.Fields(string(raw))
}

// BootNode boots the machine, which ends with the test or with [Machine.Kill]. It returns as
// soon as systemd answers; what the configuration has it do goes on.
func BootNode(t testing.TB, n Node) *Machine {
	t.Helper()
	NeedNode(t)
	id := uuid.NewString()
	scratch := t.TempDir()
	bootID, plugged := filepath.Join(scratch, "boot_id"), filepath.Join(scratch, "plugged")
	console, err := os.Create(filepath.Join(scratch, "console"))
	if err := errors.Join(err, os.WriteFile(bootID, []byte(id+"\n"), 0o644), os.MkdirAll(n.Disk, 0o755)); err != nil {
		t.Fatal(err)
	}
	defer console.Close()
	said := func() string {
		raw, _ := os.ReadFile(console.Name())
		return string(raw)
	}
	all := hierarchies()
	for _, c := range controllers { // a computer without systemd may not have them for anybody
		_ = os.WriteFile(filepath.Join(booted.Cgroup2(), "cgroup.subtree_control"), []byte("+"+c), 0o644)
	}
	group := newCgroup(t, booted.Cgroup2())
	env := append(os.Environ(), "NODE="+nodeScript)
	var groups, mounts []string
	for _, h := range all {
		groups = append(groups, newCgroup(t, h.folder))
		mounts = append(mounts, filepath.Base(h.folder)+"="+h.options)
	}
	cmd := exec.CommandContext(context.Background(), "sh", "-c", join, "join", "node", n.Root, n.Disk, bootID, n.Ignition, n.Config, plugged)
	cmd.Env = slices.Concat(env, []string{"GROUPS=" + strings.Join(groups, " "), "HIERARCHIES=" + strings.Join(mounts, " ")})
	cmd.Stdout, cmd.Stderr = console, console
	launched, err := booted.Launch(cmd, group)
	if err != nil {
		t.Fatal(err)
	}
	launched.BootID = id
	m := closes(t, launched)
	if err := n.Plug(m); err != nil {
		t.Fatalf("the network of the machine: %v\n%s", err, said())
	}
	if err := os.WriteFile(plugged, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := m.awaitStart(t.Context()); err != nil {
		t.Fatalf("systemd did not come up: %v\n%s", err, said())
	}
	return m
}

// newCgroup makes one that goes with the test. One of cpusets has all that its parent has.
func newCgroup(t testing.TB, parent string) string {
	t.Helper()
	group, err := os.MkdirTemp(parent, "ironflow-test-") //nolint:usetesting // a cgroup, not a folder for files
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := booted.RemoveCgroup(group); err != nil {
			t.Error(err)
		}
	})
	for _, name := range []string{"cpuset.cpus", "cpuset.mems"} {
		raw, err := os.ReadFile(filepath.Join(parent, name))
		if err != nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(group, name), raw, 0o600); err != nil { //nolint:gosec // a file of the kernel
			t.Fatal(err)
		}
	}
	return group
}

// awaitStart waits until systemd answers, however far its boot is.
func (m *Machine) awaitStart(ctx context.Context) error {
	ctx, done := context.WithTimeout(ctx, booted.BootTime)
	defer done()
	for {
		out, err := m.Command(ctx, "systemctl", "is-system-running").CombinedOutput()
		switch state := strings.TrimSpace(string(out)); state {
		case "starting", "running", "degraded":
			return nil
		default:
			if ctx.Err() != nil {
				return fmt.Errorf("%w: %s: %w", ctx.Err(), state, err)
			}
			if _, err := os.Stat(m.Network()); err != nil {
				return errors.New("its first process has ended")
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
}

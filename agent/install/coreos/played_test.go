package coreos_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/agent/install"
	"github.com/ironflow/ironflow/agent/install/coreos"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/systemd"
	"github.com/ironflow/ironflow/hub/wire"
)

const id = "11111111-1111-4111-8111-111111111111"

// host is a machine whose programs, hub and systemd the test plays.
type host struct {
	dir hostfile.Dir
	// trees are lsblk's answers by disk.
	trees map[string]string
	// answers are what other programs write, by the beginning of their command line.
	answers map[string]string
	// fails are the programs that end with status 1, by the beginning of their command line.
	fails []string
	// hangs are those that do not end by themselves.
	hangs []string
	// install, if set, plays coreos-installer.
	install func(ctx context.Context, try int, out io.Writer) error
	// resolve, if set, says which device a name of the order is now.
	resolve func(name string) (string, error)

	ignition func() ([]byte, error)
	hosts    func() ([]wire.Host, error)
	unit     systemd.Properties
	unitErr  error
	reboots  []time.Duration

	mu  sync.Mutex
	ran []string
	env []string
}

const emptyDisk = `{"blockdevices": [{"path": "/dev/sda", "type": "disk", "fstype": null}]}`

func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{
		dir: hostfile.Dir{Root: t.TempDir()}, trees: map[string]string{"/dev/sda": emptyDisk}, answers: map[string]string{},
		ignition: func() ([]byte, error) { return []byte(`{"ignition": {"version": "3.4.0"}}`), nil },
	}
	h.write(t, hostfile.BootIDPath(), "boot-1\n")
	h.write(t, "/proc/1/mountinfo", "22 1 0:21 / /run rw shared:2 - tmpfs tmpfs rw\n")
	return h
}

func (h *host) write(t *testing.T, path, text string) {
	t.Helper()
	path = h.dir.Path(path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Run implements command.Runner.
func (h *host) Run(ctx context.Context, c command.Command) error {
	line := strings.Join(append([]string{c.Name}, c.Args...), " ")
	h.mu.Lock()
	h.ran = append(h.ran, line)
	tries := len(slices.DeleteFunc(slices.Clone(h.ran), func(l string) bool { return !strings.HasPrefix(l, "coreos-installer install") }))
	if tries > 0 && h.env == nil {
		h.env = c.Env
	}
	h.mu.Unlock()
	if slices.ContainsFunc(h.fails, func(prefix string) bool { return strings.HasPrefix(line, prefix) }) {
		fmt.Fprintln(c.Stderr, "device or resource busy")
		return &command.ExitError{Name: c.Name, Code: 1, Last: "device or resource busy"}
	}
	if slices.ContainsFunc(h.hangs, func(prefix string) bool { return strings.HasPrefix(line, prefix) }) {
		<-ctx.Done()
		return fmt.Errorf("%s: %w", c.Name, context.Cause(ctx))
	}
	for prefix, answer := range h.answers {
		if strings.HasPrefix(line, prefix) {
			fmt.Fprintln(c.Stdout, answer)
			return nil
		}
	}
	switch {
	case c.Name == "lsblk":
		fmt.Fprintln(c.Stdout, h.trees[c.Args[len(c.Args)-1]])
	case strings.HasPrefix(line, "coreos-installer install") && h.install != nil:
		return h.install(ctx, tries, c.Stderr)
	}
	return nil
}

// changes are the command lines that change something.
func (h *host) changes() []string {
	return slices.DeleteFunc(slices.Clone(h.ran), func(line string) bool {
		return strings.HasPrefix(line, "lsblk") || strings.HasPrefix(line, "lvm pvs") || strings.HasSuffix(line, "--version")
	})
}

func (h *host) HostIgnition(context.Context, hubclient.Host) ([]byte, error) { return h.ignition() }

func (h *host) ClusterFile(context.Context, string, string) ([]byte, error) {
	return nil, &hubclient.StatusError{Code: 409}
}

func (h *host) ClusterHosts(context.Context, string) ([]wire.Host, error) { return h.hosts() }

func (h *host) Unit(context.Context, string) (systemd.Properties, error) { return h.unit, h.unitErr }

func (h *host) Reboot(_ context.Context, delay time.Duration) error {
	h.reboots = append(h.reboots, delay)
	return nil
}

func (h *host) installer() *coreos.Installer {
	return &coreos.Installer{Dir: h.dir, Commands: h, Hub: h, Units: h, Resolve: h.device, Log: slog.New(slog.DiscardHandler)}
}

// device plays the links of the host: the order's disk is sda.
func (h *host) device(name string) (string, error) {
	if h.resolve != nil {
		return h.resolve(name)
	}
	if strings.HasPrefix(name, "/dev/disk/") {
		return "/dev/sda", nil
	}
	return name, nil
}

func order(change func(*wire.InstallCmdRequest)) install.Job {
	request := wire.InstallCmdRequest{ClusterID: id, InfraEnvID: id, HostID: id, Role: wire.HostRoleMaster, BootDevice: "/dev/disk/by-id/wwn-0x1"}
	if change != nil {
		change(&request)
	}
	return install.Job{Request: request, Disk: "/dev/sda"}
}

// run does the tasks of the order one after the other, in an order that the graph allows.
func (h *host) run(ctx context.Context, job install.Job) error {
	tasks, err := h.installer().Tasks(ctx, job)
	if err != nil {
		return err
	}
	for done := map[string]bool{}; len(done) < len(tasks); {
		for _, t := range tasks {
			if done[t.Name] || slices.ContainsFunc(t.After, func(name string) bool { return !done[name] }) {
				continue
			}
			if err := t.Run(ctx, func(int, string) {}); err != nil {
				return fmt.Errorf("%s: %w", t.Name, err)
			}
			done[t.Name] = true
		}
	}
	return nil
}

package coreos_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/agent/install"
	"github.com/ironflow/ironflow/agent/install/coreos"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/systemd"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/played"
)

const id = "11111111-1111-4111-8111-111111111111"

// host is a machine whose programs, hub and systemd the test plays.
type host struct {
	played.Programs
	dir hostfile.Dir
	// trees are lsblk's answers by disk.
	trees map[string]string
	// resolve, if set, says which device a name of the order is now.
	resolve func(name string) (string, error)

	ignition func() ([]byte, error)
	hosts    func() ([]wire.Host, error)
	unit     systemd.Properties
	unitErr  error
	reboots  []time.Duration
}

const emptyDisk = `{"blockdevices": [{"path": "/dev/sda", "type": "disk", "fstype": null}]}`

func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{
		dir: hostfile.Dir{Root: t.TempDir()}, trees: map[string]string{"/dev/sda": emptyDisk},
		ignition: func() ([]byte, error) { return []byte(`{"ignition": {"version": "3.4.0"}}`), nil },
	}
	h.On("lsblk", func(ctx context.Context, c command.Command) error {
		return played.Says(h.trees[c.Args[len(c.Args)-1]])(ctx, c)
	})
	h.write(t, hostfile.BootIDPath(), "boot-1\n")
	h.write(t, "/proc/1/mountinfo", "22 1 0:21 / /run rw shared:2 - tmpfs tmpfs rw\n")
	return h
}

func (h *host) write(t *testing.T, path, text string) {
	t.Helper()
	played.Write(t, h.dir, path, text)
}

// fail makes programs fail, by the beginning of their command line.
func (h *host) fail(prefixes ...string) {
	for _, prefix := range prefixes {
		h.On(prefix, played.Fails(1, "device or resource busy"))
	}
}

// changes are the command lines that change something.
func (h *host) changes() []string {
	return slices.DeleteFunc(h.Lines(), func(line string) bool {
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

// run does the tasks of the order.
func (h *host) run(ctx context.Context, job install.Job) error {
	tasks, err := h.installer().Tasks(ctx, job)
	if err != nil {
		return err
	}
	return inTurn(ctx, tasks)
}

// inTurn does the tasks one after the other, in an order that their graph allows.
func inTurn(ctx context.Context, tasks []install.Task) error {
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

package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/agent/install/effect"
	"github.com/ironflow/ironflow/agent/service"
	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/systemd"
	"github.com/ironflow/ironflow/hub/wire"
)

// What the child of the test is told.
const (
	killEnv  = "IRONFLOW_TEST_KILL_AT"
	hubEnv   = "IRONFLOW_TEST_HUB"
	childEnv = "IRONFLOW_TEST_CHILD_ROOT"
)

// The child's records, below its root.
const (
	ranFile    = "/ran"
	pointsFile = "/points"
)

// installingChild is the agent outside of any dry run, in a process of its own
// that can be killed. Only programs and systemd are played: they write down what
// they are asked for.
func installingChild(root string) int {
	dir := hostfile.Dir{Root: root}
	programs := childHost{dir}
	kill := os.Getenv(killEnv)
	return service.Run(context.Background(), service.Config{
		URL: os.Getenv(hubEnv), InfraEnvID: infraEnv, AgentVersion: image, Interval: time.Second, Dir: dir,
		Commands: programs, Units: programs,
		FaultPoint: func(point string) {
			programs.note(pointsFile, point)
			if point == kill {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
		},
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil)), OwnLog: func() []byte { return nil },
	})
}

// childHost plays the programs and the systemd of the child's host.
type childHost struct{ dir hostfile.Dir }

func (p childHost) note(file, line string) {
	f, err := os.OpenFile(p.dir.Path(file), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	fmt.Fprintln(f, line)
}

func (p childHost) Run(_ context.Context, c command.Command) error {
	line := strings.Join(append([]string{c.Name}, c.Args...), " ")
	p.note(ranFile, line)
	answer := ""
	switch {
	case strings.HasPrefix(line, "lsblk") && strings.Contains(line, "FSTYPE"):
		answer = `{"blockdevices": [{"path": "/dev/sda", "type": "disk", "fstype": null, "children": [
			{"path": "/dev/sda1", "type": "part", "fstype": "linux_raid_member", "children": [{"path": "/dev/md0", "type": "raid1", "fstype": "LVM2_member"}]}]}]}`
	case strings.HasPrefix(line, "lsblk"):
		answer = `{"blockdevices": [{"path": "/dev/sda", "children": [{"path": "/dev/sda2", "parttype": "c12a7328-f81f-11d2-ba4b-00a0c93ec93b", "partuuid": "11111111-0000-0000-0000-000000000001"}]}]}`
	case strings.HasPrefix(line, "lvm pvs"):
		answer = "vg0"
	case strings.HasPrefix(line, "mount "):
		return os.MkdirAll(p.dir.Path(hostfile.RunDir+"/esp/EFI/BOOT/BOOTX64.EFI"), 0o755)
	case strings.HasPrefix(line, "umount "):
		return os.RemoveAll(p.dir.Path(hostfile.RunDir + "/esp/EFI"))
	case strings.HasPrefix(line, "coreos-installer install"):
		answer = "> Read disk 1.0 GiB/1.0 GiB (100%)"
	}
	if c.Stdout != nil {
		fmt.Fprintln(c.Stdout, answer)
	}
	return nil
}

func (p childHost) Unit(_ context.Context, name string) (systemd.Properties, error) {
	if name != hostfile.IPAUnit {
		return systemd.Properties{LoadState: "loaded", ActiveState: "inactive"}, nil
	}
	return systemd.Properties{LoadState: "not-found", ActiveState: "inactive"}, nil
}

// Start plays the bootstrap services: bootkube has done its work at once.
func (p childHost) Start(_ context.Context, name string) (string, error) {
	p.note(ranFile, "start "+name)
	done := p.dir.Path("/opt/openshift/.bootkube.done")
	if err := os.MkdirAll(filepath.Dir(done), 0o755); err != nil {
		return "", err
	}
	if name != "progress.service" {
		return systemd.JobDone, nil
	}
	return systemd.JobDone, errors.Join(os.WriteFile(done, nil, 0o600),
		os.WriteFile(p.dir.Path("/opt/openshift/master.ign"), []byte(`{"ignition": {"version": "3.4.0"}}`), 0o600))
}

func (p childHost) SetHostname(context.Context, string) error       { return nil }
func (p childHost) Restart(context.Context, string) (string, error) { return systemd.JobDone, nil }
func (p childHost) Reload(context.Context) error                    { return nil }

func (p childHost) Reboot(context.Context, time.Duration) error {
	p.note(ranFile, "reboot")
	return nil
}

// bootOrder is the firmware's variable; the host has no entry yet.
const bootOrder = "/sys/firmware/efi/efivars/BootOrder-8be4df61-93ca-11d2-aa0d-00e098032b8c"

// victim is the host of one case, and the parent's side of its child.
type victim struct {
	g   *WithT
	t   *testing.T
	dir hostfile.Dir
	hub string
}

// newVictim makes the host's files: a disk, a firmware with a boot menu, nothing else.
func newVictim(t *testing.T, request wire.InstallCmdRequest) *victim {
	v := &victim{g: NewWithT(t), t: t, dir: hostfile.Dir{Root: t.TempDir()}}
	for path, text := range map[string]string{
		hostfile.BootIDPath(): bootID + "\n", "/proc/1/mountinfo": "", "/sys/class/block/sda2/partition": "2\n",
		"/sys/class/block/sda2/start": "2048\n", "/sys/class/block/sda2/size": "260096\n", "/sys/class/block/sda/queue/logical_block_size": "512\n",
		"/sys/class/dmi/id/board_serial": "SER-1\n", bootOrder: "\x07\x00\x00\x00", "/dev/x": "",
		"/proc/sys/kernel/hostname": "localhost\n", "/usr/local/share/assisted-service/assisted-service.env": "INFRA_ENV_ID=" + infraEnv + "\n",
	} {
		v.g.Expect(os.MkdirAll(filepath.Dir(v.dir.Path(path)), 0o755)).To(Succeed())
		v.g.Expect(os.WriteFile(v.dir.Path(path), []byte(text), 0o600)).To(Succeed())
	}
	v.g.Expect(unix.Mknod(v.dir.Path("/dev/sda"), unix.S_IFBLK|0o600, int(unix.Mkdev(7, 255)))).To(Succeed()) // a node only: nobody opens it
	h := newHub(t, func(h *hub) wire.Steps {
		request.HostID = h.host
		raw, _ := json.Marshal(request)
		return instructions(1, step(wire.StepTypeInstall, string(raw)))
	})
	v.hub = serveInstall(t, h)
	return v
}

// serveInstall is the hub of these tests with the host's Ignition.
func serveInstall(t *testing.T, h *hub) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/downloads/ignition"):
			_, _ = io.WriteString(w, `{"ignition": {"version": "3.4.0"}}`)
		case r.URL.Query().Get("file_name") == "bootstrap.ign":
			_, _ = io.WriteString(w, `{"ignition": {"version": "3.2.0"}, "storage": {"files": [{"path": "/root/.docker/config.json", "contents": {"source": "data:,{}"}}]}}`)
		default:
			h.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// run runs the child, which dies at the point unless that is empty, and returns
// its exit code (-1 for a signal) and its log.
func (v *victim) run(killAt string) (int, string) {
	v.t.Helper()
	cmd := exec.CommandContext(v.t.Context(), os.Args[0])
	cmd.Env = []string{childEnv + "=" + v.dir.Root, hubEnv + "=" + v.hub, killEnv + "=" + killAt, "INVOCATION_ID=0123456789abcdef0123456789abcdef"}
	var log strings.Builder
	cmd.Stderr = &log
	_ = cmd.Run()
	return cmd.ProcessState.ExitCode(), log.String()
}

func (v *victim) lines(file string) []string {
	raw, err := os.ReadFile(v.dir.Path(file))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(raw)), "\n")
}

// writers are the programs that write disks.
func writers(ran []string) []string {
	return slices.DeleteFunc(slices.Clone(ran), func(line string) bool {
		name, _, _ := strings.Cut(line, " ")
		return !slices.Contains([]string{"wipefs", "mdadm", "coreos-installer"}, name) && !strings.HasPrefix(line, "lvm pvremove") || strings.HasSuffix(line, "--version")
	})
}

// TestKilledAtEachEffect kills the agent right before and right after each thing
// that an installation changes, and starts it again: it goes on to the same disk,
// writes nothing once the done marker is there, and says what it found.
func TestKilledAtEachEffect(t *testing.T) {
	if testing.Short() {
		t.Skip("many processes are no unit test")
	}
	if os.Geteuid() != 0 {
		t.Skip("the node of a block device needs root")
	}

	var mu sync.Mutex
	verdicts := map[string]string{}
	t.Run("at", func(t *testing.T) {
		for name, request := range orders() {
			whole := newVictim(t, request)
			code, log := whole.run("")
			whole.g.Expect(code).To(Equal(exitcode.AgentInstalled), log)
			for _, point := range slices.Compact(slices.Sorted(slices.Values(whole.lines(pointsFile)))) {
				t.Run(name+" "+point, func(t *testing.T) {
					t.Parallel() // most of the time is waiting between polls
					verdict := killedAt(t, request, point)
					mu.Lock()
					defer mu.Unlock()
					verdicts[point] = verdict
				})
			}
		}
	})
	for _, row := range effect.Table() {
		if row.Name != effect.ReportOtherHost { // needs a temporary control plane
			NewWithT(t).Expect(verdicts).To(HaveKey("before "+string(row.Name)), "no run comes by this effect")
		}
	}
	var table strings.Builder
	for _, row := range effect.Table() {
		for _, when := range []string{"before ", "after "} {
			if verdict, ok := verdicts[when+string(row.Name)]; ok {
				fmt.Fprintf(&table, "%-28s %-70s %s\n", when+string(row.Name), row.Changes, verdict)
			}
		}
	}
	t.Logf("the agent was killed at each of these, and started again:\n%s", table.String())
}

// orders are one for a plain host and one for a single node, which is its own
// bootstrap host.
func orders() map[string]wire.InstallCmdRequest {
	master := wire.InstallCmdRequest{
		ClusterID: cluster, InfraEnvID: infraEnv, Role: wire.HostRoleMaster, BootDevice: "/dev/sda", ControllerImage: image, InstallerImage: image,
	}
	single := master
	single.Role, single.ControlPlaneCount, single.OpenshiftVersion, single.McoImage = wire.HostRoleBootstrap, 1, "4.20.1", image
	return map[string]wire.InstallCmdRequest{"master": master, "single node": single}
}

// killedAt is one case; it returns what the second process found and did.
func killedAt(t *testing.T, request wire.InstallCmdRequest, point string) string {
	v := newVictim(t, request)
	g := v.g
	code, log := v.run(point)
	g.Expect(code).To(Equal(-1), "the agent is killed: %s", log)
	marked := v.dir.Read(hostfile.InstalledFile, &hostfile.Installed{}) == nil
	g.Expect(marked).To(Equal(point == "after write-end" || strings.HasSuffix(point, " reboot")), "the marker is there from its effect on")
	before := len(v.lines(ranFile))

	code, log = v.run("")
	g.Expect(code).To(Equal(exitcode.AgentInstalled), log)
	g.Expect(v.dir.Read(hostfile.InstalledFile, &hostfile.Installed{})).To(Succeed())
	again := v.lines(ranFile)[before:]
	g.Expect(again).To(ContainElement("reboot"))
	for _, line := range writers(v.lines(ranFile)) {
		device := line[strings.LastIndex(line, " ")+1:]
		g.Expect([]string{"/dev/sda", "/dev/sda1", "/dev/md0"}).To(ContainElement(device), "only what the order names is written")
	}
	name := strings.SplitN(point, " ", 2)[1]
	g.Expect(log).To(ContainSubstring("begun "+name), "it says what it found")
	if marked {
		g.Expect(writers(again)).To(BeEmpty(), "nothing is written after the marker")
		g.Expect(log).To(ContainSubstring("an earlier process has installed this host"))
		return "marker found: nothing written, restart asked for"
	}
	g.Expect(writers(again)).To(ContainElement(And(HavePrefix("coreos-installer install"), HaveSuffix(" /dev/sda"))))
	g.Expect(log).To(ContainSubstring("attempt=2"))
	g.Expect(v.dir.Path(bootOrder)).To(BeAnExistingFile())
	g.Expect(os.ReadFile(v.dir.Path(bootOrder))).To(HaveLen(6), "one entry, however often it was made")
	return "no marker: the same disk written again, then installed"
}

// TestEveryEffectOfAnInstallationIsNamed compares the record that an installation
// leaves with the table.
func TestEveryEffectOfAnInstallationIsNamed(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("the node of a block device needs root")
	}
	v := newVictim(t, orders()["master"])
	code, log := v.run("")
	v.g.Expect(code).To(Equal(exitcode.AgentInstalled), log)
	raw, err := os.ReadFile(v.dir.Path("/run/ironflow/agent.json"))
	v.g.Expect(err).NotTo(HaveOccurred())
	var kept struct {
		Install struct {
			Disk    string `json:"disk"`
			Effects []struct {
				Name, Target string
				Done         bool
			} `json:"effects"`
		} `json:"install"`
	}
	v.g.Expect(json.Unmarshal(raw, &kept)).To(Succeed())
	v.g.Expect(kept.Install.Disk).To(Equal("/dev/sda"))
	var names []string
	for _, e := range kept.Install.Effects {
		v.g.Expect(e.Done).To(BeTrue(), e.Name)
		names = append(names, e.Name)
	}
	v.g.Expect(names).To(ContainElements(
		"remove-volume-group", "stop-raid", "zero-raid-member", "wipe-signatures", "keep-ignition", "write-image", "rescan-disk", "boot-entry", "send-logs",
		"leave-record", "write-end", "reboot",
	))
}

package service_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/agent/service"
	"github.com/ironflow/ironflow/agent/state"
	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/played"
)

// engine plays podman with one installer, which ends when the test says how.
type engine struct {
	childHost
	ends chan string // its exit status
	pull error
	// pulled is what happens while the image is pulled; absent says that there is no container yet.
	pulled func()
	absent bool

	mu    sync.Mutex
	ran   []string
	lines []string
}

func (e *engine) Run(ctx context.Context, c command.Command) error {
	if c.Name != "podman" {
		return e.childHost.Run(ctx, c)
	}
	e.mu.Lock()
	e.ran, e.lines = append(e.ran, c.Args[0]), append(e.lines, strings.Join(c.Args, " "))
	e.mu.Unlock()
	switch c.Args[0] {
	case "pull":
		if e.pulled != nil {
			e.pulled()
		}
		return e.pull
	case "container":
		if c.Args[1] == "exists" && e.absent {
			return &command.ExitError{Name: "podman", Code: 1}
		}
	case "stop": // the one who waits for it hears of it first
		select {
		case e.ends <- "137":
		case <-time.After(200 * time.Millisecond):
		}
		select { // podman itself ends a moment later
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
	case "wait":
		select {
		case code := <-e.ends:
			fmt.Fprintln(c.Stdout, code)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func (e *engine) count(what string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(slices.DeleteFunc(slices.Clone(e.ran), func(r string) bool { return r != what }))
}

// TestAForeignHubsInstaller: the order names an image that is not ours.
func TestAForeignHubsInstaller(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("the node of a block device needs root")
	}
	for name, tc := range map[string]struct {
		pull    error
		during  func(e *engine, stop context.CancelFunc)
		exit    int
		reason  string
		reply   int64 // of the hub's repeated orders, besides 125
		stopped int
		away    bool // the hub dies while it works
	}{
		"the hub dies, it ends well": {
			during: func(e *engine, _ context.CancelFunc) { e.ends <- "0" }, away: true, exit: exitcode.AgentInstalled, reason: "the end of its container counts",
		},
		"it ends well":      {during: func(e *engine, _ context.CancelFunc) { e.ends <- "0" }, exit: exitcode.AgentInstalled, reason: "the end of its container counts"},
		"it stops our unit": {during: func(_ *engine, stop context.CancelFunc) { stop() }, exit: exitcode.AgentInstalled, reason: "the end of its container counts"},
		"it fails": {
			during: func(e *engine, _ context.CancelFunc) { e.ends <- "1" }, exit: exitcode.AgentFailed,
			reason: "the hub's own installer failed: the installer ended with exit status 1", reply: 1,
		},
		"it cannot be pulled":  {pull: &command.ExitError{Name: "podman", Code: 125, Last: "no route"}, exit: exitcode.AgentFailed, reason: "pull the installer image", reply: 2},
		"the hub has it ended": {exit: exitcode.AgentCancelled, reason: "the hub ended the installation", stopped: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // most of the time is waiting between polls
			v := newVictim(t, orders()["master"])
			g := v.g
			e := &engine{childHost: childHost{v.dir}, ends: make(chan string), pull: tc.pull}
			h := newHub(t, func(h *hub) wire.Steps {
				request := orders()["master"]
				request.HostID, request.InstallerImage = h.host, "quay.example/assisted-installer:v2"
				raw, _ := json.Marshal(request)
				busy := slices.ContainsFunc(h.replies, func(r wire.StepReply) bool { return r.StepType == wire.StepTypeInstall })
				if tc.stopped > 0 && busy {
					return instructions(1, step(wire.StepTypeStopInstallation))
				}
				return instructions(1, step(wire.StepTypeInstall, string(raw)))
			})
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			done := make(chan int)
			var log lockedText
			go func() {
				done <- service.Run(ctx, service.Config{
					URL: h.URL, InfraEnvID: infraEnv, AgentVersion: image, Interval: time.Second, Dir: v.dir, Commands: e, Units: e,
					Log: slog.New(slog.NewTextHandler(&log, nil)), OwnLog: func() []byte { return nil },
				})
			}()
			if tc.during != nil {
				running := func() bool { // the hub's order has been repeated meanwhile
					h.mu.Lock()
					defer h.mu.Unlock()
					return slices.ContainsFunc(h.replies, func(r wire.StepReply) bool {
						return r.ExitCode == 125 && r.Error == `the container name "assisted-installer" is already in use`
					})
				}
				g.Eventually(running).WithTimeout(time.Minute).Should(BeTrue(), "%v", &log)
				if tc.away {
					h.CloseClientConnections()
					h.Close()
				}
				tc.during(e, stop)
			}
			g.Eventually(done).WithTimeout(time.Minute).Should(Receive(Equal(tc.exit)), "%v", &log)
			var reason hostfile.Reason
			g.Expect(v.dir.Read(hostfile.ReasonFile, &reason)).To(Succeed())
			g.Expect(reason.Text).To(ContainSubstring(tc.reason))
			g.Expect(v.dir.Read(hostfile.InstalledFile, &hostfile.Installed{})).To(MatchError(hostfile.ErrNoState), "whose end is not ours to prove")
			g.Expect(e.count("stop")).To(Equal(tc.stopped))
			if tc.pull == nil {
				g.Expect(e.count("run")).To(Equal(1), "one installer, however often it is ordered")
				g.Expect(e.ran[0]).To(Equal("rm"), "how an earlier one ended says nothing of this one")
			}
			if tc.reply != 0 {
				h.mu.Lock()
				defer h.mu.Unlock()
				g.Expect(h.replies).To(ContainElement(HaveField("ExitCode", tc.reply)))
			}
			g.Expect(v.lines(ranFile)).NotTo(ContainElement(HavePrefix("coreos-installer")), "we write nothing")
		})
	}
}

// TestAForeignInstallerGetsNoDiskThatTheNodeSkips: it asks nobody what it may write.
func TestAForeignInstallerGetsNoDiskThatTheNodeSkips(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("the node of a block device needs root")
	}
	for name, tc := range map[string]struct {
		skipped string
		exit    int
		reason  string
	}{
		"the disk to install to":          {"/dev/sda", exitcode.AgentFailed, "the hub's install order cannot be carried out: /dev/sda may not be written: /dev/sda must stay as it is: the node skips it"},
		"what lies on it by another path": {"/dev/md0", exitcode.AgentFailed, "/dev/sda is the same disk as /dev/sdb (one LUN, two paths): /dev/md0 must stay as it is: the node skips it"},
		"a disk to format":                {"/dev/sdb", exitcode.AgentInstalled, "the end of its container counts"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVictim(t, orders()["master"])
			g := v.g
			for disk, number := range map[string]string{"sda": "8:0\n", "sdb": "8:16\n", "sdc": "8:32\n"} {
				for _, folder := range []string{"/sys/block/", "/sys/class/block/"} {
					played.Write(t, v.dir, folder+disk+"/dev", number)
				}
				if disk != "sda" {
					g.Expect(unix.Mknod(v.dir.Path("/dev/"+disk), unix.S_IFBLK|0o600, int(unix.Mkdev(7, 255)))).To(Succeed()) // a node only: nobody opens it
				}
			}
			if tc.skipped == "/dev/md0" { // an array on the other path of a LUN
				const lun = "E:ID_WWN=0x60000970000197900123533030303030\nE:ID_SCSI_SERIAL=1\n"
				for path, text := range map[string]string{
					"/sys/block/sda/device/type": "0\n", "/sys/block/sdb/device/type": "0\n", "/run/udev/data/b8:0": lun, "/run/udev/data/b8:16": lun,
					"/sys/block/sdb/holders/md0/x": "", "/sys/block/md0/dev": "9:0\n", "/sys/class/block/md0/dev": "9:0\n",
				} {
					played.Write(t, v.dir, path, text)
				}
			}
			g.Expect(v.dir.Write(hostfile.StepFile, hostfile.StepState{BootID: bootID, Kept: map[string]string{tc.skipped: "the node skips it"}})).To(Succeed())
			e := &engine{childHost: childHost{v.dir}, ends: make(chan string, 1)}
			e.ends <- "0"
			h := newHub(t, func(h *hub) wire.Steps {
				request := orders()["master"]
				request.HostID, request.InstallerImage, request.DisksToFormat = h.host, "quay.example/assisted-installer:v2", []string{"/dev/sdb", "/dev/sdc"}
				raw, _ := json.Marshal(request)
				return instructions(1, step(wire.StepTypeInstall, string(raw)))
			})
			code := service.Run(t.Context(), service.Config{
				URL: h.URL, InfraEnvID: infraEnv, AgentVersion: image, Interval: time.Second, Dir: v.dir, Commands: e, Units: e,
				Log: slog.New(slog.DiscardHandler), OwnLog: func() []byte { return nil },
			})
			g.Expect(code).To(Equal(tc.exit))
			var reason hostfile.Reason
			g.Expect(v.dir.Read(hostfile.ReasonFile, &reason)).To(Succeed())
			g.Expect(reason.Text).To(ContainSubstring(tc.reason))
			if tc.exit == exitcode.AgentFailed {
				g.Expect(e.count("run")).To(BeZero())
				return
			}
			g.Expect(e.lines).To(ContainElement(And(HavePrefix("run "), ContainSubstring("--format-disk /dev/sdc"), Not(ContainSubstring(tc.skipped)))))
		})
	}
}

// TestAForeignInstallerIsNotStartedByAnOrderThatNoLongerHolds: its image is pulled for up to half an
// hour, in which the agent may crash, and a disk may be pulled out and another one have its name.
func TestAForeignInstallerIsNotStartedByAnOrderThatNoLongerHolds(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("the node of a block device needs root")
	}
	const link = "/dev/disk/by-id/wwn-0x1"
	for name, tc := range map[string]struct {
		kept    bool // an earlier process has died while it was pulled
		runs    bool // not before it was started
		now     string
		skipped string
		exit    int
		reason  string
	}{
		"after a crash, as it was": {kept: true, now: "sda", exit: exitcode.AgentInstalled, reason: "the end of its container counts"},
		"after a crash, another device": {
			kept: true, now: "sdb", exit: exitcode.AgentFailed, reason: link + ", which was /dev/sda when it came and is /dev/sdb now; neither is written",
		},
		"after a crash, no device":         {kept: true, exit: exitcode.AgentFailed, reason: "boot_device: "},
		"after a crash, the node skips it": {kept: true, now: "sda", skipped: "/dev/sda", exit: exitcode.AgentFailed, reason: "/dev/sda must stay as it is: the node skips it"},
		"after a crash, it writes the disk": {
			kept: true, runs: true, exit: exitcode.AgentInstalled, reason: "the end of its container counts",
		},
		"another device meanwhile": {now: "sdb", exit: exitcode.AgentFailed, reason: "neither is written"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVictim(t, orders()["master"])
			g := v.g
			g.Expect(unix.Mknod(v.dir.Path("/dev/sdb"), unix.S_IFBLK|0o600, int(unix.Mkdev(7, 255)))).To(Succeed())
			g.Expect(os.MkdirAll(v.dir.Path("/dev/disk/by-id"), 0o755)).To(Succeed())
			leads := func(disk string) {
				_ = os.Remove(v.dir.Path(link))
				if disk != "" {
					g.Expect(os.Symlink("../../"+disk, v.dir.Path(link))).To(Succeed())
				}
			}
			leads("sda")
			for _, folder := range []string{"/sys/block/", "/sys/class/block/"} {
				played.Write(t, v.dir, folder+"sda/dev", "8:0\n")
			}
			request := orders()["master"]
			request.InstallerImage, request.BootDevice, request.InstallerArgs = "quay.example/assisted-installer:v2", link, `["--copy-network"]`
			h := newHub(t, func(h *hub) wire.Steps {
				if tc.kept {
					return instructions(1)
				}
				request.HostID = h.host
				raw, _ := json.Marshal(request)
				return instructions(1, step(wire.StepTypeInstall, string(raw)))
			})
			if tc.skipped != "" {
				g.Expect(v.dir.Write(hostfile.StepFile, hostfile.StepState{BootID: bootID, Kept: map[string]string{tc.skipped: "the node skips it"}})).To(Succeed())
			}
			e := &engine{childHost: childHost{v.dir}, ends: make(chan string, 1), absent: !tc.runs}
			e.ends <- "0"
			if tc.kept {
				request.HostID = uuid.NewString()
				left := state.Open(v.dir)
				g.Expect(left.SetHost(hubclient.Host{InfraEnvID: infraEnv, HostID: request.HostID})).To(Succeed())
				g.Expect(left.SetInstall(&state.Install{Request: request, Attempt: 1, Disk: "/dev/sda"})).To(Succeed())
				leads(tc.now)
			} else {
				e.pulled = func() { leads(tc.now) }
			}
			code := service.Run(t.Context(), service.Config{
				URL: h.URL, InfraEnvID: infraEnv, AgentVersion: image, Interval: time.Second, Dir: v.dir, Commands: e, Units: e,
				Log: slog.New(slog.DiscardHandler), OwnLog: func() []byte { return nil },
			})
			var reason hostfile.Reason
			g.Expect(v.dir.Read(hostfile.ReasonFile, &reason)).To(Succeed())
			g.Expect(reason.Text).To(ContainSubstring(tc.reason))
			g.Expect(code).To(Equal(tc.exit))
			if tc.exit == exitcode.AgentFailed || tc.runs {
				g.Expect(e.count("run")).To(BeZero())
				return
			}
			g.Expect(e.lines).To(ContainElement(And(HavePrefix("run "), ContainSubstring("--boot-device /dev/sda"), ContainSubstring("--copy-network"))))
		})
	}
}

// lockedText is a log that is read while it is written.
type lockedText struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

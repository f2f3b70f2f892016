package coreos_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/agent/install"
	"github.com/ironflow/ironflow/agent/install/coreos"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/systemd"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/played"
)

func TestAnOrderIsCarriedOut(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	proxy := "http://user:hunter2@proxy.example:3128"
	job := order(func(r *wire.InstallCmdRequest) { r.Proxy = &wire.Proxy{HTTPProxy: &proxy} })
	job.Args = []string{"--append-karg", "ip=02-00-00-00-00-01:dhcp"}
	g.Expect(h.run(t.Context(), job)).To(Succeed())
	g.Expect(h.changes()).To(Equal([]string{
		"wipefs --all --force /dev/sda",
		"coreos-installer install --insecure -i /run/ironflow/master-" + id + ".ign --append-karg ip=02-00-00-00-00-01:dhcp /dev/sda",
		"blockdev --rereadpt /dev/sda", "udevadm settle",
	}))
	g.Expect(h.Ran("coreos-installer install")[0].Env).To(Equal([]string{"HTTP_PROXY=" + proxy, "http_proxy=" + proxy}), "a proxy's password belongs into the environment")
	file := h.dir.Path("/run/ironflow/master-" + id + ".ign")
	raw, err := os.ReadFile(file)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(raw)).To(Equal(`{"ignition": {"version": "3.4.0"}}`))
	info, err := os.Stat(file)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o600)))
	left, err := filepath.Glob(filepath.Join(filepath.Dir(file), ".ignition-*"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(left).To(BeEmpty())
}

// used is a disk with LVM on a RAID that reaches to another disk, and a plain
// volume group.
const used = `{"blockdevices": [{"path": "/dev/sda", "type": "disk", "fstype": null, "children": [
	{"path": "/dev/sda1", "type": "part", "fstype": "linux_raid_member", "children": [
		{"path": "/dev/md127", "type": "raid1", "fstype": "LVM2_member", "children": [{"path": "/dev/mapper/old-root", "type": "lvm", "fstype": "xfs"}]}]},
	{"path": "/dev/sda2", "type": "part", "fstype": "LVM2_member", "children": [{"path": "/dev/mapper/data-a", "type": "lvm", "fstype": "ext4"}]},
	{"path": "/dev/sda3", "type": "part", "fstype": "vfat"}]}]}`

func TestOnlyNamedDisksAreCleaned(t *testing.T) {
	clean := []string{
		"lvm vgchange --activate n -- vg0", // its label on the RAID is the other disk's as well
		"lvm vgchange --activate n -- vg0", "lvm pvremove --yes --force --force /dev/sda2",
		"mdadm --stop /dev/md127", "mdadm --zero-superblock /dev/sda1",
		"wipefs --all --force /dev/sda1", "wipefs --all --force /dev/sda2", "wipefs --all --force /dev/sda3", "wipefs --all --force /dev/sda",
	}
	other := []string{"wipefs --all --force /dev/sdb"}
	for name, tc := range map[string]struct {
		change func(*wire.InstallCmdRequest)
		format []string
		args   []string
		mounts string
		fails  []string
		want   []string
	}{
		"the disk of the order":           {want: clean},
		"and one to format":               {format: []string{"/dev/sdb"}, want: append(append([]string{}, clean...), other...)},
		"the same disk twice":             {format: []string{"/dev/sda"}, want: clean},
		"only the one to format":          {change: func(r *wire.InstallCmdRequest) { r.SkipInstallationDiskCleanup = true }, format: []string{"/dev/sdb", "/dev/sda"}, want: other},
		"not where partitions are saved":  {args: []string{"--save-partlabel", "data"}, format: []string{"/dev/sdb"}, want: other},
		"nor by their numbers":            {args: []string{"--save-partindex=4-"}},
		"nothing":                         {change: func(r *wire.InstallCmdRequest) { r.SkipInstallationDiskCleanup = true }},
		"one to format that is in use":    {format: []string{"/dev/sdb"}, mounts: "23 1 8:16 / /var rw - ext4 /dev/sdb rw\n", want: clean},
		"what cannot be removed is left":  {fails: []string{"lvm pvremove", "mdadm"}, want: clean},
		"a failing lvm pvs stops nothing": {fails: []string{"lvm pvs"}, want: clean[3:]},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			h := newHost(t)
			h.trees = map[string]string{"/dev/sda": used, "/dev/sdb": `{"blockdevices": [{"path": "/dev/sdb", "type": "disk", "fstype": "xfs"}]}`}
			h.On("lvm pvs", played.Says("  vg0\n"))
			h.fail(tc.fails...)
			if tc.mounts != "" {
				h.write(t, "/proc/1/mountinfo", tc.mounts)
			}
			job := order(tc.change)
			job.Format, job.Request.DisksToFormat = tc.format, tc.format
			job.Args = tc.args
			g.Expect(h.run(t.Context(), job)).To(Succeed())
			changes := h.changes()
			g.Expect(changes).To(HaveLen(len(tc.want)+3), "clean-up, then image and rescan: %v", changes)
			g.Expect(changes[:len(tc.want)]).To(Equal(append([]string{}, tc.want...)))
			g.Expect(changes[len(tc.want)]).To(HavePrefix("coreos-installer install"))
		})
	}
}

func TestADiskThatIsInUseIsNotTouched(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	h.trees["/dev/sda"] = used
	h.write(t, "/proc/1/mountinfo", "23 1 8:3 / /boot/efi rw,relatime shared:3 - vfat /dev/sda3 rw\n")
	g.Expect(h.run(t.Context(), order(nil))).To(MatchError("check-disk: /dev/sda is in use: /dev/sda3 is mounted on /boot/efi"))
	g.Expect(h.changes()).To(BeEmpty())
}

// TestADiskInUseByOtherMeans: the mount table names one device of a file system that
// has many, and none of what the kernel swaps to.
func TestADiskInUseByOtherMeans(t *testing.T) {
	for name, tc := range map[string]struct{ files map[string]string }{
		"swap": {map[string]string{"/proc/swaps": "Filename Type Size Used Priority\n/dev/sda2 partition 1048572 0 -2\n"}},
		"one of many devices of a file system": {map[string]string{
			"/proc/1/mountinfo":                "23 1 0:42 / /srv rw - btrfs /dev/sdb rw\n",
			"/sys/fs/btrfs/abc/devices/sda2/x": "", "/sys/fs/btrfs/abc/devices/sdb/x": "",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			h := newHost(t)
			h.trees["/dev/sda"] = used
			for path, text := range map[string]string{
				"/sys/block/sda/dev": "8:0\n", "/sys/block/sda/sda2/dev": "8:2\n", "/sys/block/sda/sda2/partition": "2\n",
				"/sys/class/block/sda2/dev": "8:2\n", "/sys/class/block/sda/dev": "8:0\n", "/sys/class/block/sdb/dev": "8:16\n",
			} {
				h.write(t, path, text)
			}
			for path, text := range tc.files {
				h.write(t, path, text)
			}
			g.Expect(h.run(t.Context(), order(nil))).To(MatchError(ContainSubstring("check-disk: /dev/sda is in use")))
			g.Expect(h.changes()).To(BeEmpty())
		})
	}
}

func TestNothingIsWrittenAfterTheMarker(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	g.Expect(h.dir.Write(hostfile.InstalledFile, hostfile.Installed{BootID: "boot-1", Disk: "/dev/sdc"})).To(Succeed())
	g.Expect(h.run(t.Context(), order(nil))).To(MatchError(ContainSubstring("this boot has installed /dev/sdc already")))
	g.Expect(h.changes()).To(BeEmpty())
}

func TestOrdersThatCannotBeCarriedOut(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(h *host, job *install.Job)
		want   string
	}{
		"existing root":  {func(_ *host, job *install.Job) { job.Request.CoreosImage = "quay.example/os:1" }, "coreos_image: this agent does not install into an existing root"},
		"spared restart": {func(_ *host, job *install.Job) { job.Request.EnableSkipMcoReboot = true }, "enable_skip_mco_reboot: this agent cannot spare"},
		"no installer":   {func(h *host, _ *install.Job) { h.fail("coreos-installer --version") }, "coreos-installer: exit status 1"},
		"Ignition is HTML": {func(h *host, _ *install.Job) {
			h.ignition = func() ([]byte, error) { return []byte("<html>secret"), nil }
		}, "the hub's Ignition for this host: it is not JSON"},
		"Ignition is another": {func(h *host, _ *install.Job) { h.ignition = func() ([]byte, error) { return []byte(`{}`), nil } }, "it has no ignition.version"},
		"Ignition is not valid": {func(h *host, _ *install.Job) {
			h.ignition = func() ([]byte, error) {
				return []byte(`{"ignition":{"version":"3.4.0"},"storage":{"files":[{"path":"etc/secret"}]}}`), nil
			}
		}, "the hub's Ignition for this host: it is not valid: $.storage.files.0.path: path not absolute"},
		"refused": {func(h *host, _ *install.Job) {
			h.ignition = func() ([]byte, error) { return nil, &hubclient.StatusError{Code: 403, Reason: "not yours"} }
		}, "fetch-ignition: fetch the host's Ignition: hub answered 403 Forbidden"},
		"lsblk fails": {func(h *host, _ *install.Job) { h.fail("lsblk") }, "lsblk: exit status 1: device or resource busy"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			h := newHost(t)
			job := order(nil)
			tc.change(h, &job)
			err := h.run(t.Context(), job)
			g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
			g.Expect(err.Error()).NotTo(ContainSubstring("secret"))
			g.Expect(h.changes()).To(BeEmpty())
		})
	}
}

// TestNothingIsWipedThatTheHubDoesNotWant: an order may be old (a replica that has not heard
// of a cancel yet). The hub's answer to the request for the host's Ignition says whether
// it stands; a disk is cleaned after that, not beside it.
func TestNothingIsWipedThatTheHubDoesNotWant(t *testing.T) {
	for name, ignition := range map[string]func() ([]byte, error){
		"cancelled":   func() ([]byte, error) { return nil, &hubclient.StatusError{Code: 409} },
		"no Ignition": func() ([]byte, error) { return []byte("<html>"), nil },
		"an invalid one": func() ([]byte, error) {
			return []byte(`{"ignition":{"version":"3.4.0"},"storage":{"directories":[{"path":"x"}]}}`), nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			h := newHost(t)
			h.trees["/dev/sda"] = used
			h.ignition = ignition
			g.Expect(h.run(t.Context(), order(nil))).NotTo(Succeed())
			g.Expect(h.changes()).To(BeEmpty())
		})
	}
}

// TestAnIgnitionOfTheFuture: the system may know a version that the agent does not.
func TestAnIgnitionOfTheFuture(t *testing.T) {
	for _, version := range []string{"2.2.0", "3.99.0", "4.0.0"} {
		g := NewWithT(t)
		h := newHost(t)
		h.ignition = func() ([]byte, error) { return []byte(`{"ignition":{"version":"` + version + `"}}`), nil }
		g.Expect(h.run(t.Context(), order(nil))).To(Succeed(), version)
	}
}

// TestASingleNodeIsCleanedLast: its Ignition is whole only when the temporary control plane has done its work.
func TestASingleNodeIsCleanedLast(t *testing.T) {
	const rendered = "/opt/openshift/master.ign"
	for name, tc := range map[string]struct{ master, want string }{
		"rendered":        {`{"ignition":{"version":"3.2.0"}}`, ""},
		"a broken one":    {`{"ignition":{}}`, "complete-ignition: merge /opt/openshift/master.ign"},
		"it never starts": {"", "wait-bootkube: no control plane"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			h := newHost(t)
			h.trees["/dev/sda"] = used
			i := h.installer()
			i.Bootstrap = func(context.Context, install.Job, bool) ([]install.Task, []string, error) {
				wait := func(context.Context, install.Report) error {
					g.Expect(h.changes()).To(BeEmpty(), "the disk is left alone")
					if tc.master == "" {
						return errors.New("no control plane")
					}
					h.write(t, rendered, tc.master)
					return nil
				}
				return []install.Task{{Name: "wait-bootkube", Stage: wire.HostStageWaitingForBootkube, Run: wait}}, []string{"wait-bootkube"}, nil
			}
			job := order(func(r *wire.InstallCmdRequest) { r.Role, r.ControlPlaneCount = wire.HostRoleBootstrap, 1 })
			tasks, err := i.Tasks(t.Context(), job)
			g.Expect(err).NotTo(HaveOccurred())
			err = inTurn(t.Context(), tasks)
			if tc.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(h.changes()).To(ContainElement(HavePrefix("wipefs")))
				return
			}
			g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
			g.Expect(h.changes()).To(BeEmpty())
		})
	}
}

// TestTriesForTheHub: how often it asks again depends on what the hub answers.
func TestTriesForTheHub(t *testing.T) {
	for code, want := range map[int]int{404: 10, 423: 10, 425: 10, 408: 360, 429: 360, 500: 360, 503: 360, 0: 360, 400: 1, 401: 1, 403: 1, 409: 1} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				h, tries := newHost(t), 0
				begin := time.Now()
				h.ignition = func() ([]byte, error) {
					tries++
					if code == 0 {
						return nil, errors.New("connection refused")
					}
					return nil, &hubclient.StatusError{Code: code}
				}
				g.Expect(h.run(t.Context(), order(nil))).NotTo(Succeed())
				g.Expect(tries).To(Equal(want))
				g.Expect(time.Since(begin)).To(And(BeNumerically(">=", time.Duration(want-1)*2*time.Second), BeNumerically("<=", time.Duration(want-1)*10*time.Second)))
			})
		})
	}
}

func TestCoreOSInstallerHasThreeTries(t *testing.T) {
	broken := errors.New("exit status 1")
	for name, tc := range map[string]struct {
		good  int // the try that works, 0: none
		tries int
		want  string
	}{
		"at once":         {1, 1, ""},
		"the third works": {3, 3, ""},
		"none works":      {0, 3, "write-image: /dev/sda: coreos-installer: Caused by: Input/output error (os error 5) (exit status 1)"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				h, tries := newHost(t), 0
				h.On("coreos-installer install", func(_ context.Context, c command.Command) error {
					tries++
					if tries == tc.good {
						return nil
					}
					fmt.Fprint(c.Stderr, "> Read disk 1.0 GiB/2.5 GiB (40%)   \rError: write failed\nCaused by: Input/output error (os error 5)\n")
					return broken
				})
				begin := time.Now()
				err := h.run(t.Context(), order(nil))
				g.Expect(tries).To(Equal(tc.tries))
				g.Expect(time.Since(begin)).To(Equal(time.Duration(tc.tries-1)*time.Second), "one second apart")
				if tc.want == "" {
					g.Expect(err).NotTo(HaveOccurred())
					return
				}
				g.Expect(err).To(MatchError(tc.want))
			})
		})
	}
}

func TestPercentIsCoreOSInstallers(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	h.On("coreos-installer install", func(_ context.Context, c command.Command) error {
		fmt.Fprint(c.Stderr, "Installing Fedora CoreOS\n> Read disk 0.5 GiB/2.5 GiB (20%)\r> Read disk 2.5 GiB/2.5 GiB (100%)\r\nInstall complete.\n")
		return nil
	})
	tasks, err := h.installer().Tasks(t.Context(), order(nil))
	g.Expect(err).NotTo(HaveOccurred())
	percents := map[string][]int{}
	for _, name := range []string{"check-disk", "clean-disks", "fetch-ignition", "write-image", "boot-entry", "hand-over"} {
		for _, task := range tasks {
			if task.Name == name {
				g.Expect(task.Run(t.Context(), func(p int, _ string) {
					if p >= 0 {
						percents[name] = append(percents[name], p)
					}
				})).To(Succeed())
			}
		}
	}
	g.Expect(percents).To(Equal(map[string][]int{"write-image": {0, 20, 100}}))
}

func TestCopyNetworkIsFound(t *testing.T) {
	const connection = "[connection]\nid=eno1\n"
	const keyfile = "/etc/NetworkManager/system-connections/eno1.nmconnection"
	for name, tc := range map[string]struct {
		files map[string]string
		old   bool // the keyfile is older than the text interface's start
		args  []string
		want  int
	}{
		"set up by a person":        {map[string]string{"/var/log/agent/agent-tui.log": "", keyfile: connection}, false, nil, 1},
		"no text interface":         {map[string]string{keyfile: connection}, false, nil, 0},
		"set up before it":          {map[string]string{"/var/log/agent/agent-tui.log": "", keyfile: connection}, true, nil, 0},
		"no connection":             {map[string]string{"/var/log/agent/agent-tui.log": "", keyfile: "[main]\n"}, false, nil, 0},
		"no folder":                 {map[string]string{"/var/log/agent/agent-tui.log": ""}, false, nil, 0},
		"the hub says so, too":      {map[string]string{"/var/log/agent/agent-tui.log": "", keyfile: connection}, false, []string{"--copy-network"}, 1},
		"only the hub says so":      {nil, false, []string{"-n"}, 0},
		"both, in its short form":   {map[string]string{"/var/log/agent/agent-tui.log": "", keyfile: connection}, false, []string{"-n"}, 0},
		"another kind of interface": {map[string]string{"/var/log/agent/other.log": "", keyfile: connection}, false, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			h := newHost(t)
			for _, path := range []string{"/var/log/agent/agent-tui.log", "/var/log/agent/other.log", keyfile} {
				if text, ok := tc.files[path]; ok {
					h.write(t, path, text)
				}
			}
			if tc.old {
				before := time.Now().Add(-time.Hour)
				g.Expect(os.Chtimes(h.dir.Path(keyfile), before, before)).To(Succeed())
			}
			job := order(nil)
			job.Args = tc.args
			g.Expect(h.run(t.Context(), job)).To(Succeed())
			line := h.changes()[1]
			g.Expect(line).To(HavePrefix("coreos-installer install"))
			count := 0
			for i := range len(line) - len("--copy-network") {
				if line[i:i+len("--copy-network")] == "--copy-network" {
					count++
				}
			}
			g.Expect(count).To(Equal(tc.want), line)
		})
	}
}

func TestAWorkerWaitsForTheControlPlane(t *testing.T) {
	master := func(stage wire.HostStage) wire.Host {
		return wire.Host{Role: wire.HostRoleMaster, Progress: &wire.HostProgressInfo{CurrentStage: stage}}
	}
	worker := wire.Host{Role: wire.HostRoleWorker}
	for name, tc := range map[string]struct {
		views [][]wire.Host
		after time.Duration
	}{
		"two of three": {
			[][]wire.Host{{worker, master("Rebooting"), master("Done"), master("Rebooting")}, {worker, master("Done"), master("Done"), master("Rebooting")}},
			20 * time.Second,
		},
		"a node that is not Ready yet is none to join": {
			[][]wire.Host{{worker, master("Done"), master("Joined"), master("Joined")}, {worker, master("Done"), master("Done"), master("Joined")}},
			20 * time.Second,
		},
		"one that has ended":         {[][]wire.Host{{worker, {Role: wire.HostRoleMaster, Status: wire.HostStatusInstalled}}}, 0},
		"one master is enough":       {[][]wire.Host{{worker, master("Configuring")}, {worker, master("Done")}}, 20 * time.Second},
		"not for the bootstrap host": {[][]wire.Host{{worker, {Role: wire.HostRoleMaster, Bootstrap: true}}}, 0},
		"a cluster of workers alone": {[][]wire.Host{{worker, worker}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				h, asked := newHost(t), 0
				h.hosts = func() ([]wire.Host, error) {
					asked++
					return tc.views[min(asked, len(tc.views))-1], nil
				}
				begin := time.Now()
				g.Expect(h.run(t.Context(), order(func(r *wire.InstallCmdRequest) { r.Role = wire.HostRoleWorker }))).To(Succeed())
				g.Expect(time.Since(begin)).To(Equal(tc.after))
				g.Expect(asked).To(Equal(len(tc.views)))
			})
		})
	}
}

// TestTheHostOfTheHubLeavesLast: the other hosts need the hub until they reboot.
func TestTheHostOfTheHubLeavesLast(t *testing.T) {
	other := func(stage wire.HostStage) wire.Host {
		return wire.Host{ID: "other", Status: wire.HostStatusInstallingInProgress, Progress: &wire.HostProgressInfo{CurrentStage: stage}}
	}
	self := func(r wire.InstallCmdRequest) wire.Host {
		return wire.Host{ID: r.HostID, Status: wire.HostStatusInstallingInProgress}
	}
	for name, tc := range map[string]struct {
		hub   bool
		views [][]wire.Host
		after time.Duration
	}{
		"it waits":                     {true, [][]wire.Host{{other("Writing image to disk")}, {other("Waiting for control plane")}, {other("Rebooting")}}, 40 * time.Second},
		"not for one that has failed":  {true, [][]wire.Host{{{ID: "other", Status: wire.HostStatusError}}}, 0},
		"the hub is somewhere else":    {false, nil, 0},
		"not for one that has arrived": {true, [][]wire.Host{{{ID: "other", Status: wire.HostStatusInstalled}}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				h, asked := newHost(t), 0
				if tc.hub {
					h.write(t, "/etc/assisted/node0", "BOOTSTRAP_HOST_MAC=02:00:00:00:00:01\n")
				}
				job := order(func(r *wire.InstallCmdRequest) { r.Role, r.ControlPlaneCount = wire.HostRoleBootstrap, 3 })
				h.hosts = func() ([]wire.Host, error) {
					asked++
					return append([]wire.Host{self(job.Request)}, tc.views[min(asked, len(tc.views))-1]...), nil
				}
				begin := time.Now()
				g.Expect(h.run(t.Context(), job)).To(Succeed())
				g.Expect(time.Since(begin)).To(Equal(tc.after))
				g.Expect(asked).To(Equal(len(tc.views)))
			})
		})
	}
}

// TestTheEnd: Ironic reboots the host where it installs, else the agent does.
func TestTheEnd(t *testing.T) {
	ipa := systemd.Properties{LoadState: "loaded", ActiveState: "active"}
	for name, tc := range map[string]struct {
		unit    systemd.Properties
		err     error
		step    string // boot id of the deploy step's record
		single  bool
		reboots []time.Duration
		info    string
	}{
		"Ironic's agent is there":      {unit: ipa, info: "Ironic will reboot the node"},
		"a deploy step has started us": {step: "boot-1", info: "Ironic will reboot the node"},
		"one of an earlier boot":       {step: "boot-0", reboots: []time.Duration{time.Minute}},
		"the unit is there, unused":    {unit: systemd.Properties{LoadState: "loaded", ActiveState: "inactive"}, reboots: []time.Duration{time.Minute}},
		"no such unit":                 {unit: systemd.Properties{LoadState: "not-found", ActiveState: "inactive"}, reboots: []time.Duration{time.Minute}},
		"single node":                  {single: true, reboots: []time.Duration{0}},
		"systemd does not answer":      {err: errors.New("no answer"), info: "Ironic will reboot the node"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			h := newHost(t)
			h.unit, h.unitErr = tc.unit, tc.err
			if tc.step != "" {
				g.Expect(h.dir.Write(hostfile.StepFile, hostfile.StepState{BootID: tc.step})).To(Succeed())
			}
			tasks, err := h.installer().Tasks(t.Context(), order(nil))
			g.Expect(err).NotTo(HaveOccurred())
			for _, task := range tasks {
				if task.Stage == wire.HostStageRebooting {
					g.Expect(task.Info).To(Equal(tc.info))
				}
			}
			g.Expect(h.installer().Finish(t.Context(), tc.single)).To(Succeed())
			g.Expect(h.reboots).To(Equal(tc.reboots))
		})
	}
}

func TestFileOfARole(t *testing.T) {
	for role, want := range map[wire.HostRole]string{
		wire.HostRoleBootstrap: "/run/ironflow/master-" + id + ".ign", wire.HostRoleMaster: "/run/ironflow/master-" + id + ".ign",
		wire.HostRoleArbiter: "/run/ironflow/arbiter-" + id + ".ign", wire.HostRoleWorker: "/run/ironflow/worker-" + id + ".ign",
	} {
		job := order(func(r *wire.InstallCmdRequest) { r.Role = role })
		NewWithT(t).Expect(coreos.IgnitionFile(job.Request)).To(Equal(want))
	}
}

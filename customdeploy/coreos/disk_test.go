package coreos

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/customdeploy/blockdev"
	"github.com/ironflow/ironflow/customdeploy/step"
	"github.com/ironflow/ironflow/test/played"
)

// listed makes a machine whose lsblk shows this list of disks, and this tree.
func listed(t *testing.T, list, tree string) (*machine, *Step, *string) {
	t.Helper()
	m := newMachine(t)
	m.tree = tree
	written := ""
	m.install = func(_ context.Context, argv []string, _ func(string)) error {
		written = argv[len(argv)-1]
		return nil
	}
	run := func(ctx context.Context, argv []string, line func(string)) error {
		if argv[0] == "lsblk" && strings.Contains(strings.Join(argv, " "), blockdev.DiskColumns) {
			line(list)
			return nil
		}
		return m.exec(ctx, argv, line)
	}
	return m, &Step{Exec: run, Hostname: func() (string, error) { return "node-1", nil }}, &written
}

func order(m *machine, node step.Node) *step.Request {
	node.UUID = "node-1"
	req := &step.Request{Host: m.host, Log: quiet(), Progress: func(string, int, string) {}}
	req.Node = node
	return req
}

const twoPaths = `{"blockdevices": [
	{"path": "/dev/sda", "type": "disk", "size": 107374182400, "rota": true, "ro": false, "hctl": "1:0:0:0"},
	{"path": "/dev/sdb", "type": "disk", "size": 107374182400, "rota": true, "ro": false, "hctl": "2:0:0:0"}]}`

const twoPathsTree = `{"blockdevices": [
	{"name": "sda", "path": "/dev/sda", "type": "disk", "fstype": "mpath_member", "maj:min": "8:0",
		"children": [{"name": "mpatha", "path": "/dev/mapper/mpatha", "type": "mpath", "fstype": null, "maj:min": "253:0"}]},
	{"name": "sdb", "path": "/dev/sdb", "type": "disk", "fstype": "mpath_member", "maj:min": "8:16",
		"children": [{"name": "mpatha", "path": "/dev/mapper/mpatha", "type": "mpath", "fstype": null, "maj:min": "253:0"}]}]}`

// TestAPathOfAMultipathDiskIsNotWritten: IPA's own choice leaves paths out in favour of the
// multipath disk, and the agent's installer refuses a path.
func TestAPathOfAMultipathDiskIsNotWritten(t *testing.T) {
	for name, hints := range map[string]map[string]any{"no hints": nil, "by HCTL": {"hctl": "2:0:0:0"}} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			m, s, written := listed(t, twoPaths, twoPathsTree)
			info := map[string]any{}
			if hints != nil {
				info["root_device"] = hints
			}
			r := s.Run(t.Context(), order(m, step.Node{InstanceInfo: info}))
			g.Expect(*written).NotTo(HavePrefix("/dev/sd"), "%+v", r)
		})
	}
}

// TestAMemberOfAKeptRAIDIsNotWritten: with automated_clean off the arrays stay, and writing one
// member of a mirror that is assembled destroys both.
func TestAMemberOfAKeptRAIDIsNotWritten(t *testing.T) {
	g := NewWithT(t)
	m, s, written := listed(t, twoPaths, `{"blockdevices": [
	{"name": "sda", "path": "/dev/sda", "type": "disk", "fstype": "linux_raid_member", "maj:min": "8:0",
		"children": [{"name": "md0", "path": "/dev/md0", "type": "raid1", "fstype": null, "maj:min": "9:0"}]},
	{"name": "sdb", "path": "/dev/sdb", "type": "disk", "fstype": "linux_raid_member", "maj:min": "8:16",
		"children": [{"name": "md0", "path": "/dev/md0", "type": "raid1", "fstype": null, "maj:min": "9:0"}]}]}`)
	off := false
	r := s.Run(t.Context(), order(m, step.Node{AutomatedClean: &off, InstanceInfo: map[string]any{}}))
	g.Expect(*written).To(BeEmpty(), "%+v", r)
}

// bareDisks is the tree of two disks with nothing on them.
const bareDisks = `{"blockdevices": [
	{"name": "sda", "path": "/dev/sda", "type": "disk", "fstype": null, "maj:min": "8:0"}, {"name": "sdb", "path": "/dev/sdb", "type": "disk", "fstype": null, "maj:min": "8:16"}]}`

// TestDisksThatTheNodeSkipsAreNotWritten: properties.skip_block_devices names disks that nobody may
// touch; IPA's choice of the root device leaves them out.
func TestDisksThatTheNodeSkipsAreNotWritten(t *testing.T) {
	g := NewWithT(t)
	m, s, written := listed(t, twoPaths, bareDisks)
	r := s.Run(t.Context(), order(m, step.Node{
		InstanceInfo: map[string]any{}, Properties: map[string]any{"skip_block_devices": []any{map[string]any{"name": "/dev/sda"}}},
	}))
	g.Expect(*written).To(Equal("/dev/sdb"), "%+v", r)
}

// TestTheWWNOfTheInventoryIsAHint: what an inspection shows as wwn is lsblk's, which is udev's
// ID_WWN_WITH_EXTENSION where there is one; people copy it into rootDeviceHints.wwn.
func TestTheWWNOfTheInventoryIsAHint(t *testing.T) {
	g := NewWithT(t)
	m := newMachine(t)
	run := func(_ context.Context, argv []string, line func(string)) error {
		switch argv[0] {
		case "lsblk":
			line(twoPaths)
		case "udevadm":
			last := map[string]string{"--name=/dev/sda": "2a", "--name=/dev/sdb": "2b"}[argv[len(argv)-1]]
			line("ID_WWN=0x600508b1001c0000")
			line("ID_WWN_WITH_EXTENSION=0x600508b1001c00000000000000000" + "0" + last)
			line("ID_WWN_VENDOR_EXTENSION=0x00000000000000" + last)
		}
		return nil
	}
	all, err := blockdev.Disks(t.Context(), run, m.host)
	g.Expect(err).NotTo(HaveOccurred())
	d, _, err := Hints{"wwn": "0x600508b1001c00000000000000000" + "02b"}.Choose(all)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(d.Path).To(Equal("/dev/sdb"))
}

// TestTheFirstOfEqualDisks: Ironic's hints take the first disk that fits; a server with nothing but
// equal disks and a hint such as minSizeGigabytes or rotational deploys with the existing plugin.
func TestTheFirstOfEqualDisks(t *testing.T) {
	g := NewWithT(t)
	equal := []blockdev.Disk{{Path: "/dev/sda", SizeBytes: 480 << 30}, {Path: "/dev/sdb", SizeBytes: 480 << 30}}
	d, _, err := Hints{"rotational": false, "size": ">= 100"}.Choose(equal)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(d.Path).To(Equal("/dev/sda"))
}

// TestSizesHaveFractions: Ironic compares the size in GiB with its fraction.
func TestSizesHaveFractions(t *testing.T) {
	g := NewWithT(t)
	all := []blockdev.Disk{{Path: "/dev/sda", SizeBytes: 480103981056}, {Path: "/dev/sdb", SizeBytes: 100 << 30}} // 447.13 GiB
	d, _, err := Hints{"size": "> 447"}.Choose(all)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(d.Path).To(Equal("/dev/sda"))
}

// TestAProgramThatCannotBeKilled: a disk that hangs holds coreos-installer in the kernel (state D);
// no signal ends it, and exec.Cmd.Wait waits for its end. The step must end all the same.
func TestAProgramThatCannotBeKilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		m, s, _ := listed(t, twoPaths, bareDisks)
		free := make(chan struct{})
		m.install = func(context.Context, []string, func(string)) error { <-free; return nil }
		ended := make(chan step.Report, 1)
		go func() { ended <- s.Run(t.Context(), order(m, step.Node{InstanceInfo: map[string]any{}})) }()
		var r *step.Report
		select {
		case got := <-ended:
			r = &got
		case <-time.After(3 * time.Hour):
		}
		close(free)
		if r == nil {
			<-ended
			t.Fatal("the step has not ended three hours after its start: its total deadline is one hour")
		}
		g.Expect(r.Outcome).To(Equal(step.Deadline))
	})
}

// TestWarningsOfLsblk: a warning beside good JSON (exit 0) must not end the
// deployment, wherever it is printed: what lsblk says on standard error is no part
// of its answer, and a library that it loads may print before that.
func TestWarningsOfLsblk(t *testing.T) {
	g := NewWithT(t)
	m := newMachine(t)
	run := func(_ context.Context, argv []string, line func(string)) error {
		if argv[0] == "lsblk" {
			line("lsblk: dm-3: failed to get device path")
			line(twoPaths)
		}
		return nil
	}
	all, err := blockdev.Disks(t.Context(), run, m.host)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(all).To(HaveLen(2))
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// fleet is a machine with a multipath disk of two paths, one of them over iSCSI, a
// RAID over two disks, and a plain disk.
const fleet = `{"blockdevices": [
	{"path": "/dev/sda", "kname": "sda", "type": "disk", "size": 107374182400, "hctl": "1:0:0:0", "tran": "%[1]s"},
	{"path": "/dev/mapper/mpatha", "kname": "dm-0", "type": "mpath", "size": 107374182400},
	{"path": "/dev/sdb", "kname": "sdb", "type": "disk", "size": 107374182400, "hctl": "2:0:0:0", "tran": "%[1]s"},
	{"path": "/dev/mapper/mpatha", "kname": "dm-0", "type": "mpath", "size": 107374182400},
	{"path": "/dev/sdc", "kname": "sdc", "type": "disk", "size": 214748364800},
	{"path": "/dev/md0", "kname": "md0", "type": "raid1", "size": 64424509440},
	{"path": "/dev/sdd", "kname": "sdd", "type": "disk", "size": 214748364800},
	{"path": "/dev/md0", "kname": "md0", "type": "raid1", "size": 64424509440},
	{"path": "/dev/sde", "kname": "sde", "type": "disk", "size": 322122547200, "tran": "sas", "serial": "E"}]}`

const fleetTree = `{"blockdevices": [
	{"path": "/dev/sda", "kname": "sda", "type": "disk", "children": [{"path": "/dev/mapper/mpatha", "kname": "dm-0", "type": "mpath"}]},
	{"path": "/dev/sdb", "kname": "sdb", "type": "disk", "children": [{"path": "/dev/mapper/mpatha", "kname": "dm-0", "type": "mpath"}]},
	{"path": "/dev/sdc", "kname": "sdc", "type": "disk", "fstype": "linux_raid_member", "children": [{"path": "/dev/md0", "kname": "md0", "type": "raid1"}]},
	{"path": "/dev/sdd", "kname": "sdd", "type": "disk", "fstype": "linux_raid_member", "children": [{"path": "/dev/md0", "kname": "md0", "type": "raid1"}]},
	{"path": "/dev/sde", "kname": "sde", "type": "disk"}]}`

// TestTheDiskThatIsTaken: IPA's own answer goes first, and no answer makes a disk
// writable that is not.
func TestTheDiskThatIsTaken(t *testing.T) {
	hints := func(h map[string]any) step.Node { return step.Node{InstanceInfo: map[string]any{"root_device": h}} }
	skips := func(entries ...any) step.Node {
		return step.Node{Properties: map[string]any{"skip_block_devices": entries}}
	}
	off := false
	ipa := func(name string) *step.RootDevice { return &step.RootDevice{Name: name} }
	for name, tc := range map[string]struct {
		node   step.Node
		answer *step.RootDevice
		mounts string
		uefi   bool
		want   string
		stays  bool // the array
		reason string
	}{
		"the smallest: the disk behind the paths": {want: "/dev/mapper/mpatha"},
		"a path that the hints name":              {node: hints(map[string]any{"hctl": "2:0:0:0"}), want: "/dev/mapper/mpatha"},
		"by the name that an inspection shows":    {node: hints(map[string]any{"name": "/dev/dm-0"}), want: "/dev/mapper/mpatha"},
		"by its transport":                        {node: hints(map[string]any{"tran": "sas"}), want: "/dev/sde"},
		"a member of an array that is removed":    {node: hints(map[string]any{"name": "/dev/sdc"}), want: "/dev/sdc"},
		"arrays are kept": {
			node: step.Node{AutomatedClean: &off, InstanceInfo: map[string]any{"root_device": map[string]any{"name": "/dev/sdc"}}}, stays: true,
			reason: "/dev/sdc is a member of /dev/md0, which must stay as it is: the node's automated_clean is off",
		},
		"IPA's answer":                           {answer: ipa("/dev/sde"), want: "/dev/sde"},
		"IPA's answer before our own reading":    {node: hints(map[string]any{"name": "/dev/sdc"}), answer: ipa("/dev/sde"), want: "/dev/sde"},
		"by the kernel's name":                   {answer: ipa("/dev/dm-0"), want: "/dev/mapper/mpatha"},
		"a path, where IPA sees no multipath":    {answer: ipa("/dev/sdb"), want: "/dev/mapper/mpatha"},
		"IPA takes an array that goes":           {answer: ipa("/dev/md0"), want: "/dev/mapper/mpatha"},
		"IPA takes an array that stays, on UEFI": {node: step.Node{AutomatedClean: &off}, answer: ipa("/dev/md0"), uefi: true, want: "/dev/md0", stays: true},
		"IPA takes an array that stays, on BIOS": {
			node: step.Node{AutomatedClean: &off}, answer: ipa("/dev/md0"), stays: true, reason: "IPA takes the software RAID /dev/md0, from which no BIOS boots CoreOS",
		},
		"IPA takes an array that is in use": {
			node: step.Node{AutomatedClean: &off}, answer: ipa("/dev/md0"), uefi: true, mounts: "23 1 9:0 / /data rw - xfs /dev/md0 rw\n", stays: true,
			reason: "/dev/md0 is in use: /dev/md0 is mounted on /data",
		},
		"IPA takes what is in use": {
			answer: ipa("/dev/sde"), mounts: "23 1 8:64 / /run/media/iso rw - iso9660 /dev/sde rw\n",
			reason: "IPA takes /dev/sde, but /dev/sde is in use: /dev/sde is mounted on /run/media/iso; name another disk in rootDeviceHints",
		},
		"IPA takes what is none": {answer: ipa("/dev/sdz"), reason: "IPA takes /dev/sdz, which is none of the disks that may be written"},
		"IPA finds none": {
			answer: &step.RootDevice{Error: "No suitable device was found"},
			reason: "IPA finds no disk to install to: No suitable device was found; there are: /dev/mapper/mpatha (100 GiB",
		},
		"what the node skips":                {node: skips(map[string]any{"name": "/dev/mapper/mpatha"}), want: "/dev/sdc"},
		"a path that it skips is the disk":   {node: skips(map[string]any{"hctl": "1:0:0:0"}), want: "/dev/sdc"},
		"a member of an array that it skips": {node: skips(map[string]any{"name": "/dev/sdc"}, map[string]any{"name": "/dev/mapper/mpatha"}), want: "/dev/sde", stays: true},
		"an array that it skips by name":     {node: skips(map[string]any{"volume_name": "data"}, map[string]any{"name": "/dev/mapper/mpatha"}), want: "/dev/sde", stays: true},
		"another array's name":               {node: skips(map[string]any{"volume_name": "other"}, map[string]any{"name": "/dev/mapper/mpatha"}), want: "/dev/sdc"},
		"IPA takes what the node skips": {
			node: skips(map[string]any{"name": "/dev/sde"}), answer: ipa("/dev/sde"),
			reason: "/dev/sde must stay as it is: the node's skip_block_devices has name=/dev/sde",
		},
		"a skip list that is none":                      {node: step.Node{Properties: map[string]any{"skip_block_devices": "sda"}}, reason: "properties.skip_block_devices must be a list"},
		"a hint that is not known in it":                {node: skips(map[string]any{"colour": "red"}), reason: `properties.skip_block_devices[0]: root device hint "colour" is not known`},
		"an empty entry in it, which is every disk":     {node: skips(map[string]any{}), reason: "properties.skip_block_devices[0] must be an object of hints"},
		"a volume and a disk in one of its entries":     {node: skips(map[string]any{"volume_name": "data", "name": "/dev/sda"}), reason: "volume_name must be a text and stand alone"},
		"nothing is left, and the reasons are all said": {node: skips(map[string]any{"size": ">= 1"}), stays: true, reason: "no disk has 4 GiB; there are: none\n/dev/mapper/mpatha must stay as it is"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			m, s, written := listed(t, fmt.Sprintf(fleet, "fc"), fleetTree)
			m.export = "MD_LEVEL=raid1\nMD_NAME=oldhost:data\n"
			played.Write(t, m.host, "/proc/1/mountinfo", tc.mounts)
			if tc.uefi {
				played.Write(t, m.host, "/sys/firmware/efi/fw_platform_size", "64")
			}
			req := order(m, tc.node)
			req.RootDevice = tc.answer
			r := s.Run(t.Context(), req)
			g.Expect(*written).To(Equal(tc.want), "%+v", r)
			if tc.want == "" {
				g.Expect(r.Outcome).To(Or(Equal(step.Failed), Equal(step.BadInput)))
				g.Expect(r.Reason).To(ContainSubstring(tc.reason))
				g.Expect(m.commands).NotTo(ContainElement(MatchRegexp("^(wipefs|mdadm --(stop|zero))")))
				return
			}
			removes := ContainElement("mdadm --stop /dev/md0")
			if tc.stays {
				removes = Not(ContainElement(MatchRegexp("^(wipefs|mdadm --(stop|zero))")))
			}
			g.Expect(m.commands).To(removes)
			entries := "step"
			if tc.uefi {
				entries = "ipa"
			}
			g.Expect(r.Result).To(And(HaveKeyWithValue("why", Not(BeEmpty())), HaveKeyWithValue("boot_entries", entries)))
		})
	}
}

// TestArgumentsOfTheDisk: without them the installed system does not find its root.
func TestArgumentsOfTheDisk(t *testing.T) {
	const multipath = "--append-karg=root=/dev/disk/by-label/dm-mpath-root --append-karg=rw --append-karg=rd.multipath=default"
	for name, tc := range map[string]struct {
		transport, disk string
		own             []any
		firmware        bool
		table           string
		want, reason    string
	}{
		"a plain disk":      {disk: "/dev/sde"},
		"multipath over FC": {disk: "/dev/mapper/mpatha", transport: "fc", want: multipath},
		"the user's own": {
			disk: "/dev/mapper/mpatha", transport: "fc", own: []any{"root=UUID=1", "rd.multipath=default"},
			want: "--append-karg=root=UUID=1 --append-karg=rd.multipath=default",
		},
		"multipath over iSCSI": {disk: "/dev/mapper/mpatha", transport: "iscsi", firmware: true, want: multipath + " --append-karg=rd.iscsi.firmware=1"},
		"iSCSI that the firmware ignores": {
			disk: "/dev/mapper/mpatha", transport: "iscsi",
			reason: "/dev/mapper/mpatha is an iSCSI disk that the firmware does not know (it has no table of iSCSI targets)",
		},
		"iSCSI by an adapter that does it itself": {
			disk: "/dev/mapper/mpatha", transport: "iscsi", table: "/sys/firmware/iscsi_boot0/target0/target-name",
			want: multipath + " --append-karg=rd.iscsi.firmware=1",
		},
		"iSCSI by the firmware's table, of which no module is": {
			disk: "/dev/mapper/mpatha", transport: "iscsi", table: "/sys/firmware/acpi/tables/iBFT", want: multipath + " --append-karg=rd.iscsi.firmware=1",
		},
		"iSCSI of the user's own": {
			disk: "/dev/mapper/mpatha", transport: "iscsi", own: []any{"netroot=iscsi:192.0.2.1::::iqn.2026-01.example:root"},
			want: multipath + " --append-karg=netroot=iscsi:192.0.2.1::::iqn.2026-01.example:root",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			m, s, written := listed(t, fmt.Sprintf(fleet, tc.transport), fleetTree)
			if tc.firmware {
				played.Write(t, m.host, "/sys/firmware/ibft/target0/target-name", "iqn.2026-01.example:root\n")
			}
			if tc.table != "" {
				played.Write(t, m.host, tc.table, "iqn.2026-01.example:root\n")
			}
			install, ran := m.install, ""
			m.install = func(ctx context.Context, argv []string, line func(string)) error {
				ran = strings.Join(argv, " ")
				return install(ctx, argv, line)
			}
			r := s.Run(t.Context(), order(m, step.Node{InstanceInfo: map[string]any{
				"root_device": map[string]any{"name": tc.disk}, "configdrive": map[string]any{"meta_data": map[string]any{"coreos_append_karg": tc.own}},
			}}))
			if tc.reason != "" {
				g.Expect(r.Reason).To(ContainSubstring(tc.reason))
				g.Expect(*written).To(BeEmpty())
				return
			}
			g.Expect(*written).To(Equal(tc.disk), "%+v", r)
			_, args, _ := strings.Cut(ran, ".ign")
			g.Expect(strings.TrimSpace(strings.TrimSuffix(args, "--offline "+tc.disk))).To(Equal(tc.want))
		})
	}
}

// arrayOnPaths is an array on a multipath disk, and a plain disk.
const arrayOnPaths = `{"blockdevices": [
	{"path": "/dev/sda", "kname": "sda", "type": "disk", "size": 107374182400, "hctl": "1:0:0:0"},
	{"path": "/dev/mapper/mpatha", "kname": "dm-0", "type": "mpath", "size": 107374182400},
	{"path": "/dev/sdb", "kname": "sdb", "type": "disk", "size": 107374182400, "hctl": "2:0:0:0"},
	{"path": "/dev/sde", "kname": "sde", "type": "disk", "size": 322122547200, "serial": "E"}]}`

const arrayOnPathsTree = `{"blockdevices": [
	{"path": "/dev/sda", "kname": "sda", "type": "disk", "children": [{"path": "/dev/mapper/mpatha", "kname": "dm-0", "type": "mpath", "children": [
		{"path": "/dev/mapper/mpatha1", "kname": "dm-1", "type": "part", "fstype": "linux_raid_member", "children": [{"path": "/dev/md0", "kname": "md0", "type": "raid1"}]}]}]},
	{"path": "/dev/sdb", "kname": "sdb", "type": "disk", "children": [{"path": "/dev/mapper/mpatha", "kname": "dm-0", "type": "mpath", "children": [
		{"path": "/dev/mapper/mpatha1", "kname": "dm-1", "type": "part", "fstype": "linux_raid_member", "children": [{"path": "/dev/md0", "kname": "md0", "type": "raid1"}]}]}]},
	{"path": "/dev/sde", "kname": "sde", "type": "disk"}]}`

// TestAnArrayOnAMultipathDiskThatTheNodeSkips: it lies on the disk behind the paths, which
// is the one that must stay.
func TestAnArrayOnAMultipathDiskThatTheNodeSkips(t *testing.T) {
	g := NewWithT(t)
	m, s, written := listed(t, arrayOnPaths, arrayOnPathsTree)
	r := s.Run(t.Context(), order(m, step.Node{
		InstanceInfo: map[string]any{}, Properties: map[string]any{"skip_block_devices": []any{map[string]any{"hctl": "1:0:0:0"}}},
	}))
	g.Expect(*written).To(Equal("/dev/sde"), "%+v", r)
	g.Expect(m.commands).NotTo(ContainElement(MatchRegexp("^(wipefs|mdadm)")))
}

// TestAnArrayThatStaysOnTheChosenMultipathDisk: it would hold the installed disk.
func TestAnArrayThatStaysOnTheChosenMultipathDisk(t *testing.T) {
	g := NewWithT(t)
	run, _ := raidHost(arrayOnPathsTree, "mdadm --stop")
	_, err := removeRAIDs(t.Context(), run, "/dev/mapper/mpatha", func(error) {})
	g.Expect(err).To(MatchError(ContainSubstring("remove the software RAID /dev/md0 on /dev/mapper/mpatha")))
}

// TestKept is what the agent is told: what the node skips, and nothing else.
func TestKept(t *testing.T) {
	for name, tc := range map[string]struct {
		skip []any
		want map[string]string
		err  string
	}{
		"nothing": {nil, nil, ""},
		"a path of a disk": {
			[]any{map[string]any{"hctl": "1:0:0:0"}},
			map[string]string{"/dev/mapper/mpatha": "the node's skip_block_devices has hctl=1:0:0:0", "/dev/md0": "it lies on /dev/mapper/mpatha, where the node's skip_block_devices has hctl=1:0:0:0"},
			"",
		},
		"an array":            {[]any{map[string]any{"volume_name": "data"}}, map[string]string{"/dev/md0": "the node's skip_block_devices has volume_name=data"}, ""},
		"a hint that is none": {[]any{map[string]any{"colour": "red"}}, nil, `root device hint "colour" is not known`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			m, s, _ := listed(t, arrayOnPaths, arrayOnPathsTree)
			m.export = "MD_NAME=oldhost:data\n"
			node := step.Node{AutomatedClean: new(false), Properties: map[string]any{}}
			if tc.skip != nil {
				node.Properties["skip_block_devices"] = tc.skip
			}
			kept, err := Kept(t.Context(), s.Exec, m.host, node)
			if tc.err != "" {
				g.Expect(err).To(MatchError(ContainSubstring(tc.err)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(kept).To(Equal(tc.want))
			if tc.skip == nil {
				g.Expect(m.commands).To(BeEmpty(), "no program is run for nothing")
			}
		})
	}
}

// TestWhatLiesOnADiskIsNoDisk: a cache is a disk by its type, and a little smaller than the
// disk that it lies on; who writes it has written no disk.
func TestWhatLiesOnADiskIsNoDisk(t *testing.T) {
	g := NewWithT(t)
	m, s, written := listed(t, `{"blockdevices": [
	{"path": "/dev/sda", "kname": "sda", "type": "disk", "size": 107374182400}, {"path": "/dev/bcache0", "kname": "bcache0", "type": "disk", "size": 107374174208},
	{"path": "/dev/sdb", "kname": "sdb", "type": "disk", "size": 107374182400}]}`, `{"blockdevices": [
	{"path": "/dev/sda", "kname": "sda", "type": "disk", "fstype": "bcache", "children": [{"path": "/dev/bcache0", "kname": "bcache0", "type": "disk", "fstype": "xfs"}]},
	{"path": "/dev/sdb", "kname": "sdb", "type": "disk"}]}`)
	r := s.Run(t.Context(), order(m, step.Node{InstanceInfo: map[string]any{}}))
	g.Expect(*written).To(Equal("/dev/sda"), "%+v", r)

	req := order(m, step.Node{InstanceInfo: map[string]any{}})
	req.RootDevice = &step.RootDevice{Name: "/dev/bcache0"}
	*written = ""
	r = s.Run(t.Context(), req)
	g.Expect(*written).To(BeEmpty())
	g.Expect(r.Reason).To(ContainSubstring("IPA takes /dev/bcache0, which is none of the disks that may be written"))
}

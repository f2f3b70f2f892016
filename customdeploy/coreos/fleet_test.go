package coreos

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/customdeploy/blockdev"
	"github.com/ironflow/ironflow/customdeploy/step"
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
	{"name": "sda", "path": "/dev/sda", "type": "disk", "fstype": "mpath_member", "maj:min": "8:0", "children": [{"name": "mpatha", "path": "/dev/mapper/mpatha", "type": "mpath", "fstype": null, "maj:min": "253:0"}]},
	{"name": "sdb", "path": "/dev/sdb", "type": "disk", "fstype": "mpath_member", "maj:min": "8:16", "children": [{"name": "mpatha", "path": "/dev/mapper/mpatha", "type": "mpath", "fstype": null, "maj:min": "253:0"}]}]}`

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
	{"name": "sda", "path": "/dev/sda", "type": "disk", "fstype": "linux_raid_member", "maj:min": "8:0", "children": [{"name": "md0", "path": "/dev/md0", "type": "raid1", "fstype": null, "maj:min": "9:0"}]},
	{"name": "sdb", "path": "/dev/sdb", "type": "disk", "fstype": "linux_raid_member", "maj:min": "8:16", "children": [{"name": "md0", "path": "/dev/md0", "type": "raid1", "fstype": null, "maj:min": "9:0"}]}]}`)
	off := false
	r := s.Run(t.Context(), order(m, step.Node{AutomatedClean: &off, InstanceInfo: map[string]any{}}))
	g.Expect(*written).To(BeEmpty(), "%+v", r)
}

// TestDisksThatTheNodeSkipsAreNotWritten: properties.skip_block_devices names disks that nobody may
// touch; IPA's choice of the root device leaves them out.
func TestDisksThatTheNodeSkipsAreNotWritten(t *testing.T) {
	g := NewWithT(t)
	m, s, written := listed(t, twoPaths, `{"blockdevices": []}`)
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
		m, s, _ := listed(t, twoPaths, `{"blockdevices": []}`)
		free := make(chan struct{})
		m.install = func(context.Context, []string, func(string)) error { <-free; return nil }
		ended := make(chan step.Report, 1)
		go func() { ended <- s.Run(context.Background(), order(m, step.Node{InstanceInfo: map[string]any{}})) }()
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

// TestWarningsOfLsblk: stdout and stderr come in one stream; a warning beside good JSON (exit 0)
// must not end the deployment.
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

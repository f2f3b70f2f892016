package coreos

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/assisted"
	"github.com/ironflow/ironflow/customdeploy/blockdev"
	"github.com/ironflow/ironflow/customdeploy/step"
)

// TestTwoInstallersDoNotWriteOneDisk: with fast-track the ramdisk goes on from one
// deployment to the next, and so does the agent of a step that was killed.
func TestTwoInstallersDoNotWriteOneDisk(t *testing.T) {
	g := NewWithT(t)
	m, s, written := listed(t, twoPaths, bareDisks)
	earlier := hostfile.StepState{BootID: "boot-1", Step: assisted.Name}
	g.Expect(m.host.Write(hostfile.StepFile, earlier)).To(Succeed())
	s.Alone = func(context.Context, assisted.Host) error { return errors.New("agent.service runs") }
	r := s.Run(t.Context(), order(m, step.Node{InstanceInfo: map[string]any{}}))
	g.Expect(r.Outcome).To(Equal(step.Failed))
	g.Expect(r.Reason).To(Equal("agent.service runs"))
	g.Expect(*written).To(BeEmpty())
	var left hostfile.StepState
	g.Expect(m.host.Read(hostfile.StepFile, &left)).To(Succeed())
	g.Expect(left).To(Equal(earlier), "the record of the step that began it stays")
}

// TestAnotherTryDoesNotWriteAnotherDisk: an adapter that is reset has its disks come back, in any order
// of names, and a disk that the node skips may have that of the disk that failed.
func TestAnotherTryDoesNotWriteAnotherDisk(t *testing.T) {
	disks := func(a, b string) string {
		return `{"blockdevices": [
			{"path": "/dev/sda", "type": "disk", "size": 107374182400, "rota": true, "ro": false` + a + `},
			{"path": "/dev/sdb", "type": "disk", "size": 107374182400, "rota": true, "ro": false` + b + `}]}`
	}
	const good, skipped = `, "serial": "GOOD"`, `, "serial": "DATA"`
	for name, tc := range map[string]struct {
		first, then string
		sequence    string // of sda, from then on
		tree        string // from then on; empty: as before
		tries       int
		want        string
	}{
		"the same disk": {first: disks(good, skipped), then: disks(good, skipped), sequence: "9", tries: 3, want: "Input/output error"},
		"another disk": {
			first: disks(good, skipped), then: disks(skipped, good), tries: 1,
			want: "it is not tried again: /dev/sda is another disk (DATA) than when it was chosen (GOOD); neither is written",
		},
		"udev knows more of it": {first: disks("", skipped), then: disks(good, skipped), sequence: "1", tries: 3, want: "Input/output error"},
		"read-only": {
			first: disks(good, skipped), then: strings.Replace(disks(good, skipped), `"ro": false`, `"ro": true`, 1), tries: 1,
			want: "it is not tried again: /dev/sda is none that can be written any more",
		},
		"gone": {first: disks(good, skipped), then: `{"blockdevices": []}`, tree: `{"blockdevices": []}`, tries: 1, want: "it is not tried again: /dev/sda has gone"},
		"another one, nothing named": {
			first: disks("", ""), then: disks("", ""), sequence: "9", tries: 1,
			want: "is another disk (107374182400 bytes, the kernel's number 9, no path) than when it was chosen",
		},
		"the same one, nothing named": {first: disks("", ""), then: disks("", ""), sequence: "1", tries: 3, want: "Input/output error"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				m, list := newMachine(t), tc.first
				m.tree = bareDisks
				sequence := func(number string) {
					folder := m.host.Path("/sys/block/sda")
					g.Expect(os.MkdirAll(folder, 0o755)).To(Succeed())
					g.Expect(os.WriteFile(filepath.Join(folder, "diskseq"), []byte(number+"\n"), 0o600)).To(Succeed())
				}
				sequence("1")
				m.install = func(_ context.Context, _ []string, line func(string)) error {
					list = tc.then
					sequence(tc.sequence)
					m.tree = cmp.Or(tc.tree, m.tree)
					line("Caused by: Input/output error (os error 5)")
					return exit(1)
				}
				s := &Step{Hostname: func() (string, error) { return "node-1", nil }, Exec: func(ctx context.Context, argv []string, line func(string)) error {
					if argv[0] == "lsblk" && strings.Contains(strings.Join(argv, " "), blockdev.DiskColumns) {
						line(list)
						return nil
					}
					if argv[0] == "udevadm" && argv[1] == "info" {
						return nil // it knows no more
					}
					return m.exec(ctx, argv, line)
				}}
				r := s.Run(t.Context(), order(m, step.Node{
					InstanceInfo: map[string]any{"root_device": map[string]any{"name": "/dev/sda"}},
					Properties:   map[string]any{"skip_block_devices": []any{map[string]any{"serial": "DATA"}}},
				}))
				g.Expect(r.Outcome).To(Equal(step.Failed))
				g.Expect(r.Reason).To(ContainSubstring(tc.want))
				g.Expect(m.installs()).To(Equal(tc.tries))
			})
		})
	}
}

// TestAnArrayThatComesLateIsKept: while the image and the Ignition are fetched, disks of a SAN may come,
// with an array on them that the node skips. Only what must stay is left when arrays are removed.
func TestAnArrayThatComesLateIsKept(t *testing.T) {
	const (
		disk  = `{"path": "/dev/sd%s", "type": "disk", "size": 107374182400, "rota": true, "ro": false, "serial": "%s"}`
		bare  = `{"path": "/dev/sda", "type": "disk", "fstype": null, "maj:min": "8:0"}`
		array = `{"path": "/dev/sdb", "type": "disk", "fstype": "linux_raid_member", "maj:min": "8:16", "children": [{"path": "/dev/md0", "type": "raid1", "fstype": "xfs", "maj:min": "9:0"}]}`
	)
	all := func(rows ...string) string { return `{"blockdevices": [` + strings.Join(rows, ", ") + `]}` }
	for name, tc := range map[string]struct {
		skip    map[string]any
		removed bool
	}{
		"skipped by its disk":   {skip: map[string]any{"serial": "DATA"}},
		"skipped by its volume": {skip: map[string]any{"volume_name": "data"}},
		"one that nobody skips": {skip: map[string]any{"serial": "OTHER"}, removed: true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			m := newMachine(t)
			m.export = "MD_NAME=host:data"
			looks := map[string]int{}
			look := func(columns, first, later string) string {
				looks[columns]++
				if looks[columns] == 1 {
					return first
				}
				return later
			}
			good, data := fmt.Sprintf(disk, "a", "GOOD"), fmt.Sprintf(disk, "b", "DATA")
			m.install = func(context.Context, []string, func(string)) error { return nil }
			s := &Step{Hostname: func() (string, error) { return "node-1", nil }, Exec: func(ctx context.Context, argv []string, line func(string)) error {
				switch columns := argv[len(argv)-1]; {
				case argv[0] == "lsblk" && columns == blockdev.DiskColumns:
					line(look(columns, all(good), all(good, data)))
					return nil
				case argv[0] == "lsblk" && columns == blockdev.TreeColumns:
					line(look(columns, all(bare), all(bare, array)))
					return nil
				}
				return m.exec(ctx, argv, line)
			}}
			s.Run(t.Context(), order(m, step.Node{
				InstanceInfo: map[string]any{"root_device": map[string]any{"name": "/dev/sda"}},
				Properties:   map[string]any{"skip_block_devices": []any{tc.skip}},
			}))
			g.Expect(m.installs()).To(Equal(1))
			wiped := Or(ContainElement("wipefs --all --force /dev/md0"), ContainElement("mdadm --stop /dev/md0"), ContainElement("mdadm --zero-superblock /dev/sdb"))
			if tc.removed {
				g.Expect(m.commands).To(wiped)
			} else {
				g.Expect(m.commands).NotTo(wiped)
			}
		})
	}
}

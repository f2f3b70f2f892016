package coreos

import (
	"context"
	"errors"
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
		tries       int
		want        string
	}{
		"the same disk": {first: disks(good, skipped), then: disks(good, skipped), sequence: "9", tries: 3, want: "Input/output error"},
		"another disk": {
			first: disks(good, skipped), then: disks(skipped, good), tries: 1,
			want: "it is not tried again: /dev/sda is another disk (DATA) than when it was chosen (GOOD); neither is written",
		},
		"udev knows more of it": {first: disks("", skipped), then: disks(good, skipped), sequence: "1", tries: 3, want: "Input/output error"},
		"gone":                  {first: disks(good, skipped), then: `{"blockdevices": []}`, tries: 1, want: "it is not tried again: /dev/sda has gone"},
		"another one, nothing named": {
			first: disks("", ""), then: disks("", ""), sequence: "9", tries: 1,
			want: "is another disk (107374182400 bytes, the kernel's number 9, no path) than when it was chosen",
		},
		"the same one, nothing named": {
			first: disks("", ""), then: disks("", ""), sequence: "1", tries: 3, want: "Input/output error",
		},
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

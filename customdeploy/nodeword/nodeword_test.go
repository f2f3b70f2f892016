package nodeword_test

import (
	"os"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/nodeword"
	"github.com/ironflow/ironflow/customdeploy/source"
	"github.com/ironflow/ironflow/test/played"
)

// TestTheWordOfTheNode: whoever writes a disk without lsblk keeps to it, too, by whatever
// name the disk is called.
func TestTheWordOfTheNode(t *testing.T) {
	const why = "the node skips it"
	word := func(device string) string {
		return `{"boot_id": "boot-1", "kept": {"` + device + `": "` + why + `"}}`
	}
	for name, tc := range map[string]struct{ step, disk, want string }{
		"no step":              {"", "/dev/sda", ""},
		"the disk":             {word("/dev/sda"), "/dev/sda", "/dev/sda may not be written: /dev/sda must stay as it is: " + why},
		"another one":          {word("/dev/sdb"), "/dev/sda", ""},
		"a partition of it":    {word("/dev/sda1"), "/dev/sda", "/dev/sda may not be written: /dev/sda1 must stay as it is: " + why},
		"an array on it":       {word("/dev/md127"), "/dev/sda", "/dev/md127 must stay as it is"},
		"the disk behind it":   {word("/dev/mapper/mpatha"), "/dev/sdb", "/dev/mapper/mpatha must stay as it is"},
		"the kernel's name":    {word("/dev/mapper/mpatha"), "/dev/dm-0", "/dev/mapper/mpatha must stay as it is"},
		"one that is gone":     {word("/dev/sdz"), "/dev/sda", ""},
		"of another boot":      {`{"boot_id": "boot-0", "kept": {"/dev/sda": "x"}}`, "/dev/sda", ""},
		"one that is unread":   {`{"boot_id": `, "/dev/sda", "which disks must stay is not known: /run/ironflow/step.json"},
		"of a step without it": {`{"boot_id": "boot-1"}`, "/dev/sda", ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := hostfile.Dir{Root: t.TempDir()}
			files := map[string]string{
				hostfile.BootIDPath(): "boot-1\n",
				"/sys/block/sda/dev":  "8:0\n", "/sys/block/sda/sda1/partition": "1\n", "/sys/block/sda/sda1/dev": "8:1\n", "/sys/block/sda/sda1/holders/md127/x": "",
				"/sys/block/md127/dev": "9:127\n", "/sys/block/sdb/dev": "8:16\n", "/sys/block/sdb/holders/dm-0/x": "", "/sys/block/dm-0/dev": "253:0\n",
				"/sys/class/block/sda/dev": "8:0\n", "/sys/class/block/sda1/dev": "8:1\n", "/sys/class/block/sdb/dev": "8:16\n",
				"/sys/class/block/md127/dev": "9:127\n", "/sys/class/block/dm-0/dev": "253:0\n",
			}
			if tc.step != "" {
				files[hostfile.StepFile] = tc.step
			}
			for path, text := range files {
				played.Write(t, dir, path, text)
			}
			played.Write(t, dir, "/dev/mapper/control", "")
			g.Expect(os.Symlink("../dm-0", dir.Path("/dev/mapper/mpatha"))).To(Succeed())
			err := nodeword.Spared(source.Live(dir), tc.disk)
			if tc.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
		})
	}
}

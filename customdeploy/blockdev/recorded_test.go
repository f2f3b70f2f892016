package blockdev_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/blockdev"
	"github.com/ironflow/ironflow/customdeploy/hostexec"
	"github.com/ironflow/ironflow/test/machines"
	"github.com/ironflow/ironflow/test/needs"
)

// recorded puts a recorded machine's files into a folder, and what udev knew of each
// device where lsblk --sysroot looks for it: in the place of the device.
func recorded(t *testing.T, name string) (hostfile.Dir, map[string]string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("../../agent/inventory/testdata/machines", name, "files.txt"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := machines.ParseFiles(string(raw))
	if err != nil {
		t.Fatal(err)
	}
	udev := map[string]string{}
	for file, f := range files {
		if number, ok := strings.CutPrefix(file, "run/udev/data/b"); ok {
			udev[number] = properties(string(f.Data))
		}
	}
	known := map[string]string{} // by kernel name
	for file, f := range maps.Clone(files) {
		if _, ok := files[path.Dir(file)+"/size"]; ok && path.Base(file) == "dev" {
			device := path.Base(path.Dir(file))
			known[device] = udev[strings.TrimSpace(string(f.Data))]
			files["dev/"+device] = &fstest.MapFile{Mode: 0o644, Data: []byte(known[device])}
			number := strings.TrimSpace(string(f.Data))
			files["sys/dev/block/"+number] = &fstest.MapFile{Mode: os.ModeSymlink, Data: []byte("../../../" + path.Dir(file))}
			if n, ok := files[path.Dir(file)+"/dm/name"]; ok {
				mapped := strings.TrimSpace(string(n.Data))
				known[mapped] = known[device]
				files["dev/mapper/"+mapped] = files["dev/"+device]
			}
		}
		if dir, holder := path.Split(file); strings.HasSuffix(dir, "/holders/") { // the other side of it was not recorded
			below := path.Base(path.Dir(path.Clean(dir)))
			files["sys/devices/virtual/block/"+holder+"/slaves/"+below] = &fstest.MapFile{Mode: 0o644}
		}
	}
	dir := hostfile.Dir{Root: t.TempDir()}
	for file, f := range files {
		to := dir.Path("/" + file)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		switch {
		case f.Mode&os.ModeSymlink != 0:
			err = os.Symlink(string(f.Data), to)
		case f.Mode.IsDir():
			err = os.MkdirAll(to, 0o755)
		default:
			err = os.WriteFile(to, f.Data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir, known
}

// properties are the lines E:KEY=VALUE of udev's database.
func properties(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if property, ok := strings.CutPrefix(line, "E:"); ok {
			b.WriteString(property)
		}
	}
	return b.String()
}

// TestRecordedMachines has the real lsblk show the disks of recorded machines, in
// whichever version this computer has it.
func TestRecordedMachines(t *testing.T) {
	lsblk := needs.Program(t, "lsblk", "util-linux")
	for name, want := range map[string][]string{
		"multipath": {"/dev/mapper/36000097000012000 mpath over [/dev/sda /dev/sdb]", "/dev/sdc disk"},
		"fc-multipath": {
			"/dev/mapper/mpatha mpath over [/dev/sdb /dev/sdd]", "/dev/mapper/mpathb mpath over [/dev/sdc /dev/sde]", "/dev/sda disk",
		},
		"iscsi":  {"/dev/sda disk iscsi", "/dev/sdb disk iscsi"},
		"server": {"/dev/sda disk", "/dev/sdb disk", "/dev/sdc disk", "/dev/sdd disk"},
		"nvme":   {"/dev/nvme0n1 disk", "/dev/nvme0n2 disk", "/dev/nvme1n1 disk"},
		"vm":     {"/dev/vda disk"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir, known := recorded(t, name)
			run := func(ctx context.Context, argv []string, line func(string)) error {
				if argv[0] == "udevadm" {
					line(known[filepath.Base(argv[len(argv)-1])])
					return nil
				}
				out := hostexec.NewLineWriter(line)
				defer out.Flush()
				return hostexec.Program{Path: lsblk, Args: append([]string{"--sysroot", dir.Path("/")}, argv[1:]...), Stdout: out}.Run(ctx)
			}
			disks, err := blockdev.Disks(t.Context(), run, dir)
			g.Expect(err).NotTo(HaveOccurred())
			tree, err := blockdev.Tree(t.Context(), run)
			g.Expect(err).NotTo(HaveOccurred())
			var got []string
			for _, d := range blockdev.Join(disks, tree) {
				text := d.Path + " " + d.Kind
				if d.Transport == "iscsi" { // older versions tell fewer others
					text += " iscsi"
				}
				var paths []string
				for _, p := range d.Paths {
					paths = append(paths, p.Path)
				}
				if slices.Sort(paths); paths != nil {
					text += fmt.Sprintf(" over %v", paths)
				}
				got = append(got, text)
			}
			g.Expect(got).To(ConsistOf(want))
		})
	}
}

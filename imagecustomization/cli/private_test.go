package cli_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
)

// attributes counts changes of the mode of files in a folder, from now on: what is
// made private afterwards was open to others for a moment.
func attributes(t *testing.T, dir string) (changes func() int) {
	t.Helper()
	g := NewWithT(t)
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = unix.Close(fd) })
	_, err = unix.InotifyAddWatch(fd, dir, unix.IN_ATTRIB)
	g.Expect(err).NotTo(HaveOccurred())
	return func() int {
		n, err := unix.Read(fd, make([]byte, 64<<10))
		if errors.Is(err, unix.EAGAIN) {
			return 0
		}
		g.Expect(err).NotTo(HaveOccurred())
		return n
	}
}

// What is embedded holds passwords, keys and pull secrets.
func TestFilesWithSecretsArePrivateFromTheStart(t *testing.T) {
	dir, medium, config := bench(t, "2023-07.x86_64")
	keyfile := filepath.Join(t.TempDir(), "eth0.nmconnection")
	g := NewWithT(t)
	g.Expect(os.WriteFile(keyfile, []byte("[802-1x]\npassword=secret\n"), 0o600)).To(Succeed())
	full := filepath.Join(dir, "full.iso")
	for _, args := range [][]string{
		{"embed", "--ignition", config, "-o", full, medium}, {"network", "embed", "-k", keyfile, "-o", full, full},
	} {
		_, err := run(t.Context(), args...)
		g.Expect(err).NotTo(HaveOccurred())
	}
	for name, c := range map[string]struct {
		out  string
		mode fs.FileMode
		args []string
	}{
		"embed":                            {"out.iso", 0o600, []string{"embed", "--ignition", config, "-o", "OUT", medium}},
		"network embed":                    {"out.iso", 0o600, []string{"network", "embed", "-k", keyfile, "-o", "OUT", medium}},
		"network extract":                  {"eth0.nmconnection", 0o600, []string{"network", "extract", "-C", "DIR", full}},
		"network remove, a config stays":   {"out.iso", 0o600, []string{"network", "remove", "-o", "OUT", full}},
		"kargs set, a config stays":        {"out.iso", 0o600, []string{"kargs", "set", "-a", "a=1", "-o", "OUT", full}},
		"extract the area":                 {"ignition.img", 0o600, []string{"extract", "-C", "DIR", full, "images/ignition.img"}},
		"reset":                            {"out.iso", 0o644, []string{"reset", "-o", "OUT", full}},
		"kargs set, nothing is embedded":   {"out.iso", 0o644, []string{"kargs", "set", "-a", "a=1", "-o", "OUT", medium}},
		"extract, nothing is embedded":     {"rootfs.img", 0o644, []string{"extract", "-C", "DIR", medium}},
		"minimal, nothing is embedded":     {"out.iso", 0o644, []string{"minimal", "-o", "OUT", medium}},
		"network remove, nothing embedded": {"out.iso", 0o644, []string{"network", "remove", "-o", "OUT", medium}},
	} {
		t.Run(name, func(t *testing.T) {
			for kind, before := range map[string]bool{"a new file": false, "a file that is open to all": true} {
				t.Run(kind, func(t *testing.T) {
					g, dir := NewWithT(t), t.TempDir()
					out := filepath.Join(dir, c.out)
					if before {
						g.Expect(os.WriteFile(out, []byte("old"), 0o600)).To(Succeed())
						g.Expect(os.Chmod(out, 0o666)).To(Succeed())
					}
					changes := attributes(t, dir)
					_, err := run(t.Context(), placed(c.args, dir, out)...)
					g.Expect(err).NotTo(HaveOccurred())
					info, err := os.Stat(out)
					g.Expect(err).NotTo(HaveOccurred())
					g.Expect(info.Mode().Perm()).To(Equal(c.mode))
					if c.mode == 0o600 {
						g.Expect(changes()).To(BeZero(), "it was made private afterwards")
					}
				})
			}
		})
	}
}

// placed puts a folder and a file into arguments.
func placed(args []string, dir, out string) []string {
	var all []string
	for _, a := range args {
		switch a {
		case "OUT":
			a = out
		case "DIR":
			a = dir
		}
		all = append(all, a)
	}
	return all
}

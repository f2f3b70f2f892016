package cli_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"

	"github.com/ironflow/ironflow/imagecustomization/cpio"
	"github.com/ironflow/ironflow/imagecustomization/embedarea"
	"github.com/ironflow/ironflow/imagecustomization/iso"
	"github.com/ironflow/ironflow/imagecustomization/overlay"
	"github.com/ironflow/ironflow/imagecustomization/sharednetwork"
	coreosiso "github.com/ironflow/ironflow/test/fixtures/coreos-iso"
	"github.com/ironflow/ironflow/test/liveimage"
)

// TestAnEditKeepsWhatTheImageServerHasEmbedded: an image off the server has units in its
// initrd, which links switch on. Without those the host programs and the static networks
// never reach the live system, and nobody is told.
func TestAnEditKeepsWhatTheImageServerHasEmbedded(t *testing.T) {
	dir, _, config := bench(t, "2023-07.x86_64")
	raw := coreosiso.Read(t, "2023-07.x86_64")
	layout, err := iso.Parse(bytes.NewReader(raw), int64(len(raw)))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	entries := sharednetwork.Entries([]sharednetwork.Host{
		{Cards: map[string]string{"52:54:00:00:00:0a": "eth0"}, Keyfiles: map[string][]byte{"eth0.nmconnection": []byte("[connection]\n")}},
	}, 0)
	image, err := overlay.Customize(overlay.Media{Source: memory{bytes.NewReader(raw)}, Layout: layout}, overlay.Options{
		Content: embedarea.Content{Ignition: []byte(`{"ignition":{"version":"3.1.0"}}`), Files: entries},
	})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	served, keyfile := filepath.Join(dir, "served.iso"), filepath.Join(dir, "eth9.nmconnection")
	content, err := io.ReadAll(image.Reader())
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	NewWithT(t).Expect(os.WriteFile(served, content, 0o600)).To(Succeed())
	NewWithT(t).Expect(os.WriteFile(keyfile, []byte("[connection]\n"), 0o600)).To(Succeed())
	for name, args := range map[string][]string{
		"embed":           {"embed", "--force", "--ignition", config},
		"ignition remove": {"ignition", "remove"},
		"network embed":   {"network", "embed", "-k", keyfile},
		"network remove":  {"network", "remove"},
	} {
		t.Run(name, func(t *testing.T) {
			g, out := NewWithT(t), filepath.Join(t.TempDir(), "out.iso")
			_, err := run(t.Context(), append(args, "-o", out, served)...)
			g.Expect(err).NotTo(HaveOccurred())
			edited, err := os.ReadFile(out)
			g.Expect(err).NotTo(HaveOccurred())
			got, err := liveimage.Content(bytes.NewReader(edited), int64(len(edited)))
			g.Expect(err).NotTo(HaveOccurred())
			for _, e := range entries {
				g.Expect(got.Files).To(ContainElement(e))
			}
			g.Expect(run(t.Context(), "show", out)).To(ContainSubstring("initrd.target.wants/pre-network-manager-config.service -> ../pre-network-manager-config.service"))
		})
	}
}

// memory is a medium in memory.
type memory struct{ *bytes.Reader }

// ID implements overlay.Source.
func (memory) ID() string { return "memory" }

// TestConfigsThatNoMachineStartsWith are refused before they are embedded: the machine would
// stop in its initramfs, or start without any.
func TestConfigsThatNoMachineStartsWith(t *testing.T) {
	for name, tc := range map[string]struct{ config, want string }{
		"empty":                {"", "empty"},
		"a page of a proxy":    {"<html>", "invalid character"},
		"a mistake":            {inputs["broken.ign"], "$.storage.files.0.path"},
		"none of Ignition":     {"{}", "version"},
		"a version to come":    {`{"ignition":{"version":"3.99.0"}}`, ""},
		"a version of the day": {`{"ignition":{"version":"3.4.0"}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir, medium, config := bench(t, "2023-07.x86_64")
			NewWithT(t).Expect(os.WriteFile(config, []byte(tc.config), 0o600)).To(Succeed())
			for _, args := range [][]string{
				{"embed", "--ignition", config, "-o", filepath.Join(dir, "out.iso"), medium},
				{"pxe", "ignition", "wrap", "--ignition", config, "-o", filepath.Join(dir, "out.img")},
			} {
				g := NewWithT(t)
				_, err := run(t.Context(), args...)
				if tc.want == "" {
					g.Expect(err).NotTo(HaveOccurred())
					continue
				}
				g.Expect(err).To(MatchError(And(ContainSubstring(config), ContainSubstring(tc.want))))
				g.Expect(args[len(args)-2]).NotTo(BeAnExistingFile())
			}
		})
	}
}

func TestServeRefusesAnEmptyConfig(t *testing.T) {
	g, s := NewWithT(t), serve(t, map[string]string{"a.ign": smallConfig, "b.ign": "", "b.yaml": dhcp})
	name, _ := s.next()
	g.Expect(name).To(Equal("a"))
	name, why := s.next()
	g.Expect(name).To(Equal("b:"))
	g.Expect(why).To(And(ContainSubstring("b.ign"), ContainSubstring("empty")))
}

// TestServeOfAFolderWithBrackets: a name that looks like a pattern is a name.
func TestServeOfAFolderWithBrackets(t *testing.T) {
	g := NewWithT(t)
	dir, medium, _ := bench(t, "2023-07.x86_64")
	hosts := filepath.Join(dir, "rack[1]")
	g.Expect(os.MkdirAll(filepath.Join(hosts, "host-[0]"), 0o755)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(hosts, "a.ign"), []byte("{}"), 0o600)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(hosts, "host-[0]", "eth0.nmconnection"), []byte("[connection]"), 0o600)).To(Succeed())
	out, err := run(t.Context(), "serve", "--base", medium, "--hosts", hosts, "--listen", "127.0.0.1:0")
	g.Expect(err).To(MatchError(ContainSubstring("no image to serve")))
	g.Expect(out).To(And(ContainSubstring("a: "), ContainSubstring(`host-[0]: "host-[0]" cannot be the name of a host`)), "both are found, and what is wrong with them is said")
}

// TestOutputsThatAreNoFiles: a USB stick is written to, and does not become a file of /dev.
func TestOutputsThatAreNoFiles(t *testing.T) {
	dir, medium, _ := bench(t, "2023-07.x86_64")
	raw := coreosiso.Read(t, "2023-07.x86_64")
	t.Run("a pipe", func(t *testing.T) {
		g, pipe := NewWithT(t), filepath.Join(dir, "pipe")
		g.Expect(unix.Mkfifo(pipe, 0o600)).To(Succeed())
		f, err := os.OpenFile(pipe, os.O_RDWR, 0)
		g.Expect(err).NotTo(HaveOccurred())
		read := make(chan []byte, 1)
		go func() {
			got := make([]byte, len(raw))
			n, _ := io.ReadFull(f, got)
			read <- got[:n]
		}()
		_, err = run(t.Context(), "reset", "-o", pipe, medium)
		g.Expect(err).NotTo(HaveOccurred())
		info, err := os.Lstat(pipe)
		g.Expect(err).NotTo(HaveOccurred())
		if info.Mode()&os.ModeNamedPipe == 0 {
			_ = f.Close() // nothing comes any more
		}
		g.Expect(bytes.Equal(<-read, raw)).To(BeTrue())
		g.Expect(f.Close()).To(Succeed())
	})
	t.Run("a link", func(t *testing.T) {
		g, link, file := NewWithT(t), filepath.Join(dir, "link.iso"), filepath.Join(t.TempDir(), "file.iso")
		g.Expect(os.WriteFile(file, []byte("before"), 0o600)).To(Succeed())
		g.Expect(os.Symlink(file, link)).To(Succeed())
		_, err := run(t.Context(), "reset", "-o", link, medium)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(os.Readlink(link)).To(Equal(file))
		got, err := os.ReadFile(file)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(bytes.Equal(got, raw)).To(BeTrue())
	})
	t.Run("a directory", func(t *testing.T) {
		_, err := run(t.Context(), "reset", "-o", dir, medium)
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring("this is a directory")))
	})
}

// TestInitrdsThatAreNone: what is left of a download that failed is no initrd.
func TestInitrdsThatAreNone(t *testing.T) {
	in := files(t, map[string]string{"empty.img": "", "zeros.img": "\x00\x00\x00\x00\x00\x00\x00\x00", "live.ign": smallConfig})
	for _, file := range []string{in("empty.img"), in("zeros.img")} {
		for _, args := range [][]string{
			{"pxe", "show", file},
			{"pxe", "network", "unwrap", "-C", t.TempDir(), file},
			{"pxe", "ignition", "unwrap", file},
			{"pxe", "customize", "--live-ignition", in("live.ign"), "-o", filepath.Join(t.TempDir(), "out.img"), file},
		} {
			_, err := run(t.Context(), args...)
			NewWithT(t).Expect(err).To(MatchError(And(ContainSubstring(file), ContainSubstring("no initrd"))), "%v", args)
		}
	}
}

// TestNamesOfMembersCommandNoTerminal, in a medium or an initrd of somebody else's.
func TestNamesOfMembersCommandNoTerminal(t *testing.T) {
	g := NewWithT(t)
	dir, medium, _ := bench(t, "2023-07.x86_64")
	archive, err := embedarea.Content{Files: []cpio.Entry{{Name: "etc/\x1b[2Jx", Mode: cpio.TypeRegular | 0o644, Data: []byte("a")}}}.Archive()
	g.Expect(err).NotTo(HaveOccurred())
	initrd := filepath.Join(dir, "initrd.img")
	g.Expect(os.WriteFile(initrd, archive, 0o600)).To(Succeed())
	raw := coreosiso.Read(t, "2023-07.x86_64")
	copy(raw[139264:], archive) // the medium's area
	g.Expect(os.WriteFile(medium, raw, 0o600)).To(Succeed())
	for _, args := range [][]string{{"show", medium}, {"pxe", "show", initrd}} {
		out, err := run(t.Context(), args...)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(out).To(And(ContainSubstring("[2Jx\t1 bytes"), Not(ContainSubstring("\x1b"))))
	}
}

func TestTwoFilesOfOneNameAreNotOne(t *testing.T) {
	g := NewWithT(t)
	dir, medium, _ := bench(t, "2023-07.x86_64")
	_, err := run(t.Context(), "extract", "-C", dir, medium, "images/ignition.img", "IMAGES/ignition.img")
	g.Expect(err).To(MatchError(ContainSubstring("would be one file ignition.img")))
	g.Expect(filepath.Join(dir, "ignition.img")).NotTo(BeAnExistingFile())
}

func TestInstalledSystemsThatCannotBe(t *testing.T) {
	_, medium, _ := bench(t, "2023-07.x86_64")
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"a name without its folder":  {[]string{"--dest-device", "sda"}, "such as /dev/sda"},
		"an argument of two lines":   {[]string{"--dest-device", "/dev/sda", "--dest-karg-append", "a=1\nb=2"}, "control character"},
		"nothing to delete":          {[]string{"--dest-device", "/dev/sda", "--dest-karg-delete", ""}, "is empty"},
		"an argument with its blank": {[]string{"--dest-device", "/dev/sda", "--dest-karg-append", `dyndbg="file a +p"`}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := run(t.Context(), append([]string{"customize", "-o", filepath.Join(t.TempDir(), "out.iso")}, append(tc.args, medium)...)...)
			if tc.want == "" {
				NewWithT(t).Expect(err).NotTo(HaveOccurred())
				return
			}
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(tc.want)))
		})
	}
}

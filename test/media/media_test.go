package media_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/embedarea"
	"github.com/ironflow/ironflow/imagecustomization/iso"
	"github.com/ironflow/ironflow/imagecustomization/overlay"
	"github.com/ironflow/ironflow/test/liveimage"
	"github.com/ironflow/ironflow/test/media"
	"github.com/ironflow/ironflow/test/needs"
)

func medium(t *testing.T, arch string) ([]byte, *iso.Layout) {
	t.Helper()
	var out bytes.Buffer
	if err := media.Write(&out, media.Options{Arch: arch}); err != nil {
		t.Fatal(err)
	}
	l, err := iso.Parse(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), l
}

func TestTheSameOptionsGiveTheSameBytes(t *testing.T) {
	first, _ := medium(t, "")
	second, _ := medium(t, "")
	NewWithT(t).Expect(bytes.Equal(first, second)).To(BeTrue())
}

func TestLayout(t *testing.T) {
	g := NewWithT(t)
	raw, l := medium(t, "")
	g.Expect(l.VolumeID).To(Equal("fedora-coreos-42.20260101.0.0"))
	g.Expect(l.Ignition.Length).To(BeEquivalentTo(262144))
	g.Expect(l.Ignition.WholeFile).To(BeTrue())
	g.Expect(l.Kargs.Source).To(Equal("kargs.json"))
	g.Expect(l.Kargs.Areas).To(HaveLen(2))
	g.Expect(l.Kargs.Read(bytes.NewReader(raw))).To(HaveSuffix("coreos.liveiso=" + l.VolumeID + " ignition.firstboot ignition.platform.id=metal"))
	g.Expect(l.Features).To(HaveKeyWithValue("live-initrd-network", true))
	for _, a := range l.Kargs.Areas {
		g.Expect(string(raw[a.End():])).To(HavePrefix(iso.Marker))
	}
	for _, name := range []string{"images/pxeboot/vmlinuz", "IMAGES/PXEBOOT/ROOTFS.IMG", "coreos/igninfo.json", "EFI/fedora/grub.cfg"} {
		f := l.File(name)
		g.Expect(f).NotTo(BeNil(), name)
		g.Expect(f.JolietRecord).NotTo(BeZero(), name)
	}
}

func TestTakesAnIgnitionConfig(t *testing.T) {
	g := NewWithT(t)
	raw, l := medium(t, "")
	image, err := overlay.Customize(overlay.Media{Source: liveimage.Memory(raw), Layout: l},
		overlay.Options{Content: embedarea.Content{Ignition: []byte(`{"a":1}`)}})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(liveimage.Ignition(image, image.Size())).To(BeEquivalentTo(`{"a":1}`))
}

func TestCommandWritesTheMedium(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "live.iso")
	g.Expect(media.WriteFile(path, media.Options{RootfsBytes: 1 << 20})).To(Succeed())
	info, err := os.Stat(path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.Mode().Perm()).To(BeEquivalentTo(0o644))
	g.Expect(info.Size()).To(BeNumerically("~", 3<<20, 1<<20))
}

// Where each architecture has what, by the tool that makes CoreOS media.
func TestLayoutOfEveryArchitecture(t *testing.T) {
	for arch, want := range map[string]struct {
		areas           []string
		ignition        string
		movable         bool
		there, notThere []string
	}{
		"x86_64": {
			[]string{"EFI/fedora/grub.cfg", "isolinux/isolinux.cfg"},
			"images/ignition.img", true,
			[]string{"isolinux/isolinux.bin", "images/efiboot.img", "images/pxeboot/vmlinuz"},
			[]string{"generic.ins", "boot/grub/grub.cfg"},
		},
		"aarch64": {
			[]string{"EFI/fedora/grub.cfg"},
			"images/ignition.img", true,
			[]string{"images/efiboot.img", "images/pxeboot/vmlinuz"},
			[]string{"isolinux/isolinux.bin", "generic.ins"},
		},
		"ppc64le": {
			[]string{"boot/grub/grub.cfg"},
			"images/ignition.img", true,
			[]string{"ppc/bootinfo.txt", "images/pxeboot/vmlinuz"},
			[]string{"isolinux/isolinux.bin", "EFI/fedora/grub.cfg", "images/efiboot.img"},
		},
		"s390x": {
			[]string{"images/cdboot.img"},
			"images/cdboot.img", false,
			[]string{"generic.ins", "images/initrd.addrsize", "images/pxeboot/kernel.img"},
			[]string{"EFI/fedora/grub.cfg", "images/ignition.img", "isolinux/isolinux.cfg"},
		},
	} {
		t.Run(arch, func(t *testing.T) {
			g := NewWithT(t)
			raw, l := medium(t, arch)
			var areas []string
			for _, a := range l.Kargs.Areas {
				areas = append(areas, a.Path)
			}
			g.Expect(areas).To(Equal(want.areas))
			g.Expect(l.Kargs.Read(bytes.NewReader(raw))).To(Equal(l.Kargs.Default))
			g.Expect(l.Ignition.File.Path).To(Equal(want.ignition))
			g.Expect(l.Ignition.WholeFile).To(Equal(want.movable))
			g.Expect(l.Ignition.Length).To(BeEquivalentTo(256 << 10))
			for _, name := range append(want.there, "images/pxeboot/initrd.img", "images/pxeboot/rootfs.img") {
				g.Expect(l.File(name)).NotTo(BeNil(), name)
			}
			for _, name := range want.notThere {
				g.Expect(l.File(name)).To(BeNil(), name)
			}
		})
	}
	NewWithT(t).Expect(media.Write(io.Discard, media.Options{Arch: "sparc"})).To(MatchError(ContainSubstring("sparc")))
}

// What firmware starts, a foreign reader finds.
func TestForeignReaderFindsTheBootImages(t *testing.T) {
	tool := needs.Program(t, "xorriso", "xorriso")
	for arch, want := range map[string][]string{
		"x86_64":  {"1  BIOS  y   none", "2  UEFI  y   none", "1  /isolinux/isolinux.bin", "2  /images/efiboot.img"},
		"aarch64": {"1  UEFI  y   none", "1  /images/efiboot.img"},
		"s390x":   {"1  BIOS  y   none", "1  /images/cdboot.img"},
		"ppc64le": nil,
	} {
		t.Run(arch, func(t *testing.T) {
			g, path := NewWithT(t), filepath.Join(t.TempDir(), "live.iso")
			g.Expect(media.WriteFile(path, media.Options{Arch: arch})).To(Succeed())
			out, err := exec.CommandContext(t.Context(), tool, "-indev", path, "-report_el_torito", "plain").CombinedOutput()
			g.Expect(err).NotTo(HaveOccurred(), string(out))
			for _, line := range want {
				g.Expect(string(out)).To(ContainSubstring(line))
			}
			g.Expect(strings.Contains(string(out), "El Torito boot img")).To(Equal(want != nil))
		})
	}
}

// A foreign reader judges the format where one is installed.
func TestForeignReaderAcceptsTheMedium(t *testing.T) {
	tool := needs.Program(t, "xorriso", "xorriso")
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "live.iso")
	g.Expect(media.WriteFile(path, media.Options{})).To(Succeed())
	out, err := exec.CommandContext(t.Context(), tool, "-indev", path, "-find", "/", "-type", "f").CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), string(out))
	for _, name := range []string{"/coreos/kargs.json", "/images/pxeboot/rootfs.img", "/EFI/fedora/grub.cfg"} {
		g.Expect(string(out)).To(ContainSubstring("'" + name + "'"))
	}
}

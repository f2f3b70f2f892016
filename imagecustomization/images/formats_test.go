package images_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/embedarea"
	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/imagecustomization/iso"
	"github.com/ironflow/ironflow/imagecustomization/media"
	"github.com/ironflow/ironflow/imagecustomization/overlay"
	coreosiso "github.com/ironflow/ironflow/test/fixtures/coreos-iso"
	"github.com/ironflow/ironflow/test/liveimage"
	testmedia "github.com/ironflow/ironflow/test/media"
)

func TestInitrd(t *testing.T) {
	g := NewWithT(t)
	s := open(t, images.Options{Media: openMedia(t)})
	sp := spec("host", `{"x":2}`)
	sp.Format, sp.Kargs.Append = images.FormatInitrd, []string{"console=ttyS1"}
	b, err := s.Put(t.Context(), sp)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(b.URL).To(HaveSuffix("/host.initrd"))
	g.Expect(b.KernelURL).To(HaveSuffix("/vmlinuz"))
	g.Expect(b.ExtraKernelParams).To(And(HavePrefix("coreos.live.rootfs_url="+b.RootfsURL+" "), HaveSuffix(" console=ttyS1")))
	initrd, kernel, rootfs := lookup(s, b.URL), lookup(s, b.KernelURL), lookup(s, b.RootfsURL)
	g.Expect(kernel.Image.Size()).To(BeEquivalentTo(1 << 20))
	g.Expect(rootfs.Image.Size()).To(BeEquivalentTo(1 << 20))
	head := make([]byte, 6)
	_, err = kernel.Image.ReadAt(head, 0x202)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(head)).To(HavePrefix("HdrS"))
	// The archive follows the medium's initrd of 512 KiB.
	tail := make([]byte, initrd.Image.Size()-512<<10)
	_, err = initrd.Image.ReadAt(tail, 512<<10)
	g.Expect(err).NotTo(HaveOccurred())
	got, err := embedarea.Decode(strings.NewReader(string(tail)))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(got.Ignition)).To(Equal(`{"x":2}`))
}

func TestScriptBootsTheInitrd(t *testing.T) {
	g := NewWithT(t)
	s := open(t, images.Options{Media: openMedia(t)})
	sp := spec("host", "1")
	sp.Format = images.FormatInitrd
	b, err := s.Put(t.Context(), sp)
	g.Expect(err).NotTo(HaveOccurred())
	text := make([]byte, 4096)
	n, err := lookup(s, b.ScriptURL).Image.ReadAt(text, 0)
	g.Expect(err).To(MatchError(io.EOF))
	g.Expect(strings.Split(string(text[:n]), "\n")).To(Equal([]string{
		"#!ipxe",
		"initrd --name initrd " + b.URL,
		"kernel " + b.KernelURL + " initrd=initrd " + b.ExtraKernelParams,
		"boot", "",
	}))
	sp.Ignition = []byte("2")
	now, err := s.Put(t.Context(), sp)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(now.ScriptURL).NotTo(Equal(b.ScriptURL))
	g.Expect(lookup(s, b.ScriptURL)).To(BeNil(), "the old script would boot the old image")
	g.Expect(s.Remove("metal/host")).To(Succeed())
	g.Expect(lookup(s, now.ScriptURL)).To(BeNil())
	g.Expect(lookup(s, now.KernelURL)).NotTo(BeNil(), "other hosts need the kernel")
}

func TestMinimalISO(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "live.iso")
	g.Expect(os.WriteFile(path, coreosiso.Read(t, "2023-07.x86_64"), 0o600)).To(Succeed())
	registry, err := media.Open(t.Context(), path, media.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	s := open(t, images.Options{Media: registry})
	for _, name := range []string{"a", "b"} {
		sp := spec(name, "config of "+name)
		sp.Format = images.FormatMinimalISO
		b, err := s.Put(t.Context(), sp)
		g.Expect(err).NotTo(HaveOccurred())
		r := lookup(s, b.URL)
		g.Expect(liveimage.Ignition(r.Image, r.Image.Size())).To(BeEquivalentTo("config of " + name))
		l, err := iso.Parse(r.Image, r.Image.Size())
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(l.Kargs.Read(r.Image)).To(HaveSuffix("coreos.live.rootfs_url=" + b.RootfsURL))
		g.Expect(lookup(s, b.RootfsURL)).NotTo(BeNil())
	}
	without := open(t, images.Options{Media: openMedia(t)})
	sp := spec("a", "1")
	sp.Format = images.FormatMinimalISO
	b, err := without.Put(t.Context(), sp)
	g.Expect(err).NotTo(HaveOccurred(), "a medium without a recipe is cut")
	g.Expect(b.SizeBytes).To(BeNumerically("<", lookup(without, b.RootfsURL).Image.Size()+4<<20))
	g.Expect(liveimage.Ignition(lookup(without, b.URL).Image, b.SizeBytes)).To(BeEquivalentTo("1"))
}

func TestSharedArchivesRideAlong(t *testing.T) {
	g := NewWithT(t)
	packed, err := embedarea.Content{Keyfiles: map[string][]byte{"shared": []byte("x")}}.Archive()
	g.Expect(err).NotTo(HaveOccurred())
	s := open(t, images.Options{Media: openMedia(t), Programs: func(string) []overlay.Source {
		return []overlay.Source{liveimage.Memory(packed)}
	}})
	b, err := s.Put(t.Context(), spec("host", "1"))
	g.Expect(err).NotTo(HaveOccurred())
	r := lookup(s, b.URL)
	c, err := liveimage.Content(r.Image, r.Image.Size())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.Keyfiles).To(HaveKey("shared.nmconnection"))
	g.Expect(string(c.Ignition)).To(Equal("1"))
}

// Every format of every architecture: the config and the arguments are where the
// machine looks for them, and it is told of every file that it needs.
func TestEveryArchitecture(t *testing.T) {
	for _, arch := range testmedia.Architectures() {
		path := filepath.Join(t.TempDir(), "live.iso")
		NewWithT(t).Expect(testmedia.WriteFile(path, testmedia.Options{Arch: arch, RootfsBytes: 1 << 20})).To(Succeed())
		registry, err := media.Open(t.Context(), path, media.Options{})
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		s := open(t, images.Options{Media: registry})
		for _, format := range []string{images.FormatISO, images.FormatMinimalISO, images.FormatInitrd} {
			t.Run(arch+" "+format, func(t *testing.T) {
				g := NewWithT(t)
				sp := spec("host", `{"a":1}`)
				sp.Arch, sp.Format, sp.Kargs.Append = arch, format, []string{"x=y"}
				sp.NetworkKeyfiles = map[string][]byte{"eth0": []byte("[connection]")}
				b, err := s.Put(t.Context(), sp)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(b.Arch).To(Equal(arch))
				image := lookup(s, b.URL).Image
				if format == images.FormatInitrd {
					checkNetworkBoot(g, s, b, arch)
					return
				}
				c, err := liveimage.Content(image, image.Size())
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(string(c.Ignition)).To(Equal(`{"a":1}`))
				g.Expect(c.Keyfiles).To(HaveKey("eth0.nmconnection"))
				l, err := iso.Parse(image, image.Size())
				g.Expect(err).NotTo(HaveOccurred())
				args, err := l.Kargs.Read(image)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(args).To(HaveSuffix(" x=y"))
				if format == images.FormatMinimalISO {
					g.Expect(args).To(And(ContainSubstring("coreos.live.rootfs_url="+b.RootfsURL), Not(ContainSubstring("coreos.liveiso="))))
					g.Expect(l.File("images/pxeboot/rootfs.img").Size).To(BeZero())
				}
				if f := l.File("images/cdboot.img"); f != nil {
					checkMainframe(g, image, f)
				}
			})
		}
	}
}

// checkNetworkBoot looks at what a machine loads over the network.
func checkNetworkBoot(g *WithT, s *images.Store, b images.Built, arch string) {
	kernel := "/vmlinuz"
	if arch == "s390x" {
		kernel = "/kernel.img"
	}
	g.Expect(b.KernelURL).To(HaveSuffix(kernel))
	g.Expect(lookup(s, b.KernelURL).Image.Size()).To(BeNumerically(">", 512<<10))
	g.Expect(lookup(s, b.RootfsURL).Image.Size()).To(BeEquivalentTo(1 << 20))
	g.Expect(text(g, s, b.ScriptURL)).To(ContainSubstring("x=y"))
	if arch != "s390x" {
		g.Expect(b.AddrSizeURL + b.InsURL).To(BeEmpty())
		return
	}
	g.Expect(text(g, s, b.InsURL)).To(ContainSubstring("images/initrd.addrsize"))
	place := []byte(text(g, s, b.AddrSizeURL))
	g.Expect(binary.BigEndian.Uint64(place)).To(BeEquivalentTo(0x02000000))
	g.Expect(binary.BigEndian.Uint64(place[8:])).To(BeEquivalentTo(b.SizeBytes), "with the host's own part")
}

// checkMainframe looks at the boot image as the firmware of s390x does, which knows
// no files: the initrd that the kernel is told of ends behind the area.
func checkMainframe(g *WithT, image *overlay.Image, f *iso.File) {
	boot := make([]byte, f.Size)
	_, err := image.ReadAt(boot, f.Offset)
	g.Expect(err).NotTo(HaveOccurred())
	at, length := binary.BigEndian.Uint64(boot[0x10408:]), binary.BigEndian.Uint64(boot[0x10410:])
	g.Expect(at + length).To(BeEquivalentTo(len(boot)))
	area := boot[len(boot)-256<<10:]
	c, err := embedarea.Decode(bytes.NewReader(area))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(c.Ignition)).To(Equal(`{"a":1}`))
	args, _, _ := bytes.Cut(boot[0x10480:0x10480+896], []byte{0})
	g.Expect(string(args)).To(HaveSuffix(" x=y"))
}

//go:build e2e

package boot_test

import (
	"bytes"
	"net"
	"os"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/imagecustomization/media"
	"github.com/ironflow/ironflow/imagecustomization/overlay"
	"github.com/ironflow/ironflow/test/boot"
	"github.com/ironflow/ironflow/test/needs"
)

// TestBootAArch64 boots images of an aarch64 medium: GRUB and the kernel find the
// config, the keyfiles and the arguments, also where their places have moved.
func TestBootAArch64(t *testing.T) {
	for program, pkg := range map[string]string{
		"qemu-system-aarch64": "qemu-system-arm", "xorriso": "xorriso", "mformat": "mtools", "grub-mkimage": "grub-common", "mmdebstrap": "mmdebstrap",
	} {
		needs.Program(t, program, pkg)
	}
	needs.Root(t)
	g := NewWithT(t)
	guest, err := boot.MakeARM(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	registry, err := media.Open(t.Context(), guest.ISO, media.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	store, err := images.NewStore(t.Context(), images.Options{
		Media: registry, BaseURL: "http://" + l.Addr().String(), SigningKey: bytes.Repeat([]byte("k"), 32),
	})
	g.Expect(err).NotTo(HaveOccurred())
	serve(t, l, stores{store})
	keyfile := []byte("[connection]\nid=eth0\n")
	padding, err := os.ReadFile(guest.UEFI) // does not compress to nothing
	g.Expect(err).NotTo(HaveOccurred())
	for _, c := range []struct {
		name   string
		format string
		file   bool
		kargs  int
		config []byte
	}{
		{"file", images.FormatISO, true, 300, config(t, "host-0")},
		{"off the image server, long kernel arguments and a large config", images.FormatISO, false, 1600, padding[:4<<20]},
		{"off the image server, minimal ISO", images.FormatMinimalISO, false, 300, config(t, "host-0")},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			argument := "ironflow.test=" + strings.Repeat("x", c.kargs)
			built, err := store.Put(t.Context(), images.Spec{
				Key: "boot/host-0", UID: c.name, Arch: "aarch64", Format: c.format, Ignition: c.config,
				NetworkKeyfiles: map[string][]byte{"eth0.nmconnection": keyfile}, Kargs: overlay.KargsEdit{Append: []string{argument}},
			})
			g.Expect(err).NotTo(HaveOccurred())
			m := boot.Machine{ARM64: true, UEFI: guest.UEFI, Medium: built.URL}
			if c.file {
				m.Medium = toFile(t, built.URL)
			}
			r, err := m.Boot(t.Context())
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(r.Ignition).To(Equal(sum(c.config)), "the config, byte for byte")
			g.Expect(r.Keyfiles).To(Equal(map[string]string{"eth0.nmconnection": sum(keyfile)}))
			g.Expect(strings.Fields(r.Cmdline)).To(ContainElements(argument, "ignition.platform.id=metal"))
			if c.format == images.FormatMinimalISO {
				g.Expect(r.Cmdline).To(ContainSubstring("coreos.live.rootfs_url=" + built.RootfsURL))
			}
		})
	}
}

package overlay_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/embedarea"
	"github.com/ironflow/ironflow/imagecustomization/overlay"
	coreosiso "github.com/ironflow/ironflow/test/fixtures/coreos-iso"
	"github.com/ironflow/ironflow/test/liveimage"
)

// file is a source like a medium.
type file struct{ overlay.Source }

func TestMinimal(t *testing.T) {
	const url = "http://192.0.2.1:8080/images/0123456789012345678901/0123456789ab/rootfs.img"
	for _, name := range coreosiso.Names[2:] {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			full := media(t, coreosiso.Read(t, name))
			full.Source = file{full.Source}
			minimal, err := overlay.Minimal(full)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(minimal.Layout.File(overlay.RootfsPath)).To(BeNil())
			g.Expect(minimal.Layout.File(overlay.InitrdPath)).NotTo(BeNil())
			g.Expect(minimal.Layout.VolumeID).To(Equal(full.Layout.VolumeID))

			pointed, err := overlay.PointToRootfs(minimal, url)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(pointed.Layout.Kargs.Default).To(HaveSuffix(" coreos.live.rootfs_url=" + url))
			g.Expect(pointed.Layout.Kargs.Default).NotTo(ContainSubstring("coreos.liveiso="))
			g.Expect(pointed.Layout.Kargs.Read(pointed)).To(Equal(pointed.Layout.Kargs.Default))

			image, err := overlay.Customize(pointed, overlay.Options{
				Content: embedarea.Content{Ignition: []byte("{}")}, Kargs: overlay.KargsEdit{Append: []string{"x=y"}},
			})
			g.Expect(err).NotTo(HaveOccurred())
			for s := range image.Range(0, image.Size()) {
				_, nested := s.Source.(*overlay.Image)
				g.Expect(nested).To(BeFalse(), "no image reads through another one")
			}
			raw := content(t, image)
			g.Expect(liveimage.Ignition(bytes.NewReader(raw), int64(len(raw)))).To(BeEquivalentTo("{}"))
			reset, err := overlay.Reset(media(t, raw))
			g.Expect(err).NotTo(HaveOccurred())
			want := make([]byte, pointed.Size())
			_, err = pointed.ReadAt(want, 0)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(bytes.Equal(content(t, reset), want)).To(BeTrue(), "a reset keeps the URL")
		})
	}
}

func TestMinimalByRecipeNeedsAnUntouchedMedium(t *testing.T) {
	g := NewWithT(t)
	m := media(t, coreosiso.Read(t, "2022-09"))
	image, err := overlay.Customize(m, overlay.Options{Content: embedarea.Content{Ignition: []byte("{}")}})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = overlay.Minimal(media(t, content(t, image)))
	g.Expect(err).To(MatchError(ContainSubstring("reset it first")))
}

func TestInitrdAndArtifacts(t *testing.T) {
	g := NewWithT(t)
	m := media(t, coreosiso.Read(t, "2023-07.s390x"))
	base, err := overlay.Artifact(m, overlay.InitrdPath)
	g.Expect(err).NotTo(HaveOccurred())
	initrd, err := overlay.Initrd(m, overlay.Options{Content: embedarea.Content{Ignition: []byte("{}")}})
	g.Expect(err).NotTo(HaveOccurred())
	raw := content(t, initrd)
	g.Expect(raw[:base.Size()]).To(Equal(content(t, base)))
	g.Expect(initrd.Size() % 4).To(BeZero())
	got, err := embedarea.Decode(bytes.NewReader(raw[base.Size():]))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(got.Ignition)).To(Equal("{}"))

	_, err = overlay.Artifact(m, overlay.KernelFile(m))
	g.Expect(err).NotTo(HaveOccurred())
	// The medium's own addrsize file has the same load address; its stub's length is rounded.
	have, err := overlay.Artifact(m, "images/initrd.addrsize")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(content(t, have)[:8]).To(Equal(overlay.AddrSize(base.Size())[:8]))
	g.Expect(binary.BigEndian.Uint64(overlay.AddrSize(initrd.Size())[8:])).To(BeEquivalentTo(initrd.Size()))
	_, err = overlay.Artifact(m, "images/none")
	g.Expect(err).To(MatchError(ContainSubstring("images/none")))
}
